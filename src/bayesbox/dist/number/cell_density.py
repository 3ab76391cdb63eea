"""What the core needs to add up the terms of a density that is a t in each cell of the grid."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist.base import Doubles
from bayesbox.dist.functions import exp
from bayesbox.dist.number.cell_tree import Keys


class CellDensity(NamedTuple):
    """log(h_c t_c(x) + h t(x)), with heights h by cell: a t of each class, and one that is common to all.

    With `is_log` it is the density of log x, over x, and a value that has no log says nothing of the class. Infinite
    scales leave the heights alone.
    """

    first_key: int
    run_of: NDArray[np.uint16]  # the run of each cell, from the first key on; beyond the ends that of the end
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
        first_key, run_of = _run_of(starts)
        by_class = np.ascontiguousarray(heights.T)
        ratios = exp(by_class[:-1] - by_class[-1:])  # where one is infinite, the core adds up logs
        return cls(first_key, run_of, by_class, ratios, parameters, base, is_log, zeros)


def _run_of(starts: Keys) -> tuple[int, NDArray[np.uint16]]:
    """The run of each cell, from the last one of the first run on."""
    if len(starts) == 1:
        return 0, np.zeros(1, dtype=np.uint16)
    lengths = np.concatenate([[1], np.diff(starts[1:]), [1]])
    return int(starts[1]) - 1, np.repeat(np.arange(len(starts), dtype=np.uint16), lengths)
