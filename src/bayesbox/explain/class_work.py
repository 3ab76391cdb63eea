"""The calculation of a classifier for one case: its steps end in P(class | x) and the class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from bayesbox.explain.steps import Cell, Row, Step, Work, line

if TYPE_CHECKING:
    from bayesbox.file.reader import Json


@dataclass(frozen=True, repr=False)
class ClassWork(Work):
    """The calculation of one answer; `posterior` is in the order of `classes`, and `facts` has more for JSON."""

    classes: tuple[str, ...]
    posterior: tuple[float, ...]
    facts: Json = field(default_factory=dict)

    def to_dict(self) -> Json:
        """A plain dict, for JSON: the steps, the posterior by class, and the class."""
        shares = dict(zip(self.classes, self.posterior, strict=True))
        best = max(range(len(self.classes)), key=lambda place: (self.posterior[place], -place))
        found = {**super().to_dict(), "posterior": shares, "class": self.classes[best], **self.facts}
        return {name: _finite(value) for name, value in found.items()}

    def calibrated(self, kind: str, posterior: Sequence[float], prediction: str) -> ClassWork:
        """The calculation with the calibrated posterior as the last step."""
        shares = tuple(float(share) for share in posterior)
        row = Row(f"after calibration ({kind})", tuple(Cell(value=share) for share in shares))
        steps = (
            *self.steps,
            Step("calibration", (row,), self.classes),
            Step("decision", (line(f"so the class is {prediction}"),)),
        )
        before, after = (dict(zip(self.classes, each, strict=True)) for each in (self.posterior, shares))
        facts = {**self.facts, "uncalibrated": before, "posterior": after, "class": prediction}
        return replace(self, steps=steps, posterior=shares, facts=facts)


def _finite(value: Any) -> Any:
    """The value with infinite numbers as text, since JSON has none."""
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_finite(each) for each in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
