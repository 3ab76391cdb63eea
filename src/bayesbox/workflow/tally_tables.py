"""The book as tables: one of the class counts, and one for each form of tally that the columns have.

    classes.arrow   class, count
    counts.arrow    column, class, level, count                  (words.arrow is the same for words)
    moments.arrow   column, class, n, fractional, sum, squares

A row stands for what is not zero, rows are in the order of their texts, and no row occurs twice: equal books give
equal tables. Numbers are exact: a column of numbers is int64 where all of them fit, else text, in which `-1bp-3` is
-27 / 8: hexadecimal digits and a power of two, as `float.fromhex` and C read them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox._core import ExactArray
from bayesbox.model import arrow_file
from bayesbox.model.arrow_file import TEXT, WHOLE
from bayesbox.schema.levels import label_order
from bayesbox.tally.base import Tally, added, positions
from bayesbox.tally.book import Book
from bayesbox.tally.counts import Counts
from bayesbox.tally.moments import Moments
from bayesbox.tally.words import Words

MOST_CELLS = 1 << 27  # classes x levels, and classes x columns of numbers: what a book takes in memory

Index = NDArray[np.int64]

_CLASS_COLUMNS = {"class": (TEXT,), "count": (WHOLE, TEXT)}
_COUNT_COLUMNS = {"column": (TEXT,), "class": (TEXT,), "level": (TEXT,), "count": (WHOLE, TEXT)}
_SUMS = ("n", "fractional", "sum", "squares")
_MOMENT_COLUMNS = {"column": (TEXT,), "class": (TEXT,), **dict.fromkeys(_SUMS, (WHOLE, TEXT))}


class Form(NamedTuple):
    """How the tallies of one form become a table, and a table the tallies."""

    tally: type
    write: Callable[[Mapping[str, Any]], bytes]
    read: Callable[[bytes, tuple[str, ...]], dict[str, Tally]]


def members(book: Book) -> dict[str, bytes]:
    """The tables of a book by the names of their files; a form without a tally has none."""
    book = book.pruned()
    book = book.with_classes(tuple(sorted(book.classes)))
    tables = {"classes.arrow": _write_classes(book)}
    for name, form in sorted(FORMS.items()):
        tallies = {column: book[column] for column in sorted(book) if book[column].form == name}
        if tallies:
            tables[f"{name}.arrow"] = form.write(tallies)
    return tables


def book_of(tables: Mapping[str, bytes], label_type: str, order: Sequence[str]) -> Book:
    """The book of these tables, its columns in this order as far as they are named there.

    ValueError(member, reason) where a table is not as `members` writes it.
    """
    classes, counts = _within("classes.arrow", lambda: _read_classes(tables["classes.arrow"]))
    found: dict[str, Tally] = {}
    for name, form in sorted(FORMS.items()):
        member = f"{name}.arrow"
        if member not in tables:
            continue
        tallies = _within(member, lambda: form.read(tables[member], classes))  # noqa: B023
        _within(member, lambda: _require_possible(tallies, counts, within=name != Words.form))  # noqa: B023
        if not found.keys().isdisjoint(tallies):
            raise ValueError(member, f"a column has two tallies: `{min(found.keys() & tallies)}`")
        found |= tallies
    columns = {name: found[name] for name in order if name in found} | found
    book = Book(classes, counts, columns, label_type=label_type)
    return book.with_classes(tuple(label_order(list(classes), label_type)))


def _within(member: str, action: Callable[[], Any]) -> Any:
    try:
        return action()
    except ValueError as error:
        raise ValueError(member, str(error)) from error


def _require_possible(tallies: Mapping[str, Any], class_counts: ExactArray, *, within: bool) -> None:
    """Refuse a tally that no rows have: a sum below zero, more values than rows (`within`: one a row at most)."""
    for name, tally in tallies.items():
        if not tally.is_possible():
            raise ValueError(f"column `{name}`: no rows have these numbers")
        if within:
            n = tally.sums.n if isinstance(tally, Moments) else tally.totals()
            if (added(class_counts, n, sign=-1).signs() < 0).any():
                raise ValueError(f"column `{name}`: a class has more values than rows")
        if isinstance(tally, Moments) and (added(n, tally.sums.fractional, sign=-1).signs() < 0).any():
            raise ValueError(f"column `{name}`: a class has more fractional values than values")


# -- class counts ----------------------------------------------------------------------------------------------------


def _write_classes(book: Book) -> bytes:
    return arrow_file.write({"class": pa.array(book.classes, TEXT), "count": _exact_column([book.class_counts])})


def _read_classes(data: bytes) -> tuple[tuple[str, ...], ExactArray]:
    table = arrow_file.read(data, _CLASS_COLUMNS)
    classes = tuple(table["class"].to_pylist())
    if any(one >= other for one, other in zip(classes, classes[1:], strict=False)):
        raise ValueError("the classes are not in the order of their texts")
    counts = _Exact(table["count"]).part(0, len(classes))
    if (counts.signs() <= 0).any():
        raise ValueError("a class has a count that is not above zero")
    return classes, counts


# -- counts and words ------------------------------------------------------------------------------------------------


def _write_counts(tallies: Mapping[str, Counts]) -> bytes:
    names: list[str] = []
    sizes: list[int] = []
    classes: list[pa.Array] = []
    levels: list[str] = []
    cells: list[ExactArray] = []
    for name, tally in tallies.items():
        kept = np.flatnonzero(tally.cells.signs())
        width = len(tally.levels)
        names.append(name)
        sizes.append(len(kept))
        classes.append(kept // width)
        levels += [tally.levels[index] for index in (kept % width).tolist()]
        cells.append(tally.cells.take(kept))
    texts = pa.array(next(iter(tallies.values())).classes, TEXT)
    return arrow_file.write(
        {
            "column": _repeated(names, sizes),
            "class": texts.take(pa.array(np.concatenate(classes))),
            "level": pa.array(levels, TEXT),
            "count": _exact_column(cells),
        }
    )


def _read_counts(form: type[Counts]) -> Callable[[bytes, tuple[str, ...]], dict[str, Tally]]:
    def read(data: bytes, classes: tuple[str, ...]) -> dict[str, Tally]:
        table = arrow_file.read(data, _COUNT_COLUMNS)
        names, starts, which = _columns_and_classes(table, classes)
        texts, ranks = _ranked(table["level"])
        column = np.repeat(np.arange(len(names)), np.diff(starts))
        slots, place = np.unique(column * max(len(texts), 1) + ranks, return_inverse=True)
        first = np.searchsorted(slots, np.arange(len(names) + 1) * max(len(texts), 1))
        _require_increasing(column, which, ranks)
        _require_cells(len(classes) * len(slots))
        counts = _Exact(table["count"])
        slot_ranks = slots % max(len(texts), 1)
        result: dict[str, Tally] = {}
        for index, name in enumerate(names):
            start, stop = starts[index], starts[index + 1]
            low, high = first[index], first[index + 1]
            levels = tuple(texts[rank] for rank in slot_ranks[low:high].tolist())
            cells = counts.part(start, stop)
            if not cells.signs().all():
                raise ValueError(f"column `{name}`: a count is zero")
            size = len(classes) * len(levels)
            spread = np.full(size, -1, dtype=np.int64)
            spread[which[start:stop] * len(levels) + (place[start:stop] - low)] = np.arange(stop - start)
            result[name] = form(classes, levels, cells.take(spread))
        return result

    return read


# -- moments ---------------------------------------------------------------------------------------------------------


def _write_moments(tallies: Mapping[str, Moments]) -> bytes:
    arrays = [[], [], [], []]  # type: list[list[ExactArray]]
    kept = []
    for tally in tallies.values():
        present = np.flatnonzero(tally.sums.n.signs())
        kept.append(present)
        sums = tally.sums
        for cells, array in zip(arrays, (sums.n, sums.fractional, sums.total, sums.squares), strict=True):
            cells.append(array if len(present) == len(array) else array.take(present))
    texts = pa.array(next(iter(tallies.values())).classes, TEXT)
    return arrow_file.write(
        {
            "column": _repeated(list(tallies), [len(each) for each in kept]),
            "class": texts.take(pa.array(np.concatenate(kept))),
            **{name: _exact_column(cells) for name, cells in zip(_SUMS, arrays, strict=True)},
        }
    )


def _read_moments(data: bytes, classes: tuple[str, ...]) -> dict[str, Tally]:
    table = arrow_file.read(data, _MOMENT_COLUMNS)
    names, starts, which = _columns_and_classes(table, classes)
    _require_increasing(np.repeat(np.arange(len(names)), np.diff(starts)), which)
    _require_cells(len(classes) * len(names))
    sums = [_Exact(table[name]) for name in _SUMS]
    result: dict[str, Tally] = {}
    for index, name in enumerate(names):
        start, stop = starts[index], starts[index + 1]
        arrays = [each.part(start, stop) for each in sums]
        if (arrays[0].signs() <= 0).any():
            raise ValueError(f"column `{name}`: a number of values is not above zero")
        if stop - start < len(classes):
            spread = np.full(len(classes), -1, dtype=np.int64)
            spread[which[start:stop]] = np.arange(stop - start)
            arrays = [array.take(spread) for array in arrays]
        result[name] = Moments(classes, _core.Moments(*arrays))
    return result


FORMS: dict[str, Form] = {
    Counts.form: Form(Counts, _write_counts, _read_counts(Counts)),
    Moments.form: Form(Moments, _write_moments, _read_moments),
    Words.form: Form(Words, _write_counts, _read_counts(Words)),
}
"""Every form of tally that a book may hold. A new tally is saved once it is entered here."""


# -- columns of a table ----------------------------------------------------------------------------------------------


def _repeated(names: Sequence[str], sizes: Sequence[int]) -> pa.Array:
    return pa.array(names, TEXT).take(pa.array(np.repeat(np.arange(len(names)), sizes)))


def _exact_column(parts: Iterable[ExactArray]) -> pa.Array:
    """Exact numbers as int64 where all of them fit, else as text."""
    parts = list(parts)
    try:
        return pa.array(np.concatenate([part.to_integers() for part in parts] or [np.zeros(0, np.int64)]), WHOLE)
    except OverflowError:
        return pa.array(b"".join(part.text() for part in parts).decode().splitlines(), TEXT)


class _Exact:
    """A column of exact numbers, read part by part, so that each tally keeps a window of its own."""

    def __init__(self, column: pa.Array) -> None:
        self.integers = column.to_numpy() if column.type == WHOLE else None
        self.lines = None if column.type == WHOLE else column.to_pylist()

    def part(self, start: int, stop: int) -> ExactArray:
        if self.integers is not None:
            return ExactArray.from_integers(self.integers[start:stop])
        assert self.lines is not None
        lines = self.lines[start:stop]
        cells = ExactArray.from_text("".join(f"{line}\n" for line in lines).encode())
        if len(cells) != len(lines):
            raise ValueError("a number has several lines")
        return cells


def _ranked(column: pa.Array) -> tuple[list[str], Index]:
    """The distinct texts in their order, and the rank of each row's text."""
    coded = column.dictionary_encode()
    texts = coded.dictionary.to_pylist()
    order = sorted(range(len(texts)), key=texts.__getitem__)
    rank = np.empty(len(texts), dtype=np.int64)
    rank[order] = np.arange(len(texts))
    return [texts[index] for index in order], rank[coded.indices.to_numpy()]


