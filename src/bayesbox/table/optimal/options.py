"""The options of Bayes optimal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from bayesbox.classifier.registry import KINDS, default_hypotheses
from bayesbox.errors import BadOption
from bayesbox.rule.options import Prior, TakesPrior
from bayesbox.schema.options import Options, aside, option, options
from bayesbox.schema.takes import TextList


class TakesModels(TextList):
    """Models by their names in `--model`."""

    def parse(self, name: str, given: Any) -> tuple[str, ...]:  # noqa: ARG002
        return default_hypotheses() if given is None else tuple(given)

    def from_text(self, name: str, text: str) -> tuple[str, ...]:  # noqa: ARG002
        return tuple(text.split(","))


@options
class OptimalOptions(Options):
    """`hypotheses` are the models to train; empty if they were trained before.

    `options` are the command options for all of them.
    """

    _passes: ClassVar[tuple[str, ...]] = ("smoothing", "prior_smoothing", "numeric", "missing", "unseen")

    hypotheses: tuple[str, ...] = option(
        TakesModels(),
        default=None,
        colon=True,
        kw_only=False,
        help="The models to average, by their names in --model.",
    )
    prior: Prior | None = option(TakesPrior(), default=None, help="The class prior, if it is to be given.")
    options: Mapping[str, Any] = aside(default_factory=dict)

    @property
    def numeric(self) -> str | None:
        """The density of numbers, if one is given for all hypotheses."""
        return self.options.get("numeric")

    def _check(self) -> None:
        kinds = (KINDS.get(name.partition(":")[0]) for name in self.hypotheses)
        if any(kind is not None and not kind.hypothesis for kind in kinds):
            raise BadOption(
                "a hypothesis must be one model, such as naive, full, averaged, tan, aode or kdb:2",
                found=", ".join(self.hypotheses),
            )
