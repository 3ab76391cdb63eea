"""The book as tables: one of the class counts, and one for each form of tally that the columns have.

    classes.arrow   class, count
    counts.arrow    column, class, level, count                  (words.arrow is the same for words)
    moments.arrow   column, class, n, fractional, sum, squares

A row stands for what is not zero, rows are in the order of their texts, and no row occurs twice: equal books give
equal tables. Numbers are exact: a column of numbers is int64 where all of them fit, else text, in which `-1bp-3` is
-27 / 8: hexadecimal digits and a power of two, as `float.fromhex` and C read them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox._core import ExactArray
from bayesbox.model import arrow_file
from bayesbox.model.arrow_file import TEXT, WHOLE
from bayesbox.schema.arrays import numbers_array, numpy_values, text_array
from bayesbox.schema.levels import label_order
from bayesbox.schema.tokens import text_buffers, text_column
from bayesbox.tally.base import Tally, added, dyadic, positions
from bayesbox.tally.book import Book
from bayesbox.tally.counts import Counts
from bayesbox.tally.moments import Moments, Spread
from bayesbox.tally.words import Words

MOST_CELLS = 1 << 28  # classes x levels, and classes x columns of numbers: what a book takes in memory

SPARSE = 8  # so many places a row may be looked at before sorting takes less time
BLOCK = 4096  # rows that are checked together, and share a window of exact digits while they are

Index = NDArray[np.int64]
Doubles = NDArray[np.float64]

_CLASS_COLUMNS = {"class": (TEXT,), "count": (WHOLE, TEXT)}
_COUNT_COLUMNS = {"column": (TEXT,), "class": (TEXT,), "level": (TEXT,), "count": (WHOLE, TEXT)}
_SUMS = ("n", "fractional", "sum", "squares")
_MOMENT_COLUMNS = {"column": (TEXT,), "class": (TEXT,), **dict.fromkeys(_SUMS, (WHOLE, TEXT))}


class Form(NamedTuple):
    """How the tallies of one form become a table, and a table the tallies."""

    tally: type
    write: Callable[[Mapping[str, Any]], bytes]
    read: Callable[[bytes, Classes], dict[str, Tally]]


class Classes(NamedTuple):
    """The classes in the order of their texts, and the rows of each."""

    texts: tuple[str, ...]
    counts: ExactArray


def members(book: Book) -> dict[str, bytes]:
    """The tables of a book by the names of their files; a form without a tally has none."""
    present = book.class_counts.signs() != 0
    book = book.with_classes(tuple(sorted(itertools.compress(book.classes, present))))
    tables = {"classes.arrow": _write_classes(book)}
    by_form: dict[str, dict[str, Any]] = {}
    for name in sorted(book):
        form = Moments.form if isinstance(book[name], Moments) else book[name].form  # values have a table besides
        by_form.setdefault(form, {})[name] = book[name]
    for form in sorted(by_form):
        tables[f"{form}.arrow"] = FORMS[form].write(by_form[form])
    return tables


def book_of(tables: Mapping[str, bytes], label_type: str, order: Sequence[str]) -> Book:
    """The book of these tables, its columns in this order as far as they are named there.

    ValueError(member, reason) where a table is not as `members` writes it.
    """
    classes = _within("classes.arrow", _read_classes, tables["classes.arrow"])
    found: dict[str, Tally] = {}
    for name, form in sorted(FORMS.items()):
        member = f"{name}.arrow"
        if member in tables:
            tallies = _within(member, form.read, tables[member], classes)
            if not found.keys().isdisjoint(tallies):
                raise ValueError(member, f"a column has two tallies: `{min(found.keys() & tallies)}`")
            found |= tallies
    columns = {name: found[name] for name in order if name in found} | found
    book = Book(classes.texts, classes.counts, columns, label_type=label_type)
    return book.with_classes(tuple(label_order(list(classes.texts), label_type)))


def _within(member: str, read: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return read(*arguments)
    except ValueError as error:
        raise ValueError(member, str(error)) from error


# -- class counts ----------------------------------------------------------------------------------------------------


def _write_classes(book: Book) -> bytes:
    return arrow_file.write({"class": text_array(book.classes), "count": exact_column([book.class_counts])})


def _read_classes(data: bytes) -> Classes:
    table = arrow_file.read(data, _CLASS_COLUMNS)
    texts = tuple(table["class"].to_pylist())
    _require_ordered(texts, "classes")
    counts = Exact(table["count"])[0 : len(texts)]
    if (counts.signs() <= 0).any():
        raise ValueError("a class has a count that is not above zero")
    return Classes(texts, counts)


# -- counts and words ------------------------------------------------------------------------------------------------


def _write_counts(tallies: Mapping[str, Counts]) -> bytes:
    rows = Rows()
    levels: list[str] = []
    places: list[Index] = []  # of the level of each row
    cells: list[ExactArray] = []
    require_cells(sum(len(tally.cells) for tally in tallies.values()))
    before: tuple[str, ...] = ()
    for name, tally in tallies.items():
        kept = np.flatnonzero(tally.cells.signs())
        width = len(tally.levels)
        if tally.levels != before:  # tallies of the same words have the same levels
            levels += tally.levels
            before = tally.levels
        rows.add(name, kept // max(width, 1))
        places.append(len(levels) - width + kept % max(width, 1))
        cells.append(tally.cells if len(kept) == len(tally.cells) else tally.cells.take(kept))
    classes = next(iter(tallies.values())).classes
    texts = text_array(levels).take(numbers_array(np.concatenate(places)))
    return arrow_file.write(rows.columns(classes) | {"level": texts, "count": exact_column(cells)})


def _read_counts(form: type[Counts]) -> Callable[[bytes, Classes], dict[str, Tally]]:
    def read(data: bytes, classes: Classes) -> dict[str, Tally]:
        table = arrow_file.read(data, _COUNT_COLUMNS)
        rows = Placed.of(table, classes)
        texts, ranks = _ranked(table["level"])
        require_increasing(rows.column, rows.label, ranks)
        slots, place = _distinct(rows.column * max(len(texts), 1) + ranks, len(rows.names) * max(len(texts), 1))
        firsts = np.searchsorted(slots, np.arange(len(rows.names) + 1) * max(len(texts), 1)).tolist()
        size = len(classes.texts)
        require_cells(size * len(slots))
        counts = Exact(table["count"])
        _require_counts(rows, counts, classes, one_a_row=form is not Words)
        result: dict[str, Tally] = {}
        for index, (name, start, stop) in enumerate(rows.columns()):
            first, last = firsts[index], firsts[index + 1]
            levels = texts  # where the column has them all, as tallies of the same words do
            if last - first < len(texts):
                levels = tuple([texts[rank] for rank in (slots[first:last] - index * len(texts)).tolist()])
            cells = counts[start:stop]
            if stop - start < size * len(levels):
                spread = np.full(size * len(levels), -1, dtype=np.int64)
                spread[rows.label[start:stop] * len(levels) + (place[start:stop] - first)] = np.arange(stop - start)
                cells = cells.take(spread)
            result[name] = form(classes.texts, levels, cells)
        return result

    return read


def _require_counts(rows: Placed, counts: Exact, classes: Classes, *, one_a_row: bool) -> None:
    """Refuse counts that are not above zero, or more in a class than it has rows."""
    size = len(classes.texts)
    for first, last, start, stop in rows.blocks():
        cells = counts[start:stop]
        if (cells.signs() <= 0).any():
            raise ValueError("a count is not above zero")
        if one_a_row:
            group = (rows.column[start:stop] - first) * size + rows.label[start:stop]
            left = classes.counts.take(np.tile(np.arange(size), last - first))
            left.add(cells, group, sign=-1)
            _require_none_below(left, rows.names[first:last], size, "a class has more values than rows")


def _require_none_below(left: ExactArray, names: Sequence[str], size: int, what: str) -> None:
    below = np.flatnonzero(left.signs() < 0)
    if len(below):
        raise ValueError(f"column `{names[int(below[0]) // size]}`: {what}")


# -- moments ---------------------------------------------------------------------------------------------------------


def _write_moments(tallies: Mapping[str, Moments]) -> bytes:
    rows = Rows()
    columns: list[list[ExactArray]] = [[] for _ in _SUMS]
    require_cells(sum(len(tally.classes) for tally in tallies.values()))
    for name, tally in tallies.items():
        kept = np.flatnonzero(tally.sums.n.signs())
        rows.add(name, kept)
        arrays = (tally.sums.n, tally.sums.fractional, tally.sums.total, tally.sums.squares)
        for column, array in zip(columns, arrays, strict=True):
            column.append(array if len(kept) == len(array) else array.take(kept))
    classes = next(iter(tallies.values())).classes
    sums = {name: exact_column(column) for name, column in zip(_SUMS, columns, strict=True)}
    return arrow_file.write(rows.columns(classes) | sums)


def _read_moments(data: bytes, classes: Classes) -> dict[str, Tally]:
    table = arrow_file.read(data, _MOMENT_COLUMNS)
    rows = Placed.of(table, classes)
    require_increasing(rows.column, rows.label)
    size = len(classes.texts)
    require_cells(size * len(rows.names))
    sums = [Exact(table[name]) for name in _SUMS]
    for _, _, start, stop in rows.blocks():
        arrays = [each[start:stop] for each in sums]
        _require_moments(arrays, classes.counts.take(rows.label[start:stop]), rows, start)
    result: dict[str, Tally] = {}
    for name, start, stop in rows.columns():
        arrays = [each[start:stop] for each in sums]
        if stop - start < size:
            spread = np.full(size, -1, dtype=np.int64)
            spread[rows.label[start:stop]] = np.arange(stop - start)
            arrays = [array.take(spread) for array in arrays]
        result[name] = Moments(classes.texts, _core.Moments(*arrays))
    return result


def _require_moments(arrays: list[ExactArray], class_counts: ExactArray, rows: Placed, start: int) -> None:
    """Refuse moments that no values have: too many of them, or a variance below zero."""
    n, fractional, total, squares = arrays
    settled = (total.signs() == 0) | _settled(n.to_doubles(), total.to_doubles(), squares.to_doubles())
    doubtful = np.flatnonzero(~settled).tolist()
    wrong = {
        "a number of values is not above zero": n.signs() <= 0,
        "a class has more values than rows": added(class_counts, n, sign=-1).signs() < 0,
        "a number of fractional values is below zero": fractional.signs() < 0,
        "a class has more fractional values than values": added(n, fractional, sign=-1).signs() < 0,
        "a sum of squares is below zero": squares.signs() < 0,
        "a variance is below zero": np.isin(np.arange(len(n)), [i for i in doubtful if _excess(arrays, i) < 0]),
    }
    for what, found in wrong.items():
        if found.any():
            raise ValueError(f"column `{rows.names[rows.column[start + int(np.argmax(found))]]}`: {what}")


def _settled(n: Doubles, total: Doubles, squares: Doubles) -> NDArray[np.bool_]:
    """Where doubles settle that n * squares > total**2; the other cells are computed exactly."""
    with np.errstate(all="ignore"):
        return (n * squares > total * total * (1 + 1e-12)) & (total * total > 1e-290)


def _excess(arrays: list[ExactArray], cell: int) -> int:
    n, _, total, squares = (dyadic(array, cell) for array in arrays)
    return Spread(n, total, squares).excess.m


FORMS: dict[str, Form] = {
    Counts.form: Form(Counts, _write_counts, _read_counts(Counts)),
    Moments.form: Form(Moments, _write_moments, _read_moments),
    Words.form: Form(Words, _write_counts, _read_counts(Words)),
}
"""Every form of tally that a book may hold. A new tally is saved once it is entered here."""


# -- the columns of a table ------------------------------------------------------------------------------------------


class Rows:
    """Gathers the rows of a table, tally by tally: the column and the class of each."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.labels: list[Index] = []

    def add(self, name: str, labels: Index) -> None:
        self.names.append(name)
        self.labels.append(labels)

    def columns(self, classes: tuple[str, ...]) -> dict[str, pa.Array]:
        repeated = np.repeat(np.arange(len(self.names)), [len(labels) for labels in self.labels])
        return {
            "column": text_array(self.names).take(numbers_array(repeated)),
            "class": text_array(classes).take(numbers_array(np.concatenate(self.labels))),
        }


