"""The threshold on P(class) that serves a metric best, found on rows whose classes are known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox.errors import BadData, BadOption

Doubles = NDArray[np.float64]
METRICS = ("accuracy", "balanced", "f1", "youden")


class Threshold(NamedTuple):
    """Answer the class where its probability is at least `value`; `score` is what the metric then is."""

    value: float
    score: float


def best_threshold(p: Doubles, true: NDArray[np.bool_], metric: str = "f1") -> Threshold:
    """The best threshold among the middles between neighbouring probabilities; of equal ones the nearest to a half.

    `balanced` is the mean of the recalls of the class and of the others, `youden` their sum less 1.

    >>> best_threshold(np.array([0.1, 0.3, 0.4, 0.9]), np.array([False, True, False, True]), "f1")
    Threshold(value=0.2, score=0.8)
    """
    if metric not in METRICS:
        raise BadOption(f"there is no metric `{metric}`", remedy=f"There is: {', '.join(METRICS)}")
    if not true.any() or true.all():
        raise BadData("a threshold needs rows of the class and rows of others")
    values = np.unique(p)
    cuts = np.concatenate([[0.0], (values[1:] + values[:-1]) / 2, [1.0]])
    order = np.sort(p[true])
    hits = len(order) - np.searchsorted(order, cuts)  # rows of the class that are answered so
    order = np.sort(p[~true])
    alarms = len(order) - np.searchsorted(order, cuts)
    yes, no = float(true.sum()), float((~true).sum())
    scores = {
        "accuracy": (hits + no - alarms) / (yes + no),
        "balanced": (hits / yes + 1 - alarms / no) / 2,
        "f1": 2 * hits / (yes + hits + alarms),
        "youden": hits / yes - alarms / no,
    }[metric]
    best = np.flatnonzero(scores >= scores.max() - 1e-12)
    chosen = best[np.abs(cuts[best] - 0.5).argmin()]
    return Threshold(float(cuts[chosen]), float(scores[chosen]))
