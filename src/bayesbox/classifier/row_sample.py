"""A sample of the rows of a source, taken as they pass by."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbox.source.base import Batch, Part, Source, taken
from bayesbox.source.wrapped import WrappedSource
from bayesbox.stat.folds import row_keys

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier


FEWEST, MOST = 100, 1500  # rows that are looked at for columns that depend on each other


def watched(classifier: AnyClassifier, source: Source) -> Sampled | None:
    """The source with a sample of its rows kept, to look for dependence; None where that is of no use.

    Other models know of dependence, calibration mends what it does, and rows that are counted elsewhere do not pass by.
    """
    if not classifier.looks_for_dependence or classifier.has_second_pass() or classifier.calibrate or source.remote:
        return None
    return Sampled(source, MOST)


class Sampled(WrappedSource):
    """A source that keeps at least `most` of the rows it gave (all, where there are fewer), at most twice as many.

    Which rows are kept follows from their numbers alone, not from the batches they come in.
    """

    def __init__(self, source: Source, most: int) -> None:
        super().__init__(source)
        self.most = most
        self.kept: list[Batch] = []
        self._keys: list[Any] = []
        self._limit = np.uint64(2**64 - 1)
        self._lock = Lock()

    @property
    def enough(self) -> bool:
        """Whether there are rows enough to tell dependence from chance."""
        return sum(part.rows for part in self.kept) >= FEWEST

    def batches(self) -> Iterator[Batch]:
        self._forget()
        return super().batches()

    def parts(self, threads: int) -> Iterator[Part] | None:
        """The parts of the source, where it has such; the rows that are kept are the same."""
        self._forget()
        return super().parts(threads)

    def _forget(self) -> None:
        self.kept, self._keys, self._limit = [], [], np.uint64(2**64 - 1)

    def _pass_on(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        for batch in batches:
            with self._lock:
                self._keep(batch, row_keys(batch.first_row, batch.rows))
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
        if len(places) == batch.rows:
            self.kept.append(batch)
            self._keys.append(keys)
        elif len(places):
            columns = tuple(taken(column, places) for column in batch.columns)
            self.kept.append(Batch(batch.names, columns, len(places), batch.first_row))
            self._keys.append(keys[places])