def _columns_and_classes(table: Mapping[str, Any], classes: tuple[str, ...]) -> tuple[list[str], Index, Index]:
    """The names of the columns, where the rows of each start (and the last stop), and the class of each row."""
    ends = pc.run_end_encode(table["column"])
    names = ends.values.to_pylist()
    starts = np.concatenate([[0], ends.run_ends.to_numpy()]).astype(np.int64)
    if any(one >= other for one, other in zip(names, names[1:], strict=False)):
        raise ValueError("the columns are not in the order of their names")
    coded = table["class"].dictionary_encode()
    place = positions(coded.dictionary.to_pylist(), classes)
    if (place < 0).any():
        unknown = coded.dictionary.to_pylist()[int(np.argmin(place))]
        raise ValueError(f"the class {unknown!r} has no rows")
    return names, starts, place[coded.indices.to_numpy()]


def _require_increasing(*keys: Index) -> None:
    """Refuse rows that are out of order or twice there."""
    later = np.zeros(max(len(keys[0]) - 1, 0), dtype=bool)
    for key in reversed(keys):
        step = np.diff(key)
        later = (step > 0) | ((step == 0) & later)
    if not later.all():
        raise ValueError(f"row {int(np.argmin(later)) + 2} is out of order, or there twice")


def _require_cells(cells: int) -> None:
    if cells > MOST_CELLS:
        raise ValueError(f"the model has {cells} cells, more than {MOST_CELLS}")
