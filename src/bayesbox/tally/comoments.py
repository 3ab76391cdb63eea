"""Joint counts and co-moments of several columns by class, separately for each pattern of missing values.

A cell is a class, a level of every category (or missing), and which numbers are present. It has the number of its rows,
the sum of each number that is present and of each product of two. How missing values are handled is up to the rules:
nothing is filled in here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox._core import ExactArray
from bayesbox.described import Remedy
from bayesbox.display.result import Result
from bayesbox.limits import BYTES_A_SUM, require_memory
from bayesbox.schema.arrays import AnyArray, IntegerArray, NumberArray
from bayesbox.schema.encode import MISSING
from bayesbox.tally.base import Impossible, added, dyadic, numbers, positions, quoted, register, union
from bayesbox.tally.comoment_cells import Codes, CoMomentAxes, CoMomentCells, Flags, pair_place
from bayesbox.tally.family import groups_of

if TYPE_CHECKING:
    from bayesbox.tally.book import Book

Index = NDArray[np.int64]


@register
class CoMoments(Result):
    """Tuples of levels and co-moments of numbers by class and pattern of missing values.

    >>> height, weight = np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, np.nan])
    >>> both = CoMoments.of(("x",), np.zeros(3, dtype=np.int32), {}, {"height": height, "weight": weight})
    >>> both.cells.observed.tolist(), both.cells.products.to_doubles().reshape(2, 3).tolist()
    ([[True, True], [False, True]], [[9.0, 0.0, 0.0], [5.0, 10.0, 20.0]])
    >>> (both + both) - both == both
    True
    """

    form: ClassVar[str] = "comoments"
    members: ClassVar[tuple[str, ...]] = ("comoments.arrow",)
    extends: ClassVar[str | None] = None
    together: ClassVar[bool] = True

    def __init__(self, frame: CoMomentAxes, cells: CoMomentCells) -> None:
        self.frame = frame
        self.classes = frame.classes
        self.cells = cells  # ascending, none empty

    @classmethod
    def of(
        cls,
        classes: tuple[str, ...],
        target: Codes,
        categories: Mapping[str, tuple[IntegerArray, Sequence[str]]],
        numbers: Mapping[str, NumberArray],
        weights: NDArray[np.float64] | None = None,
        *,
        gaps: Sequence[str] | None = None,
    ) -> Self:
        """The tally of rows, from codes and levels of each category and values of each number (NaN if missing).

        `gaps` names the numbers that may be missing somewhere, if known.
        """
        frame = CoMomentAxes(
            classes, tuple(categories), tuple(tuple(levels) for _, levels in categories.values()), tuple(numbers)
        )
        kept = target >= 0 if weights is None else (target >= 0) & (weights > 0)
        rows = None if kept.all() else np.flatnonzero(kept)
        label, codes, observed, group = _grouped_rows(frame, target, categories, numbers, rows, gaps)
        size = len(label)
        require_room(frame, size)
        if rows is not None:
            whole = np.full(len(target), -1, dtype=np.int32)
            whole[rows] = group
            group = whole
        group = np.ascontiguousarray(group, dtype=np.int32)
        totals, products = _core.comoments(list(numbers.values()), group, size, weights)
        if weights is None:
            n = ExactArray.from_integers(np.bincount(group[group >= 0], minlength=size))
        else:
            zeros = np.zeros(len(target), dtype=np.uint8)
            n = _core.count_codes_weighted([zeros], [1], group, size, weights)[0]
        return cls(*_settled(frame, CoMomentCells(label, codes, observed, n, totals, products)))

    # -- the algebra ---------------------------------------------------------------------------------------------

    def zero(self) -> Self:
        nothing = CoMomentAxes(self.classes, (), (), ())
        return type(self)(nothing, _no_cells())

    def __add__(self, other: CoMoments) -> Self:
        return self._combined(other, sign=1)

    def __sub__(self, other: CoMoments) -> Self:
        return self._combined(other, sign=-1)

    def _combined(self, other: CoMoments, *, sign: int) -> Self:
        frame = _union(self.frame, other.frame)
        mine, theirs = _moved(self, frame), _moved(other, frame)
        if len(mine) == len(theirs) and _same_keys(mine, theirs):
            n, totals, products = (added(a, b, sign=sign) for a, b in zip(mine.sums, theirs.sums, strict=True))
            return type(self)(*_settled(frame, replace(mine, n=n, totals=totals, products=products)))
        label = np.concatenate([mine.label, theirs.label])
        codes = np.concatenate([mine.codes, theirs.codes], axis=1)
        observed = np.concatenate([mine.observed, theirs.observed], axis=1)
        group, one_of = _groups(frame, label, codes, observed)
        width = (1, len(frame.numbers), frame.pairs)
        place = group[: len(mine)], group[len(mine) :]
        sums = []
        for each, a, b in zip(width, mine.sums, theirs.sums, strict=True):
            total = ExactArray(len(one_of) * each)
            total.add(a, _spread(place[0], each))
            total.add(b, _spread(place[1], each), sign=sign)
            sums.append(total)
        keys = label[one_of], codes[:, one_of], observed[:, one_of]
        return type(self)(*_settled(frame, CoMomentCells(*keys, *sums)))

    def with_classes(self, classes: tuple[str, ...]) -> Self:
        if classes == self.classes:
            return self
        frame = self.frame._replace(classes=classes)
        place = positions(self.classes, classes).astype(np.int32)
        label = place[self.cells.label] if len(self.cells) else self.cells.label
        cells = _taken(replace(self.cells, label=label), np.flatnonzero(label >= 0), self.frame)
        return type(self)(*_settled(frame, _sorted(frame, cells)))

    def is_empty(self) -> bool:
        return len(self.cells) == 0

    def is_possible(self) -> bool:
        return self.impossible() is None

    def impossible(self) -> Impossible | None:
        """The first class with impossible sums: without a row, or with a negative variance."""
        without = self.cells.n.signs() <= 0
        if without.any():
            return Impossible(self.classes[int(self.cells.label[int(np.argmax(without))])])
        p, pairs = len(self.frame.numbers), self.frame.pairs
        squares = [pair_place(i, i, p) for i in range(p)]
        for cell in range(len(self.cells)):
            n = dyadic(self.cells.n, cell)
            for i in np.flatnonzero(self.cells.observed[:, cell]).tolist():
                total = dyadic(self.cells.totals, cell * p + i)
                square = dyadic(self.cells.products, cell * pairs + squares[i])
                if (n * square - total * total).m < 0:
                    return Impossible(self.classes[int(self.cells.label[cell])], self.frame.numbers[i])
        return None

    def rows(self) -> ExactArray:
        """The rows of each class."""
        return self.cells.n.sum_groups(self.cells.label.astype(np.int64), len(self.classes))

    def fits(self, rows: ExactArray) -> bool:
        return bool(self.rows() == rows)

    def canonical(self) -> Iterator[bytes]:
        categories, numbers = tuple(sorted(self.frame.categories)), tuple(sorted(self.frame.numbers))
        present = set(self.cells.label.tolist())
        classes = tuple(sorted(name for place, name in enumerate(self.classes) if place in present))
        ordered = self.with_classes(classes).only(categories, numbers)
        frame, cells = ordered.frame, ordered.cells
        yield quoted(frame.classes)
        yield quoted(frame.categories)
        for levels in frame.levels:
            yield quoted(levels)
        yield quoted(frame.numbers)
        keys = np.concatenate([cells.label[None, :], cells.codes, cells.observed.astype(np.int32)])
        yield np.ascontiguousarray(keys.T, dtype="<i4").tobytes()
        for array in (cells.n, cells.totals, cells.products):
            yield array.text()

    def only(self, categories: tuple[str, ...], numbers: tuple[str, ...]) -> CoMoments:
        """The tally of these columns, in this order; a column without values is missing in every cell."""
        levels = dict(zip(self.frame.categories, self.frame.levels, strict=True))
        frame = CoMomentAxes(self.classes, categories, tuple(levels.get(name, ()) for name in categories), numbers)
        if frame == self.frame:
            return self
        return CoMoments(frame, _sorted(frame, _moved(self, frame)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CoMoments):
            return NotImplemented
        return list(self.canonical()) == list(other.canonical())

    __hash__ = None  # type: ignore[assignment]

    def _headline(self) -> str:
        names = ", ".join((*self.frame.categories, *self.frame.numbers))
        return f"CoMoments({names}: {len(self.cells):,} cells, n={numbers(self.rows()).tolist()})"

    def _frame(self) -> Mapping[str, Sequence[object]]:
        categories, values = self.frame.categories, self.frame.numbers
        kinds = ["category"] * len(categories) + ["number"] * len(values)
        return {"column": [*categories, *values], "counted as": kinds}

    @classmethod
    def to_arrow(cls, tallies: Mapping[str, Self]) -> dict[str, bytes]:
        from bayesbox.tally.codec.comoments import write

        return write(cls, tallies)

    @classmethod
    def from_arrow(cls, tables: Mapping[str, bytes], book: Book) -> dict[str, Self]:
        from bayesbox.tally.codec.comoments import read

        return read(cls, tables, book)


def require_room(frame: CoMomentAxes, cells: int) -> None:
    """Raise an error if the sums would take too much memory."""
    require_memory(
        float(BYTES_A_SUM * cells * max(frame.pairs, 1)),
        f"{cells * max(frame.pairs, 1):,} sums of products of {len(frame.numbers):,} numbers and "
        f"{len(frame.categories):,} categories together",
        remedy="Ignore columns, choose a model that treats them separately ("
        + Remedy("NaiveBayes", "--model naive")
        + ")",
    )


def _no_cells() -> CoMomentCells:
    nothing = np.empty(0, dtype=np.int32)
    return CoMomentCells(
        nothing, nothing.reshape(0, 0), np.empty((0, 0), dtype=bool), *(ExactArray(0) for _ in range(3))
    )


# -- from rows to cells ----------------------------------------------------------------------------------------------


def _grouped_rows(
    frame: CoMomentAxes,
    target: Codes,
    categories: Mapping[str, tuple[IntegerArray, Sequence[str]]],
    numbers: Mapping[str, NumberArray],
    rows: Index | None,
    gaps: Sequence[str] | None,
) -> tuple[Codes, Codes, Flags, Any]:
    """The class, codes and observed numbers of each cell, and the cell of each row that counts."""

    def chosen(values: AnyArray) -> AnyArray:
        return values if rows is None else values[rows]

    doubtful = [name for name in numbers if gaps is None or name in gaps]
    there = {name: ~np.isnan(chosen(numbers[name])) for name in doubtful if numbers[name].dtype.kind == "f"}
    there = {name: some for name, some in there.items() if not some.all()}
    label = chosen(target)
    if not categories and not there:
        present = np.flatnonzero(np.bincount(label, minlength=len(frame.classes)))
        place = np.zeros(len(frame.classes), dtype=np.int32)
        place[present] = np.arange(len(present))
        group = label if len(present) == len(frame.classes) else place[label]
        full = np.ones((len(numbers), len(present)), dtype=bool)
        return present.astype(np.int32), np.empty((0, len(present)), dtype=np.int32), full, group
    coded = [label, *(chosen(codes) for codes, _ in categories.values()), *there.values()]
    sizes = [len(frame.classes), *(len(levels) for levels in frame.levels), *(2 for _ in there)]
    group, one_of = groups_of(coded, sizes)
    codes = np.array([column[one_of] for column in coded[1 : 1 + len(categories)]], dtype=np.int32)
    observed = np.ones((len(numbers), len(one_of)), dtype=bool)
    for index, name in enumerate(numbers):
        if name in there:
            observed[index] = there[name][one_of]
    return label[one_of], codes.reshape(len(categories), len(one_of)), observed, group


def _groups(frame: CoMomentAxes, label: Codes, codes: Codes, observed: Flags) -> tuple[Index, Index]:
    sizes = [len(frame.classes), *(len(levels) for levels in frame.levels), *(2 for _ in observed)]
    return groups_of([label, *codes, *observed], sizes)


# -- cells in another frame ------------------------------------------------------------------------------------------


def _union(one: CoMomentAxes, other: CoMomentAxes) -> CoMomentAxes:
    """The columns of both: the first's in its order, then the new ones."""
    if one == other:
        return one
    levels = dict(zip(one.categories, one.levels, strict=True))
    for name, texts in zip(other.categories, other.levels, strict=True):
        levels[name] = union(levels.get(name, ()), texts)
    names = dict.fromkeys((*one.numbers, *other.numbers))
    return CoMomentAxes(union(one.classes, other.classes), tuple(levels), tuple(levels.values()), tuple(names))


