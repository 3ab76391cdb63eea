"""Counts of every pair of columns by class, for models in which one column depends on another.

A pair counts the rows with a value in both columns, a single column those with a value in it. All cells are in one
exact array: for each column classes x levels, then for each later column classes x levels x levels. Columns and levels
are sorted, so equal multisets of rows give equal tallies in any order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox._core import ExactArray
from bayesbox.display.result import Result
from bayesbox.limits import BYTES_A_PAIR, require_memory
from bayesbox.schema.arrays import IntegerArray
from bayesbox.tally.base import Impossible, added, positions, quoted, register, union

if TYPE_CHECKING:
    from bayesbox.tally.book import Book

MOST_LEVELS = 255  # of a column that is counted in pairs; one with more is counted alone

Levels = tuple[tuple[str, ...], ...]


class Block(NamedTuple):
    """The position of the cells of one column (`second` is `first`) or of one pair."""

    first: int
    second: int
    start: int
    shape: tuple[int, ...]

    @property
    def stop(self) -> int:
        return self.start + math.prod(self.shape)


def blocks(classes: int, sizes: Sequence[int]) -> Iterator[Block]:
    """The blocks of cells in their order."""
    start = 0
    for first, size in enumerate(sizes):
        for second in range(first, len(sizes)):
            shape = (classes, size) if second == first else (classes, size, sizes[second])
            block = Block(first, second, start, shape)
            yield block
            start = block.stop


@register
class Pairs(Result):
    """The joint counts of two levels of two columns in each class; with weights, the sum of the weights.

    `wide` names columns with too many levels to be counted in pairs: they are counted alone. A column that has become
    wide stays so when rows are subtracted.

    >>> codes = {"colour": (np.array([0, 1, 1]), ["red", "blue"]), "size": (np.array([0, 0, -1]), ["large"])}
    >>> pairs = Pairs.of(("+", "-"), codes, np.array([0, 0, 1], dtype=np.int32))
    >>> pairs.single("colour")
    array([[1., 1.],
           [1., 0.]])
    >>> pairs.pair("size", "colour")[0]
    array([[1., 1.]])
    """

    form: ClassVar[str] = "pairs"
    members: ClassVar[tuple[str, ...]] = ("pairs.arrow",)
    extends: ClassVar[str | None] = None
    together: ClassVar[bool] = True

    def __init__(
        self,
        classes: tuple[str, ...],
        names: tuple[str, ...],
        levels: Levels,
        cells: ExactArray,
        wide: frozenset[str] = frozenset(),
    ) -> None:
        self.classes = classes
        self.names = names  # sorted
        self.levels = levels  # of each column, sorted
        self.cells = cells
        self.wide = wide

    @classmethod
    def of(
        cls,
        classes: tuple[str, ...],
        columns: Mapping[str, tuple[IntegerArray, Sequence[str]]],
        target: NDArray[np.int32],
        weights: NDArray[np.float64] | None = None,
    ) -> Self:
        """The tally of rows, from the codes of each column (negative if missing) and their levels."""
        wide = frozenset(name for name, (_, texts) in columns.items() if len(texts) > MOST_LEVELS)
        names = tuple(sorted(columns.keys() - wide))
        counted = (target >= 0) & (target < len(classes)) & (True if weights is None else weights > 0)
        in_order = {name: _in_order(*columns[name], counted) for name in names}
        names = tuple(name for name in names if in_order[name][1])
        codes = [in_order[name][0] for name in names]
        texts = tuple(in_order[name][1] for name in names)
        sizes = [len(each) for each in texts]
        number = require_few_cells(len(classes), dict(zip(names, sizes, strict=True)))
        if weights is None:
            counts = _core.count_pairs(codes, np.array(sizes, dtype=np.int64), target, len(classes), number)
            cells = ExactArray.from_integers(counts)
        else:
            cells = _weighted(codes, sizes, target, len(classes), weights)
        return cls(classes, names, texts, cells, wide)

    def _sorted(self) -> Self:
        """The tally with sorted levels, without those that never occurred."""
        present = self._present()
        levels = tuple(
            tuple(sorted(text for text, some in zip(texts, seen, strict=True) if some))
            for texts, seen in zip(self.levels, present, strict=True)
        )
        kept = [place for place, texts in enumerate(levels) if texts]
        names, levels = tuple(self.names[place] for place in kept), tuple(levels[place] for place in kept)
        return type(self)(self.classes, names, levels, self._spread(self.classes, names, levels), self.wide)

    def _present(self) -> list[list[bool]]:
        """Which levels of each column have a non-zero cell; +1 and -1 do not cancel."""
        signs = self.cells.signs() != 0
        seen = [np.zeros(len(texts), dtype=bool) for texts in self.levels]
        for block in self.blocks():
            cells = signs[block.start : block.stop].reshape(block.shape)
            if block.first == block.second:
                seen[block.first] |= cells.any(axis=0)
            else:
                seen[block.first] |= cells.any(axis=(0, 2))
                seen[block.second] |= cells.any(axis=(0, 1))
        return [each.tolist() for each in seen]

    def blocks(self) -> Iterator[Block]:
        """The position of each column and each pair."""
        return blocks(len(self.classes), [len(texts) for texts in self.levels])

    # -- the counts ----------------------------------------------------------------------------------------------

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of levels of each column."""
        return np.array([len(texts) for texts in self.levels], dtype=np.int64)

    @cached_property
    def doubles(self) -> NDArray[np.float64]:
        """All cells as floats."""
        return self.cells.to_doubles()

    @cached_property
    def places(self) -> dict[str, int]:
        """The position of each column in the names."""
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def _starts(self) -> tuple[list[int], list[int]]:
        """The first cell of each column, and the levels of all columns before it."""
        sizes = self.sizes
        before = np.concatenate([[0], np.cumsum(sizes)])
        cells = len(self.classes) * sizes * (1 + before[-1] - before[1:])
        return np.concatenate([[0], np.cumsum(cells)]).tolist(), before.tolist()

    def single(self, name: str) -> NDArray[np.float64]:
        """The counts of one column, classes x levels."""
        place = self.places[name]
        start, size = self._starts[0][place], len(self.levels[place])
        return self.doubles[start : start + len(self.classes) * size].reshape(-1, size)

    def pair(self, first: str, second: str) -> NDArray[np.float64]:
        """The counts of a pair, classes x levels of the first x levels of the second."""
        one, other = self.places[first], self.places[second]
        if one > other:
            return self.pair(second, first).transpose(0, 2, 1)
        if one == other:
            return self.single(first)
        starts, before = self._starts
        classes, size, width = len(self.classes), len(self.levels[one]), len(self.levels[other])
        start = starts[one] + classes * size * (1 + before[other] - before[one + 1])
        return self.doubles[start : start + classes * size * width].reshape(classes, size, width)

    def information(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """I(x; y | class) of every pair of columns in nats, and the rows with both; columns as in `names`."""
        return _core.pair_information(self.doubles, self.sizes, len(self.classes))

    # -- the algebra ---------------------------------------------------------------------------------------------

    def zero(self) -> Self:
        return type(self)(self.classes, (), (), ExactArray(0))

    def __add__(self, other: Pairs) -> Self:
        return self._combined(other, sign=1)

    def __sub__(self, other: Pairs) -> Self:
        return self._combined(other, sign=-1)

    def _combined(self, other: Pairs, *, sign: int) -> Self:
        classes, names = union(self.classes, other.classes), union(self.names, other.names)
        mine, theirs = (
            dict(zip(self.names, self.levels, strict=True)),
            dict(zip(other.names, other.levels, strict=True)),
        )
        levels = {name: union(mine.get(name, ()), theirs.get(name, ())) for name in names}
        grown = frozenset(name for name in names if len(levels[name]) > MOST_LEVELS)
        wide = self.wide | other.wide | grown
        kept = tuple(name for name in names if name not in wide)
        common = tuple(levels[name] for name in kept)
        require_few_cells(len(classes), {name: len(levels[name]) for name in kept})
        cells = added(self._spread(classes, kept, common), other._spread(classes, kept, common), sign=sign)
        total = type(self)(classes, kept, common, cells, wide)
        return total._sorted() if sign < 0 or wide != self.wide else total

    def _spread(self, classes: tuple[str, ...], names: tuple[str, ...], levels: Levels) -> ExactArray:
        """The cells in the layout of other classes, columns and levels."""
        if (classes, names, levels) == (self.classes, self.names, self.levels):
            return self.cells
        place = positions(names, self.names)
        mine = {(block.first, block.second): block for block in self.blocks()}
        of_class = positions(classes, self.classes)
        of_level = [
            positions(texts, self.levels[at]) if at >= 0 else np.full(len(texts), -1, dtype=np.int64)
            for at, texts in zip(place.tolist(), levels, strict=True)
        ]
        index = [np.empty(0, dtype=np.int64)]
        for block in blocks(len(classes), [len(texts) for texts in levels]):
            source = mine.get((int(place[block.first]), int(place[block.second])))
            if source is None:
                index.append(np.full(int(np.prod(block.shape)), -1, dtype=np.int64))
                continue
            axes = [of_class, of_level[block.first]]
            if block.first != block.second:
                axes.append(of_level[block.second])
            index.append(_flat(axes, source))
        return self.cells.take(np.concatenate(index))

    def with_classes(self, classes: tuple[str, ...]) -> Self:
        if classes == self.classes:
            return self
        kept = self._spread(classes, self.names, self.levels)
        return type(self)(classes, self.names, self.levels, kept, self.wide)

    def is_empty(self) -> bool:
        return not self.cells.signs().any()

    def is_possible(self) -> bool:
        return self.impossible() is None

    def impossible(self) -> Impossible | None:
        """The first negative count, or the first level that is more frequent in a pair than alone."""
        negative = self.cells.signs() < 0
        if negative.any():
            return self._place(int(np.argmax(negative)))
        own = {block.first: block for block in self.blocks() if block.first == block.second}
        for block in self.blocks():
            if block.first == block.second:
                continue
            pair = self.cells.take(np.arange(block.start, block.stop))
            cells = np.arange(block.stop - block.start).reshape(block.shape)
            for side, axis in ((block.first, 2), (block.second, 1)):
                alone = own[side]
                group = np.expand_dims(np.arange(alone.stop - alone.start).reshape(alone.shape), axis)
                left = self.cells.take(np.arange(alone.start, alone.stop))
                left.add(pair, np.broadcast_to(group, cells.shape).ravel(), sign=-1)
                if np.any(left.signs() < 0):
                    return self._place(alone.start + int(np.argmax(left.signs() < 0)))
        return None

    def _place(self, cell: int) -> Impossible:
        """The class and the levels of a cell."""
        block = next(each for each in self.blocks() if each.start <= cell < each.stop)
        label, *codes = (int(axis) for axis in np.unravel_index(cell - block.start, block.shape))
        columns = dict.fromkeys((block.first, block.second))
        values = (f"{self.names[at]}={self.levels[at][code]}" for at, code in zip(columns, codes, strict=True))
        return Impossible(self.classes[label], ", ".join(values))

    def fits(self, rows: ExactArray) -> bool:
        for block in self.blocks():
            if block.first != block.second:
                continue
            left = rows.copy()
            group = np.repeat(np.arange(len(self.classes)), block.shape[1])
            left.add(self.cells.take(np.arange(block.start, block.stop)), group, sign=-1)
            if np.any(left.signs() < 0):
                return False
        return True

    def canonical(self) -> Iterator[bytes]:
        signs = self.cells.signs()
        some = np.zeros(len(self.classes), dtype=bool)
        for block in self.blocks():
            cells = signs[block.start : block.stop].reshape(len(self.classes), -1)
            some |= cells.any(axis=1)
        classes = tuple(sorted(name for name, present in zip(self.classes, some.tolist(), strict=True) if present))
        seen = self.with_classes(classes)._sorted()
        yield quoted(classes)
        yield quoted(seen.names)
        for texts in seen.levels:
            yield quoted(texts)
        yield quoted(sorted(seen.wide))
        yield seen.cells.text()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pairs):
            return NotImplemented
        return list(self.canonical()) == list(other.canonical())

    __hash__ = None  # type: ignore[assignment]

    def _headline(self) -> str:
        return f"Pairs({', '.join(self.names)}: {len(self.cells):,} cells)"

    def _frame(self) -> Mapping[str, Sequence[object]]:
        """Each column with its number of levels; `pair` and `single` have the counts."""
        return {
            "column": list(self.names),
            "levels": [len(levels) for levels in self.levels],
            "counted in pairs": [name not in self.wide for name in self.names],
        }

    @classmethod
    def to_arrow(cls, tallies: Mapping[str, Self]) -> dict[str, bytes]:
        from bayesbox.tally.codec.pairs import write

        return write(cls, tallies)

    @classmethod
    def from_arrow(cls, tables: Mapping[str, bytes], book: Book) -> dict[str, Self]:
        from bayesbox.tally.codec.pairs import read

        return read(cls, tables, book)


