"""A metric: a number with its 95 % interval."""

from __future__ import annotations

import math


class Metric(float):
    """A number with its 95 % interval; `how` names the method.

    >>> accuracy = Metric(0.8, 0.4902, 0.9433, "Wilson's score interval")
    >>> accuracy, accuracy.interval, f"{accuracy:.2f}", accuracy + 0.1
    (0.8000 (0.4902 to 0.9433), (0.4902, 0.9433), '0.80', 0.9)
    """

    low: float
    high: float
    how: str

    def __new__(cls, value: float, low: float = math.nan, high: float = math.nan, how: str = "") -> Metric:
        found = super().__new__(cls, value)
        found.low, found.high, found.how = float(low), float(high), how
        return found

    @property
    def value(self) -> float:
        """The number without its interval."""
        return float(self)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval, low and high; NaN if there is none."""
        return (self.low, self.high)

    def interval_text(self) -> str:
        """The interval as text; empty if there is none."""
        return "" if math.isnan(self.low) or math.isnan(self.high) else f"{self.low:.4f} to {self.high:.4f}"

    def __getnewargs__(self) -> tuple[float, float, float, str]:  # type: ignore[override]  # float takes one
        return (float(self), self.low, self.high, self.how)

    def __repr__(self) -> str:
        between = self.interval_text()
        return f"{float(self):.4f} ({between})" if between else f"{float(self):.4f}"

    def __str__(self) -> str:
        return float.__repr__(self)
