"""Counts of numbers in the cells of a fixed grid by class, for densities that need the shape of a column.

A cell has the doubles that share sign, exponent and the first three bits of the mantissa, so its width is an eighth of
a power of two: from 1 to below 1.125, from 1.125 to below 1.25, ..., from 2 to below 2.25. Zero is a separate cell. The
cells are the same for every column and do not depend on the values, so rows add up to the same grid in any order, and
can be subtracted.
"""

from __future__ import annotations

import copyreg
import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox._core import ExactArray, GridCounts
from bayesbox.schema.arrays import CountArray, NumberArray
from bayesbox.tally.base import Impossible, Index, numbers, positions, quoted, register, union
from bayesbox.tally.moments import Moments

if TYPE_CHECKING:
    from bayesbox.tally.book import Book

LAST_CELL = 16_376  # of the largest double; its negative is the first one
NO_CELL = -32_768  # of NaN
CELL_BITS = 49  # of a double that its cell does not fix

Doubles = NDArray[np.float64]
Cells = NDArray[np.int32]


def _reduce_counts(grid: GridCounts) -> tuple[type[GridCounts], tuple[Cells, Cells, ExactArray]]:
    return GridCounts, (grid.label, grid.cell, grid.counts)


copyreg.pickle(GridCounts, _reduce_counts)


def sorted_counts(label: Cells, cell: Cells, counts: ExactArray) -> GridCounts:
    """The counts sorted by class and cell, with equal cells added and empty ones dropped."""
    keys, place = np.unique(label.astype(np.int64) << 16 | (cell - NO_CELL), return_inverse=True)
    total = counts.sum_groups(place.astype(np.int64), len(keys))
    kept = np.flatnonzero(total.signs())
    keys = keys[kept]
    return GridCounts((keys >> 16).astype(np.int32), ((keys & 0xFFFF) + NO_CELL).astype(np.int32), total.take(kept))


def relabelled(grid: GridCounts, place: Index) -> GridCounts:
    """The counts with class k renumbered to `place[k]`; those with a negative place are dropped."""
    label = place[grid.label]
    kept = np.flatnonzero(label >= 0)
    return sorted_counts(label[kept].astype(np.int32), grid.cell[kept], grid.counts.take(kept))


def no_cells() -> GridCounts:
    """The counts of no rows."""
    nothing = np.empty(0, dtype=np.int32)
    return GridCounts(nothing, nothing, ExactArray(0))