def require_few_cells(classes: int, sizes: Mapping[str, int]) -> int:
    """The number of cells of pairs of columns of these sizes; an error if they would take too much memory."""
    total = sum(sizes.values())
    cells = classes * (total + (total * total - sum(size * size for size in sizes.values())) // 2)
    if sizes:
        widest = max(sizes, key=lambda name: sizes[name])
        require_memory(
            float(BYTES_A_PAIR * cells),
            f"{cells:,} counts of the pairs of {len(sizes)} columns (the widest is `{widest}` with {sizes[widest]:,} "
            "levels)",
            remedy="Ignore columns with many levels or little information, choose a naive model",
        )
    return cells


def _in_order(
    codes: IntegerArray, texts: Sequence[str], counted: NDArray[np.bool_]
) -> tuple[IntegerArray, tuple[str, ...]]:
    """The codes of the sorted levels that occur in the rows that count; others are missing."""
    valid = counted & (codes >= 0) & (codes < len(texts))
    present = np.zeros(len(texts), dtype=bool)
    present[codes[valid]] = True
    levels = tuple(sorted(text for text, some in zip(texts, present.tolist(), strict=True) if some))
    if levels == tuple(texts):
        return codes, levels
    place = positions(texts, levels)
    return np.where(valid, np.append(place, -1)[np.where(valid, codes, -1)], -1).astype(np.int32), levels


def _flat(axes: Sequence[NDArray[np.int64]], source: Block) -> NDArray[np.int64]:
    """The cells of a block at these positions of its axes, -1 if one of them is absent."""
    index = np.zeros((1,) * len(axes), dtype=np.int64)
    absent = np.zeros((1,) * len(axes), dtype=bool)
    for axis, (places, size) in enumerate(zip(axes, source.shape, strict=True)):
        shape = [1] * len(axes)
        shape[axis] = len(places)
        index = index * size + places.reshape(shape)
        absent = absent | (places < 0).reshape(shape)
    return np.where(absent, -1, index + source.start).ravel()


def _weighted(
    codes: Sequence[IntegerArray],
    sizes: Sequence[int],
    target: NDArray[np.int32],
    classes: int,
    weights: NDArray[np.float64],
) -> ExactArray:
    """The same cells as exact sums of weights."""
    wide = [
        np.where((each >= 0) & (each < size), each, -1).astype(np.int32)
        for each, size in zip(codes, sizes, strict=True)
    ]
    cells = ExactArray(sum(int(np.prod(block.shape)) for block in blocks(classes, sizes)))
    for block in blocks(classes, sizes):
        together, size = wide[block.first], sizes[block.first]
        if block.first != block.second:
            other = wide[block.second]
            size *= sizes[block.second]
            together = np.where((together < 0) | (other < 0), -1, together * sizes[block.second] + other)
        counted = _core.count_codes_weighted([together.astype(np.int32)], [size], target, classes, weights)[0]
        cells.add(counted, np.arange(block.start, block.stop))
    return cells
