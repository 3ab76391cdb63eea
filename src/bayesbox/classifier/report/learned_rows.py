"""Whether a model is evaluated on its training rows: the counts are compared.

Equal digests show that the rows are exactly the training rows. If they differ, some of the rows may still have been
used for training: counts and ledgers are sums, which do not show single rows.
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
    """Counts rows as the classifier counted its training rows, one batch at a time."""

    def __init__(self, classifier: AnyClassifier) -> None:
        self.classifier = classifier
        self.book: Book | None = None  # the counts so far, if the rows may be the training rows
        if isinstance(classifier, TableClassifier) and classifier.schema is not None and classifier.book.classes:
            self.book = Book.empty(classifier.book.label_type)
        elif not isinstance(classifier, TableClassifier) and not classifier.fixed:
            self.book = Book.empty(classifier.book.label_type)
            self.counter = RowCounter(classifier.with_empty_counts().with_ledger(False), None)
        self._lock = Lock()

    def count(self, rows: LabelledRows) -> None:
        """Count some rows; if the classifier could not have learned one of them, they are not its training rows."""
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
        """Whether these rows are the training rows."""
        book, own = self.book, self.classifier.book
        if book is None or not book.classes:
            return ROWS
        if isinstance(self.classifier, TableClassifier):
            own = own.with_tallies(own.columns, joint=None).with_ledger(None)
        return TRAINING_ROWS if book.digest() == own.digest() else ROWS
