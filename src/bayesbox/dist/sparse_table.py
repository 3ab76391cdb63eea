"""The distribution of a category with mostly zero counts: rows of the table are computed on request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist.base import Columns, Doubles, Plan, ignored_where_impossible
from bayesbox.dist.cells import MISSING, UNSEEN, Cells, Smoothing, log_ratio, ratio
from bayesbox.dist.fit import FitOptions
from bayesbox.dist.table import Table
from bayesbox.schema.encode import encode
from bayesbox.tally.base import positions
from bayesbox.tally.room import require_room_for_table
from bayesbox.tally.sparse_counts import CELLS_A_PIECE, SparseCounts

if TYPE_CHECKING:
    from bayesbox.dist.learned import LearnedTable
    from bayesbox.tally.book import Book


class SparseTable(Table):
    """The same as `Table`, to the bit; log P(level | class) is computed for the levels in the given rows.

    Operations on the whole table (an export, a nomogram) are an error if they would take too much memory.
    """

    _counts: SparseCounts
    _rule: Smoothing
    _totals: Doubles  # of each class, including missing values if they are a level
    _size: int  # K
    _place: NDArray[np.int64]  # of each level among the counted ones

    def __init__(
        self,
        column: str,
        levels: tuple[str, ...],
        counts: SparseCounts,
        rule: Smoothing,
        totals: Doubles,
        size: int,
        *,
        missing: Doubles | None,
        unseen: str,
    ) -> None:
        classes = len(counts.classes)
        given: dict[str, Any] = {
            "column": column,
            "levels": levels,
            "groups": (),
            "unseen_is_error": unseen == "error",
            "_counts": counts,
            "_rule": rule,
            "_totals": totals,
            "_size": size,
            "_place": positions(levels, counts.levels),
        }
        for name, value in given.items():
            object.__setattr__(self, name, value)
        never = self._logs(np.zeros((classes, 1)), [UNSEEN])[0]
        there = np.zeros(classes) if missing is None else self._logs(missing[:, None], [MISSING])[0]
        object.__setattr__(self, "log_unseen", np.zeros(classes) if unseen == "ignore" else never)
        object.__setattr__(self, "log_missing", there)

    @classmethod
    def fit(cls, column: str, tally: Any, options: FitOptions) -> Self:
        observed = tally.totals()
        missing = options.missing_counts(observed)
        domain = options.domain
        levels = tally.levels if set(domain) <= set(tally.levels) else tuple(sorted({*tally.levels, *domain}))
        rows = None if missing is None else missing.to_doubles()
        totals = observed.to_doubles() if rows is None else observed.to_doubles() + rows
        size = len(levels) + (rows is not None)
        return cls(column, levels, tally, options.smoothing, totals, size, missing=rows, unseen=options.unseen)

    def _logs(self, counts: Doubles, names: list[Any]) -> Doubles:
        """The logs, levels x classes, from counts of classes x these levels."""
        cells = Cells(counts, self._totals, self._size, names)
        return np.ascontiguousarray(ignored_where_impossible(log_ratio(ratio(self._rule, cells)).T))

    def rows(self, places: NDArray[np.int64]) -> Doubles:
        """log P(level | class) of the levels at these positions, levels x classes."""
        names = [self.levels[place] for place in places.tolist()]
        return self._logs(self._counts.of_levels(self._place[places]), names)

    @property
    def log_p(self) -> Doubles:
        """The whole table; an error if it would take too much memory."""
        require_room_for_table(self.classes, len(self.levels))
        return self.rows(np.arange(len(self.levels)))

    def row(self, level: str | None) -> Doubles:
        if level is None:
            return self.log_missing
        index = self.position.get(level)
        return self.log_unseen if index is None else self.rows(np.array([index]))[0]

    def learned(self, book: Book, options: FitOptions, most: int | None) -> Iterator[LearnedTable]:  # noqa: ARG002
        """The most common levels, computed separately."""
        from bayesbox.dist.learned import LearnedTable, level_rows, most_common_places

        common = np.zeros(len(self.levels))
        known = self._place >= 0
        common[known] = self._counts.by_level().to_doubles()[self._place[known]]
        places = most_common_places(common, most)
        require_room_for_table(self.classes, len(places))
        titles = [f"P({self.column}={self.levels[place]} | class)" for place in places.tolist()]
        yield LearnedTable(self.column, level_rows(titles, self.rows(places), None), len(self.levels) - len(places))

    def add_to(self, plan: Plan, columns: Columns) -> None:
        column = columns.get(self.column)
        if column is None:
            plan.add_constant(self.log_missing)
            return
        coded = encode(column)
        there = np.array(coded.occurring(), dtype=np.int64)  # a slice may have the levels of the whole column
        levels = [coded.levels[code] for code in there.tolist()]
        if self.unseen_is_error:
            self._require_seen(levels)
        require_room_for_table(plan.classes, len(levels))
        new = np.full(len(coded.levels) + 1, -1, dtype=np.int32)  # the last entry is for code -1
        new[there] = np.arange(len(there))
        plan.tables.append((new[coded.codes], self._rows_of(levels)))

    def _rows_of(self, levels: list[str]) -> Doubles:
        """The rows of these levels and then of a missing value; computed a few at a time to save memory."""
        rows = np.empty((len(levels) + 1, self.classes))
        rows[-1] = self.log_missing
        step = max(CELLS_A_PIECE // max(self.classes, 1), 1)
        for first in range(0, len(levels), step):
            place = np.array([self.position.get(level, -1) for level in levels[first : first + step]], dtype=np.int64)
            piece = rows[first : first + len(place)]
            piece[:] = self.log_unseen
            piece[place >= 0] = self.rows(place[place >= 0])
        return rows

    def __repr__(self) -> str:
        return f"SparseTable({self.column!r}, {len(self.levels):,} levels x {self.classes:,} classes)"
