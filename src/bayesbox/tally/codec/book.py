"""The book as tables: one of the class counts, and one for each form of tally that the columns have.

    classes.arrow   class, count
    counts.arrow    column, class, level, count
    moments.arrow   column, class, n, fractional, sum, squares
    words.arrow     column, class, words, with two more tables (see `word_tables`)

A row stands for what is not zero, rows are in the order of their texts, and no row occurs twice: equal books give
equal tables. Numbers are exact: a column of numbers is int64 where all of them fit, else text, in which `-1bp-3` is
-27 / 8: hexadecimal digits and a power of two, as `float.fromhex` and C read them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox._core import ExactArray
from bayesbox.file import arrow as arrow_file
from bayesbox.file.arrow import TEXT, WHOLE
from bayesbox.file.faults import MemberFault, require_members, within
from bayesbox.schema.arrays import numbers_array, text_array
from bayesbox.schema.levels import label_order
from bayesbox.tally.base import Tally, added, dyadic
from bayesbox.tally.book import Book
from bayesbox.tally.codec import words as word_tables
from bayesbox.tally.codec.columns import (
    Classes,
    Exact,
    Index,
    RowGatherer,
    TableRows,
    distinct,
    exact_column,
    ranked,
    require_cells,
    require_increasing,
    require_ordered,
)
from bayesbox.tally.counts import Counts
from bayesbox.tally.moments import Moments, Spread
from bayesbox.tally.words import WordCounts

Doubles = NDArray[np.float64]

CLASSES = "classes.arrow"  # always there
_CLASS_COLUMNS = {"class": (TEXT,), "count": (WHOLE, TEXT)}
_COUNT_COLUMNS = {"column": (TEXT,), "class": (TEXT,), "level": (TEXT,), "count": (WHOLE, TEXT)}
_SUMS = ("n", "fractional", "sum", "squares")
_MOMENT_COLUMNS = {"column": (TEXT,), "class": (TEXT,), **dict.fromkeys(_SUMS, (WHOLE, TEXT))}


class Form(NamedTuple):
    """How the tallies of one form become a table, and a table the tallies."""

    tally: type
    members: tuple[str, ...]  # the tables
    write: Callable[[Mapping[str, Any]], tuple[bytes, ...]]
    read: Callable[..., dict[str, Tally]]  # takes the tables, and the classes


def members(book: Book) -> dict[str, bytes]:
    """The tables of a book by the names of their files; a form without a tally has none."""
    present = book.class_counts.signs() != 0
    book = book.with_classes(tuple(sorted(itertools.compress(book.classes, present))))
    tables = {CLASSES: _write_classes(book)}
    by_form: dict[str, dict[str, Any]] = {}
    for name in sorted(book):
        form = Moments.form if isinstance(book[name], Moments) else book[name].form  # values have a table besides
        by_form.setdefault(form, {})[name] = book[name]
    for form in sorted(by_form):
        tables |= zip(FORMS[form].members, FORMS[form].write(by_form[form]), strict=True)
    return tables


def member_names() -> tuple[str, ...]:
    """Every table that `members` may give; the first of them is always there."""
    return (CLASSES, *(member for form in sorted(FORMS) for member in FORMS[form].members))


def book_of(tables: Mapping[str, bytes], label_type: str, order: Sequence[str]) -> Book:
    """The book of these tables, its columns in this order as far as they are named there.

    MemberFault where a table is not as `members` writes it.
    """
    with within(CLASSES):
        classes = _read_classes(tables[CLASSES])
    found: dict[str, Tally] = {}
    for _, form in sorted(FORMS.items()):
        if any(member in tables for member in form.members):
            require_members(tables, known=tables, needed=form.members)
            with within(form.members[0]):
                tallies = form.read(*(tables[member] for member in form.members), classes)
            if not found.keys().isdisjoint(tallies):
                raise MemberFault(form.members[0], f"a column has two tallies: `{min(found.keys() & tallies)}`")
            found |= tallies
    columns = {name: found[name] for name in order if name in found} | found
    book = Book(classes.texts, classes.counts, columns, label_type=label_type)
    return book.with_classes(tuple(label_order(list(classes.texts), label_type)))


# -- class counts ----------------------------------------------------------------------------------------------------


def _write_classes(book: Book) -> bytes:
    return arrow_file.write({"class": text_array(book.classes), "count": exact_column([book.class_counts])})


def _read_classes(data: bytes) -> Classes:
    table = arrow_file.read(data, _CLASS_COLUMNS)
    texts = tuple(table["class"].to_pylist())
    require_ordered(texts, "classes")
    counts = Exact(table["count"])[0 : len(texts)]
    if (counts.signs() <= 0).any():
        raise ValueError("a class has a count that is not above zero")
    return Classes(texts, counts)


# -- counts ----------------------------------------------------------------------------------------------------------


def _write_counts(tallies: Mapping[str, Counts]) -> tuple[bytes]:
    rows = RowGatherer()
    levels: list[str] = []
    places: list[Index] = []  # of the level of each row
    cells: list[ExactArray] = []
    require_cells(sum(len(tally.cells) for tally in tallies.values()))
    for name, tally in tallies.items():
        kept = np.flatnonzero(tally.cells.signs())
        width = max(len(tally.levels), 1)
        rows.add(name, kept // width)
        places.append(len(levels) + kept % width)
        levels += tally.levels
        cells.append(tally.cells if len(kept) == len(tally.cells) else tally.cells.take(kept))
    classes = next(iter(tallies.values())).classes
    texts = text_array(levels).take(numbers_array(np.concatenate(places)))
    return (arrow_file.write(rows.columns(classes) | {"level": texts, "count": exact_column(cells)}),)


def _read_counts(data: bytes, classes: Classes) -> dict[str, Tally]:
    table = arrow_file.read(data, _COUNT_COLUMNS)
    rows = TableRows.of(table, classes)
    texts, ranks = ranked(table["level"])
    require_increasing(rows.column, rows.label, ranks)
    slots, place = distinct(rows.column * max(len(texts), 1) + ranks, len(rows.names) * max(len(texts), 1))
    firsts = np.searchsorted(slots, np.arange(len(rows.names) + 1) * max(len(texts), 1)).tolist()
    size = len(classes.texts)
    require_cells(size * len(slots))
    counts = Exact(table["count"])
    _require_counts(rows, counts, classes)
    result: dict[str, Tally] = {}
    for index, (name, start, stop) in enumerate(rows.columns()):
        first, last = firsts[index], firsts[index + 1]
        levels = tuple([texts[rank] for rank in (slots[first:last] - index * len(texts)).tolist()])
        cells = counts[start:stop]
        if stop - start < size * len(levels):
            spread = np.full(size * len(levels), -1, dtype=np.int64)
            spread[rows.label[start:stop] * len(levels) + (place[start:stop] - first)] = np.arange(stop - start)
            cells = cells.take(spread)
        result[name] = Counts(classes.texts, levels, cells)
    return result


def _require_counts(rows: TableRows, counts: Exact, classes: Classes) -> None:
    """Refuse counts that are not above zero, or more in a class than it has rows."""
    size = len(classes.texts)
    for first, last, start, stop in rows.blocks():
        cells = counts[start:stop]
        if (cells.signs() <= 0).any():
            raise ValueError("a count is not above zero")
        group = (rows.column[start:stop] - first) * size + rows.label[start:stop]
        left = classes.counts.take(np.tile(np.arange(size), last - first))
        left.add(cells, group, sign=-1)
        _require_none_below(left, rows.names[first:last], size, "a class has more values than rows")


def _require_none_below(left: ExactArray, names: Sequence[str], size: int, what: str) -> None:
    below = np.flatnonzero(left.signs() < 0)
    if len(below):
        raise ValueError(f"column `{names[int(below[0]) // size]}`: {what}")


# -- moments ---------------------------------------------------------------------------------------------------------


def _write_moments(tallies: Mapping[str, Moments]) -> tuple[bytes]:
    rows = RowGatherer()
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
    return (arrow_file.write(rows.columns(classes) | sums),)


def _read_moments(data: bytes, classes: Classes) -> dict[str, Tally]:
    table = arrow_file.read(data, _MOMENT_COLUMNS)
    rows = TableRows.of(table, classes)
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


def _require_moments(arrays: list[ExactArray], class_counts: ExactArray, rows: TableRows, start: int) -> None:
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
    Counts.form: Form(Counts, ("counts.arrow",), _write_counts, _read_counts),
    Moments.form: Form(Moments, ("moments.arrow",), _write_moments, _read_moments),
    WordCounts.form: Form(WordCounts, word_tables.MEMBERS, word_tables.write, word_tables.read),
}
"""Every form of tally that a book may hold. A new tally is saved once it is entered here."""