def _moved(tally: CoMoments, frame: CoMomentAxes) -> CoMomentCells:
    """The cells of a tally on other axes, which include all its classes and columns with values."""
    own, cells = tally.frame, tally.cells
    if own == frame:
        return cells
    size, p = len(cells), len(own.numbers)
    label = positions(own.classes, frame.classes).astype(np.int32)[cells.label] if size else cells.label
    codes = np.full((len(frame.categories), size), MISSING, dtype=np.int32)
    for place, (name, levels) in enumerate(zip(frame.categories, frame.levels, strict=True)):
        if name in own.categories:
            index = own.categories.index(name)
            table = np.append(positions(own.levels[index], levels), MISSING).astype(np.int32)
            codes[place] = table[cells.codes[index]]
    where = positions(frame.numbers, own.numbers)
    observed = np.zeros((len(frame.numbers), size), dtype=bool)
    observed[where >= 0] = cells.observed[where[where >= 0]]
    if own.numbers == frame.numbers:
        return replace(cells, label=label, codes=codes, observed=observed)
    pairs = np.array([_pair(i, j, p) for k, i in enumerate(where) for j in where[k:]], dtype=np.int64)
    totals = cells.totals.take(_columns(size, p, where))
    products = cells.products.take(_columns(size, own.pairs, pairs))
    return CoMomentCells(label, codes, observed, cells.n, totals, products)