class Placed(NamedTuple):
    """The rows of a table that was read: the names of the columns, where the rows of each start (and the last stop),
    and of each row the number of its column and of its class."""

    names: list[str]
    starts: Index
    column: Index
    label: Index

    @classmethod
    def of(cls, table: Mapping[str, Any], classes: Classes) -> Placed:
        coded = table["column"].dictionary_encode()
        names, column = coded.dictionary.to_pylist(), numpy_values(coded.indices).astype(np.int64)
        _require_ordered(names, "columns")
        labels = table["class"].dictionary_encode()
        place = positions(labels.dictionary.to_pylist(), classes.texts)
        if (place < 0).any():
            raise ValueError(f"the class {labels.dictionary[int(np.argmin(place))].as_py()!r} has no rows")
        starts = np.searchsorted(column, np.arange(len(names) + 1))
        return cls(names, starts, column, place[numpy_values(labels.indices)])

    def columns(self) -> Iterator[tuple[str, int, int]]:
        """Each column with where its rows start and stop."""
        starts = self.starts.tolist()
        return zip(self.names, starts, starts[1:], strict=False)

    def blocks(self) -> Iterator[tuple[int, int, int, int]]:
        """The first column of a block and the one after its last, and where their rows start and stop."""
        starts, first = self.starts, 0
        while first < len(self.names):
            last = int(np.searchsorted(starts, starts[first] + BLOCK, side="right")) - 1
            last = max(last, first + 1)
            yield first, last, int(starts[first]), int(starts[last])
            first = last


