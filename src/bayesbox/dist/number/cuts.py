"""Cut points for binning numbers, from the counts of their distinct values by class.

Every function takes `values`, distinct and ascending, and `counts` or weights, values x classes, and returns the cut
points, ascending. A value on a cut belongs to the lower bin: with cuts c_1 < ... < c_k the bins are (-inf, c_1], (c_1,
c_2], ..., (c_k, inf). The cuts depend only on the counts, so they do not depend on the order or batches of rows, and
are derived again after rows are added or forgotten.

    equal width      k bins of equal width between the smallest and the largest value
    equal frequency  k bins with about the same number of rows
    mdl              Fayyad and Irani (1993): recursive cuts of minimal class entropy, while the gain exceeds the MDL
    criterion modl             Boulle (2006): the most probable partition of the values, given the classes
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from math import lgamma, log

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.errors import BadOption
from bayesbox.schema.arrays import AnyArray, CountArray, NumberArray
from bayesbox.schema.families import DEFAULT_BINS, MOST_BINS

Doubles = NDArray[np.float64]

MOST_KEPT = 100_000  # cells of a table whose cuts are cached for the next one with the same runs
BY_NUMBER = {"width": "equal width", "frequency": "equal frequency"}
BY_CLASS = {"mdl": "least description length", "modl": "most probable partition"}


def equal_width(values: Doubles, _counts: CountArray, bins: int = DEFAULT_BINS) -> Doubles:
    """Bins of equal width between the smallest and the largest value.

    >>> equal_width(np.array([0.0, 1, 10]), np.ones((3, 2)), 4)
    array([2.5, 5. , 7.5])
    """
    if len(values) < 2:
        return np.empty(0)
    share = np.arange(1, bins) / bins
    cuts = values[0] * (1 - share) + values[-1] * share  # their difference may overflow
    inside: Doubles = np.unique(cuts[(cuts >= values[0]) & (cuts < values[-1])])
    return inside


def equal_frequency(values: Doubles, counts: CountArray, bins: int = DEFAULT_BINS) -> Doubles:
    """Bins with about the same number of rows: each cut is where the rows below it are nearest to their share.

    >>> equal_frequency(np.array([1.0, 2, 3, 4]), np.array([[5], [1], [1], [5]]), 2)
    array([2.5])
    """
    if len(values) < 2:
        return np.empty(0)
    below = np.cumsum(np.asarray(counts, dtype=np.float64).sum(axis=1))
    wanted = below[-1] * np.arange(1, bins) / bins
    upper = np.clip(np.searchsorted(below, wanted), 0, len(values) - 2)
    lower = np.maximum(upper - 1, 0)
    nearest = np.where(wanted - below[lower] <= below[upper] - wanted, lower, upper)
    return between(values, np.unique(nearest))


def mdl(values: Doubles, counts: CountArray) -> Doubles:
    """The cuts of Fayyad and Irani, as in Weka's supervised `Discretize`.

    The cut with the lowest class entropy of the two sides (the first in case of a tie) is kept if its gain exceeds

        (log2(N - 1) + log2(3**k - 2) - (k E - k1 E1 - k2 E2)) / N

    with N rows of k classes on both sides together; then each side is cut in the same way.

    >>> mdl(np.arange(20.0), np.repeat([[1, 0], [0, 1]], 10, axis=0))
    array([9.5])
    """
    return between(values, _core.mdl_cuts(_checked(values, counts)))


def modl(values: Doubles, counts: CountArray) -> Doubles:
    """The cuts of the partition with the least `modl_cost`.

    Neighbouring values that occur only in one and the same class are never separated (this is proven optimal). With up
    to 256 such runs the minimum is exact; with more, neighbours are merged greedily until 256 remain, and the cuts
    found among these are then moved to their best positions.

    >>> modl(np.arange(20.0), np.repeat([[1, 0], [0, 1]], 10, axis=0))
    array([9.5])
    """
    cells = _checked(values, counts)
    if not 0 < cells.size <= MOST_KEPT:
        return between(values, _core.modl_cuts(cells))
    first = _first_of_runs(cells)
    runs = np.add.reduceat(cells, first, axis=0)
    last = np.append(first[1:], len(cells)) - 1
    return between(values, last[list(_cuts_of_runs(runs.tobytes(), runs.shape[1]))])


def _first_of_runs(cells: Doubles) -> NDArray[np.int64]:
    """Where runs begin: neighbouring values of one and the same class form a run, any other value is its own."""
    there = cells > 0
    only = np.where(there.sum(axis=1) == 1, there.argmax(axis=1), -1)
    begins = (only[1:] != only[:-1]) | (only[1:] < 0)
    return np.flatnonzero(np.concatenate([[True], begins]))


@lru_cache(maxsize=4)
def _cuts_of_runs(runs: bytes, classes: int) -> tuple[int, ...]:
    """The cuts between runs, cached for leave-one-out: without any one row of a run the runs are the same."""
    return tuple(_core.modl_cuts(np.frombuffer(runs).reshape(-1, classes)).tolist())


def modl_cost(counts: CountArray) -> float:
    """The cost of a partition, intervals x classes: its negative log-probability given the classes (Boulle, 2006).

    log N + log C(N + I - 1, I - 1) + sum over the I intervals of log C(N_i + J - 1, J - 1) + log(N_i! / prod n_ij!),
    with N rows of J classes.
    """
    cells = np.asarray(counts, dtype=np.float64)
    cells = cells[:, cells.any(axis=0)]
    intervals, classes = cells.shape
    rows = float(cells.sum())
    cost = log(rows) + lgamma(rows + intervals) - lgamma(rows + 1) - lgamma(intervals)
    for interval in cells.tolist():
        cost += lgamma(sum(interval) + classes) - lgamma(classes) - sum(lgamma(count + 1) for count in interval)
    return cost


def modl_groups(counts: CountArray) -> NDArray[np.int32]:
    """The group of each level of a category, from counts of levels x classes: the grouping of lowest cost.

    log V + log B(V, I) + the cost of the I groups as of intervals, where B(V, I) is the number of ways to put V levels
    into at most I groups. Exact up to 10 levels; with more, groups are merged greedily, and single levels then moved.
    With more than 512 levels the rarest start in one group.

    >>> modl_groups(np.array([[90, 10], [5, 95], [85, 15], [9, 91]]))
    array([0, 1, 0, 1], dtype=int32)
    """
    return _core.modl_groups(np.ascontiguousarray(counts, dtype=np.float64))


def between(values: Doubles, positions: NDArray[np.int64]) -> Doubles:
    """Cut points halfway between the values at these positions and the ones after them.

    A cut is always below the next value, however close the two are.
    """
    low, high = values[positions], values[positions + 1]
    with np.errstate(over="ignore"):
        middle = (low + high) / 2
    cuts = np.where(np.isfinite(middle), middle, low / 2 + high / 2)
    return np.where((cuts < low) | (cuts >= high), low, cuts)


def codes_of(values: NumberArray, cuts: Doubles) -> NDArray[np.int32]:
    """The bin of each value; -1 if it is missing (NaN).

    >>> codes_of(np.array([1.0, 2.5, 2.6, np.nan]), np.array([2.5]))
    array([ 0,  0,  1, -1], dtype=int32)
    """
    numbers = np.asarray(values, dtype=np.float64)
    codes = np.searchsorted(cuts, numbers, side="left").astype(np.int32)
    codes[np.isnan(numbers)] = -1
    return codes


def binned(values: Doubles, counts: CountArray, cuts: Doubles) -> AnyArray:
    """Counts of bins x classes."""
    cells = np.zeros((len(cuts) + 1, np.shape(counts)[1]), dtype=np.asarray(counts).dtype)
    np.add.at(cells, codes_of(values, cuts), counts)
    return cells


def bin_names(cuts: Doubles) -> tuple[str, ...]:
    """The bins in words, as intervals; cuts to twelve digits if these distinguish them.

    >>> bin_names(np.array([2.45, 4.75]))
    ('up to 2.45', '2.45 to 4.75', 'above 4.75')
    """
    if len(cuts) == 0:
        return ("any",)
    texts = [f"{cut:.12g}" for cut in cuts]
    if len(set(texts)) < len(texts):
        texts = [repr(float(cut)) for cut in cuts]
    inner = [f"{low} to {high}" for low, high in pairwise(texts)]
    return (f"up to {texts[0]}", *inner, f"above {texts[-1]}")


def binning(method: str) -> Callable[[Doubles, CountArray], Doubles]:
    """The binning function of a name: width:10, frequency:10 (bins:10 is width:10), mdl or modl.

    >>> binning("width:2")(np.array([0.0, 3]), np.ones((2, 2)))
    array([1.5])
    """
    name, _, number = method.partition(":")
    name = "width" if name == "bins" else name
    if name in BY_CLASS and not number:
        return mdl if name == "mdl" else modl
    if name not in BY_NUMBER:
        remedy = f"For {method} bins with about as many rows each: frequency:{method}" if method.isdecimal() else None
        raise BadOption("bins must be width:10, frequency:10, mdl or modl", found=method, remedy=remedy)
    bins = _number_of_bins(number, method)
    by_number = equal_width if name == "width" else equal_frequency
    return lambda values, counts: by_number(values, counts, bins)


def _number_of_bins(text: str, method: str) -> int:
    if not text:
        return DEFAULT_BINS
    if not text.isdecimal() or not 1 <= int(text) <= MOST_BINS:
        raise BadOption(f"the number of bins must be an integer from 1 to {MOST_BINS:,}", found=method)
    return int(text)


def _checked(values: Doubles, counts: CountArray) -> Doubles:
    cells = np.ascontiguousarray(counts, dtype=np.float64)
    if cells.ndim != 2 or len(cells) != len(values):
        raise ValueError(f"counts are values x classes: {np.shape(counts)} for {len(values)} values")
    return cells
