"""Counting documents into a book of two tallies: occurrences of each word, and documents that contain it."""

from __future__ import annotations

import functools
import itertools
import operator
from dataclasses import replace
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox._core import ExactArray
from bayesbox.errors import BadData, NeverLearned
from bayesbox.schema.columns import CountMatrix
from bayesbox.schema.encode import Encoded
from bayesbox.schema.levels import label_order, label_type_of
from bayesbox.schema.token_options import SINGLE
from bayesbox.schema.tokens import Documents, Tokens
from bayesbox.tally.base import Weights, added
from bayesbox.tally.book import Book
from bayesbox.tally.count import checked_weights
from bayesbox.tally.counts import Counts
from bayesbox.tally.words import WordCounts, count_words, counts_of, most_cells, most_common, require_cells

WORDS = "words"  # occurrences
DOCUMENTS = "documents"  # documents that contain the word
TWICE = "twice"  # documents that contain it at least twice, on request
THRICE = "thrice"  # and at least three times


def count_documents(
    documents: Documents | CountMatrix,
    labels: Encoded,
    tokens: Tokens,
    *,
    weights: Weights = None,
    label_type: str | None = None,
    often: bool = False,
) -> Book:
    """The book of these documents. A document with a missing label is dropped; weights are counts.

    With `often` two more tallies count the documents that contain a word at least twice, and at least three times.
    """
    checked = checked_weights(weights, len(labels.codes))
    target, classes, kind = _present(labels, checked, label_type)
    if isinstance(documents, CountMatrix):
        return _count_matrix(documents, target, classes, checked, kind, often=often)
    vocabulary, cells, held = count_words(documents, target, len(classes), tokens, checked)
    tallies = {WORDS: WordCounts(classes, vocabulary, cells), DOCUMENTS: WordCounts(classes, vocabulary, held)}
    if often:
        known = _core.Vocabulary(vocabulary)
        starts, numbers, counts = _core.list_terms(documents.data, documents.offsets, known, tokens.compiled)
        matrix = CountMatrix(starts, numbers, counts, len(vocabulary))
        tallies |= _often(matrix, target, classes, checked, list(vocabulary))
    return _book(classes, target, checked, tallies, kind)


def _often(
    matrix: CountMatrix,
    target: NDArray[np.int32],
    classes: tuple[str, ...],
    weights: Weights,
    names: list[str],
) -> dict[str, WordCounts]:
    """The tallies of the documents that contain a word more than once."""
    found = {}
    for name, times in ((TWICE, 2), (THRICE, 3)):
        data = (np.asarray(matrix.data) >= times).astype(np.float64)
        cells = _core.count_sparse(matrix.indptr, matrix.indices, data, matrix.width, target, len(classes), weights)
        found[name] = WordCounts.of(classes, names, cells)
    return found


class DocumentCounter:
    """Counts documents batch by batch into one table of words, without a book per batch.

    With a `limit` there are never many more than twice as many words: the rarest are dropped on the way, and `dropped`
    counts them. A dropped word that occurs again is counted from then on.

    >>> from bayesbox.schema.encode import encode
    >>> counter = DocumentCounter(Tokens())
    >>> for text, label in (("kiwi sheep", "NZ"), ("kiwi", "NZ"), ("beer", "DE")):
    ...     counter.add(Documents.of([text]), encode(np.array([label])))
    >>> counter.handed_over()["words"]
    Counts(classes=('DE', 'NZ'), levels=('beer', 'kiwi', 'sheep'), counts=[[1, 0, 0], [0, 2, 1]])
    """

    def __init__(self, tokens: Tokens, *, limit: int | None = None, often: bool = False) -> None:
        self.tokens = tokens
        self.limit = limit
        self.often = often
        self.dropped = 0
        self.without_phrases = False  # whether phrases were dropped on the way
        self._words = _core.WordCounts()
        self._numbers: dict[str, int] = {}  # of the classes
        self._lock = Lock()
        self._rest = Book.empty()  # the documents of each class, and weighted counts

    def beside(self) -> DocumentCounter:
        """A counter for another thread that can be merged into this one: it shares the class numbers."""
        other = DocumentCounter(self.tokens, limit=self.limit, often=self.often)
        other._numbers, other._lock = self._numbers, self._lock
        return other

    def add(self, documents: Documents | CountMatrix, labels: Encoded, weights: Weights = None) -> None:
        """Count these documents. A document with a missing label is dropped."""
        if weights is not None or self.often or isinstance(documents, CountMatrix):
            book = count_documents(documents, labels, self.tokens, weights=weights, often=self.often)
            self._rest, dropped = limited(self._rest + book, self.limit, slack=2)
            self.dropped += dropped
            return
        target, classes, kind = _present(labels, None, None)
        with self._lock:
            numbers = [self._numbers.setdefault(name, len(self._numbers)) for name in classes]
            size = len(self._numbers)
        codes = np.array([*numbers, -1], dtype=np.int32)[target]
        self._words.count(documents.data, documents.offsets, codes, size, self.tokens.compiled)
        self._rest = self._rest + _book(classes, target, None, {}, kind)
        if self.limit is not None and len(self._words) > 2 * self.limit:
            self.dropped += self._words.prune(self.limit)

    @property
    def size(self) -> int:
        """The number of words counted."""
        return len(self._words)

    @property
    def classes(self) -> int:
        """The number of classes counted, by all counters together."""
        return len(self._numbers)

    def drop_phrases(self) -> None:
        """Keep single words only, from now on and in what was counted."""
        if not self.without_phrases:
            self._words.drop_phrases()
            self.tokens, self.without_phrases = replace(self.tokens, phrases=SINGLE), True

    def merge(self, other: DocumentCounter) -> None:
        """Add the counts of another counter."""
        self._words.merge(other._words)
        self._rest = self._rest + other._rest
        self.dropped += other.dropped

    def handed_over(self) -> Book:
        """The book; the counter is empty afterwards, since there may be no memory for both."""
        rest, self._rest = self._rest, Book.empty()
        if WORDS in rest or not len(self._words):
            return rest
        if self.limit is not None and len(rest.classes) * len(self._words) > most_cells():
            self.dropped += self._words.prune(self.limit)
        order = np.array([self._numbers[name] for name in rest.classes], dtype=np.int64)
        vocabulary, *cells = counts_of(self._words, order)
        self._words = _core.WordCounts()
        tallies = {
            name: WordCounts(rest.classes, vocabulary, own) for name, own in zip((WORDS, DOCUMENTS), cells, strict=True)
        }
        return Book(rest.classes, rest.class_counts, tallies, label_type=rest.label_type)


