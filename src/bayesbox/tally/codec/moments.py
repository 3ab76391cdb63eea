"""Moments of numbers as a table.

moments.arrow   column, class, n, fractional, sum, squares
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox._core import ExactArray
from bayesbox.file import arrow
from bayesbox.file.arrow import TEXT, WHOLE
from bayesbox.tally.base import added, dyadic
from bayesbox.tally.book import Book
from bayesbox.tally.codec.columns import Exact, RowGatherer, TableRows, exact_column, require_increasing
from bayesbox.tally.moments import Moments, Spread
from bayesbox.tally.room import require_room_for_numbers

M = TypeVar("M", bound=Moments)
Doubles = NDArray[np.float64]

_SUMS = ("n", "fractional", "sum", "squares")
_COLUMNS = {"column": (TEXT,), "class": (TEXT,), **dict.fromkeys(_SUMS, (WHOLE, TEXT))}


def write(form: type[M], tallies: Mapping[str, M]) -> dict[str, bytes]:
    """The table of these tallies, which have the same classes, sorted by text."""
    rows = RowGatherer()
    columns: list[list[ExactArray]] = [[] for _ in _SUMS]
    for name, tally in tallies.items():
        kept = np.flatnonzero(tally.sums.n.signs())
        rows.add(name, kept)
        arrays = (tally.sums.n, tally.sums.fractional, tally.sums.total, tally.sums.squares)
        for column, array in zip(columns, arrays, strict=True):
            column.append(array if len(kept) == len(array) else array.take(kept))
    classes = next(iter(tallies.values())).classes
    sums = {name: exact_column(column) for name, column in zip(_SUMS, columns, strict=True)}
    return {form.members[0]: arrow.write(rows.columns(classes) | sums)}


def read(form: type[M], tables: Mapping[str, bytes], book: Book) -> dict[str, M]:
    """The tallies in such a table; the book has the classes, sorted by text."""
    table = arrow.read(tables[form.members[0]], _COLUMNS)
    rows = TableRows.of(table, book.classes)
    require_increasing(rows.column, rows.label)
    size = len(book.classes)
    require_room_for_numbers(size, len(rows.names))
    sums = [Exact(table[name]) for name in _SUMS]
    for _, _, start, stop in rows.blocks():
        arrays = [each[start:stop] for each in sums]
        _require_moments(arrays, book.class_counts.take(rows.label[start:stop]), rows, start)
    result: dict[str, M] = {}
    pieces = zip(rows.columns(), *(each.slices(rows.starts) for each in sums), strict=True)
    for (name, start, stop), *arrays in pieces:
        if stop - start < size:
            spread = np.full(size, -1, dtype=np.int64)
            spread[rows.label[start:stop]] = np.arange(stop - start)
            arrays = [array.take(spread) for array in arrays]
        result[name] = form(book.classes, _core.Moments(*arrays))
    return result


def _require_moments(arrays: list[ExactArray], class_counts: ExactArray, rows: TableRows, start: int) -> None:
    """Raise an error for impossible moments: too many values, or a negative variance."""
    n, fractional, total, squares = arrays
    settled = (total.signs() == 0) | _settled(n.to_doubles(), total.to_doubles(), squares.to_doubles())
    doubtful = np.flatnonzero(~settled).tolist()
    wrong = {
        "a number of values is not positive": n.signs() <= 0,
        "a class has more values than rows": added(class_counts, n, sign=-1).signs() < 0,
        "a number of fractional values is negative": fractional.signs() < 0,
        "a class has more fractional values than values": added(n, fractional, sign=-1).signs() < 0,
        "a sum of squares is negative": squares.signs() < 0,
        "a variance is negative": np.isin(np.arange(len(n)), [i for i in doubtful if _excess(arrays, i) < 0]),
    }
    for what, found in wrong.items():
        if found.any():
            raise ValueError(f"column `{rows.names[rows.column[start + int(np.argmax(found))]]}`: {what}")


def _settled(n: Doubles, total: Doubles, squares: Doubles) -> NDArray[np.bool_]:
    """Where floats suffice to show that n * squares > total**2; the other cells are computed exactly."""
    with np.errstate(all="ignore"):
        return (n * squares > total * total * (1 + 1e-12)) & (total * total > 1e-290)


def _excess(arrays: list[ExactArray], cell: int) -> int:
    n, _, total, squares = (dyadic(array, cell) for array in arrays)
    return Spread(n, total, squares).excess.m