def _pair(i: int, j: int, width: int) -> int:
    return -1 if i < 0 or j < 0 else pair_place(min(i, j), max(i, j), width)


def _columns(cells: int, width: int, places: Index) -> Index:
    """The indices of some columns of every cell, -1 for an absent column."""
    index = np.arange(cells)[:, None] * width + places[None, :]
    return np.where(places[None, :] < 0, -1, index).ravel()


def _spread(place: Index, width: int) -> Index:
    """The indices of all sums of cells at these positions."""
    return (place[:, None] * width + np.arange(width)[None, :]).ravel()


def _same_keys(one: CoMomentCells, other: CoMomentCells) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one.keys, other.keys, strict=True))


def _taken(cells: CoMomentCells, kept: Index, frame: CoMomentAxes) -> CoMomentCells:
    if len(kept) == len(cells) and np.array_equal(kept, np.arange(len(cells))):
        return cells
    return CoMomentCells(
        cells.label[kept],
        cells.codes[:, kept],
        cells.observed[:, kept],
        cells.n.take(kept),
        cells.totals.take(_spread(kept, len(frame.numbers))),
        cells.products.take(_spread(kept, frame.pairs)),
    )


def _sorted(frame: CoMomentAxes, cells: CoMomentCells) -> CoMomentCells:
    """The cells sorted by key; those with the same key are merged."""
    group, one_of = _groups(frame, *cells.keys)
    if len(one_of) == len(cells):
        return _taken(cells, one_of, frame)
    widths = (1, len(frame.numbers), frame.pairs)
    sums = (array.sum_groups(_spread(group, w), len(one_of) * w) for array, w in zip(cells.sums, widths, strict=True))
    return CoMomentCells(cells.label[one_of], cells.codes[:, one_of], cells.observed[:, one_of], *sums)


