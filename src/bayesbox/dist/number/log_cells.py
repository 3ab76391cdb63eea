"""The moments of log x from a grid: values are uniform within their cell on the log scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayesbox import _core
from bayesbox.dist.base import Doubles
from bayesbox.dist.functions import log
from bayesbox.dist.number.conjugate import ClassSpreads
from bayesbox.tally.grid import Cells, Grid, edges


class LogSums(NamedTuple):
    """n, the mean and the sum of squared distances from it, of log x: by class, or of the column."""

    n: Doubles
    mean: Doubles
    squares: Doubles

    def without(self, middle: Doubles, within: Doubles) -> LogSums:
        """The sums without one value of a cell: mean' = mean - d / (n - 1), squares' = squares - d**2 n / (n - 1)."""
        left = np.maximum(self.n - 1, 0.0)
        some = left > 0
        divisor = np.where(some, left, 1.0)
        away = middle - self.mean
        squares = np.maximum(self.squares - away * away * self.n / divisor - within, 0.0)
        return LogSums(left, np.where(some, self.mean - away / divisor, 0.0), np.where(some, squares, 0.0))


def log_cells(cells: Cells) -> tuple[Doubles, Doubles]:
    """The middle of log x in each cell of positive numbers, and the variance of log x within it: width**2 / 12.

    >>> middle, within = log_cells(np.array([8185], dtype=np.int32))  # from 1 to 1.125
    >>> np.exp(middle).round(4), within.round(6)
    (array([1.0607]), array([0.001156]))
    """
    low, high = edges(cells)
    low, high = log(low), log(high)
    return (low + high) / 2, (high - low) ** 2 / 12


def log_sums(tally: Grid) -> tuple[LogSums, LogSums]:
    """The sums of each class and of the column, over positive values."""
    by_class, whole = log_sums_of([tally])
    return LogSums(*(each[0] for each in by_class)), LogSums(*(each[0] for each in whole))


def log_sums_of(tallies: Sequence[Grid]) -> tuple[LogSums, LogSums]:
    """These sums of many columns with the same classes: columns x classes, and columns x 1."""
    sums = _core.log_moments([tally.grid for tally in tallies], len(tallies[0].classes))
    return LogSums(*(np.ascontiguousarray(each[:, :-1]) for each in sums)), LogSums(
        *(each[:, -1:].copy() for each in sums)
    )


def log_spreads(by_class: LogSums, whole: LogSums) -> ClassSpreads:
    """The spreads of the classes around the mean of the column."""
    distance = np.where(by_class.n > 0, by_class.mean - whole.mean, 0.0)
    std = np.sqrt(by_class.squares / np.where(by_class.n > 0, by_class.n, 1.0))
    return ClassSpreads(by_class.n, distance, std, np.sqrt(whole.squares / np.maximum(whole.n, 1.0)))


def sum_of_logs(whole: LogSums) -> Doubles:
    """The sum of log x: the Jacobian between the evidence of log x and that of x."""
    return whole.n * whole.mean
