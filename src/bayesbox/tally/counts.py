"""Counts of levels by class: the tally of a Category or a Flag, and of the class labels themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayesbox._core import ExactArray
from bayesbox.display.result import Result
from bayesbox.file.reader import Reader
from bayesbox.schema.arrays import CountArray
from bayesbox.tally.base import Impossible, Index, added, class_column, numbers, positions, quoted, register, union

if TYPE_CHECKING:
    from bayesbox.file.reader import Json
    from bayesbox.tally.book import Book

MOST_DENSE = 1 << 20  # cells; up to this a table is dense, however empty it is


@register
class Counts(Result):
    """The count of each level in each class; with weights, the sum of the weights.

    >>> car = Counts(("H", "L"), ("sports", "suv"), ExactArray.from_integers(np.array([1, 2, 2, 0])))
    >>> car.counts
    array([[1, 2],
           [2, 0]])
    >>> (car + car).n, (car + car - car) == car
    (array([6, 4]), True)
    """

    form: ClassVar[str] = "counts"
    of_numbers: ClassVar[bool] = False
    members: ClassVar[tuple[str, ...]] = ("counts.arrow",)
    extends: ClassVar[str | None] = None
    together: ClassVar[bool] = False
    sparse: ClassVar[bool] = False
    """Whether only non-zero cells are stored: see `SparseCounts`."""
    unsorted: ClassVar[bool] = False
    """Whether its levels are not texts yet: see `UnsortedCounts`."""

    def __init__(self, classes: tuple[str, ...], levels: tuple[str, ...], cells: ExactArray) -> None:
        self.classes = classes
        self.levels = levels
        self.cells = cells  # class-major

    @classmethod
    def of(cls, classes: tuple[str, ...], levels: list[str], cells: ExactArray) -> Self:
        """The tally of levels given in any order: sorted, without those that never occurred."""
        width = len(levels)
        if width == 0:
            return cls(classes, (), ExactArray(0))
        present = np.any(cells.signs().reshape(len(classes), width), axis=0)  # 1 and -1 in two classes do not cancel
        if present.all() and levels == sorted(levels):
            return cls(classes, tuple(levels), cells)
        order = sorted(np.flatnonzero(present).tolist(), key=levels.__getitem__)
        kept = tuple(levels[index] for index in order)
        return cls(classes, kept, cells.take(_grid(len(classes), width, np.array(order, dtype=np.int64))))

    @property
    def counts(self) -> CountArray:
        """The counts, classes x levels: integers, or the nearest floats if weights are fractional."""
        return numbers(self.cells).reshape(len(self.classes), len(self.levels))

    @property
    def n(self) -> CountArray:
        """The rows of each class with a value."""
        return numbers(self.totals())

    @property
    def is_exact(self) -> bool:
        """Whether no value was rounded."""
        return True

    def by_class(self) -> list[dict[str, float]]:
        """The counts of each class, by name."""
        return [dict(zip(self.levels, row, strict=True)) for row in self.counts.tolist()]

    def level_cells(self) -> tuple[tuple[str, ...], ExactArray, ExactArray]:
        """The levels, their cells (class-major), and the number of values of each class."""
        return self.levels, self.cells, self.totals()

    def entries(self) -> tuple[Index, ExactArray]:
        """The positions of the non-zero cells, ascending, and these cells."""
        place = np.flatnonzero(self.cells.signs())
        return place, self.cells if len(place) == len(self.cells) else self.cells.take(place)

    def by_level(self) -> ExactArray:
        """The exact count of each level over all classes."""
        classes, width = len(self.classes), len(self.levels)
        return self.cells.sum_groups(np.tile(np.arange(width), classes), width)

    def most_by_level(self) -> NDArray[np.float64]:
        """The count of each level in the class where it is most frequent."""
        most: NDArray[np.float64] = self.cells.to_doubles().reshape(len(self.classes), len(self.levels)).max(axis=0)
        return most

    def totals(self) -> ExactArray:
        """The exact number of rows of each class with a value."""
        classes, width = len(self.classes), len(self.levels)
        return self.cells.sum_groups(np.repeat(np.arange(classes), width), classes)

    def zero(self) -> Self:
        return type(self)(self.classes, (), ExactArray(0))

    def __add__(self, other: Counts) -> Self:
        return self._combined(other, sign=1)

    def __sub__(self, other: Counts) -> Self:
        return self._combined(other, sign=-1)

    def _combined(self, other: Counts, *, sign: int) -> Self:
        if other.unsorted and sign == 1:
            return other._combined(self, sign=sign)  # type: ignore[return-value]
        if not other.levels:
            return self.with_classes(union(self.classes, other.classes))
        classes, levels = union(self.classes, other.classes), union(self.levels, other.levels)
        if self._may_be_sparse(other, len(classes) * len(levels)):
            from bayesbox.tally.sparse_counts import combined

            return combined(self, other, sign=sign)  # type: ignore[return-value]
        cells = added(self._spread(classes, levels), other._spread(classes, levels), sign=sign)
        return self.of(classes, list(levels), cells)

    def _may_be_sparse(self, other: Counts, cells: int) -> bool:
        """Whether the sum of two, which has this many cells, may be better stored as sparse."""
        if self.sparse or other.sparse:
            return True
        return cells > MOST_DENSE and type(self) is Counts and cells > 2 * max(len(self.cells), len(other.cells))

    def _spread(self, classes: tuple[str, ...], levels: tuple[str, ...]) -> ExactArray:
        if classes == self.classes and levels == self.levels:
            return self.cells
        rows, columns = positions(classes, self.classes), positions(levels, self.levels)
        index = rows[:, None] * len(self.levels) + columns[None, :]
        index[(rows < 0)[:, None] | (columns < 0)[None, :]] = -1
        return self.cells.take(index.ravel())

    def with_classes(self, classes: tuple[str, ...]) -> Self:
        if classes == self.classes:
            return self
        if self._may_be_sparse(self, len(classes) * len(self.levels)):
            from bayesbox.tally.sparse_counts import moved_to

            return moved_to(self, classes)  # type: ignore[return-value]
        return self.of(classes, list(self.levels), self._spread(classes, self.levels))

    def is_empty(self) -> bool:
        return not self.cells.signs().any()

    def is_possible(self) -> bool:
        return self.impossible() is None

    def impossible(self) -> Impossible | None:
        """The first level with a negative count."""
        places, cells = self.entries()
        negative = cells.signs() < 0
        if not negative.any():
            return None
        label, level = divmod(int(places[np.argmax(negative)]), len(self.levels))
        return Impossible(self.classes[label], self.levels[level])

    def fits(self, rows: ExactArray) -> bool:
        return bool(np.all(added(rows, self.totals(), sign=-1).signs() >= 0))

    def canonical(self) -> Iterator[bytes]:
        present = np.any(self.cells.signs().reshape(len(self.classes), len(self.levels)), axis=1).tolist()
        classes = tuple(sorted(name for name, some in zip(self.classes, present, strict=True) if some))
        seen = self.of(classes, list(self.levels), self._spread(classes, self.levels))
        yield quoted(classes)
        yield quoted(seen.levels)
        yield seen.cells.text()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        return list(self.canonical()) == list(other.canonical())

    __hash__ = None  # type: ignore[assignment]

    def _headline(self) -> str:
        return f"Counts(classes={self.classes}, levels={self.levels}, counts={self.counts.tolist()})"

    def _frame(self) -> Mapping[str, Sequence[object]]:
        by_class = zip(self.classes, self.counts.tolist(), strict=True)
        return {"level": list(self.levels), **{class_column(name, "level"): list(row) for name, row in by_class}}

    def to_json(self) -> Json:
        """The classes, the levels and the exact cells, for a separate JSON document."""
        cells = self.cells.text().decode("ascii").split()
        return {"classes": list(self.classes), "levels": list(self.levels), "cells": cells}

    @classmethod
    def from_json(cls, written: object, where: str) -> Self:
        """The tally in such a document; ValueError if it is not valid."""
        reader = Reader(written, where)
        classes, levels, cells = reader.texts("classes"), reader.texts("levels"), reader.texts("cells")
        reader.done()
        if list(levels) != sorted(set(levels)) or len(set(classes)) < len(classes):
            raise ValueError(f"{where}: a class is repeated, or the levels are not sorted")
        if len(cells) != len(classes) * len(levels):
            raise ValueError(f"{where} must have one count per class and level")
        exact = ExactArray.from_text("".join(f"{cell}\n" for cell in cells).encode("ascii"))
        if len(exact) != len(cells) or (exact.signs() < 0).any():
            raise ValueError(f"{where}: a count is negative")
        return cls(classes, levels, exact)

    @classmethod
    def to_arrow(cls, tallies: Mapping[str, Self]) -> dict[str, bytes]:
        from bayesbox.tally.codec.counts import write

        return write(cls, tallies)

    @classmethod
    def from_arrow(cls, tables: Mapping[str, bytes], book: Book) -> dict[str, Self]:
        from bayesbox.tally.codec.counts import read

        return read(cls, tables, book)


def _grid(classes: int, width: int, columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """The cells of some columns, class by class."""
    return (np.arange(classes)[:, None] * width + columns[None, :]).ravel()
