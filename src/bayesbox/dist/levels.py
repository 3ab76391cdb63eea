"""The base of distributions of levels: a table of P(level | class) from counts, by a smoothing rule."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayesbox.dist import functions
from bayesbox.dist.base import Columns, Distribution, Doubles, LevelTable, Linear, Marks, ignored_where_impossible
from bayesbox.dist.cells import MISSING, UNSEEN, Cells, LevelCounts, Ratio, Smoothing, log_table, ratio
from bayesbox.dist.dirichlet import share_posteriors
from bayesbox.dist.factor import Factor, NoFactor, Number, divided, formula, given_value
from bayesbox.dist.fit import FitOptions, LevelTally
from bayesbox.dist.functions import log
from bayesbox.dist.leave_one_out import Flags, LeaveOneOutPlan
from bayesbox.errors import NotLinear
from bayesbox.schema.arrays import NumberArray
from bayesbox.schema.columns import Column
from bayesbox.schema.encode import encode
from bayesbox.schema.levels import label_values, natural_label_type
from bayesbox.tally.book import Book
from bayesbox.tally.counts import Counts

if TYPE_CHECKING:
    from bayesbox.dist.learned import LearnedTable


@dataclass(frozen=True)
class LevelDistribution(Distribution):
    """log P(level | class), levels x classes, and the rows for an unseen level and for a missing value.

    A row of zeros means that the column is ignored.
    """

    tally: ClassVar[type] = Counts
    looks_up_levels: ClassVar[bool] = True

    column: str
    levels: tuple[str, ...]
    log_p: Doubles
    log_unseen: Doubles
    log_missing: Doubles
    unseen_is_error: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def classes(self) -> int:
        return len(self.log_missing)

    @property
    def level_number(self) -> int:
        return len(self.levels) + bool(self.log_missing.any())

    @property
    def free_parameters(self) -> int:
        return (self.level_number - 1) * self.classes

    def parameters(self) -> dict[str, Doubles]:
        return dict(zip(self.levels, functions.exp(self.log_p), strict=True))

    def log_prob(self, values: Column) -> Doubles:
        return self.terms({self.column: values}, len(values))

    def level_table(self) -> LevelTable:
        return LevelTable(self.levels, self.log_p, self.log_missing)

    def sample(self, random: np.random.Generator, classes: NDArray[np.int64]) -> list[object]:
        shares, draws = self.level_table().shares(), random.random(len(classes))
        codes = np.empty(len(classes), dtype=np.int64)
        for label in range(shares.shape[1]):
            here = classes == label
            sums = np.cumsum(shares[:, label])
            places = np.searchsorted((sums / sums[-1]).tolist(), draws[here], side="right")
            codes[here] = np.minimum(places, len(shares) - 1)
        found: list[object] = label_values(self.levels, natural_label_type(self.levels))[codes].tolist()
        return found

    def row(self, level: str | None) -> Doubles:
        """The log-probabilities of one level (None: missing), one value per class."""
        raise NotImplementedError

    # -- from counts -----------------------------------------------------------------------------------------------

    @classmethod
    def fit(cls, column: str, tally: LevelTally, options: FitOptions) -> Self:
        """P(level | class) by the smoothing rule."""
        counts = options.level_counts(tally)
        log_p, log_unseen, log_missing = log_table(counts, options.smoothing)
        if options.unseen == "ignore":
            log_unseen = np.zeros_like(log_unseen)
        return cls(column, counts.levels, log_p, log_unseen, log_missing, options.unseen == "error")

    def averaged(self, tally: LevelTally, options: FitOptions, inclusion: float) -> tuple[Distribution, float]:
        from bayesbox.dist.averaging import level_shares, mixed_levels

        cells = options.level_counts(tally).as_cells().counts  # the last level is unseen
        size = cells.shape[1] - 1
        shares = level_shares(cells, options.smoothing, size, inclusion)
        mixed = mixed_levels(cells, options.smoothing, size, shares).T
        unseen = log(mixed[-1]) if options.unseen != "ignore" else np.zeros(self.classes)
        return replace(self, log_p=log(mixed[:-1]), log_unseen=unseen), float(shares.inside)

    # -- shown -----------------------------------------------------------------------------------------------------

    def marks(self) -> Marks:
        return Marks(self.levels, pa.array([*self.levels, None], pa.string()))

    def linear(self, one: int, zero: int) -> Linear:
        if len(self.levels) != 2:
            raise NotLinear(f"column `{self.column}` has {len(self.levels)} levels; a linear term has two")
        with np.errstate(invalid="ignore"):
            odds = self.log_p[:, one] - self.log_p[:, zero]
        return Linear({self.column: [float(odds[1] - odds[0])]}, float(odds[0]))

    def work(self, columns: Columns, book: Book, options: FitOptions) -> Iterator[Factor | NoFactor]:
        level = level_of(columns.get(self.column))
        if self.column in book:
            yield self._counted(level, options.level_counts(book[self.column]), options)
        else:
            yield self._given(level)

    def learned(self, book: Book, options: FitOptions, most: int | None) -> Iterator[LearnedTable]:
        """P(level | class) of each level, including declared ones without rows, as a count over a count."""
        from bayesbox.dist.learned import LearnedTable, counted_levels, level_rows

        counts = self.shown_counts(options.level_counts(book[self.column])) if self.column in book else None
        places, log_p = self._shown_levels(counts, most)
        names: list[object] = [self.levels[place] for place in places.tolist()]
        titles = [f"P({self.column}={name} | class)" for name in names]
        hidden = len(self.levels) - len(names)
        counted = None
        if counts is not None:
            whole, size = counts.with_missing(), counts.size
            where = places  # same levels as the counts
            if counts.missing is not None:
                names.append(MISSING)
                where = np.append(where, len(counts.levels))
            counted = counted_levels(whole, counts.classes, size, where, size, names, options.smoothing)
        if self.log_missing.any() or (counts is not None and counts.missing is not None):
            titles.append(f"P({self.column}=missing | class)")
            log_p = np.vstack([log_p, self.log_missing[None, :]])
        yield LearnedTable(
            self.column, level_rows(titles, log_p, counted, given=self.column not in book), hidden, self.describe()
        )

    def shown_counts(self, counts: LevelCounts) -> LevelCounts | None:
        """The counts behind its table, level by level; None if levels are estimated together."""
        return counts

    def _shown_levels(self, counts: LevelCounts | None, most: int | None) -> tuple[NDArray[np.int64], Doubles]:
        """The positions of the levels to show, and their rows."""
        from bayesbox.dist.learned import most_common_places

        common = functions.exp(self.log_p).sum(axis=1)
        if counts is not None:
            common = counts.as_cells().counts[:, : len(self.levels)].sum(axis=0)
        places = most_common_places(common, most)
        return places, self.log_p[places]

    def _given(self, level: str | None) -> Factor | NoFactor:
        """The factor of a table that was given, not counted."""
        row = self.row(level)
        if not row.any():
            return NoFactor(self.column, "" if level is None else f"{level} is unseen")
        given = [given_value(math.exp(value)) for value in row]
        return self._factor(level, [text for text, _ in given], [value for _, value in given])

    def _counted(self, level: str | None, counts: LevelCounts, options: FitOptions) -> Factor | NoFactor:
        """The factor of a level as a count over a count."""
        if level is None and counts.missing is None:
            return NoFactor(self.column)
        index = self._index(counts, level)
        if counts.names[index] is UNSEEN and options.unseen == "ignore":
            return NoFactor(self.column, f"{level} is unseen")
        cells, (over, under) = counts.as_cells(exact=True), counts.ratio(options.smoothing, exact=True)
        shares = [divided(over[c, index], under[c, index]) for c in range(counts.classes)]
        if not any(shares):
            return NoFactor(self.column, f"{level} has probability 0 in every class")
        formulas = [
            formula(cells.counts[c, index], cells.totals[c], over[c, index], under[c, index], options.smoothing)
            for c in range(counts.classes)
        ]
        one = Cells(cells.counts[:, [index]], cells.totals, cells.size, [counts.names[index]])
        column = Ratio(*(np.broadcast_to(part, cells.counts.shape)[:, [index]] for part in (over, under)))
        sure = tuple(row[0] for row in share_posteriors(one, column, options.smoothing))
        return replace(self._factor(level, formulas, shares), posteriors=sure)

    def _index(self, counts: LevelCounts, level: str | None) -> int:
        """The position of a level among the names; the last is for unseen levels."""
        names = counts.names
        if level is None:
            return names.index(MISSING)
        return names.index(level) if level in counts.levels else len(names) - 1

    def _factor(self, level: str | None, formulas: Sequence[str], values: Sequence[Number]) -> Factor:
        shown = "missing" if level is None else level
        return Factor(f"P({self.column}={shown} | class)", tuple(formulas), tuple(values))

    # -- leave one out ---------------------------------------------------------------------------------------------

    def leave_one_out(self, plan: LeaveOneOutPlan, columns: Columns, book: Book, options: FitOptions) -> None:
        column, counts = columns.get(self.column), options.level_counts(book[self.column])
        domain = self._lasting_levels(counts, options)
        counts, domain = self._left_out_counts(counts, domain)
        table = level_table(
            counts, options.smoothing, domain=(*domain, *options.smoothing.listed), unseen=options.unseen
        )
        table[counts.as_cells().counts[:, : counts.size].ravel() < 1] = np.nan  # no training row has this level
        self._add_by_class(plan, counts, table.reshape(counts.classes, counts.size, -1), column)
        if column is not None and options.missing_is_level and _total(book[self.column]) == 1:
            plan.doubtful |= encode(column).codes >= 0  # without its only value the column is ignored
        self._mark_last_other(plan, column, book, options)

    def leave_one_out_averaged(
        self, plan: LeaveOneOutPlan, columns: Columns, book: Book, options: FitOptions, inclusion: float
    ) -> None:
        from bayesbox.dist.averaging import terms_without

        column = columns.get(self.column)
        if column is None:
            return
        counts = options.level_counts(book[self.column])
        cells = counts.as_cells().counts[:, :-1]  # the last level is unseen
        gone_too = levels_of_one_row(counts, self._lasting_levels(counts, options))
        table = np.full((*cells.shape, counts.classes), np.nan)
        for size, there in ((counts.size, ~gone_too), (max(counts.size - 1, 1), gone_too)):
            if there.any():
                table[:, there] = terms_without(cells, there, options.smoothing, inclusion, size)
        if options.unseen == "ignore":
            table[:, gone_too] = 0.0
        table[cells < 1] = np.nan
        self._add_by_class(plan, counts, table, column)
        if counts.as_cells().counts.sum() <= 1:
            plan.doubtful |= encode(column).codes >= 0
        self._mark_last_other(plan, column, book, options)

    def _mark_last_other(self, plan: LeaveOneOutPlan, column: Column, book: Book, options: FitOptions) -> None:
        """Mark the only row with a different value: without it the column has a single value and is ignored."""
        if options.lasting is None:
            return
        counts = options.level_counts(book[self.column])
        possible = options.possible_levels(counts)
        if possible.sum() != 2:
            return
        single = possible & (counts.as_cells().counts[:, : counts.size].sum(axis=0) == 1)
        if not single.any():
            return
        alone = [*single.tolist(), False]  # the last is for an unseen level
        missing = counts.missing is not None and alone[self._index(counts, None)]
        if column is None:
            plan.doubtful |= missing
            return
        codes, levels, _ = encode(column)
        plan.doubtful |= np.array([*(alone[self._index(counts, level)] for level in levels), missing])[codes]

    def _lasting_levels(self, counts: LevelCounts, options: FitOptions) -> tuple[str, ...]:  # noqa: ARG002
        """The levels that stay even if no row has them."""
        return options.kind.domain

    def _left_out_counts(self, counts: LevelCounts, domain: tuple[str, ...]) -> tuple[LevelCounts, tuple[str, ...]]:
        """The counts to subtract a row from, and the levels that stay."""
        return counts, domain

    def _add_by_class(self, plan: LeaveOneOutPlan, counts: LevelCounts, table: Doubles, column: Column) -> None:
        """Add a table by class for the existing codes of the column, without encoding it again."""
        unknown = np.full((counts.classes, 1, plan.classes), np.nan)
        missing = table[:, len(counts.levels) :] if counts.missing is not None else np.zeros_like(unknown)
        rows = np.concatenate([table[:, : len(counts.levels)], missing, unknown], axis=1)
        codes, lowest, place = self._places(counts, column, plan.rows)
        wanted = rows[:, place].reshape(-1, plan.classes)
        plan.by_class.append((codes, lowest, np.vstack([wanted, unknown[0]])))

    def _places(self, counts: LevelCounts, column: Column, rows: int) -> tuple[NumberArray, int, list[int]]:
        """(codes, lowest code, the position of the level of each code; missing after the levels, unknown last)."""
        missing = len(counts.levels)
        if column is None:
            return np.zeros(rows, dtype=np.int8), 0, [missing]
        position = self._positions(counts)
        if isinstance(column, np.ndarray) and column.dtype.kind in "iub":
            lowest, width = self.integer_range
            if width:
                return column, lowest, [position.get(str(value), -1) for value in range(lowest, lowest + width)]
        codes, levels, _ = encode(column)
        codes = np.where(codes < 0, len(levels), codes).astype(np.int32)
        return codes, 0, [*(position.get(self._spelled(level), -1) for level in levels), missing]

    def _positions(self, counts: LevelCounts) -> dict[str, int]:
        """The position of each level in the counts."""
        return {level: index for index, level in enumerate(counts.levels)}

    def _spelled(self, level: str) -> str:
        """A level in the spelling of `_positions`."""
        return level

    @property
    def integer_range(self) -> tuple[int, int]:
        """For levels that are all integers in a narrow range: the lowest, and the size of the range."""
        return 0, 0


def level_of(column: Column) -> str | None:
    """The level of the first row; None if it is missing."""
    if column is None:
        return None
    codes, levels, _ = encode(column[0:1])
    return None if codes[0] < 0 else levels[codes[0]]


def _total(tally: LevelTally) -> float:
    """The number of values of a column."""
    _, _, observed = tally.level_cells()
    return float(observed.to_doubles().sum())


def level_table(counts: LevelCounts, rule: Smoothing, *, domain: tuple[str, ...], unseen: str = "smooth") -> Doubles:
    """For each class and level of a held-out row, the log-probabilities of that level in all classes.

    (classes * levels) x classes. A level that occurred once disappears with its row, and K decreases, unless it is
    declared or named by the rule.
    """
    cells = counts.as_cells()
    classes, width = counts.classes, counts.size
    table = np.empty((classes, width, classes))
    gone_too = levels_of_one_row(counts, domain)
    size = np.where(gone_too, counts.size - 1, counts.size)
    for gone in range(classes):
        left, totals = cells.counts[:, :width].copy(), np.tile(cells.totals[:, None], (1, width))
        left[gone] = np.maximum(left[gone] - 1, 0)
        totals[gone] = np.maximum(totals[gone] - 1, 0)
        over, under = ratio(rule, Cells(left, totals, size, counts.names[:width]))
        table[gone] = ignored_where_impossible((log(over) - log(under)).T)
        if unseen == "ignore":
            table[gone, gone_too] = 0.0
    return table.reshape(classes * width, classes)


def levels_of_one_row(counts: LevelCounts, domain: tuple[str, ...]) -> Flags:
    """Which levels disappear with their only row; those of the domain stay, and so does missing."""
    once = counts.as_cells().counts[:, : counts.size].sum(axis=0) == 1
    kept = np.array([name in domain or not isinstance(name, str) for name in counts.names[: counts.size]], dtype=bool)
    found: Flags = once & ~kept
    return found
