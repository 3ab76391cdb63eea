"""The chosen shape of the robust density of a column, and its data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist.base import Doubles
from bayesbox.dist.functions import log, log_sum
from bayesbox.dist.number.cell_tree import StudentShape
from bayesbox.dist.number.conjugate import ClassSpreads, spreads_of_table
from bayesbox.dist.number.log_cells import LogSums, log_spreads, log_sums_of, sum_of_logs
from bayesbox.tally.grid import Grid
from bayesbox.tally.moments import Moments
from bayesbox.tally.spread_table import SpreadTable

COMMON = Fraction(1, 100)  # zero is separate if more than this share of a column is zero
ZERO_ROWS = 2  # the weight of the prior of P(zero), in rows
LOG_ODDS = math.log(20)  # by how much the log marginal likelihood must favour the log scale
LAST_WHOLE = 2.0**53  # doubles below it hold every integer
NO_ROWS = 0.1  # the weight of the class without rows
LOG_OWN, LOG_COMMON = math.log1p(-NO_ROWS), math.log(NO_ROWS)


def mixed(logs: Doubles) -> Doubles:
    """log(0.9 exp(own) + 0.1 exp(common)); the common one is the last along the last axis."""
    return log_sum(LOG_OWN + logs[..., :-1], LOG_COMMON + logs[..., -1:])


class HeightTerms(NamedTuple):
    """The terms added to the logs of ratios: columns x (classes and the one without rows), and one row of that.

    And log P(x = 0 | class) of each column, which counts where zero is apart.
    """

    log_rest: Doubles
    at_loc: Doubles
    own: Doubles
    zeros: Doubles


class ZeroCounts(NamedTuple):
    """The number of values of each class, and of zeros among them."""

    n: Doubles
    zeros: Doubles


class Shapes(NamedTuple):
    """The chosen shapes of some columns, and their data: arrays of columns, or columns x classes.

    The spreads are all 0 if all non-zero values are equal.
    """

    apart: NDArray[np.bool_]
    is_log: NDArray[np.bool_]
    counts: ZeroCounts
    base: Doubles  # the mean of the column on the chosen scale: base + low
    low: Doubles
    spreads: ClassSpreads
    has_t: NDArray[np.bool_]

    @classmethod
    def of(cls, tallies: Sequence[Grid], table: SpreadTable) -> Shapes:
        """The shapes of columns whose values differ; `table` is that of their moments."""
        n = table.n[:, :-1]
        least, zeros = _core.signs_of_grids([tally.grid for tally in tallies], n.shape[1])
        apart = _are_common(zeros.sum(axis=1), n.sum(axis=1))
        some_zero: NDArray[np.bool_] = np.any(zeros, axis=1)
        rest = _without_zeros(tallies, table, some_zero)
        is_log, logs, means = _log_scale(tallies, rest, least)
        apart = np.where(is_log, some_zero, apart)
        values = SpreadTable(*(_chosen(apart, *each) for each in zip(rest, table, strict=True)))
        plain = spreads_of_table(values)
        pairs = zip(logs, plain, strict=True)
        spreads = ClassSpreads(*(_chosen(is_log, np.asarray(one), np.asarray(other)) for one, other in pairs))
        has_t = is_log | values.has_spread()
        base = np.where(is_log, means, values.mean[:, -1])
        low = np.where(is_log | ~has_t, 0.0, values.mean_low[:, -1])
        return cls(apart, is_log, ZeroCounts(n, zeros), base, low, spreads, has_t)

    def log_shares(self) -> tuple[Doubles, Doubles]:
        """log P(x = 0 | class) and log P(x != 0 | class) of each column."""
        with_zero, without = (log_shares(*self.counts, apart=apart) for apart in (True, False))
        return _chosen(self.apart, with_zero[0], without[0]), _chosen(self.apart, with_zero[1], without[1])

    def student(self) -> tuple[StudentShape, Doubles]:
        """The t of each class and of one without rows, and the weight of the shared mean; all zeros without a t."""
        n, distance, std, unit = (np.asarray(each)[self.has_t] for each in self.spreads)
        columns, classes = self.spreads.n.shape
        shift, scale, df = np.zeros((3, columns, classes + 1))
        fitted, mean_rows = ClassSpreads(n, distance, std, unit), np.zeros((columns, 1))
        mean_rows[self.has_t] = fitted.mean_rows()
        loc, scale[self.has_t], df[self.has_t] = fitted.students(mean_rows[self.has_t])
        shift[self.has_t] = self.low[self.has_t, None] + loc
        return StudentShape(shift, scale, df), mean_rows[:, 0]

    def cells(self, tallies: Sequence[Grid], spread: StudentShape, added: HeightTerms) -> list[_core.CellRuns]:
        """The runs of cells of each column that has a t."""
        rows = np.flatnonzero(self.has_t)
        grids = [tallies[row].grid for row in rows.tolist()]
        with_zeros, is_log = (each[rows].astype(np.float64) for each in (~self.apart, self.is_log))
        shift, scale, df = (each[rows] for each in spread)
        log_rest, at_loc, zeros = (each[rows] for each in (added.log_rest, added.at_loc, added.zeros))
        base = self.base[rows]
        return _core.cell_runs(grids, with_zeros, shift, scale, df, base, is_log, log_rest, at_loc, added.own, zeros)


def _chosen(which: NDArray[np.bool_], one: Doubles, other: Doubles) -> Doubles:
    """One or the other, column by column."""
    return np.where(which if one.ndim == 1 else which[:, None], one, other)


def _without_zeros(tallies: Sequence[Grid], table: SpreadTable, some: NDArray[np.bool_]) -> SpreadTable:
    """The table of the non-zero values; some columns have zeros."""
    places = np.flatnonzero(some)
    if not len(places):
        return table
    rest = SpreadTable(*(each.copy() for each in table))
    without = SpreadTable.of(moments_without_zeros([tallies[place] for place in places.tolist()]))
    for each, found in zip(rest, without, strict=True):
        each[places] = found
    return rest


def _log_scale(
    tallies: Sequence[Grid], rest: SpreadTable, least: NDArray[np.int32]
) -> tuple[NDArray[np.bool_], ClassSpreads, Doubles]:
    """Which columns are fitted on the log scale, their spreads there, and their means."""
    columns, classes = rest.n.shape[0], rest.n.shape[1] - 1
    possible = rest.has_spread() & (least >= 0)
    n, distance, std = np.zeros((3, columns, classes))
    spreads = ClassSpreads(n, distance, std, np.zeros((columns, 1)))
    means, wins = np.zeros(columns), np.zeros(columns, dtype=bool)
    places = np.flatnonzero(possible)
    if len(places):
        by_class, whole = log_sums_of([tallies[place] for place in places.tolist()])
        logs = log_spreads(by_class, whole)
        for each, found in zip(spreads, logs, strict=True):
            np.asarray(each)[places] = found
        means[places] = whole.mean[:, 0]
        plain = spreads_of_table(SpreadTable(*(each[places] for each in rest)))
        wins[places] = log_wins(plain.log_evidence(), logs, whole)
    return wins, spreads, means


def _are_common(zeros: Doubles, n: Doubles) -> NDArray[np.bool_]:
    """`is_common` of each column; False without zeros."""
    found: NDArray[np.bool_] = zeros > 0
    with np.errstate(over="ignore"):
        over, under = COMMON.denominator * zeros, COMMON.numerator * n
    exact = (np.trunc(zeros) == zeros) & (np.trunc(n) == n) & (np.maximum(over, under) < LAST_WHOLE)
    found &= ~exact | (over > under)
    for row in np.flatnonzero(found & ~exact).tolist():
        found[row] = is_common(Fraction(zeros[row]), Fraction(n[row]))
    return found


def is_common(zeros: Fraction, n: Fraction) -> bool:
    """Whether zero is separate on any scale."""
    return zeros > COMMON * n


def without_zeros(tally: Grid) -> Moments:
    """The moments of the non-zero values: zeros add nothing to a sum."""
    return moments_without_zeros([tally])[0]


def moments_without_zeros(tallies: Sequence[Grid]) -> list[Moments]:
    """The same of many columns."""
    sums = _core.moments_without_zeros([tally.sums for tally in tallies], [tally.grid for tally in tallies])
    return [Moments(tally.classes, own) for tally, own in zip(tallies, sums, strict=True)]


def log_wins(plain: Doubles, logs: ClassSpreads, whole: LogSums) -> Any:
    """Whether the marginal likelihood on the log scale is 20 times as large; one answer, or one per row."""
    return logs.log_evidence() - sum_of_logs(whole)[..., 0] > plain + LOG_ODDS


def log_shares(n: Doubles, zeros: Doubles, *, apart: bool) -> tuple[Doubles, Doubles]:
    """log P(x = 0 | class) and log P(x != 0 | class) with a class of no rows; classes, or rows x classes."""
    nothing = np.zeros((*n.shape[:-1], 1))
    n, zeros = np.concatenate([n, nothing], axis=-1), np.concatenate([zeros, nothing], axis=-1)
    if not apart:
        return np.full(n.shape, -np.inf), np.zeros(n.shape)
    share = zeros.sum(axis=-1, keepdims=True) / n.sum(axis=-1, keepdims=True)
    under = log(n + ZERO_ROWS)
    return log(zeros + ZERO_ROWS * share) - under, log(n - zeros + ZERO_ROWS * (1 - share)) - under


@dataclass(frozen=True, eq=False)
class RobustColumns:
    """The fields of robust densities that were fitted together, one entry per column in each."""

    log_zero: Doubles
    log_rest: Doubles
    is_log: list[bool]
    base: list[float]
    shift: Doubles
    scale: Doubles
    df: Doubles
    mean_rows: list[float]

    def fields(self, row: int) -> dict[str, Any]:
        """The fields of one density."""
        return {name: getattr(self, name)[row] for name in FITTED}

    def compiled(self, some: Sequence[Any], /) -> tuple[object, ...]:
        return "cells", tuple([each.column for each in some]), tuple([each._cells for each in some])


FITTED = tuple(each.name for each in fields(RobustColumns))