def exact_column(parts: Sequence[ExactArray]) -> pa.Array:
    """Exact numbers as int64 where all of them fit, else as text."""
    try:
        return numbers_array(np.concatenate([part.to_integers() for part in parts]))
    except OverflowError:
        return _lines(b"".join([part.text() for part in parts]))


def _lines(text: bytes) -> pa.Array:
    """The lines of a text, each ended by a newline, as an Arrow column."""
    ends = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == ord("\n"))
    offsets = np.zeros(len(ends) + 1, dtype=np.int64)
    offsets[1:] = ends - np.arange(len(ends))
    if offsets[-1] >= 1 << 31:
        raise ValueError("its numbers have more digits than a column of text holds")
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(text.replace(b"\n", b""))]
    return pa.Array.from_buffers(TEXT, len(ends), buffers)


class Exact:
    """A column of exact numbers, read slice by slice, so that each tally keeps a window of its own."""

    def __init__(self, column: pa.Array) -> None:
        self.integers = numpy_values(column) if column.type == WHOLE else None
        if self.integers is None:
            self.lines = "".join([f"{line}\n" for line in column.to_pylist()]).encode()
            lengths = numpy_values(pc.binary_length(column))
            self.starts = np.concatenate([[0], np.cumsum(lengths.astype(np.int64) + 1)]).tolist()

    def __getitem__(self, rows: slice) -> ExactArray:
        if self.integers is not None:
            return ExactArray.from_integers(self.integers[rows])
        cells = ExactArray.from_text(self.lines[self.starts[rows.start] : self.starts[rows.stop]])
        if len(cells) != rows.stop - rows.start:
            raise ValueError("a number has several lines")
        return cells


