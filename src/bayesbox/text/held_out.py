"""Leave-one-out predictions of several models of the same counts, without making the models.

The words of the documents and their counts are listed once; each model is then one pass in the core, which subtracts
the words of a document from the counts of its class.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist.base import Doubles
from bayesbox.dist.words.estimates import taken
from bayesbox.dist.words.leave_one_out import added_to_each
from bayesbox.errors import NeverLearned
from bayesbox.schema.columns import CountMatrix
from bayesbox.schema.token_options import SINGLE
from bayesbox.tally.book import Book
from bayesbox.tally.documents import DOCUMENTS, WORDS
from bayesbox.text.model import known_words
from bayesbox.text.options import TextOptions

if TYPE_CHECKING:
    from bayesbox.classifier.rows import LabelledRows
    from bayesbox.text.classifier import DocumentClassifier

Codes = NDArray[np.int32]


def can_leave_out(classifier: DocumentClassifier, rows: LabelledRows) -> bool:
    """Whether the core supports leave-one-out for this model."""
    rules = classifier.rules
    plain = rules.top is None and rules.min_documents == 1 and not classifier.tokens.places
    return plain and rows.weights is None and added_to_each(rules.smoothing) is not None


@dataclass(frozen=True)
class Listed:
    """The words of documents with their occurrences, and their counts (words x classes) with the totals."""

    starts: NDArray[np.int64]
    words: NDArray[np.int32]
    times: Doubles
    counts: dict[str, Doubles]
    totals: dict[str, Doubles]
    size: int


class LeaveOneOutDocuments:
    """Documents for leave-one-out predictions by any model of the same counts."""

    def __init__(self, classifier: DocumentClassifier, rows: LabelledRows, target: Codes) -> None:
        self.classifier, self.target = classifier, target
        self.book = classifier.book.with_classes(classifier.classes)
        alone = self.book.class_counts.to_doubles()[target] <= 1  # whether it is the only document of its class
        self.rows = np.flatnonzero((target >= 0) & ~alone)
        self.texts = classifier.texts_of(rows.batch).take(self.rows)

    def judged(self, rules: TextOptions, phrases: tuple[int, int]) -> tuple[Doubles, Doubles]:
        """(the sums of the weights, documents x classes, -inf for an empty class; the known words of each)."""
        sums, known = np.full((len(self.target), len(self.classifier.classes)), -np.inf), np.zeros(len(self.target))
        if not len(self.rows):
            return sums, known
        listed = self.single if phrases == SINGLE and self.classifier.tokens.phrases != SINGLE else self.all
        name, complement = (DOCUMENTS if rules.once else WORDS), rules.occurrence == "complement"
        counts, totals = listed.counts[name], listed.totals[name]
        everywhere = counts.sum(axis=1)
        if complement:
            counts, totals = everywhere[:, None] - counts, totals.sum() - totals
        times = np.ones(len(listed.times)) if rules.once else listed.times
        added = added_to_each(rules.smoothing)
        assert added is not None
        found = _core.left_out_words(
            listed.starts,
            listed.words,
            times,
            self.target[self.rows],
            np.ascontiguousarray(counts),
            totals,
            everywhere if self.classifier.width is None else None,
            float(listed.size),
            added,
            complement,
        )
        if found is None:
            raise NeverLearned("some of these documents were never learned: they have more words than were counted")
        sums[self.rows], known[self.rows] = found
        return sums, known

    @cached_property
    def all(self) -> Listed:
        """All counted words."""
        classifier, classes = self.classifier, len(self.classifier.classes)
        words = known_words(self.book, classifier.width)
        matrix = _listed(classifier, words, self.texts)
        used = np.zeros(len(words), dtype=bool)
        used[matrix.indices] = True
        chosen = np.flatnonzero(used)
        place = (np.cumsum(used) - 1).astype(np.int32)
        counts, totals = {}, {}
        for name in (WORDS, DOCUMENTS):
            cells, own = _columns(self.book, name, words, chosen)
            counts[name] = np.ascontiguousarray(cells.reshape(classes, len(chosen)).T)
            totals[name] = own
        self._chosen = chosen
        times = np.asarray(matrix.data, dtype=np.float64)
        starts = np.asarray(matrix.indptr, dtype=np.int64)
        return Listed(starts, place[matrix.indices], times, counts, totals, len(words))

    @cached_property
    def single(self) -> Listed:
        """The single words, without phrases."""
        listed, words, classes = self.all, self.book[WORDS].levels, len(self.classifier.classes)
        single = single_places(words)
        is_single = np.zeros(len(words), dtype=bool)
        is_single[single] = True
        kept = is_single[self._chosen]
        place = (np.cumsum(kept) - 1).astype(np.int32)
        entries = kept[listed.words]
        ends = np.concatenate([[0], np.cumsum(entries)])
        totals = {
            name: taken(self.book[name].cells, classes, len(words), single).sum_rows(classes).to_doubles()
            for name in (WORDS, DOCUMENTS)
        }
        return replace(
            listed,
            starts=ends[listed.starts].astype(np.int64),
            words=place[listed.words[entries]],
            times=listed.times[entries],
            counts={name: np.ascontiguousarray(own[kept]) for name, own in listed.counts.items()},
            totals=totals,
            size=len(single),
        )


def single_places(words: tuple[str, ...]) -> NDArray[np.int64]:
    """The positions of the single words; a phrase contains a space."""
    return np.flatnonzero(np.array([" " not in word for word in words], dtype=bool))


def _columns(book: Book, name: str, words: tuple[str, ...], chosen: NDArray[np.int64]) -> tuple[Doubles, Doubles]:
    """(the counts of some words by class; the sums of all words)."""
    classes, tally = len(book.classes), book[name]
    if tally.levels == words:
        places = chosen
    else:  # the columns of a matrix may have no documents
        place = {word: index for index, word in enumerate(tally.levels)}
        places = np.array([place.get(words[each], -1) for each in chosen.tolist()], dtype=np.int64)
    index = np.arange(classes)[:, None] * len(tally.levels) + places[None, :]
    cells = tally.cells.take(np.where(places[None, :] < 0, -1, index).ravel())
    return cells.to_doubles(), tally.cells.sum_rows(classes).to_doubles()


def _listed(classifier: DocumentClassifier, words: tuple[str, ...], texts: object) -> CountMatrix:
    from bayesbox.dist.words.weights import WordWeights

    none = np.zeros((0, 0))
    return WordWeights(words, none, none).listed(texts, classifier.tokens)  # type: ignore[arg-type]