def limited(book: Book, limit: int | None, *, slack: int = 1) -> tuple[Book, int]:
    """The book with the most common words if it exceeds `slack` times the limit, and the number dropped."""
    if limit is None or WORDS not in book or len(book[WORDS].levels) <= slack * limit:
        return book, 0
    words = book[WORDS]
    kept = most_common(words.cells, len(words.classes), len(words.levels), limit)
    names = {words.levels[place] for place in kept.tolist()}
    tallies = {}
    for name in book:
        places = [place for place, word in enumerate(book[name].levels) if word in names]
        tallies[name] = book[name].only(np.array(places, dtype=np.int64))
    return book.with_tallies(tallies), len(words.levels) - len(kept)


def require_possible_documents(book: Book) -> None:
    """Raise an error for counts that no documents can have.

    A word is in at most as many documents of a class as there are; and it occurs at least once in each document that
    contains it, once more in those that contain it twice, and so on:

        words >= documents + twice + thrice        rows >= documents >= twice >= thrice
    """
    words, documents, *more = (_words_of(book, name) for name in (WORDS, DOCUMENTS, TWICE, THRICE))
    pairs = [(words, functools.reduce(operator.add, more, documents)), *itertools.pairwise([documents, *more])]
    for often, seldom in pairs:
        _require_none_below(often - seldom)
    rows = np.repeat(np.arange(len(book.classes)), len(documents.levels))
    _require_none_below(
        Counts(book.classes, documents.levels, added(book.class_counts.take(rows), documents.cells, sign=-1))
    )


def _words_of(book: Book, name: str) -> WordCounts:
    """One of the tallies; an empty one is not in the book."""
    tally = book.columns.get(name)
    return tally if isinstance(tally, WordCounts) else WordCounts(book.classes, (), ExactArray(0))


def _require_none_below(left: Counts) -> None:
    place = left.impossible()
    if place is not None:
        raise NeverLearned(
            "some of these documents were never learned: a word would have an impossible count in the class "
            f"`{place.label}`",
            found=place.value,
            remedy="Nothing was changed. Forget only documents that were learned, with their labels and weights",
            column=WORDS,
            label=place.label,
        )


def _present(
    labels: Encoded, weights: Weights, label_type: str | None
) -> tuple[NDArray[np.int32], tuple[str, ...], str]:
    """The codes, the classes that have a document with a weight, sorted by their own type, and that type."""
    target, classes, kind = _ordered(labels, label_type)
    if weights is not None:
        target = np.where(weights > 0, target, np.int32(-1)).astype(np.int32)
    present = np.zeros(len(classes), dtype=bool)
    present[target[target >= 0]] = True
    place = np.append(np.cumsum(present) - 1, -1).astype(np.int32)  # the last entry is for code -1
    return place[target], tuple(np.array(classes, dtype=object)[present].tolist()), kind


def _ordered(labels: Encoded, label_type: str | None) -> tuple[NDArray[np.int32], tuple[str, ...], str]:
    """The codes in the sort order of the labels' own type."""
    kind = label_type or label_type_of(labels.values)
    classes = tuple(label_order(list(labels.levels), kind))
    rank = {text: index for index, text in enumerate(classes)}
    place = np.array([*(rank[text] for text in labels.levels), -1], dtype=np.int32)
    return place[labels.codes], classes, kind


def _count_matrix(
    matrix: CountMatrix,
    target: NDArray[np.int32],
    classes: tuple[str, ...],
    weights: Weights,
    label_type: str,
    *,
    often: bool,
) -> Book:
    if len(matrix.data) and matrix.data.min() < 0:
        raise BadData(
            "counts must not be negative: Negative values in data passed to TextClassifier", found=matrix.data.min()
        )
    require_cells(len(classes), matrix.width)
    names = [str(index) for index in range(matrix.width)]
    holds = (np.asarray(matrix.data) != 0).astype(np.float64)
    tallies = {}
    for name, data in ((WORDS, matrix.data), (DOCUMENTS, holds)):
        cells = _core.count_sparse(matrix.indptr, matrix.indices, data, matrix.width, target, len(classes), weights)
        tallies[name] = WordCounts.of(classes, names, cells)
    if often:
        tallies |= _often(matrix, target, classes, weights, names)
    return _book(classes, target, weights, tallies, label_type)


def _book(
    classes: tuple[str, ...],
    target: NDArray[np.int32],
    weights: Weights,
    tallies: dict[str, WordCounts],
    label_type: str,
) -> Book:
    size = len(classes)
    if weights is None:
        counts = ExactArray.from_integers(np.bincount(target[target >= 0], minlength=size).astype(np.int64))
    else:
        zeros = np.zeros(len(target), dtype=np.uint8)
        counts = _core.count_codes_weighted([zeros], [1], target, size, weights)[0]
    kept = {name: tally for name, tally in tallies.items() if tally.levels}
    return Book(classes, counts, kept, label_type=label_type)