def _ranked(column: pa.Array) -> tuple[tuple[str, ...], Index]:
    """The distinct texts in their order, and the rank of each row's text."""
    letters, ends, ranks = _core.rank_texts(*text_buffers(column))
    return tuple(text_column(letters, ends).to_pylist()), ranks


def _distinct(keys: Index, most: int) -> tuple[Index, Index]:
    """The distinct keys (from 0 to below `most`) in their order, and the place of each row's key among them."""
    if most > SPARSE * len(keys):
        slots, places = np.unique(keys, return_inverse=True)
        return slots, places
    present = np.zeros(most, dtype=bool)
    present[keys] = True
    return np.flatnonzero(present), (np.cumsum(present) - 1)[keys]


def _require_ordered(texts: Sequence[str], what: str) -> None:
    if any(one >= other for one, other in itertools.pairwise(texts)):
        raise ValueError(f"the {what} are not in the order of their texts")


def require_increasing(*keys: Index) -> None:
    """Refuse rows that are out of order or twice there."""
    later = np.zeros(max(len(keys[0]) - 1, 0), dtype=bool)
    for key in reversed(keys):
        step = np.diff(key)
        later = (step > 0) | ((step == 0) & later)
    if not later.all():
        raise ValueError(f"row {int(np.argmin(later)) + 2} is out of order, or there twice")


def require_cells(cells: int) -> None:
    if cells > MOST_CELLS:
        raise ValueError(f"the model has {cells} cells, more than {MOST_CELLS}")
