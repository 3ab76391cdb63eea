"""The input of the core for a density that is a scaled t in each cell of the grid."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist.base import Doubles
from bayesbox.dist.functions import exp
from bayesbox.dist.number.cell_tree import LAST_KEY, Keys


class CellDensity(NamedTuple):
    """log(h_c t_c(x) + h t(x)), with heights h by cell: a t per class, and one common to all.

    With `is_log` it is the density of log x, over x, and a value without a log is not informative about the class. With
    infinite scales only the heights count.
    """

    least_size: int  # of the cells in run_of; the size of a cell is its key k, or -1 - k if it is negative
    run_of: NDArray[np.uint16]  # the run of each: negative ones, then the others, in the order of numbers
    heights: Doubles  # (classes and the common density) x runs: log h, with the constants of the densities
    ratios: Doubles  # classes x runs: h_c / h
    parameters: Doubles  # (classes and the common density) x (shift, scale, degrees of freedom)
    base: float  # the origin of the shifts
    is_log: bool
    zeros: Doubles | None  # log P(x = 0 | class), if zero is modelled separately

    @classmethod
    def of(
        cls, starts: Keys, heights: Doubles, parameters: Doubles, base: float, *, is_log: bool, zeros: Doubles | None
    ) -> CellDensity:
        """The density from the first keys of the runs, and heights of runs x densities."""
        least_size, run_of = _run_of(starts)
        by_class = np.ascontiguousarray(heights.T)
        ratios = exp(by_class[:-1] - by_class[-1:])  # if one is infinite, the core sums logs
        return cls(least_size, run_of, by_class, ratios, parameters, base, is_log, zeros)


def _run_of(starts: Keys) -> tuple[int, NDArray[np.uint16]]:
    """The run of each cell between the sizes at which runs begin; other cells have that of the nearest."""
    firsts = starts[1:]
    sizes = np.abs(firsts)  # a run begins between this size and the one below it
    sizes = sizes[(sizes > 0) & (sizes < LAST_KEY)]
    least, most = (int(sizes.min()) - 1, int(sizes.max())) if len(sizes) else (0, 0)
    above = np.arange(least, most + 1)
    keys = np.concatenate([-1 - above[::-1], above])
    return least, np.searchsorted(firsts, keys, side="right").astype(np.uint16)
