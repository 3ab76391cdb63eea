"""Counts of levels as a table.

counts.arrow    column, class, level, count
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TypeVar

import numpy as np

from bayesbox._core import ExactArray
from bayesbox.file import arrow
from bayesbox.file.arrow import TEXT, WHOLE
from bayesbox.schema.arrays import repeated_texts
from bayesbox.tally.book import Book
from bayesbox.tally.codec.columns import (
    Exact,
    Index,
    RowGatherer,
    TableRows,
    distinct,
    exact_column,
    ranked,
    require_increasing,
)
from bayesbox.tally.counts import Counts
from bayesbox.tally.room import require_room_for_levels
from bayesbox.tally.sparse_counts import SparseCounts, is_sparse

C = TypeVar("C", bound=Counts)

_COLUMNS = {"column": (TEXT,), "class": (TEXT,), "level": (TEXT,), "count": (WHOLE, TEXT)}


def write(form: type[C], tallies: Mapping[str, C]) -> dict[str, bytes]:
    """The table of these tallies, which have the same classes, sorted by text."""
    rows = RowGatherer()
    levels: list[str] = []
    places: list[Index] = []  # of the level of each row
    cells: list[ExactArray] = []
    for name, tally in tallies.items():
        kept, some = tally.entries()
        width = max(len(tally.levels), 1)
        rows.add(name, kept // width)
        places.append(len(levels) + kept % width)
        levels += tally.levels
        cells.append(some)
    classes = next(iter(tallies.values())).classes
    texts = repeated_texts(levels, np.concatenate(places))
    return {form.members[0]: arrow.write(rows.columns(classes) | {"level": texts, "count": exact_column(cells)})}


def read(form: type[C], tables: Mapping[str, bytes], book: Book) -> dict[str, C]:
    """The tallies in such a table; the book has the classes, sorted by text."""
    table = arrow.read(tables[form.members[0]], _COLUMNS)
    rows = TableRows.of(table, book.classes)
    texts, ranks = ranked(table["level"])
    require_increasing(rows.column, rows.label, ranks)
    slots, place = distinct(rows.column * max(len(texts), 1) + ranks, len(rows.names) * max(len(texts), 1))
    firsts = np.searchsorted(slots, np.arange(len(rows.names) + 1) * max(len(texts), 1)).tolist()
    size = len(book.classes)
    sizes = [size * (last - first) for first, last in pairwise(firsts)]
    rare = [
        form is Counts and is_sparse(cells, stop - start)
        for cells, (_, start, stop) in zip(sizes, rows.columns(), strict=True)
    ]
    dense = zip(rows.names, pairwise(firsts), rare, strict=True)
    require_room_for_levels(size, {name: last - first for name, (first, last), sparse in dense if not sparse})
    counts = Exact(table["count"])
    _require_counts(rows, counts, book)
    result: dict[str, C] = {}
    for index, (name, start, stop) in enumerate(rows.columns()):
        first, last = firsts[index], firsts[index + 1]
        levels = tuple([texts[rank] for rank in (slots[first:last] - index * len(texts)).tolist()])
        cells = counts[start:stop]
        at = rows.label[start:stop] * len(levels) + (place[start:stop] - first)
        if rare[index]:
            result[name] = SparseCounts(book.classes, levels, at, cells)  # type: ignore[assignment]
            continue
        if stop - start < size * len(levels):
            spread = np.full(size * len(levels), -1, dtype=np.int64)
            spread[at] = np.arange(stop - start)
            cells = cells.take(spread)
        result[name] = form(book.classes, levels, cells)
    return result


def _require_counts(rows: TableRows, counts: Exact, book: Book) -> None:
    """Raise an error for counts that are not positive, or exceed the rows of a class."""
    size = len(book.classes)
    for first, last, start, stop in rows.blocks():
        cells = counts[start:stop]
        if (cells.signs() <= 0).any():
            raise ValueError("a count is not positive")
        group, place = np.unique((rows.column[start:stop] - first) * size + rows.label[start:stop], return_inverse=True)
        left = book.class_counts.take(group % size)
        left.add(cells, place.reshape(-1), sign=-1)
        below = np.flatnonzero(left.signs() < 0)
        if len(below):
            name = rows.names[first:last][int(group[below[0]]) // size]
            raise ValueError(f"column `{name}`: a class has more values than rows")
