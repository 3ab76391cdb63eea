"""A bounded sample of documents, used to choose and calibrate a model.

A document is drawn by a hash of its text and its class. So the same documents give the same sample, whatever their
order, batches, format and the number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from threading import Lock

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.classifier.rows import LabelledRows, plain_text_column
from bayesbox.schema.columns import Column, CountMatrix
from bayesbox.schema.encode import Encoded, encode
from bayesbox.schema.tokens import Documents
from bayesbox.source.base import Batch, Part, Source, taken
from bayesbox.source.wrapped import Recorded, WrappedSource
from bayesbox.stat.folds import row_keys

MOST_DOCUMENTS = 3000
MOST_ANSWERS = 60_000  # documents x classes, after the first 1,000 documents
MOST_BYTES = 4 << 20  # of text, after the first documents
FEWEST = 50  # the most documents used for a choice

Keys = NDArray[np.uint64]


def sample_of_documents(parts: Sequence[LabelledRows], name: str, classes: int) -> LabelledRows:
    """A sample of the labelled documents in the order of their hashes, or all of them if there are few.

    If there are too few for a choice, the order is that of the input. `name` is the text column.
    """
    alone = [replace(part, batch=part.batch.select((name,))) for part in parts]
    rows = LabelledRows.joined([part.labelled() for part in alone])
    if rows.batch.rows < FEWEST:
        return rows
    column = rows.batch[name]
    if isinstance(column, CountMatrix):
        keys, bytes_of = row_keys(0, rows.batch.rows), 8 * np.diff(column.indptr)
    else:
        documents = Documents.as_written(plain_text_column(column))
        keys = document_keys(documents, rows.labels)
        bytes_of = np.diff(documents.offsets)
    most = min(MOST_DOCUMENTS, max(1000, MOST_ANSWERS // max(classes, 1)))
    order = np.argsort(keys, kind="stable")[:most]
    fits = np.cumsum(bytes_of[order], dtype=np.int64) <= MOST_BYTES
    fits[:FEWEST] = True
    return rows.take(order[fits])


def document_keys(documents: Documents, labels: Encoded) -> Keys:
    """A hash of the text and the class of each document."""
    names = Documents.as_written([*labels.levels, ""])
    of_class = _core.text_keys(names.data, names.offsets)[labels.codes]
    own: Keys = _core.text_keys(documents.data, documents.offsets)
    mixed: Keys = (own ^ of_class) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(32))


class SampledDocuments(Recorded):
    """A source of documents that keeps those with the smallest hashes as a sample of all documents."""

    def __init__(self, source: Source, column: str, target: str) -> None:
        super().__init__(source)
        self.column, self.target = column, target
        self._keys: list[Keys] = []
        self._lock = Lock()

    def batches(self) -> Iterator[Batch]:
        self._forget()
        return WrappedSource.batches(self)

    def parts(self, threads: int) -> Iterator[Part] | None:  # type: ignore[override]
        self._forget()
        return WrappedSource.parts(self, threads)

    def _forget(self) -> None:
        self.given, self._keys = [], []

    def _pass_on(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        for batch in batches:
            if self.column in batch.names and self.target in batch.names:
                self._keep(batch)
            yield batch

    def _keep(self, batch: Batch) -> None:
        labels = encode(batch[self.target])
        keys = document_keys(Documents.as_written(plain_text_column(batch[self.column])), labels)
        kept = _smallest(batch, keys, np.flatnonzero(labels.codes >= 0))
        with self._lock:
            self.given.append(kept[0])
            self._keys.append(kept[1])
            if sum(len(each) for each in self._keys) > 4 * MOST_DOCUMENTS:
                self._shrink()

    def _shrink(self) -> None:
        last = np.partition(np.concatenate(self._keys), MOST_DOCUMENTS)[MOST_DOCUMENTS]
        pairs = list(zip(self.given, self._keys, strict=True))
        left = [_smallest(batch, keys, np.flatnonzero(keys <= last)) for batch, keys in pairs if len(keys)]
        self.given, self._keys = [batch for batch, _ in left], [keys for _, keys in left]


def _smallest(batch: Batch, keys: Keys, places: NDArray[np.int64]) -> tuple[Batch, Keys]:
    """The documents at these positions, at most as many as a sample has, copied if they are few."""
    if len(places) > MOST_DOCUMENTS:
        places = np.sort(places[np.argsort(keys[places], kind="stable")[:MOST_DOCUMENTS]])
    if len(places) == batch.rows:
        return batch, keys
    columns = tuple(_copied(column, places) for column in batch.columns)
    return Batch(batch.names, columns, len(places), batch.first_row), keys[places]


def _copied(column: Column, places: NDArray[np.int64]) -> Column:
    found = taken(column, places)
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
