"""What the core needs to add up the terms of a density that is a t in each cell of the grid."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist.base import Doubles
from bayesbox.dist.functions import exp
from bayesbox.dist.number.cell_tree import LAST_KEY, Keys


class CellDensity(NamedTuple):
    """log(h_c t_c(x) + h t(x)), with heights h by cell: a t of each class, and one that is common to all.

    With `is_log` it is the density of log x, over x, and a value that has no log is not informative about the class.
    Infinite scales leave the heights alone.
    """

    least_size: int  # of the cells in run_of; the size of a cell is its key, or -1 less that where it is negative
    run_of: NDArray[np.uint16]  # the run of each: negative ones, then the others, in the order of numbers
    heights: Doubles  # (classes and the common density) x runs: log h, with the constants of the densities
    ratios: Doubles  # classes x runs: h_c / h
    parameters: Doubles  # (classes and the common density) x (shift, scale, degrees of freedom)
    base: float  # what the shifts are from
    is_log: bool
    zeros: Doubles | None  # log P(x = 0 | class), where zero is apart

    @classmethod
    def of(
        cls, starts: Keys, heights: Doubles, parameters: Doubles, base: float, *, is_log: bool, zeros: Doubles | None
    ) -> CellDensity:
        """From the first keys of the runs, and runs x densities of heights."""
        least_size, run_of = _run_of(starts)
        by_class = np.ascontiguousarray(heights.T)
        ratios = exp(by_class[:-1] - by_class[-1:])  # where one is infinite, the core adds up logs
        return cls(least_size, run_of, by_class, ratios, parameters, base, is_log, zeros)


def _run_of(starts: Keys) -> tuple[int, NDArray[np.uint16]]:
    """The runs of the cells between the sizes at which one begins; others have that of the nearest."""
    firsts = starts[1:]
    sizes = np.abs(firsts)  # a run begins between this size and the one below it
    sizes = sizes[(sizes > 0) & (sizes < LAST_KEY)]
    least, most = (int(sizes.min()) - 1, int(sizes.max())) if len(sizes) else (0, 0)
    above = np.arange(least, most + 1)
    keys = np.concatenate([-1 - above[::-1], above])
    return least, np.searchsorted(firsts, keys, side="right").astype(np.uint16)
