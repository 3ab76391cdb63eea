"""A sample of the rows of a source, taken as they pass by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bayesbox.learn.folds import row_keys
from bayesbox.source.base import Batch, Source
from bayesbox.workflow.rows import taken


class Sampled:
    """A source that keeps at least `most` of the rows it gave (all, where there are fewer), at most twice as many.

    Which rows are kept follows from their numbers alone, not from the batches they come in.
    """

    def __init__(self, source: Source, most: int) -> None:
        self.source = source
        self.name = source.name
        self.most = most
        self.kept: list[Batch] = []
        self._keys: list[Any] = []
        self._limit = np.uint64(2**64 - 1)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.source, name)

    def batches(self) -> Iterator[Batch]:
        self.kept, self._keys, self._limit = [], [], np.uint64(2**64 - 1)
        first = 0
        for batch in self.source.batches():
            keys = row_keys(first, batch.rows)
            first += batch.rows
            self._keep(batch, keys)
            yield batch

    def _keep(self, batch: Batch, keys: Any) -> None:
        self._take(batch, keys)
        while sum(part.rows for part in self.kept) > 2 * self.most:
            self._limit //= np.uint64(2)
            kept, keys_of = self.kept, self._keys
            self.kept, self._keys = [], []
            for part, own in zip(kept, keys_of, strict=True):
                self._take(part, own)

    def _take(self, batch: Batch, keys: Any) -> None:
        places = np.flatnonzero(keys <= self._limit)
        if len(places):
            columns = tuple(taken(column, places) for column in batch.columns)
            self.kept.append(Batch(batch.names, columns, len(places)))
            self._keys.append(keys[places])
