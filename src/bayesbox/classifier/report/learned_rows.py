"""Whether rows that a model is evaluated on are those that it has learned: their counts are held against its own.

A digest shows that rows are exactly those of the model. Where they are not, the model may still have learned some of
them: counts and ledger are sums over rows, and do not show which rows are in them.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from bayesbox.classifier.evaluation import ROWS, TRAINING_ROWS
from bayesbox.classifier.table import TableClassifier
from bayesbox.classifier.train import RowCounter
from bayesbox.errors import BayesboxError
from bayesbox.tally.book import Book
from bayesbox.tally.count import count

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.classifier.rows import LabelledRows


class TrainingRowCheck:
    """Counts rows as a classifier did that has learned some, one batch after another: each column by itself."""

    def __init__(self, classifier: AnyClassifier) -> None:
        self.classifier = classifier
        self.book: Book | None = None  # of the rows so far, where they may be those of the model
        if isinstance(classifier, TableClassifier) and classifier.schema is not None and classifier.book.classes:
            self.book = Book.empty(classifier.book.label_type)
        elif not isinstance(classifier, TableClassifier) and not classifier.fixed:
            self.book = Book.empty(classifier.book.label_type)
            self.counter = RowCounter(classifier.with_empty_counts().with_ledger(False), None)
        self._lock = Lock()

    def count(self, rows: LabelledRows) -> None:
        """Count some rows; where the classifier could not have learned one of them, they are not its own."""
        if self.book is None:
            return
        try:
            found = self._counted(rows).with_label_type(self.classifier.book.label_type)
            with self._lock:
                self.book = None if self.book is None else self.book + found
        except BayesboxError:
            self.book = None

    def _counted(self, rows: LabelledRows) -> Book:
        if not isinstance(self.classifier, TableClassifier):
            return self.counter(rows).book
        columns = self.classifier.named(rows.batch)
        schema = self.classifier.schema_of(columns)
        columns = schema.expanded(columns, first_row=rows.batch.first_row)
        return count(columns, rows.labels, schema, weights=rows.weights)

    def how(self) -> str:
        """What these rows are to the model."""
        book, own = self.book, self.classifier.book
        if book is None or not book.classes:
            return ROWS
        if isinstance(self.classifier, TableClassifier):
            own = own.with_tallies(own.columns, joint=None).with_ledger(None)
        return TRAINING_ROWS if book.digest() == own.digest() else ROWS
