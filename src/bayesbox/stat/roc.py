"""The area under the ROC curve, and the influence of each row on it.

The area is P(a positive scores above a negative) + P(both score the same) / 2 (Mann and Whitney 1947). The influence of
a row is its placement: for a positive the share of negatives below it, for a negative the share of positives above it,
minus the area (DeLong, DeLong and Clarke-Pearson 1988).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]


def area_under_roc(scores: Doubles, positive: NDArray[np.bool_], weights: Doubles) -> float:
    """The area; NaN if there are no positives, or no negatives.

    >>> area_under_roc(np.array([0.1, 0.4, 0.4, 0.8]), np.array([False, False, True, True]), np.ones(4))
    0.875
    """
    values, group = np.unique(scores, return_inverse=True)
    up = np.bincount(group, weights=weights * positive, minlength=len(values))
    down = np.bincount(group, weights=weights * ~positive, minlength=len(values))
    pairs = up.sum() * down.sum()
    if not pairs:
        return math.nan
    below = np.cumsum(down) - down
    return float((up * (below + down / 2)).sum() / pairs)


def area_influence(scores: Doubles, positive: NDArray[np.bool_], weights: Doubles) -> Doubles:
    """The influence of each row on the area, to first order; 0 if there is no curve.

    >>> area_influence(np.array([0.1, 0.4, 0.4, 0.8]), np.array([False, False, True, True]), np.ones(4))
    array([ 0.0625, -0.0625, -0.0625,  0.0625])
    """
    values, group = np.unique(scores, return_inverse=True)
    up = np.bincount(group, weights=weights * positive, minlength=len(values))
    down = np.bincount(group, weights=weights * ~positive, minlength=len(values))
    if not up.sum() * down.sum():
        return np.zeros(len(scores))
    below = (np.cumsum(down) - down / 2) / down.sum()
    above = 1 - (np.cumsum(up) - up / 2) / up.sum()
    area = float((up * below).sum() / up.sum())
    found: Doubles = np.where(positive, (below[group] - area) / up.sum(), (above[group] - area) / down.sum())
    return found


def drawn_areas(scores: Doubles, positive: NDArray[np.bool_], weights: Doubles) -> Doubles:
    """The area for each row of `weights`, draws x rows; NaN if a draw has no positives, or no negatives."""
    order = np.argsort(scores, kind="stable")
    starts = np.flatnonzero(np.diff(scores[order], prepend=-np.inf))
    sorted_weights, own = weights[:, order], positive[order]
    up = np.add.reduceat(sorted_weights * own, starts, axis=1)
    down = np.add.reduceat(sorted_weights * ~own, starts, axis=1)
    below = np.cumsum(down, axis=1) - down / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Doubles = (up * below).sum(axis=1) / (up.sum(axis=1) * down.sum(axis=1))
    return found
