"""Counts of distinct numbers by class, for densities that need the values of a column.

Up to `DISTINCT_LIMIT` distinct values the tally is exact. Beyond it, values are truncated to their leading `bits`
significant binary digits, as many as keep the number of distinct values within the limit; the moments stay exact. The
number of digits depends only on the values, and truncating in steps is the same as truncating at once, so rows still
add up to the same tally in any order and batches. But truncation is irreversible: a coarse tally does not support
subtraction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox._core import ExactArray
from bayesbox.errors import CannotForget
from bayesbox.schema.arrays import CountArray, NumberArray
from bayesbox.schema.levels import level_text
from bayesbox.tally.base import Impossible, numbers, positions, quoted, register, union
from bayesbox.tally.moments import Moments
from bayesbox.tally.room import require_room_for_values

if TYPE_CHECKING:
    from bayesbox.tally.book import Book

DISTINCT_LIMIT = 65_536  # of one column
ALL_BITS = 53  # of a double

Doubles = NDArray[np.float64]


@register
class Values(Moments):
    """Counts of distinct values by class, in addition to the exact moments.

    `values` ascend; `cells` are class-major over them; `bits` is the number of significant binary digits kept.

    >>> age = Values.of(("H", "L"), np.array([20.0, 45, 20, 25, 25, 25]), np.array([0, 0, 0, 0, 1, 1], dtype=np.int32))
    >>> age.values, age.counts_of_values
    (array([20., 25., 45.]), array([[2, 1, 1], [0, 2, 0]]))
    >>> (age + age - age) == age, age.mean
    (True, array([27.5, 25. ]))
    """

    form: ClassVar[str] = "values"
    members: ClassVar[tuple[str, ...]] = ("values.arrow",)
    extends: ClassVar[str | None] = Moments.form

    def __init__(
        self, classes: tuple[str, ...], sums: _core.Moments, values: Doubles, cells: ExactArray, bits: int = ALL_BITS
    ) -> None:
        super().__init__(classes, sums)
        self.values = values
        self.cells = cells
        self.bits = bits

    @classmethod
    def of(
        cls,
        classes: tuple[str, ...],
        values: NumberArray,
        target: NDArray[np.int32],
        weights: NDArray[np.float64] | None = None,
    ) -> Self:
        """The tally of one column."""
        return cls.beside(classes, _core.moments([values], target, len(classes), weights)[0], values, target, weights)

    @classmethod
    def beside(
        cls,
        classes: tuple[str, ...],
        sums: _core.Moments,
        values: NumberArray,
        target: NDArray[np.int32],
        weights: NDArray[np.float64] | None = None,
    ) -> Self:
        """The tally of one column whose moments are known."""
        codes, distinct = _core.factorize_doubles(values)
        size = len(classes)
        require_room_for_values(size, len(distinct))
        if weights is None:
            table = _core.count_codes([codes], [len(distinct)], target, size)[0]
            cells = ExactArray.from_integers(np.ascontiguousarray(table).ravel())
        else:
            cells = _core.count_codes_weighted([codes], [len(distinct)], target, size, weights)[0]
        return cls(classes, sums, distinct, cells)._canonical_form()

    @property
    def is_exact(self) -> bool:
        """Whether no value was truncated."""
        return self.bits == ALL_BITS

    @property
    def counts_of_values(self) -> CountArray:
        """The counts, classes x values: integers, or the nearest floats if weights are fractional."""
        return numbers(self.cells).reshape(len(self.classes), len(self.values))

    @property
    def table(self) -> tuple[Doubles, Doubles]:
        """The values, ascending, and counts of values x classes as floats; a truncated value is replaced by the
        midpoint of its cell."""
        counts = self.cells.to_doubles().reshape(len(self.classes), len(self.values)).T
        return _middles(self.values, self.bits), np.ascontiguousarray(counts)

    def range(self) -> tuple[float, float] | None:
        return (float(self.values[0]), float(self.values[-1])) if len(self.values) else None

    def places(self, values: Doubles) -> NDArray[np.int64]:
        """The positions of values among the distinct ones; -1 if absent."""
        wanted = cut(values, self.bits)
        place = np.minimum(np.searchsorted(self.values, wanted), max(len(self.values) - 1, 0))
        found = len(self.values) > 0 and self.values[place] == wanted
        return np.where(found, place, -1)

    def agrees_with_its_moments(self) -> bool:
        """Whether the moments match the values, as they must if both are exact."""
        classes = len(self.classes)
        weights = self.cells.to_doubles()
        if ExactArray.from_doubles(weights) != self.cells:
            return True  # weights with more digits than a double cannot be multiplied here
        there = np.flatnonzero(weights)
        label, place = np.divmod(there, max(len(self.values), 1))
        sums = _core.moments([self.values[place]], label.astype(np.int32), classes, weights[there])[0]
        return all(getattr(sums, name) == getattr(self.sums, name) for name in ("n", "fractional", "total", "squares"))

    # -- the algebra ---------------------------------------------------------------------------------------------

    def zero(self) -> Self:
        return type(self)(self.classes, super().zero().sums, np.empty(0), ExactArray(0))

    @classmethod
    def _built(cls, classes: tuple[str, ...], arrays: list[ExactArray]) -> Self:
        return cls(classes, _core.Moments(*arrays), np.empty(0), ExactArray(0))

    def __sub__(self, other: Moments) -> Self:
        assert isinstance(other, Values)
        if other.is_empty():
            return self.with_classes(union(self.classes, other.classes))
        if not (self.is_exact and other.is_exact):
            raise CannotForget(
                f"a column with more than {DISTINCT_LIMIT:,} distinct values is stored approximately, so rows "
                "cannot be removed",
                remedy="Train again without these rows, or use a density of moments: gaussian or student",
            )
        return self._combined(other, sign=-1)

    def _combined(self, other: Moments, *, sign: int) -> Self:
        assert isinstance(other, Values)
        classes = union(self.classes, other.classes)
        bits = min(self.bits, other.bits)
        mine, theirs = (each.with_classes(classes)._cut_to(bits) for each in (self, other))
        values = np.union1d(mine.values, theirs.values)
        require_room_for_values(len(classes), len(values))
        cells = ExactArray(len(classes) * len(values))
        for part, factor in ((mine, 1), (theirs, sign)):
            cells.add(part.cells, _grid(len(classes), len(values), np.searchsorted(values, part.values)), sign=factor)
        sums = super()._combined(other, sign=sign).sums
        return type(self)(classes, sums, values, cells, bits)._canonical_form()

    def with_classes(self, classes: tuple[str, ...]) -> Self:
        if classes == self.classes:
            return self
        rows, width = positions(classes, self.classes), len(self.values)
        index = np.where(rows[:, None] < 0, -1, rows[:, None] * width + np.arange(width)[None, :])
        sums = super().with_classes(classes).sums
        return type(self)(classes, sums, self.values, self.cells.take(index.ravel()), self.bits)

    def _canonical_form(self) -> Self:
        """The tally without unused values, and with as many digits as the limit allows."""
        present = np.any(self.cells.signs().reshape(len(self.classes), len(self.values)), axis=0)
        kept = self if present.all() else self._taken(np.flatnonzero(present))
        return kept._cut_to(_bits_within(kept.values, kept.bits, DISTINCT_LIMIT))

    def _taken(self, kept: NDArray[np.int64]) -> Self:
        index = (np.arange(len(self.classes))[:, None] * len(self.values) + kept[None, :]).ravel()
        return type(self)(self.classes, self.sums, self.values[kept], self.cells.take(index), self.bits)

    def _cut_to(self, bits: int) -> Self:
        """The tally with at most this many significant digits."""
        if bits >= self.bits:
            return self
        values, place = np.unique(cut(self.values, bits), return_inverse=True)
        index = _grid(len(self.classes), len(values), place.astype(np.int64))
        cells = self.cells.sum_groups(index, len(self.classes) * len(values))
        return type(self)(self.classes, self.sums, values, cells, bits)

    def is_empty(self) -> bool:
        return super().is_empty() and not self.cells.signs().any()

    def impossible(self) -> Impossible | None:
        """The first value with a negative count, or the first class with impossible sums."""
        negative = self.cells.signs() < 0
        if not negative.any():
            return super().impossible()
        label, place = divmod(int(np.argmax(negative)), len(self.values))
        return Impossible(self.classes[label], level_text(float(self.values[place])))

    def canonical(self) -> Iterator[bytes]:
        yield from super().canonical()
        present = np.any(self.cells.signs().reshape(len(self.classes), len(self.values)), axis=1)
        classes = tuple(sorted(name for name, some in zip(self.classes, present, strict=True) if some))
        yield quoted(classes)
        yield b"%d\n" % self.bits
        yield self.values.astype("<f8").tobytes()
        yield self.with_classes(classes).cells.text()

    def __getstate__(self) -> dict[str, object]:
        return {**super().__getstate__(), "values": self.values, "cells": self.cells, "bits": self.bits}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.values, self.cells, self.bits = state["values"], state["cells"], state["bits"]

    def _headline(self) -> str:
        coarse = "" if self.is_exact else f", bits={self.bits}"
        return f"Values(classes={self.classes}, n={self.n.tolist()}, distinct={len(self.values)}{coarse})"

    @classmethod
    def to_arrow(cls, tallies: Mapping[str, Self]) -> dict[str, bytes]:
        from bayesbox.tally.codec.values import write

        return write(cls, tallies)

    @classmethod
    def from_arrow(cls, tables: Mapping[str, bytes], book: Book) -> dict[str, Self]:
        from bayesbox.tally.codec.values import read

        return read(cls, tables, book)


def _grid(classes: int, width: int, columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """The cells of some columns, class by class."""
    return (np.arange(classes)[:, None] * width + columns[None, :]).ravel()


def cut(values: Doubles, bits: int) -> Doubles:
    """The values truncated to `bits` significant binary digits; the order is preserved."""
    mask = np.int64(-1) << np.int64(ALL_BITS - bits)
    cut: Doubles = (np.ascontiguousarray(values).view(np.int64) & mask).view(np.float64)
    return cut + 0.0  # a tiny negative number becomes -0.0


def _middles(values: Doubles, bits: int) -> Doubles:
    """The midpoint of all the doubles that are truncated to each of these values."""
    if bits >= ALL_BITS:
        return values
    below = (np.int64(1) << np.int64(ALL_BITS - bits)) - 1
    middles: Doubles = (np.ascontiguousarray(values).view(np.int64) | (below // 2 + 1)).view(np.float64)
    return np.where(values == 0, 0.0, middles)


def _bits_within(values: Doubles, bits: int, limit: int) -> int:
    """The largest number of digits, up to `bits`, with at most `limit` distinct values."""
    if len(values) <= limit:
        return bits
    low, high = 1, bits  # low satisfies the limit, high does not
    while high - low > 1:
        middle = (low + high) // 2
        distinct = 1 + int(np.count_nonzero(np.diff(cut(values, middle))))
        low, high = (middle, high) if distinct <= limit else (low, middle)
    return low
