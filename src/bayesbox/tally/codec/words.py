"""Tallies of words as tables: the vocabulary once, and the counts of words for each column and class.

    words.arrow        column, class, words: how many rows of the next table are of this column and class
    word-counts.arrow  place, count: the position of a word in the last table
    vocabulary.arrow   word, sorted

A vocabulary that several tallies share is thus written once. Every word has a count somewhere, and the positions of a
column and class ascend, so equal tallies give equal tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar, cast

import numpy as np

from bayesbox._core import ExactArray
from bayesbox.file import arrow
from bayesbox.file.arrow import PLACE, TEXT, WHOLE
from bayesbox.file.faults import within
from bayesbox.schema.arrays import numbers_array, numpy_values, text_array
from bayesbox.tally.book import Book
from bayesbox.tally.codec.columns import (
    Exact,
    Index,
    RowGatherer,
    TableRows,
    exact_column,
    require_increasing,
    require_ordered,
)
from bayesbox.tally.sparse_words import FILLED_WORDS, MOST_DENSE_CELLS, SparseWordCounts
from bayesbox.tally.words import WordCounts, require_cells

W = TypeVar("W", bound=WordCounts)

_WORD_COLUMNS = {"column": (TEXT,), "class": (TEXT,), "words": (WHOLE,)}
_COUNT_COLUMNS = {"place": (PLACE,), "count": (WHOLE, TEXT)}
_VOCABULARY_COLUMNS = {"word": (TEXT,)}


def write(form: type[W], tallies: Mapping[str, W]) -> dict[str, bytes]:
    """The tables of these tallies, which have the same classes, sorted by text."""
    vocabulary = _vocabulary(tallies)
    rows, lengths, places, cells = RowGatherer(), [], [], []
    for name, tally in tallies.items():
        width, size = len(tally.levels), len(tally.classes)
        kept, some = tally.entries()
        number = np.diff(np.searchsorted(kept, np.arange(size + 1) * width))  # of the words of each class
        rows.add(name, np.flatnonzero(number))
        lengths.append(number[number > 0])
        own: Index = kept - np.repeat(np.arange(size) * width, number)
        if tally.levels != vocabulary:
            own = np.array(_places(tally.levels, vocabulary), dtype=np.int64)[own]
        places.append(own.astype(np.int32))
        cells.append(some)
    classes = next(iter(tallies.values())).classes
    if not np.bincount(np.concatenate(places), minlength=len(vocabulary)).all():  # a word without a count
        used = {name: tally.of(classes, list(tally.levels), tally.cells) for name, tally in tallies.items()}
        return write(form, used)
    tables = (
        arrow.write(rows.columns(classes) | {"words": numbers_array(np.concatenate(lengths))}),
        arrow.write({"place": numbers_array(np.concatenate(places)), "count": exact_column(cells)}),
        arrow.write({"word": text_array(vocabulary)}),
    )
    return dict(zip(form.members, tables, strict=True))


def _vocabulary(tallies: Mapping[str, WordCounts]) -> tuple[str, ...]:
    """The sorted words of all tallies."""
    first, *others = [tally.levels for tally in tallies.values()]
    if all(levels == first for levels in others):
        return first
    return tuple(sorted({*first, *(word for levels in others for word in levels)}))


def _places(words: tuple[str, ...], vocabulary: tuple[str, ...]) -> list[int]:
    place = {word: index for index, word in enumerate(vocabulary)}
    return [place[word] for word in words]


def read(form: type[W], tables: Mapping[str, bytes], book: Book) -> dict[str, W]:
    """The tallies in these tables; MemberFault if they are not as `write` makes them."""
    run_table, count_table, vocabulary = form.members
    with within(vocabulary):
        texts = tuple(arrow.read(tables[vocabulary], _VOCABULARY_COLUMNS)["word"].to_pylist())
        require_ordered(texts, "words")
    with within(count_table):
        table = arrow.read(tables[count_table], _COUNT_COLUMNS)
        places, counts = numpy_values(table["place"]).astype(np.int64), Exact(table["count"])
        _require_used(places, len(texts))
    runs = arrow.read(tables[run_table], _WORD_COLUMNS)
    rows, lengths = TableRows.of(runs, book.classes), numpy_values(runs["words"])
    require_increasing(rows.column, rows.label)
    if (lengths <= 0).any() or (lengths > len(places)).any() or int(lengths.sum()) != len(places):
        raise ValueError(f"the numbers of words do not sum to the rows of {count_table}")
    ends = np.concatenate([[0], np.cumsum(lengths)])
    with within(count_table):
        _require_ascending(places, ends)
    return _tallies(form, rows, ends, places, counts, texts, book.classes)


def _require_used(places: Index, number: int) -> None:
    """Raise an error for positions without a word, and words without a position."""
    if len(places) and not 0 <= places.min() <= places.max() < number:
        raise ValueError(f"a position is not one of {number} words")
    if not np.bincount(places, minlength=number).all():
        raise ValueError("a word of the vocabulary has no count")


def _require_ascending(places: Index, ends: Index) -> None:
    later = np.diff(places) > 0
    later[ends[1:-1] - 1] = True  # from one class to the next
    if not later.all():
        raise ValueError(f"row {int(np.argmin(later)) + 2} is out of order or repeated")


def _tallies(
    form: type[W],
    rows: TableRows,
    ends: Index,
    places: Index,
    counts: Exact,
    texts: tuple[str, ...],
    classes: tuple[str, ...],
) -> dict[str, W]:
    size, cells, filled, found = len(classes), 0, 0, []
    for name, first, last in rows.columns():
        start, stop = int(ends[first]), int(ends[last])
        there = _distinct_places(places[start:stop], len(texts))
        cells += size * len(there)
        filled += stop - start
        found.append((name, first, last, start, stop, there))
    if size:  # a model has weights for all cells, and so does its digest; the estimate is that of two tallies
        require_cells(size, -(-cells // (2 * size)))
    sparse = cells > MOST_DENSE_CELLS and filled * FILLED_WORDS < cells
    result: dict[str, W] = {}
    for name, first, last, start, stop, there in found:
        own, levels, width = places[start:stop], texts, len(there)
        if width < len(texts):
            own = np.searchsorted(there, own)
            levels = tuple([texts[place] for place in there.tolist()])
        slots = np.repeat(rows.label[first:last] * width, np.diff(ends[first : last + 1])) + own
        with within(form.members[1]):
            if sparse:
                result[name] = cast("W", SparseWordCounts(classes, levels, slots, _positive(counts, start, stop)))
            else:
                result[name] = form(classes, levels, _spread(counts, start, stop, slots, size * width))
    return result


def _distinct_places(places: Index, number: int) -> Index:
    """The sorted distinct positions, with memory for these only, however long the vocabulary is."""
    if len(places) * 16 < number:
        return np.unique(places)
    present = np.zeros(number, dtype=bool)
    present[places] = True
    return np.flatnonzero(present)


def _positive(counts: Exact, start: int, stop: int) -> ExactArray:
    """The numbers of these rows, which must be positive."""
    found = counts[start:stop]
    if (found.signs() <= 0).any():
        raise ValueError("a count is not positive")
    return found


def _spread(counts: Exact, start: int, stop: int, slots: Index, size: int) -> ExactArray:
    """The numbers of these rows at their cells, zero elsewhere; an error if one is not positive."""
    if counts.integers is not None:
        own = counts.integers[start:stop]
        if (own <= 0).any():
            raise ValueError("a count is not positive")
        cells = np.zeros(size, dtype=np.int64)
        cells[slots] = own
        return ExactArray.from_integers(cells)
    spread = np.full(size, -1, dtype=np.int64)
    spread[slots] = np.arange(stop - start)
    return _positive(counts, start, stop).take(spread)
