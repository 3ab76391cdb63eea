"""Counting the documents of many batches into one table of words, with several threads."""

from __future__ import annotations

from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

from bayesbox.classifier.rows import LabelledRows
from bayesbox.classifier.train import CountedBook, RowCounter
from bayesbox.errors import BadData
from bayesbox.schema.token_options import SINGLE
from bayesbox.tally.book import Book
from bayesbox.tally.documents import DocumentCounter
from bayesbox.tally.ledger import Ledger, count_ledger

if TYPE_CHECKING:
    from bayesbox.text.classifier import DocumentClassifier

MOST_PHRASES = 1 << 20  # words and pairs of words beyond which `auto` drops the pairs
MOST_CELLS = 1 << 23  # their counts, classes x words
ROWS_A_PIECE = 2048  # the interval of the check


def too_many(counter: DocumentCounter) -> bool:
    """Whether there are more pairs of words than `auto` counts; more documents do not change a True."""
    return counter.size > MOST_PHRASES or counter.size * counter.classes > MOST_CELLS


class DocumentCounting(RowCounter):
    """Counts batches into one table of words per thread, without a book per batch."""

    classifier: DocumentClassifier

    def __init__(self, classifier: DocumentClassifier, where: str | None, limit: int | None) -> None:
        super().__init__(classifier, where)
        # With a limit, the dropped words depend on the order of the batches: a single thread keeps it deterministic.
        self.in_order = limit is not None
        self._counter = DocumentCounter(classifier.tokens, limit=limit, often=classifier.often)
        self._free, self._others = [self._counter], list[DocumentCounter]()
        self._ledger = Ledger.empty()
        self._lock = Lock()

    def __call__(self, rows: LabelledRows) -> CountedBook:
        classifier, labels = self.classifier, rows.labels
        if len(labels.codes) != rows.batch.rows:
            raise BadData(f"{rows.batch.rows} documents, but {len(labels.codes)} labels", where=self.where)
        columns = dict(zip(rows.batch.names, rows.batch.columns, strict=True))
        schema = classifier.schema_of(columns, where=self.where)
        try:
            own = self._free.pop()
        except IndexError:
            own = self._counter.beside()
            self._others.append(own)
        for piece in rows.pieces(ROWS_A_PIECE if classifier.phrases_open else max(rows.batch.rows, 1)):
            texts = classifier.texts(dict(zip(piece.batch.names, piece.batch.columns, strict=True)), where=self.where)
            own.add(texts, piece.labels, piece.weights)
            if classifier.phrases_open and too_many(own):
                own.drop_phrases()
        self._free.append(own)
        if classifier.ledger:
            counted = count_ledger(columns, labels, schema, weights=rows.weights, where=self.where)
            with self._lock:
                self._ledger = self._ledger + counted
        return CountedBook(schema, Book.empty(), rows.batch.rows, int((labels.codes < 0).sum()))

    def total(self, counted: CountedBook) -> CountedBook:
        counters = [self._counter, *self._others]
        if self.classifier.phrases_open and any(each.without_phrases for each in counters):
            for each in counters:
                each.drop_phrases()
        for other in self._others:
            self._counter.merge(other)
        if self.classifier.phrases_open and (self._counter.without_phrases or too_many(self._counter)):
            self._counter.drop_phrases()
            self.classifier.keep_phrases(SINGLE)
            self.classifier.too_many_pairs = True
        book = self._counter.handed_over()
        if self.classifier.ledger:
            book = book.with_ledger(self._ledger)
        return replace(counted, book=book, dropped=self._counter.dropped)
