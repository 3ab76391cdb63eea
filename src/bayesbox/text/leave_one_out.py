"""Leave-one-out of documents from the tallies: each is predicted by the model of all others, without a refit.

The words of a document are subtracted and the rules applied again: a word that occurs in no other document is unknown
then. If absent words count too, their sum depends only on the class of the document; the words of the document are
corrected one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.classifier.rows import LabelledRows, minus_rows
from bayesbox.dist.base import Doubles, Plan, ignored_where_impossible
from bayesbox.dist.cells import Cells, Smoothing, ratio
from bayesbox.dist.functions import log
from bayesbox.dist.posterior import normalised
from bayesbox.dist.words.count_table import whole_times
from bayesbox.dist.words.estimates import TIMES, poisson_rate
from bayesbox.dist.words.leave_one_out import ENTRIES_A_PIECE, own_words_out
from bayesbox.errors import BadOption, NeverLearned
from bayesbox.schema.columns import CountMatrix
from bayesbox.schema.encode import Encoded
from bayesbox.source.base import Batch
from bayesbox.stat.leave_one_out import learned_target, prior_table
from bayesbox.tally.book import Book
from bayesbox.tally.documents import DOCUMENTS, THRICE, TWICE, WORDS
from bayesbox.text.model import TextModel
from bayesbox.text.options import TextOptions

if TYPE_CHECKING:
    from bayesbox.text.classifier import DocumentClassifier, Texts

Codes = NDArray[np.int32]
NEVER_LEARNED = "some of these documents were never learned: they have more words than were counted"


@dataclass(frozen=True)
class LeaveOneOutStart:
    """The input of leave-one-out: the tallies with the classes of the model, the rules, and the words."""

    book: Book
    rules: TextOptions
    model: TextModel
    words_may_go: bool  # the columns of a matrix are fixed

    @property
    def words(self) -> tuple[str, ...]:
        return self.model.conditional.words

    def counts(self, name: str) -> Doubles:
        """Classes x words of one of the tallies."""
        classes = len(self.model.classes)
        found = np.zeros((classes, len(self.words)))
        if name in self.book:
            tally = self.book[name]
            place = {word: index for index, word in enumerate(self.words)}
            found[:, [place[word] for word in tally.levels]] = tally.cells.to_doubles().reshape(classes, -1)
        return found


def leave_one_out(classifier: DocumentClassifier, batch: Batch, labels: Encoded) -> Doubles:
    """P(class | document) of each training document under the model of all other documents."""
    texts, model = classifier.texts_of(batch), classifier.model
    counted = classifier.book.with_classes(classifier.classes)
    target = learned_target(labels, model.classes, counted)
    left = counted.class_counts.to_doubles()[target] - 1
    refit = np.ones(len(target), dtype=bool) if classifier.tokens.places else left <= 0
    prior = _prior_of_others(classifier, counted)[target]
    terms = np.zeros_like(prior)
    rows = np.flatnonzero(~refit)
    if len(rows):
        sums, known = sums_without(classifier, counted, texts.take(rows), target[rows])
        weights = model.conditional
        terms[rows] = sums * weights.factors(known)[:, None] if weights.scaled else sums
    plan = Plan(len(target), np.zeros(len(model.classes)))
    plan.add_terms(prior + terms)
    answer = normalised(plan, prior, _core.POSTERIOR)
    whole = LabelledRows(batch, labels)
    for row in np.flatnonzero(refit).tolist():  # its class disappears, or positions shift
        answer[row] = _refitted(classifier, whole.take(np.array([row])))
    return answer


def sums_without(classifier: DocumentClassifier, counted: Book, texts: Texts, target: Codes) -> tuple[Doubles, Doubles]:
    """The sums of the weights of each document under the model of all others, and its number of known words."""
    learned = LeaveOneOutStart(counted, classifier.rules, classifier.model, classifier.width is None)
    return sums_of_others(learned, classifier.model.conditional.listed(texts, classifier.tokens), target)


def _prior_of_others(classifier: DocumentClassifier, counted: Book) -> Doubles:
    """The log prior of all classes (columns) without one document of a class (rows)."""
    rules, classes = classifier.rules, len(classifier.classes)
    if rules.prior is None and rules.occurrence == "complement" and classes > 1:
        return np.zeros((classes, classes))
    return prior_table(classifier.schema.classes if classifier.schema else (), counted, rules, classifier.model)


def _refitted(classifier: DocumentClassifier, row: LabelledRows) -> Doubles:
    other, classes = minus_rows(classifier, [row]), classifier.classes
    answer = np.zeros(len(classes))
    if other.classes:
        answer[[classes.index(name) for name in other.classes]] = other.posterior(row.batch)[0]
    return answer


def sums_of_others(learned: LeaveOneOutStart, matrix: CountMatrix, target: Codes) -> tuple[Doubles, Doubles]:
    """(the sums of the weights under the model of all other documents, documents x classes; the known words of each).

    `matrix` lists the words of the documents, `target` their classes.
    """
    rules = learned.rules
    if rules.top is not None or rules.min_documents > 1:
        raise BadOption(
            "the selection of words may change with each document that is left out",
            remedy="Use cross-validation, or all words",
        )
    if rules.occurrence in ("binary", "table"):
        return _by_levels(learned, matrix, target)
    if rules.occurrence == "poisson":
        return _by_rates(learned, matrix, target)
    data = np.ones(len(matrix.data)) if rules.once else np.asarray(matrix.data, dtype=np.float64)
    counts = learned.counts(DOCUMENTS if rules.once else WORDS)
    complement = rules.occurrence == "complement"
    return own_words_out(
        CountMatrix(matrix.indptr, matrix.indices, data, matrix.width),
        counts.sum(axis=0) - counts if complement else counts,
        learned.words,
        rules.smoothing,
        target,
        words_may_go=learned.words_may_go,
        complement=complement,
    )


def _by_levels(learned: LeaveOneOutStart, matrix: CountMatrix, target: Codes) -> tuple[Doubles, Doubles]:
    """For models with a level per word: present or absent, or 0, 1, 2, 3 and more occurrences."""
    n = learned.book.class_counts.to_doubles()
    held = [learned.counts(name) for name in (DOCUMENTS, TWICE, THRICE)]
    names: Sequence[str] = TIMES
    if learned.rules.occurrence == "binary":
        held, names = held[:1], ("false", "true")
        times = np.ones(len(matrix.data), dtype=np.int64)
    else:
        times = whole_times(matrix.data)
    at_least = [np.tile(n[:, None], (1, len(learned.words))), *held, np.zeros_like(held[0])]
    levels = np.stack([at_least[k] - at_least[k + 1] for k in range(len(names))])
    alone = held[0].sum(axis=0) <= 1 if learned.words_may_go else np.zeros(len(learned.words), dtype=bool)
    sums = np.zeros((matrix.rows, len(n)))
    for label in np.unique(target).tolist():
        rows = np.flatnonzero(target == label)
        own = n - (np.arange(len(n)) == label)
        absent = levels[0].copy()
        absent[label] = np.maximum(absent[label] - 1, 0)
        nothing = _log_ratio(learned.rules.smoothing, absent, own, names[0])  # words x classes
        certain = np.isneginf(nothing)
        nothing = np.where(certain, 0.0, nothing)
        sums[rows] = nothing.sum(axis=0)
        missing = np.tile(certain.sum(axis=0), (len(rows), 1))
        for at, entries in _entries(matrix, rows):
            words = matrix.indices[entries]
            there = levels[times[entries], :, words].T.copy()
            there[label] -= 1
            if (there[label] < 0).any():
                raise NeverLearned(NEVER_LEARNED)
            terms = np.zeros((len(entries), len(n)))
            for level in range(1, len(names)):
                some = times[entries] == level
                terms[some] = _log_ratio(learned.rules.smoothing, there[:, some], own, names[level])
            terms[alone[words]] = 0.0
            np.add.at(sums, rows[at], terms - nothing[words])
            np.subtract.at(missing, at, certain[words].astype(np.int64))
        sums[rows] = np.where(missing > 0, -np.inf, sums[rows])
    return sums, _known(matrix, alone[matrix.indices], np.ones(len(matrix.data)))


def _by_rates(learned: LeaveOneOutStart, matrix: CountMatrix, target: Codes) -> tuple[Doubles, Doubles]:
    """For the Poisson model, whose rates are smoothed towards the mean of all documents."""
    n, counts = learned.book.class_counts.to_doubles()[:, None], learned.counts(WORDS)
    weight = learned.rules.smoothing.weight
    assert weight is not None  # else there would be no model
    data, totals = np.asarray(matrix.data, dtype=np.float64), counts.sum(axis=0)
    documents = max(float(n.sum()) - 1, 1.0)
    sums, alone = np.zeros((matrix.rows, len(n))), np.zeros(len(data), dtype=bool)
    if learned.words_may_go:
        alone = totals[matrix.indices] <= data
    for label in np.unique(target).tolist():
        rows = np.flatnonzero(target == label)
        own = n - (np.arange(len(n)) == label)[:, None]
        rates = poisson_rate(counts, own, totals / documents, weight)
        sums[rows] = -rates.sum(axis=1)
        for at, entries in _entries(matrix, rows):
            words, times = matrix.indices[entries], data[entries]
            there = counts[:, words].copy()
            there[label] -= times
            if (there[label] < 0).any():
                raise NeverLearned(NEVER_LEARNED)
            rate = poisson_rate(there, own, (totals[words] - times) / documents, weight)
            with np.errstate(invalid="ignore"):
                spoken = times[:, None] * ignored_where_impossible(log(rate).T)
            np.add.at(sums, rows[at], spoken + (rates[:, words] - rate).T)
    return sums, _known(matrix, alone, data)


def _log_ratio(rule: Smoothing, counts: Doubles, totals: Doubles, name: str) -> Doubles:
    size = len(TIMES) if name in TIMES else 2
    over, under = ratio(rule, Cells(counts, totals, size, [name] * counts.shape[1]))
    return ignored_where_impossible((log(over) - log(under)).T)


def _entries(matrix: CountMatrix, rows: NDArray[np.int64]) -> Any:
    """(the index into `rows`, the position of the entry) for the entries of these rows, in pieces."""
    lengths = np.diff(matrix.indptr)[rows]
    place = np.repeat(np.arange(len(rows)), lengths)
    first = np.repeat(matrix.indptr[:-1][rows] - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
    entries = first + np.arange(len(first))
    for start in range(0, len(entries), ENTRIES_A_PIECE):
        yield place[start : start + ENTRIES_A_PIECE], entries[start : start + ENTRIES_A_PIECE]


def _known(matrix: CountMatrix, alone: NDArray[np.bool_], data: Doubles) -> Doubles:
    """The number of words of each document, without those that occur in no other document."""
    entries = np.repeat(np.arange(matrix.rows), np.diff(matrix.indptr))
    known = np.zeros(matrix.rows)
    np.add.at(known, entries, np.where(alone, 0.0, data))
    return known