@register
class Grid(Moments):
    """Counts of the cells of a fixed grid by class, in addition to the exact moments.

    >>> pay = Grid.of(("H", "L"), np.array([0.0, 1, 1.1, -3, 0, 0]), np.array([0, 0, 0, 0, 1, 1], dtype=np.int32))
    >>> pay.cells, pay.counts_of_cells
    (array([-8197,     0,  8185], dtype=int32), array([[1, 1, 2], [0, 2, 0]]))
    >>> pay.share_of_zero(), pay.quantile(0.5)
    (array([0.25, 1.  ]), (0.0, 0.0))
    >>> (pay + pay - pay) == pay, pay.n
    (True, array([4, 2]))
    """

    form: ClassVar[str] = "grid"
    members: ClassVar[tuple[str, ...]] = ("grid.arrow",)
    extends: ClassVar[str | None] = Moments.form

    def __init__(self, classes: tuple[str, ...], sums: _core.Moments, grid: GridCounts) -> None:
        self.classes = classes  # inlined from Moments: a table may have thousands of columns
        self.sums = sums
        self.grid = grid

    @classmethod
    def of(
        cls,
        classes: tuple[str, ...],
        values: NumberArray,
        target: NDArray[np.int32],
        weights: NDArray[np.float64] | None = None,
    ) -> Self:
        """The tally of one column."""
        return cls.of_columns(classes, [values], target, weights)[0]

    @classmethod
    def of_columns(
        cls,
        classes: tuple[str, ...],
        columns: list[NumberArray],
        target: NDArray[np.int32],
        weights: NDArray[np.float64] | None = None,
    ) -> list[Self]:
        """The tallies of some columns."""
        if weights is None:
            sums, grids = _core.count_grids(columns, target, len(classes))
        else:
            sums = _core.moments(columns, target, len(classes), weights)
            grids = [_weighted(values, target, weights) for values in columns]
        return [cls(classes, each, grid) for each, grid in zip(sums, grids, strict=True)]

    # -- statistics ----------------------------------------------------------------------------------------------

    @property
    def cells(self) -> Cells:
        """The cells with a count in some class, ascending."""
        return np.unique(self.grid.cell)

    @property
    def counts_of_cells(self) -> CountArray:
        """The counts, classes x cells: integers, or the nearest floats if weights are fractional."""
        cells = self.cells
        place = self.grid.label.astype(np.int64) * len(cells) + np.searchsorted(cells, self.grid.cell)
        table = self.grid.counts.sum_groups(place, len(self.classes) * len(cells))
        return numbers(table).reshape(len(self.classes), len(cells))

    def pooled_counts(self) -> CountArray:
        """The count of each cell over all classes."""
        cells = self.cells
        return numbers(self.grid.counts.sum_groups(np.searchsorted(cells, self.grid.cell), len(cells)))

    def zeros(self) -> ExactArray:
        """The number of zeros in each class."""
        there = np.flatnonzero(self.grid.cell == 0)
        return self.grid.counts.take(there).sum_groups(self.grid.label[there].astype(np.int64), len(self.classes))

    def share_of_zero(self) -> Doubles:
        """The share of zero among the values of each class; NaN for a class without a value."""
        with np.errstate(invalid="ignore"):
            return self.zeros().to_doubles() / self.sums.n.to_doubles()

    def quantile(self, share: float) -> tuple[float, float]:
        """The smallest and largest number of the cell that contains a quantile of all values."""
        counts = np.cumsum(self.pooled_counts())
        place = min(int(np.searchsorted(counts, share * counts[-1])), len(counts) - 1)
        low, high = edges(self.cells[[place]])
        return float(low[0]), float(high[0])

    def cell_range(self) -> tuple[float, float]:
        """The smallest number of the first non-empty cell, and the largest number of the last."""
        low, high = edges(self.cells[[0, -1]])
        return float(low[0]), float(high[1])

    def clipped(self, low: float, high: float) -> tuple[float, float]:
        """A range clipped to the non-empty cells.

        >>> ages = Grid.of(("a",), np.array([18.0, 30, 72]), np.zeros(3, dtype=np.int32))
        >>> ages.clipped(-40.0, 100.0)
        (18.0, 79.0)
        """
        least, most = self.cell_range()
        if not self.sums.fractional.signs().any():
            least, most = float(np.ceil(least)), float(np.floor(most))
        return min(max(low, least), most), max(min(high, most), least)

    # -- the algebra ---------------------------------------------------------------------------------------------

    def zero(self) -> Self:
        return self._built(self.classes, [ExactArray(len(self.classes)) for _ in range(4)])

    @classmethod
    def _built(cls, classes: tuple[str, ...], arrays: list[ExactArray]) -> Self:
        return cls(classes, _core.Moments(*arrays), no_cells())

    def _combined(self, other: Moments, *, sign: int) -> Self:
        assert isinstance(other, Grid)
        classes = union(self.classes, other.classes)
        mine, theirs = self.with_classes(classes).grid, other.with_classes(classes).grid
        sums = super()._combined(other, sign=sign).sums
        return type(self)(classes, sums, _core.add_grids(mine, theirs, sign))

    def with_classes(self, classes: tuple[str, ...]) -> Self:
        if classes == self.classes:
            return self
        sums = super().with_classes(classes).sums
        return type(self)(classes, sums, relabelled(self.grid, positions(self.classes, classes)))

    def is_empty(self) -> bool:
        return not len(self.grid) and super().is_empty()

    def impossible(self) -> Impossible | None:
        """The first cell with a negative count, or the first class with impossible sums."""
        below = np.flatnonzero(self.grid.counts.signs() < 0)
        if not len(below):
            return super().impossible()
        low, high = (float(each[0]) for each in edges(self.grid.cell[below[:1]]))
        value = "0" if low == high == 0 else f"a value from {low:.7g} to {high:.7g}"
        return Impossible(self.classes[self.grid.label[below[0]]], value)

    def canonical(self) -> Iterator[bytes]:
        names = _line_of_sorted(self.classes)
        lines = None if names is None else _core.grid_lines(names, self.sums, self.grid)
        if lines is not None:
            yield lines
            return
        yield from super().canonical()
        classes = tuple(sorted({self.classes[label] for label in np.unique(self.grid.label).tolist()}))
        grid = self.with_classes(classes).grid
        yield quoted(classes)
        yield grid.label.astype("<i4").tobytes()
        yield grid.cell.astype("<i4").tobytes()
        yield grid.counts.text()

    def __getstate__(self) -> dict[str, object]:
        return {**super().__getstate__(), "grid": self.grid}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.grid = state["grid"]

    def _headline(self) -> str:
        return f"Grid(classes={self.classes}, n={self.n.tolist()}, cells={len(self.cells)})"

    def _frame(self) -> Mapping[str, Sequence[object]]:
        return {**super()._frame(), "share of zero": self.share_of_zero().tolist()}

    @classmethod
    def to_arrow(cls, tallies: Mapping[str, Self]) -> dict[str, bytes]:
        from bayesbox.tally.codec.grid import write

        return write(cls, tallies)

    @classmethod
    def from_arrow(cls, tables: Mapping[str, bytes], book: Book) -> dict[str, Self]:
        from bayesbox.tally.codec.grid import read

        return read(cls, tables, book)


@functools.lru_cache(maxsize=4)
def _line_of_sorted(classes: tuple[str, ...]) -> bytes | None:
    """The line of the classes in a digest; None if they are not sorted."""
    return quoted(classes) if list(classes) == sorted(classes) else None


def _weighted(values: NumberArray, target: NDArray[np.int32], weights: NDArray[np.float64]) -> GridCounts:
    """The sums of the weights of one column."""
    cell = _core.grid_cells(values)
    there = np.flatnonzero((cell != NO_CELL) & (target >= 0) & (weights > 0))
    return sorted_counts(target[there], cell[there], ExactArray.from_doubles(weights[there]))


def edges(cells: Cells) -> tuple[Doubles, Doubles]:
    """The smallest and largest number of each cell.

    >>> edges(_core.grid_cells(np.array([1.0, -1.3, 0.0])))
    (array([ 1.   , -1.375,  0.   ]), array([ 1.125, -1.25 ,  0.   ]))
    """
    size = np.abs(cells).astype(np.int64)
    near = np.maximum((size - 1) << CELL_BITS, 1).view(np.float64)  # the number of the cell nearest to zero
    far = ((size << CELL_BITS) - 1).view(np.float64)
    low, high = np.where(cells > 0, near, -far), np.where(cells > 0, far, -near)
    return np.where(cells == 0, 0.0, low), np.where(cells == 0, 0.0, high)
