"""The ledger of the rows of a source, without counting them, to check a certificate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayesbox.classifier.train import RowCounter, StreamedRows
from bayesbox.schema.encode import Encoded
from bayesbox.schema.schema import Schema
from bayesbox.tally.book import Book
from bayesbox.tally.count import count
from bayesbox.tally.ledger import Ledger

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.source.base import Source


class LedgerCounter(RowCounter):
    """Hashes batches of rows, and counts only their classes."""

    def tallies(self, columns: Mapping[str, Any], labels: Encoded, schema: Schema, **options: Any) -> Book:  # noqa: ARG002
        """The classes of these rows."""
        return count({}, labels, schema, **options)


def ledger_of(
    classifier: AnyClassifier, source: Source, target: str, *, weight: str | None = None, threads: int = 1
) -> Ledger:
    """The ledger of the rows of a source as the classifier reads them; the rows are streamed."""
    counter = LedgerCounter(classifier.with_empty_counts().with_ledger(True), source.name)
    found = StreamedRows(source, target, weight).reduce(counter, threads=threads)
    return Ledger.empty() if found is None or found.book.ledger is None else found.book.ledger
