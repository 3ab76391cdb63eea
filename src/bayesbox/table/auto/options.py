"""The options of AutoBayes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bayesbox.rule.options import Prior, TakesPrior
from bayesbox.schema.options import Options, option, options
from bayesbox.schema.takes import RealNumber, Types, WholeNumber

BUDGET = 20.0


class TakesPriorByText(TakesPrior):
    """A prior whose labels are stored as text in the file."""

    types: Types = (dict, list, str, None)

    def to_json(self, name: str, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {str(label): float(p) for label, p in value.items()}
        return super().to_json(name, value)

    def from_json(self, name: str, written: Any) -> Any:
        return written if isinstance(written, dict) else super().from_json(name, written)


@options
class AutoOptions(Options):
    """The budget of all models, the seed of all draws, and a prior if it is given."""

    budget: float = option(
        RealNumber(0, above=True, said="budget must be a positive number of seconds"),
        default=BUDGET,
        colon=True,
        help="Time budget in seconds on one core. What is tried depends on the size of the table and the budget, not "
        "on the clock, so results are reproducible.",
    )
    seed: int = option(
        WholeNumber(0),
        default=0,
        command=False,
        help="The random seed: the same rows, seed and budget give the same model.",
    )
    prior: Prior | None = option(
        TakesPriorByText(), default=None, help="The class prior, if it differs from that of the rows."
    )
