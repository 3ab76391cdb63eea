"""Counts of levels as a table.

counts.arrow    column, class, level, count
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np

from bayesbox._core import ExactArray
from bayesbox.file import arrow
from bayesbox.file.arrow import TEXT, WHOLE
from bayesbox.schema.arrays import numbers_array, text_array
from bayesbox.tally.book import Book
from bayesbox.tally.codec.columns import (
    Exact,
    Index,
    RowGatherer,
    TableRows,
    distinct,
    exact_column,
    ranked,
    require_cells,
    require_increasing,
)
from bayesbox.tally.counts import Counts

C = TypeVar("C", bound=Counts)

_COLUMNS = {"column": (TEXT,), "class": (TEXT,), "level": (TEXT,), "count": (WHOLE, TEXT)}


def write(form: type[C], tallies: Mapping[str, C]) -> dict[str, bytes]:
    """The table of these tallies, which have the same classes in the order of their texts."""
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
    return {form.members[0]: arrow.write(rows.columns(classes) | {"level": texts, "count": exact_column(cells)})}


def read(form: type[C], tables: Mapping[str, bytes], book: Book) -> dict[str, C]:
    """The tallies of such a table; the book has the classes, in the order of their texts."""
    table = arrow.read(tables[form.members[0]], _COLUMNS)
    rows = TableRows.of(table, book.classes)
    texts, ranks = ranked(table["level"])
    require_increasing(rows.column, rows.label, ranks)
    slots, place = distinct(rows.column * max(len(texts), 1) + ranks, len(rows.names) * max(len(texts), 1))
    firsts = np.searchsorted(slots, np.arange(len(rows.names) + 1) * max(len(texts), 1)).tolist()
    size = len(book.classes)
    require_cells(size * len(slots))
    counts = Exact(table["count"])
    _require_counts(rows, counts, book)
    result: dict[str, C] = {}
    for index, (name, start, stop) in enumerate(rows.columns()):
        first, last = firsts[index], firsts[index + 1]
        levels = tuple([texts[rank] for rank in (slots[first:last] - index * len(texts)).tolist()])
        cells = counts[start:stop]
        if stop - start < size * len(levels):
            spread = np.full(size * len(levels), -1, dtype=np.int64)
            spread[rows.label[start:stop] * len(levels) + (place[start:stop] - first)] = np.arange(stop - start)
            cells = cells.take(spread)
        result[name] = form(book.classes, levels, cells)
    return result


def _require_counts(rows: TableRows, counts: Exact, book: Book) -> None:
    """Refuse counts that are not above zero, or more in a class than it has rows."""
    size = len(book.classes)
    for first, last, start, stop in rows.blocks():
        cells = counts[start:stop]
        if (cells.signs() <= 0).any():
            raise ValueError("a count is not above zero")
        group = (rows.column[start:stop] - first) * size + rows.label[start:stop]
        left = book.class_counts.take(np.tile(np.arange(size), last - first))
        left.add(cells, group, sign=-1)
        _require_none_below(left, rows.names[first:last], size, "a class has more values than rows")


def _require_none_below(left: ExactArray, names: Sequence[str], size: int, what: str) -> None:
    below = np.flatnonzero(left.signs() < 0)
    if len(below):
        raise ValueError(f"column `{names[int(below[0]) // size]}`: {what}")
