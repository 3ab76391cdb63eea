"""Whether two samples of a column differ: a G-test of their counts, and the population stability index.

    G = 2 sum of O log(O / E)        over both samples, with E from the shares of both together
    PSI = sum of (q - p) log(q / p)  over the levels, p and q the shares of a level in the two samples

The test measures the evidence that they differ, which grows with the number of rows; the index measures the size of the
difference, which does not. By a common rule of thumb a PSI below 0.1 is no change, and one above 0.25 a large one. For
the index half a row is added to each level of each sample, so that no share is 0.
"""

from __future__ import annotations

import heapq
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox.stat.chi_square import upper_tail
from bayesbox.stat.mutual_information import g_test

Doubles = NDArray[np.float64]
HALF = 0.5
LEAST_EXPECTED = 5.0  # rows; below it the chi-square approximation of G is poor
GROUPS = 10  # of cells of numbers, about


class ShiftTest(NamedTuple):
    """The statistic, its degrees of freedom, the p-value, and the PSI."""

    statistic: float
    df: float
    p_value: float
    psi: float


def shift_test(before: Doubles, after: Doubles, unseen: float = 0.0) -> ShiftTest:
    """The test of two rows of counts of the same levels; rare levels are pooled.

    `unseen` are values of the second sample that the first cannot have: a separate level, however rare.

    >>> found = shift_test(np.array([50.0, 50]), np.array([30.0, 70]))
    >>> round(found.statistic, 4), found.df, round(found.p_value, 5), round(found.psi, 4)
    (8.4024, 1.0, 0.00375, 0.1659)
    """
    before, after = pooled_rare(np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64))
    if unseen:
        before, after = np.append(before, 0.0), np.append(after, unseen)
    if len(before) < 2 or not before.sum() or not after.sum():
        return ShiftTest(0.0, 0.0, 1.0, 0.0)
    statistic, df = g_test(np.stack([before, after])[:, :, None])
    p_value = float(upper_tail(statistic, df)) if df else 1.0
    return ShiftTest(statistic, df, p_value, stability_index(before, after))


def stability_index(before: Doubles, after: Doubles) -> float:
    """The population stability index of two rows of counts.

    >>> stability_index(np.array([10.0, 30]), np.array([10.0, 30]))
    0.0
    """
    p, q = before + HALF, after + HALF
    p, q = p / p.sum(), q / q.sum()
    return float(((q - p) * np.log(q / p)).sum())


def pooled_rare(before: Doubles, after: Doubles) -> tuple[Doubles, Doubles]:
    """The counts with the two rarest levels merged repeatedly, until five rows of each are expected in both samples, or
    two levels remain; levels without rows are dropped.

    >>> pooled_rare(np.array([90.0, 2, 30, 0]), np.array([80.0, 1, 9, 0]))
    (array([32., 90.]), array([10., 80.]))
    """
    both = before + after
    there = both > 0
    share = min(before.sum(), after.sum()) / both.sum() if there.any() else 0.0
    levels = list(zip(both[there].tolist(), before[there].tolist(), after[there].tolist(), strict=True))
    heapq.heapify(levels)
    while len(levels) > 2 and levels[0][0] * share < LEAST_EXPECTED:
        one, other = heapq.heappop(levels), levels[0]
        heapq.heapreplace(levels, (one[0] + other[0], one[1] + other[1], one[2] + other[2]))
    pairs = np.array(sorted(levels), dtype=np.float64).reshape(-1, 3)
    return pairs[:, 1], pairs[:, 2]


def groups_of_cells(counts: Doubles, groups: int = GROUPS) -> NDArray[np.int64]:
    """The group of each cell, in order: about this many groups of about equal size.

    >>> groups_of_cells(np.array([1.0, 1, 8, 1, 1, 1, 1]), 3).tolist()
    [0, 0, 1, 2, 2, 2, 2]
    """
    least, found, group, filled = counts.sum() / groups, [], 0, 0.0
    for count in counts.tolist():
        if filled and filled + count / 2 > least:
            group, filled = group + 1, 0.0
        found.append(group)
        filled += count
    return np.array(found, dtype=np.int64)


def moments_test(before: tuple[float, float, float], after: tuple[float, float, float]) -> ShiftTest:
    """The test of two samples of numbers by (rows, mean, variance): Welch's test of the means with normal tails, and
    the PSI of two normal densities.

    >>> found = moments_test((100, 0.0, 1.0), (100, 0.5, 1.0))
    >>> round(found.statistic, 3), found.df, round(found.psi, 3)
    (12.5, 1.0, 0.25)
    """
    (n, mean, variance), (m, other, spread) = before, after
    if not n or not m:
        return ShiftTest(0.0, 0.0, 1.0, 0.0)
    error, away = variance / n + spread / m, (other - mean) ** 2
    statistic = away / error if error else math.inf if away else 0.0
    if not variance or not spread:
        index = 0.0 if variance == spread and not away else math.inf
    else:
        index = ((variance + away) / spread + (spread + away) / variance) / 2 - 1
    return ShiftTest(statistic, 1.0, float(upper_tail(statistic, 1)), max(index, 0.0))
