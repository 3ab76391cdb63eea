"""Joint counts of several columns, without a class: how often each combination of levels occurred.

Only combinations that occurred are stored, so columns with many levels cost no more than their rows. A row with missing
values is counted with them, and ignored only in queries about the missing columns. Adding and subtracting are exact,
and by name: the result depends neither on the order of rows, columns or levels nor on batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesbox._core import ExactArray
from bayesbox.display.result import Result
from bayesbox.errors import CannotMerge
from bayesbox.schema.arrays import AnyArray, IntegerArray, NumberArray
from bayesbox.schema.encode import MISSING
from bayesbox.tally.base import dyadic, numbers, quoted
from bayesbox.tally.exact import ZERO, Dyadic

Codes = NDArray[np.int32]

WIDEST_KEY = 1 << 62
SAFE_TOTAL = 1 << 31  # the product of two smaller counts fits into 64 bits


class Family(Result):
    """The count of each combination of levels; with weights, the sum of the weights.

    >>> colours = np.array([0, 1, 1, MISSING], dtype=np.int32)
    >>> sizes = np.array([0, 1, 1, 1], dtype=np.int32)
    >>> family = Family.of(["colour", "size"], [colours, sizes], [["red", "blue"], ["large", "small"]])
    >>> dict(family.items())
    {(None, 'small'): 1, ('blue', 'small'): 2, ('red', 'large'): 1}
    >>> dict(family.marginal(["size"]).items())
    {('large',): 1, ('small',): 3}
    >>> (family + family) - family == family
    True
    """

    def __init__(
        self, names: tuple[str, ...], levels: tuple[tuple[str, ...], ...], codes: Codes, cells: ExactArray
    ) -> None:
        self.names = names
        self.levels = levels  # of each column, sorted; all of them occur
        self.codes = codes  # columns x combinations, MISSING if there is no value; combinations ascend
        self.cells = cells  # the count of each combination, none of them zero

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        columns: Sequence[IntegerArray],
        levels: Sequence[Sequence[str]],
        weights: ExactArray | None = None,
        *,
        rows: int | None = None,
    ) -> Self:
        """The counts of rows, or of weighted combinations, from the codes of each column and their levels."""
        length = len(columns[0]) if columns else (rows or 0)
        codes = np.empty((len(names), length), dtype=np.int32)
        ordered: list[tuple[str, ...]] = []
        for place, (column, texts) in enumerate(zip(columns, levels, strict=True)):
            order = sorted(range(len(texts)), key=texts.__getitem__)
            codes[place] = _recoded(column, order, len(texts))
            ordered.append(tuple(texts[index] for index in order))
        group, one_of = groups_of(codes, [len(texts) for texts in ordered], length)
        if weights is None:
            cells = ExactArray.from_integers(np.bincount(group, minlength=len(one_of)))
        else:
            cells = weights.sum_groups(group, len(one_of))
            kept = np.flatnonzero(cells.signs())
            one_of, cells = one_of[kept], cells.take(kept)
        return cls(tuple(names), *_pruned(ordered, codes[:, one_of]), cells)

    @classmethod
    def total(cls, families: Iterable[Family]) -> Family | None:
        """The sum of many, added pairwise by size, so that each combination is copied only a few times."""
        waiting: list[Family] = []
        for family in families:
            while waiting and len(waiting[-1]) <= len(family):
                family = waiting.pop() + family
            waiting.append(family)
        while len(waiting) > 1:
            family = waiting.pop()
            waiting.append(waiting.pop() + family)
        return waiting[0] if waiting else None

    def __len__(self) -> int:
        """The number of combinations."""
        return len(self.cells)

    def items(self) -> Iterator[tuple[tuple[str | None, ...], Any]]:
        """Combinations (None if a value is missing) and their counts."""
        counts = numbers(self.cells).tolist()
        texts = [(*levels, None) for levels in self.levels]  # code -1 is the last entry
        for place, count in enumerate(counts):
            yield tuple(texts[column][self.codes[column, place]] for column in range(len(self.names))), count

    @property
    def n(self) -> Dyadic:
        """All rows, or the sum of all weights."""
        return dyadic(self.cells.sum_groups(np.zeros(len(self), dtype=np.int64), 1), 0) if len(self) else ZERO

    def marginal(self, names: Sequence[str]) -> Family:
        """The counts of some of the columns, in the order of the names."""
        places = [self.names.index(name) for name in names]
        columns, levels = self.codes[places], [self.levels[place] for place in places]
        return Family.of(names, list(columns), levels, self.cells, rows=len(self))

    def complete(self) -> Family:
        """The combinations without missing values."""
        return self._selected(np.flatnonzero((self.codes != MISSING).all(axis=0)))

    def _selected(self, kept: NDArray[np.int64]) -> Family:
        if len(kept) == len(self):
            return self
        return Family(self.names, *_pruned(self.levels, self.codes[:, kept]), self.cells.take(kept))

    def integers(self) -> tuple[AnyArray, int]:
        """(counts, e): each count is an integer times 2**e. Products of two counts do not overflow: large ones are
        Python integers.
        """
        if self.cells.is_integral():
            total = self.n
            if total.m << total.e < SAFE_TOTAL:
                return self.cells.to_integers(), 0
        parts = [dyadic(self.cells, cell) for cell in range(len(self))]
        low = min((part.e for part in parts), default=0)
        exact = np.empty(len(parts), dtype=object)
        exact[:] = [part.m << (part.e - low) for part in parts]
        return exact, low

    def zero(self) -> Family:
        """An empty tally of these columns."""
        return Family.of(self.names, [np.empty(0, dtype=np.int32)] * len(self.names), [()] * len(self.names))

    def __add__(self, other: Family) -> Family:
        return self._combined(other, sign=1)

    def __sub__(self, other: Family) -> Family:
        return self._combined(other, sign=-1)

    def _combined(self, other: Family, *, sign: int) -> Family:
        if set(self.names) != set(other.names):
            lacking, more = set(self.names) - set(other.names), set(other.names) - set(self.names)
            raise CannotMerge(
                "the two tables have different columns",
                found=", ".join([f"without {name}" for name in sorted(lacking)] + [f"with {n}" for n in sorted(more)]),
            )
        if not len(other):
            return self
        theirs = [other.names.index(name) for name in self.names]
        columns, levels = [], []
        for mine, place in enumerate(theirs):
            position = {text: code for code, text in enumerate(self.levels[mine])}
            new = [position.setdefault(text, len(position)) for text in other.levels[place]]
            columns.append(np.concatenate([self.codes[mine], _mapped(other.codes[place], new)]))
            levels.append(list(position))
        cells = ExactArray(len(self) + len(other))
        cells.add(self.cells, np.arange(len(self)))
        cells.add(other.cells, np.arange(len(self), len(cells)), sign=sign)
        return Family.of(self.names, columns, levels, cells, rows=len(cells))

    def is_possible(self) -> bool:
        """Whether some rows can have this tally: no negative count."""
        return bool(np.all(self.cells.signs() >= 0))

    def canonical(self) -> Iterator[bytes]:
        """The tally as lines: names, levels and combinations sorted, so that equal multisets give equal bytes."""
        names = sorted(self.names)
        ordered = self if tuple(names) == self.names else self.marginal(names)
        yield quoted(ordered.names)
        for levels in ordered.levels:
            yield quoted(levels)
        yield np.ascontiguousarray(ordered.codes.T, dtype="<i4").tobytes()
        yield ordered.cells.text()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Family):
            return NotImplemented
        return list(self.canonical()) == list(other.canonical())

    __hash__ = None  # type: ignore[assignment]

    def _headline(self) -> str:
        return f"Family({', '.join(self.names)}: {len(self):,} combinations)"

    def _frame(self) -> Mapping[str, Sequence[object]]:
        items = list(self.items())
        columns = {name: [key[place] for key, _ in items] for place, name in enumerate(self.names)}
        return {**columns, "n": [count for _, count in items]}


def _recoded(column: NumberArray, order: list[int], size: int) -> Codes:
    """The codes after sorting the levels: `order` has the old codes in the new order."""
    if order == list(range(size)):
        return column.astype(np.int32, copy=False)
    place = np.empty(size, dtype=np.int32)
    place[order] = np.arange(size, dtype=np.int32)
    return _mapped(column, place)


def _mapped(column: NumberArray, new: ArrayLike) -> Codes:
    """The new code of each code; missing stays missing."""
    table = np.append(np.asarray(new, dtype=np.int32), np.int32(MISSING))  # the last entry is for code -1
    mapped: Codes = table[column]
    return mapped


def groups_of(
    codes: Sequence[IntegerArray] | IntegerArray, sizes: Sequence[int], length: int | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The group of each row, and one row of each group: rows with the same codes form a group, groups are sorted."""
    rows = len(codes[0]) if length is None else length
    key, span = np.zeros(rows, dtype=np.int64), 1
    for column, size in zip(codes, sizes, strict=True):
        if span * (size + 1) > WIDEST_KEY:
            distinct, key = np.unique(key, return_inverse=True)
            span = len(distinct)
        key = key * (size + 1) + (column.astype(np.int64) + 1)
        span *= size + 1
    if span <= 2 * rows:  # counting is faster than sorting
        occurs = np.zeros(span, dtype=bool)
        occurs[key] = True
        key = (np.cumsum(occurs) - 1)[key]
        groups = int(occurs.sum())
    else:
        distinct, key = np.unique(key, return_inverse=True)
        groups = len(distinct)
    one_of = np.empty(groups, dtype=np.int64)
    one_of[key] = np.arange(rows)
    return key, one_of


def _pruned(levels: Sequence[Sequence[str]], codes: Codes) -> tuple[tuple[tuple[str, ...], ...], Codes]:
    """The tally without unused levels, in the same order."""
    kept, columns = [], np.empty_like(codes)
    for place, (texts, column) in enumerate(zip(levels, codes, strict=True)):
        occurs = np.zeros(len(texts) + 1, dtype=bool)
        occurs[column] = True
        occurs[-1] = False
        if occurs.sum() == len(texts):
            kept.append(tuple(texts))
            columns[place] = column
            continue
        kept.append(tuple(text for text, some in zip(texts, occurs.tolist(), strict=False) if some))
        columns[place] = _mapped(column, (np.cumsum(occurs) - 1)[:-1])
    return tuple(kept), columns
