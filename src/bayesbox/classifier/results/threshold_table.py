"""The metrics at each threshold on P(class)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesbox.display.blocks import Block, TableBlock
from bayesbox.display.result import Result

Doubles = NDArray[np.float64]
SHOWN = 20  # thresholds that are printed


@dataclass(frozen=True, repr=False)
class ThresholdTable(Result):
    """The metrics at each threshold: the class is predicted if its probability is at least the threshold."""

    label: str
    thresholds: Doubles
    hits: Doubles  # true positives
    alarms: Doubles  # false positives
    positives: float
    negatives: float

    @classmethod
    def of(cls, label: str, p: Doubles, true: NDArray[np.bool_], weights: Doubles) -> ThresholdTable:
        """The table for rows with these probabilities of the class."""
        values, group = np.unique(p, return_inverse=True)
        own = np.bincount(group, weights=weights * true, minlength=len(values))
        other = np.bincount(group, weights=weights * ~true, minlength=len(values))
        hits, alarms = (np.cumsum(each[::-1])[::-1].astype(np.float64) for each in (own, other))
        return cls(label, values, hits, alarms, float(own.sum()), float(other.sum()))

    @property
    def recall(self) -> Doubles:
        """The share of rows of the class that are predicted as it: the true positive rate."""
        return self.hits / self.positives if self.positives else np.full(len(self.hits), math.nan)

    @property
    def false_positive_rate(self) -> Doubles:
        """The share of the other rows that are predicted as the class."""
        return self.alarms / self.negatives if self.negatives else np.full(len(self.alarms), math.nan)

    @property
    def precision(self) -> Doubles:
        """The share of rows predicted as the class that belong to it."""
        return self.hits / (self.hits + self.alarms)

    @property
    def f1(self) -> Doubles:
        """The harmonic mean of precision and recall."""
        return 2 * self.hits / (self.positives + self.hits + self.alarms)

    def _headline(self) -> str:
        return f"ThresholdTable({self.label!r}, {len(self.thresholds):,} thresholds)"

    def _blocks(self) -> Sequence[Block]:
        frame = self._frame()
        places = np.unique(np.linspace(0, len(self.thresholds) - 1, SHOWN).round().astype(int)).tolist()
        rows = [[values[place] for values in frame.values()] for place in places]
        caption = f"predicting {self.label} if P({self.label}) is at least the threshold"
        return [TableBlock(list(frame), rows, caption=caption)]

    def _frame(self) -> Mapping[str, Sequence[object]]:
        return {
            "threshold": self.thresholds.tolist(),
            "precision": self.precision.tolist(),
            "recall": self.recall.tolist(),
            "F1": self.f1.tolist(),
            "false positive rate": self.false_positive_rate.tolist(),
            "rows": [int(n) if n.is_integer() else n for n in (self.hits + self.alarms).tolist()],
        }
