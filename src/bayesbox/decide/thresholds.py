"""Thresholds on P(class): their predictions, and the one that maximises a metric on labelled rows."""

from __future__ import annotations

from numbers import Real
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox.errors import BadData, BadOption, UnknownChoice

Doubles = NDArray[np.float64]
METRICS = ("accuracy", "balanced", "f1", "youden")


class Threshold(NamedTuple):
    """Predict the class if its probability is at least `value`; `score` is the resulting metric."""

    value: float
    score: float


def answers_at(posterior: Doubles, place: int, least: float) -> NDArray[np.int64]:
    """The class at `place` if its probability is at least `least`, else the most probable of the others.

    >>> answers_at(np.array([[0.3, 0.7], [0.1, 0.9]]), 0, 0.2)
    array([0, 1])
    """
    if not (isinstance(least, Real) and 0 <= least <= 1):
        raise BadOption("a threshold must be a probability from 0 to 1", found=least)
    others = posterior.copy()
    others[:, place] = -1
    found: NDArray[np.int64] = np.where(posterior[:, place] >= least, place, others.argmax(axis=1))
    return found


def best_threshold(
    p: Doubles, true: NDArray[np.bool_], metric: str = "f1", weights: Doubles | None = None
) -> Threshold:
    """The best threshold among the midpoints between neighbouring probabilities; ties go to the nearest to 1/2.

    `balanced` is the mean of the recalls of the class and of the others, `youden` their sum minus 1.

    >>> best_threshold(np.array([0.1, 0.3, 0.4, 0.9]), np.array([False, True, False, True]), "f1")
    Threshold(value=0.2, score=0.8)
    """
    if metric not in METRICS:
        raise UnknownChoice("metric", metric, METRICS)
    if not true.any() or true.all():
        raise BadData("finding a threshold needs rows of the class and rows of other classes")
    values = np.unique(p)
    cuts = np.concatenate([[0.0], (values[1:] + values[:-1]) / 2, [1.0]])
    weights = np.ones(len(p)) if weights is None else weights
    hits, alarms = (_weight_from(p[own], weights[own], cuts) for own in (true, ~true))  # predicted as the class
    yes, no = float(weights[true].sum()), float(weights[~true].sum())
    scores = {
        "accuracy": (hits + no - alarms) / (yes + no),
        "balanced": (hits / yes + 1 - alarms / no) / 2,
        "f1": 2 * hits / (yes + hits + alarms),
        "youden": hits / yes - alarms / no,
    }[metric]
    best = np.flatnonzero(scores >= scores.max() - 1e-12)
    chosen = best[np.abs(cuts[best] - 0.5).argmin()]
    return Threshold(float(cuts[chosen]), float(scores[chosen]))


def _weight_from(p: Doubles, weights: Doubles, cuts: Doubles) -> Doubles:
    """The weight of the rows with at least each cut as probability."""
    order = np.argsort(p, kind="stable")
    below = np.concatenate([[0.0], np.cumsum(weights[order])])
    found: Doubles = below[-1] - below[np.searchsorted(p[order], cuts)]
    return found
