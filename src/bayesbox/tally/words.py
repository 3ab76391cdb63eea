"""Counts of words by class: the tally of a group of count columns, such as a sparse document-term matrix."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox._core import ExactArray
from bayesbox.described import parameter
from bayesbox.limits import BYTES_A_WORD, BYTES_A_WORD_ADDED, current_limits, require_memory
from bayesbox.schema.tokens import Documents, Tokens, text_column
from bayesbox.tally.base import Weights, register
from bayesbox.tally.counts import Counts

if TYPE_CHECKING:
    from bayesbox.tally.book import Book

FEW = 64  # words are few if the vocabulary has this many times as many


@register
class WordCounts(Counts):
    """The occurrences of each word in each class. `n` counts occurrences, unlike `Counts`, which counts rows."""

    form: ClassVar[str] = "words"
    members: ClassVar[tuple[str, ...]] = ("words.arrow", "word-counts.arrow", "vocabulary.arrow")

    def fits(self, rows: ExactArray) -> bool:
        """A row may have any number of words, but words need a row."""
        return not np.any((rows.signs() == 0) & (self.totals().signs() != 0))

    def only(self, places: NDArray[np.int64]) -> Self:
        """The tally of the words at these positions, ascending."""
        width = len(self.levels)
        cells = self.cells.take((np.arange(len(self.classes))[:, None] * width + places[None, :]).ravel())
        return type(self)(self.classes, tuple(self.levels[place] for place in places.tolist()), cells)

    def _combined(self, other: Counts, *, sign: int) -> Any:
        if other.sparse:
            from bayesbox.tally.sparse_counts import combined
            from bayesbox.tally.sparse_words import words_of

            return words_of(combined(self, other, sign=sign))
        few = bool(other.levels) and len(other.levels) * FEW <= len(self.levels)
        if few and self.classes == other.classes:
            return self._with_few(other, sign=sign)
        _require_room(
            len({*self.classes, *other.classes}), max(len(self.levels), len(other.levels)), BYTES_A_WORD_ADDED
        )
        return super()._combined(other, sign=sign)

    def _with_few(self, other: Counts, *, sign: int) -> Self:
        """The same for few words: each is looked up in the sorted vocabulary, and the rest is unchanged."""
        before = self.levels
        places = [bisect_left(before, word) for word in other.levels]
        new = [
            index
            for index, (place, word) in enumerate(zip(places, other.levels, strict=True))
            if place == len(before) or before[place] != word
        ]
        levels = list(before)
        for index in reversed(new):  # from the end, so that earlier positions stay valid
            levels.insert(places[index], other.levels[index])
        origin = np.insert(np.arange(len(before)), [places[index] for index in new], -1)
        rows = np.arange(len(self.classes), dtype=np.int64)[:, None]
        cells = self.cells.take(np.where(origin < 0, -1, rows * len(before) + origin).ravel())
        at = np.array(places) + np.searchsorted(new, np.arange(len(places)))
        touched = (rows * len(levels) + at).ravel()
        cells.add(other.cells, touched, sign=sign)
        gone = at[~cells.take(touched).signs().reshape(len(self.classes), len(at)).any(axis=0)]
        if len(gone):
            kept = np.delete(np.arange(len(levels)), gone)
            cells = cells.take((rows * len(levels) + kept).ravel())
            for place in sorted(gone.tolist(), reverse=True):
                del levels[place]
        return type(self)(self.classes, tuple(levels), cells)

    @classmethod
    def to_arrow(cls, tallies: Mapping[str, Self]) -> dict[str, bytes]:
        from bayesbox.tally.codec.words import write

        return write(cls, tallies)

    @classmethod
    def from_arrow(cls, tables: Mapping[str, bytes], book: Book) -> dict[str, Self]:
        from bayesbox.tally.codec.words import read

        return read(cls, tables, book)


def count_words(
    documents: Documents,
    target: NDArray[np.int32],
    classes: int,
    tokens: Tokens,
    weights: Weights = None,
) -> tuple[tuple[str, ...], ExactArray, ExactArray]:
    """The sorted words of these documents, their occurrences by class, and the documents that contain them.

    A document with class -1 is dropped; weights are counts.
    """
    counted = _core.WordCounts()
    counted.count(documents.data, documents.offsets, target, classes, tokens.compiled)
    vocabulary, words, holders = counts_of(counted, np.arange(classes))
    if weights is None:
        return vocabulary, words, holders
    known = _core.Vocabulary(vocabulary)
    starts, numbers, counts = _core.list_terms(documents.data, documents.offsets, known, tokens.compiled)
    cells, held = (
        _core.count_sparse(starts, numbers, data, len(vocabulary), target, classes, weights)
        for data in (counts, np.ones_like(counts))
    )
    return vocabulary, cells, held


def counts_of(counted: _core.WordCounts, order: NDArray[np.int64]) -> tuple[tuple[str, ...], ExactArray, ExactArray]:
    """The sorted words, and occurrences and documents as classes x words; an error if there are too many.

    `order` has the class numbers in the order of the result.
    """
    require_cells(len(order), len(counted))
    letters, ends, words, holders = counted.counted(order, most_cells())
    return tuple(text_column(letters, ends).to_pylist()), words, holders


def most_common(cells: ExactArray, classes: int, width: int, number: int) -> NDArray[np.int64]:
    """The positions of the most frequent words over all classes, ascending."""
    totals = cells.sum_groups(np.tile(np.arange(width, dtype=np.int64), classes), width).to_doubles()
    return np.sort(np.argsort(-totals, kind="stable")[:number])


def most_cells() -> int:
    """The number of counts, classes x words, that the memory limit allows."""
    return current_limits().memory // BYTES_A_WORD


def require_cells(classes: int, words: int) -> None:
    """Raise an error if there are more counts than the limit allows."""
    _require_room(classes, words, BYTES_A_WORD)


def _require_room(classes: int, words: int, bytes_a_cell: int) -> None:
    needed, memory = float(bytes_a_cell * classes * words), current_limits().memory
    if needed <= memory:
        return  # skip building the message
    most = memory // bytes_a_cell // max(classes, 1)
    require_memory(
        needed,
        f"{classes:,} classes x {words:,} words" + (" of two batches" if bytes_a_cell > BYTES_A_WORD else ""),
        remedy=f"Use fewer classes, keep the {most} most common words (" + parameter("limit", most) + ")",
    )
