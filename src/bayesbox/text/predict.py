"""Predict documents from any source, a batch at a time, and the answers as Arrow tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from bayesbox.classifier.predict import EVERY, PredictionWriter, PredictOptions, unsure_where_low
from bayesbox.errors import BadOption, UnknownColumn
from bayesbox.schema.arrays import numbers_array
from bayesbox.schema.tokens import Documents
from bayesbox.source.base import Batch, Source
from bayesbox.source.files.documents import TEXT, is_table, open_documents
from bayesbox.source.files.open import open_source
from bayesbox.text.classifier import DocumentClassifier

CELLS_A_PIECE = 1 << 23  # documents x classes that are judged together


@dataclass(frozen=True)
class Unlabelled:
    """Documents to be judged: a source, and the column of the texts in it."""

    source: Source
    column: str
    in_files: bool  # whether each is a file, or a message of one


def documents_to_judge(
    classifier: DocumentClassifier, data: Sequence[str], *, keep: Sequence[str] = (), **reading: Any
) -> Unlabelled:
    """Documents from tables or files: a table where the names or the format say so, standard input is one document."""
    if is_table(data, reading.get("format")):
        column = classifier.column or TEXT
        text, every = frozenset({column, *keep}), EVERY in keep
        only = None if every else text
        documents = frozenset({column})
        opened = open_source(data, text=text, documents=documents, only=only, as_text=every, **reading)
        return Unlabelled(opened, column, False)
    if reading.get("na"):
        raise BadOption("--na says how to read a table, but these are documents", found=reading["na"])
    return Unlabelled(open_documents(data, classes=False, bad_rows=reading.get("bad_rows", "error")), TEXT, True)


class DocumentAnswers(PredictionWriter):
    """The answers of a classifier of documents: the kept columns, `prediction`, P(class), `explanation`."""

    def __init__(
        self, classifier: DocumentClassifier, asked: PredictOptions, names: Sequence[str], *, column: str, where: str
    ) -> None:
        super().__init__(classifier, asked, names, where=where)  # type: ignore[arg-type]
        self.documents = classifier
        self.column = column
        if names and column not in names:
            raise UnknownColumn(column, available=names, where=where)

    def of(self, batch: Batch) -> pa.Table:
        """The answers for one batch; where there are many classes, some documents at a time."""
        step = max(CELLS_A_PIECE // len(self.classes), 1)
        pieces = [self._of(batch.slice(first, first + step)) for first in range(0, max(batch.rows, 1), step)]
        return pieces[0] if len(pieces) == 1 else pa.concat_tables(pieces)

    def _of(self, batch: Batch) -> pa.Table:
        texts = Documents.of(batch[self.column])
        posterior = self.documents.posterior(texts)
        best = self.decided(posterior)
        columns: list[Any] = [batch[name] for name in self.keep]
        columns.append(unsure_where_low(self.documents.model.labels, best, posterior, self.asked.unsure))
        if self.asked.proba:
            columns.extend(
                numbers_array(np.ascontiguousarray(posterior[:, index])) for index in range(len(self.classes))
            )
        if self.asked.explain:
            columns.append(self._words(texts, posterior, best))
        return self._settled(pa.table(columns, names=list(self.names)))

    def _words(self, texts: Documents, posterior: Any, best: Any) -> pa.Array:
        """For each document the words that say most for its class against the runner-up, as `word +1.39; ...`."""
        if len(self.classes) < 2:
            return pa.array([""] * len(texts))
        explanation, labels = self.documents.explain(texts), self.documents.model.labels
        others = posterior.copy()
        others[np.arange(len(others)), best] = -1
        against = others.argmax(axis=1)
        found = []
        for row in range(len(texts)):
            words = explanation.top(row, labels[best[row]], labels[against[row]], self.asked.explain)
            found.append("; ".join(f"{each.word} {each.log_odds:+.2f}" for each in words if each.log_odds))
        return pa.array(found, pa.string())