def _settled(frame: CoMomentAxes, cells: CoMomentCells) -> tuple[CoMomentAxes, CoMomentCells]:
    """The cells without empty ones, and without unused levels and columns."""
    filled = cells.n.signs() != 0
    for array, width in ((cells.totals, len(frame.numbers)), (cells.products, frame.pairs)):
        if width and not filled.all():
            filled = filled | array.signs().reshape(len(cells), width).any(axis=1)
    cells = _taken(cells, np.flatnonzero(filled), frame)
    levels = [_occurring(texts, column) for texts, column in zip(frame.levels, cells.codes, strict=True)]
    categories = tuple(name for name, texts in zip(frame.categories, levels, strict=True) if texts)
    there = np.asarray(cells.observed.any(axis=1)).tolist()
    numbers = tuple(name for name, some in zip(frame.numbers, there, strict=True) if some)
    settled = CoMomentAxes(frame.classes, categories, tuple(texts for texts in levels if texts), numbers)
    if settled == frame:
        return frame, cells
    return settled, _sorted(settled, _moved(CoMoments(frame, cells), settled))


def _occurring(levels: tuple[str, ...], codes: Codes) -> tuple[str, ...]:
    """The sorted levels that have a code."""
    occurs = np.zeros(len(levels) + 1, dtype=bool)
    occurs[codes] = True
    return tuple(sorted(text for text, some in zip(levels, occurs[:-1].tolist(), strict=True) if some))
