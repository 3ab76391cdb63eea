"""The leave-one-out robust density of rows."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist import functions
from bayesbox.dist.base import Doubles
from bayesbox.dist.leave_one_out import Others, others_of
from bayesbox.dist.number.cell_tree import CellTree, Places, StudentShape, keys_of
from bayesbox.dist.number.conjugate import ClassSpreads
from bayesbox.dist.number.log_cells import LogSums, log_cells, log_spreads, log_sums
from bayesbox.dist.number.robust_shape import (
    ZeroCounts,
    is_common,
    log_shares,
    log_wins,
    mixed,
    without_zeros,
)
from bayesbox.dist.number.student import log_student
from bayesbox.errors import NeverLearned
from bayesbox.tally.grid import Grid
from bayesbox.tally.moments import Moments

LOST = 1e-6  # the fraction of a column's squares that must remain for floats to be accurate

Flags = NDArray[np.bool_]


def require_learned(tally: Grid, values: Doubles, target: NDArray[np.int32]) -> None:
    """Raise an error for rows whose cell has no count in their class."""
    cell = _core.grid_cells(values)
    there = np.flatnonzero(~np.isnan(values))
    known = tally.grid.label.astype(np.int64) << 16 | (tally.grid.cell + 32768)
    wanted = target[there].astype(np.int64) << 16 | (cell[there] + 32768)
    place = np.minimum(np.searchsorted(known, wanted), max(len(known) - 1, 0))
    counts = tally.grid.counts.to_doubles()
    unknown = (known[place] != wanted) | (counts[place] < 1) if len(known) else np.ones(len(there), dtype=bool)
    if unknown.any():
        raise NeverLearned(
            "some of these rows were never learned: a value has no count in its class",
            found=float(values[there[int(np.argmax(unknown))]]),
            remedy="Leave-one-out needs the rows that the model was trained on",
        )


class ChosenShapes(NamedTuple):
    """The shapes chosen without each row: the scale, and whether zero is separate."""

    is_log: Flags
    zero_apart: Flags
    doubtful: Flags  # rows that need a refit


class HeldOutCells:
    """The densities of rows, each under the counts and moments of all other rows."""

    def __init__(self, tally: Grid, values: Doubles, target: NDArray[np.int32]) -> None:
        self.tally = tally
        self.values = values
        self.target = target
        self.rows = np.arange(len(values))
        self.is_zero: Flags = values == 0

    def terms(self, *, is_log: bool, zero_apart: bool, has_t: bool) -> tuple[Doubles, Flags]:
        """The log-densities, rows x classes, and which rows need a refit.

        The shape is that of all rows. If the other rows choose another, the density has that shape.
        """
        chosen = self._chosen(is_log=is_log, zero_apart=zero_apart)
        terms = np.zeros((len(self.values), len(self.tally.classes)))
        doubtful = chosen.doubtful.copy()
        for log_scale, apart_here in {(is_log, zero_apart), *zip(chosen.is_log, chosen.zero_apart, strict=True)}:
            rows = np.flatnonzero((chosen.is_log == log_scale) & (chosen.zero_apart == apart_here))
            part = (
                self if len(rows) == len(self.rows) else HeldOutCells(self.tally, self.values[rows], self.target[rows])
            )
            terms[rows], unsure = part._of_shape(is_log=bool(log_scale), zero_apart=bool(apart_here), has_t=has_t)
            doubtful[rows] |= unsure
        return terms, doubtful

    def _of_shape(self, *, is_log: bool, zero_apart: bool, has_t: bool) -> tuple[Doubles, Flags]:
        """The same for rows whose other rows choose this shape."""
        doubtful: Flags = np.zeros(len(self.values), dtype=bool)
        counts = self._counts()
        with np.errstate(invalid="ignore", divide="ignore"):  # of a class without other rows
            log_zero, log_rest = log_shares(*counts, apart=zero_apart)
        terms = np.zeros_like(log_rest)
        if has_t:
            found, unsure = self._log_terms() if is_log else self._plain_terms(zero_apart)
            terms, doubtful = terms + found, doubtful | unsure
        terms = np.where(self.is_zero[:, None] & zero_apart, log_zero, terms + log_rest)
        return mixed(terms), doubtful

    def _counts(self) -> ZeroCounts:
        """The counts of the other rows, rows x classes."""
        n = np.tile(self.tally.sums.n.to_doubles(), (len(self.values), 1))
        zeros = np.tile(self.tally.zeros().to_doubles(), (len(self.values), 1))
        n[self.rows, self.target] -= 1
        zeros[self.rows, self.target] -= self.is_zero
        return ZeroCounts(n, zeros)

    def _chosen(self, *, is_log: bool, zero_apart: bool) -> ChosenShapes:
        """The shapes that the other rows of each row choose."""
        zeros = float(self.tally.zeros().to_doubles().sum())
        n = float(self.tally.sums.n.to_doubles().sum())
        without = [is_common(Fraction(max(zeros - own, 0)), Fraction(n - 1)) for own in (0, 1)]
        common: Flags = np.where(self.is_zero, without[1], without[0])
        logs: Flags = np.full(len(self.values), is_log)
        doubtful: Flags = self.is_zero & (zeros <= 1)
        negative = self.tally.grid.cell < 0
        if negative.any():
            doubtful |= (self.values < 0) & (self.tally.grid.counts.to_doubles()[negative].sum() <= 1)
        if without_zeros(self.tally).pooled().excess.m == 0:  # all non-zero values are equal: there is no t
            doubtful |= (common != zero_apart) | (~self.is_zero & (n - zeros <= 1))
            return ChosenShapes(logs, np.full(len(self.values), zero_apart), doubtful)
        if not negative.any():
            logs, unsure = self._log_scale(is_log)
            doubtful |= unsure
        return ChosenShapes(logs, np.where(logs, zeros > 0, common), doubtful)

    def _log_scale(self, is_log: bool) -> tuple[Flags, Flags]:
        """Where the marginal likelihood of the other rows favours the log scale, and where floats are too coarse."""
        others = self._others(zero_apart=True)
        spreads = ClassSpreads(others.n, others.distance, others.std, others.whole_std)
        plain = spreads.log_evidence() - others.n.sum(axis=1) * functions.log(others.unit)
        logs, whole, unsure = self._log_spreads()
        chosen: Flags = np.where(self.is_zero | np.isnan(self.values), is_log, log_wins(plain, logs, whole))
        return chosen, others.doubtful | unsure

    def _others(self, *, zero_apart: bool) -> Others:
        values = np.where(self.is_zero, np.nan, self.values) if zero_apart else self.values
        moments = without_zeros(self.tally) if zero_apart else Moments(self.tally.classes, self.tally.sums)
        return others_of(moments, values, self.target)

    def _plain_terms(self, zero_apart: bool) -> tuple[Doubles, Flags]:
        others = self._others(zero_apart=zero_apart)
        spreads = ClassSpreads(others.n, others.distance, others.std, others.whole_std)
        spread = StudentShape(*spreads.students(spreads.mean_rows()))
        terms = log_student(others.x, *spread) - functions.log(others.unit)
        values = np.where(others.present, self.values, 0.0)

        places = Places(values, np.ascontiguousarray(others.x[:, 0]), others.unit)
        terms += self._log_ratios(spread, places, others.present, zeros=not zero_apart)
        return terms, others.doubtful

    def _log_ratios(self, students: StudentShape, places: Places, present: Flags, *, zeros: bool) -> Doubles:
        """The factor of the t in the cell of each row, by the counts of the other rows."""
        tree = CellTree.of(self.tally, zeros=zeros)
        rows = np.flatnonzero(present)
        spread = StudentShape(*(each[rows] for each in students))
        keys = keys_of(_core.grid_cells(self.values[rows]))
        found = np.zeros((len(self.values), tree.classes + 1))
        here = Places(places.base[rows], places.origin[rows], places.unit)
        found[rows] = tree.log_ratios(keys, spread, here, self.target[rows])
        return found

    def _log_spreads(self) -> tuple[ClassSpreads, LogSums, Flags]:
        by_class, whole = log_sums(self.tally)
        there = self.values > 0
        middle, within = log_cells(np.where(there, _core.grid_cells(self.values), 1).astype(np.int32))
        left = LogSums(*(np.tile(each, (len(self.values), 1)) for each in by_class))
        own = (self.rows[there], self.target[there])
        taken = LogSums(*(each[own] for each in left)).without(middle[there], within[there])
        for each, part in zip(left, taken, strict=True):
            each[own] = part
        rest = LogSums(*(np.tile(each, (len(self.values), 1)) for each in whole))
        gone = rest.without(middle[:, None], within[:, None])
        rest = LogSums(*(np.where(there[:, None], one, other) for one, other in zip(gone, rest, strict=True)))
        unsure: Flags = there & ((rest.squares[:, 0] < LOST * whole.squares[0]) | (rest.n[:, 0] < 1))
        safe = LogSums(rest.n, rest.mean, np.where(unsure[:, None], 1.0, rest.squares))
        return log_spreads(left, safe), safe, unsure

    def _log_terms(self) -> tuple[Doubles, Flags]:
        spreads, whole, unsure = self._log_spreads()
        spread = StudentShape(*spreads.students(spreads.mean_rows()))
        there: Flags = self.values > 0
        x = functions.log(np.where(there, self.values, 1.0))[:, None]
        terms = log_student(x - whole.mean, *spread) - x

        places = Places(np.ascontiguousarray(whole.mean[:, 0]), np.zeros(len(x)), None)
        terms += self._log_ratios(spread, places, there, zeros=False)
        return terms, unsure
