"""Sparse counts of levels by class: only non-zero cells are stored.

A table of 12,000 classes x 12,000 levels from 12,000 rows has 144 million cells, of which 12,000 are not zero.
Counting, adding, writing and comparing give the same as for a dense table, including the digest; operations on all
cells at once are an error if they would take too much memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayesbox._core import ExactArray
from bayesbox.schema.arrays import AnyArray
from bayesbox.tally.base import Index, digest_of, positions, quoted, union
from bayesbox.tally.counts import MOST_DENSE, Counts
from bayesbox.tally.room import require_room_for_table

FILLED = 16  # a table is sparse if fewer than one cell in this many is not zero
CELLS_A_PIECE = 1 << 20  # processed at a time when all are needed


def is_sparse(cells: int, filled: int) -> bool:
    """Whether a table with this many cells and non-zero cells is better stored as sparse."""
    return cells > MOST_DENSE and filled * FILLED < cells


class SparseCounts(Counts):
    """The same as `Counts`, by non-zero cells: `place` has their positions, ascending and class-major.

    >>> rows = np.arange(2000, dtype=np.int32)
    >>> names = tuple(f"{row:04}" for row in rows)
    >>> tally = SparseCounts.of_rows(names, names, rows, rows)
    >>> tally, (tally + tally) - tally == tally
    (SparseCounts(2,000 classes, 2,000 levels, 2,000 cells), True)
    """

    sparse: ClassVar[bool] = True

    def __init__(self, classes: tuple[str, ...], levels: tuple[str, ...], place: Index, some: ExactArray) -> None:
        self.classes = classes
        self.levels = levels
        self.place = place
        self.some = some

    @classmethod
    def of_rows(
        cls,
        classes: tuple[str, ...],
        levels: Sequence[str],
        codes: AnyArray,
        target: NDArray[np.int32],
        weights: NDArray[np.float64] | None = None,
    ) -> Counts:
        """The tally of rows, from the code of each row's level, in any order, and its class; -1 drops a row."""
        wide = codes.astype(np.int64)
        kept = (wide >= 0) & (wide < len(levels)) & (target >= 0)
        keys = target[kept].astype(np.int64) * len(levels) + wide[kept]
        one_each = None if weights is None else ExactArray.from_doubles(np.ascontiguousarray(weights[kept]))
        return _gathered(classes, levels, keys, one_each)

    @property
    def cells(self) -> ExactArray:  # type: ignore[override]
        """All cells, class-major; an error if they would take too much memory."""
        require_room_for_table(len(self.classes), len(self.levels))
        return self._piece(0, len(self.classes))

    def _piece(self, first: int, last: int) -> ExactArray:
        """All cells from one class to before another."""
        width = len(self.levels)
        start, stop = np.searchsorted(self.place, [first * width, last * width])
        spread = np.full((last - first) * width, -1, dtype=np.int64)
        spread[self.place[start:stop] - first * width] = np.arange(start, stop)
        return self.some.take(spread)

    def entries(self) -> tuple[Index, ExactArray]:
        return self.place, self.some

    def totals(self) -> ExactArray:
        return self.some.sum_groups(self.place // max(len(self.levels), 1), len(self.classes))

    def by_level(self) -> ExactArray:
        width = len(self.levels)
        return self.some.sum_groups(self.place % max(width, 1), width)

    def most_by_level(self) -> NDArray[np.float64]:
        most = np.zeros(len(self.levels))
        np.maximum.at(most, self.place % max(len(self.levels), 1), self.some.to_doubles())
        return most

    def of_levels(self, levels: Index) -> NDArray[np.float64]:
        """The counts as floats, classes x levels at these positions; -1 is a level that never occurred."""
        width = len(self.levels)
        found = np.zeros((len(self.classes), len(levels)))
        column = np.full(width + 1, -1, dtype=np.int64)
        known = levels >= 0
        column[levels[known]] = np.flatnonzero(known)
        label, level = np.divmod(self.place, max(width, 1))
        there = np.flatnonzero(column[level] >= 0)
        found[label[there], column[level[there]]] = self.some.take(there).to_doubles()
        return found

    def zero(self) -> Self:
        return type(self)(self.classes, (), np.empty(0, dtype=np.int64), ExactArray(0))

    def is_empty(self) -> bool:
        return len(self.place) == 0

    def is_possible(self) -> bool:
        return bool(np.all(self.some.signs() >= 0))

    def canonical(self) -> Iterator[bytes]:
        labels = np.unique(self.place // max(len(self.levels), 1)).tolist()
        ordered = self.with_classes(tuple(sorted(self.classes[label] for label in labels)))
        if not isinstance(ordered, SparseCounts):
            yield from ordered.canonical()
            return
        yield quoted(ordered.classes)
        yield quoted(ordered.levels)
        step = max(CELLS_A_PIECE // max(len(ordered.levels), 1), 1)
        for first in range(0, len(ordered.classes), step):
            yield ordered._piece(first, min(first + step, len(ordered.classes))).text()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        return digest_of(self.canonical()) == digest_of(other.canonical())

    __hash__ = None

    def _headline(self) -> str:
        return f"SparseCounts({len(self.classes):,} classes, {len(self.levels):,} levels, {len(self.place):,} cells)"


def moved_to(tally: Counts, classes: tuple[str, ...]) -> Counts:
    """The tally with these classes, in this order."""
    return _gathered(classes, tally.levels, *_moved(tally, classes, tally.levels))


def combined(one: Counts, other: Counts, *, sign: int) -> Counts:
    """one + sign * other; the result may be sparse."""
    classes, levels = union(one.classes, other.classes), union(one.levels, other.levels)
    mine, theirs = _moved(one, classes, levels), _moved(other, classes, levels)
    cells = ExactArray(len(mine[0]) + len(theirs[0]))
    cells.add(mine[1], np.arange(len(mine[0])))
    cells.add(theirs[1], np.arange(len(mine[0]), len(cells)), sign=sign)
    return _gathered(classes, levels, np.concatenate([mine[0], theirs[0]]), cells)


def _moved(tally: Counts, classes: tuple[str, ...], levels: tuple[str, ...]) -> tuple[Index, ExactArray]:
    """The entries of a tally repositioned to other classes and levels; those without a position are dropped."""
    place, some = tally.entries()
    label, level = np.divmod(place, max(len(tally.levels), 1))
    label, level = positions(tally.classes, classes)[label], positions(tally.levels, levels)[level]
    there = np.flatnonzero((label >= 0) & (level >= 0))
    if len(there) < len(place):
        label, level, some = label[there], level[there], some.take(there)
    return label * len(levels) + level, some


def _gathered(classes: tuple[str, ...], levels: Sequence[str], keys: Index, cells: ExactArray | None) -> Counts:
    """The tally of entries in any order, possibly repeated; without `cells` each entry is one row.

    Unused levels are dropped, and the others sorted.
    """
    if cells is None:
        place, counts = np.unique(keys, return_counts=True)
        some = ExactArray.from_integers(counts)
    else:
        place, group = np.unique(keys, return_inverse=True)
        some = cells.sum_groups(group.reshape(-1), len(place))
        kept = np.flatnonzero(some.signs())
        if len(kept) < len(place):
            place, some = place[kept], some.take(kept)
    width = max(len(levels), 1)
    label, level = np.divmod(place, width)
    there = np.unique(level).tolist()
    order = sorted(there, key=levels.__getitem__)
    names = tuple(levels[index] for index in order)
    if order != list(range(len(levels))):
        new = np.full(width, -1, dtype=np.int64)
        new[order] = np.arange(len(order))
        place = label * len(order) + new[level]
        if order != there:
            sorting = np.argsort(place, kind="stable")
            place, some = place[sorting], some.take(sorting)
    found = SparseCounts(classes, names, place, some)
    if is_sparse(len(classes) * len(names), len(place)):
        return found
    require_room_for_table(len(classes), len(names))
    return Counts(classes, names, found._piece(0, len(classes)))
