"""A sample of the rows of a source, taken while they are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbox.classifier.rows import LabelledRows
from bayesbox.source.base import Batch, Part, Source, taken
from bayesbox.source.wrapped import WrappedSource
from bayesbox.stat.folds import row_keys

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier


FEWEST, MOST = 100, 1500  # rows examined for dependent columns


def watched(classifier: AnyClassifier, source: Source) -> Sampled | None:
    """The source with a sample of its rows kept, to look for dependence; None if that is not useful.

    Other models handle dependence, calibration corrects its effect, and rows counted remotely are not seen here.
    """
    if not classifier.looks_for_dependence or classifier.has_second_pass() or classifier.calibrate or source.remote:
        return None
    return Sampled(source, MOST)


class Sampled(WrappedSource):
    """A source that keeps a sample of `most` to twice as many of its rows (all, if there are fewer).

    The sample depends only on the row numbers, not on the batches. `cells` limits rows times columns, so that fewer
    wide rows are kept.
    """

    def __init__(self, source: Source, most: int, *, cells: int | None = None) -> None:
        super().__init__(source)
        self.most = most
        self.cells = cells
        self.kept: list[Batch] = []
        self._keys: list[Any] = []
        self._limit = np.uint64(2**64 - 1)
        self._lock = Lock()

    @property
    def enough(self) -> bool:
        """Whether there are enough rows to distinguish dependence from chance."""
        return sum(part.rows for part in self.kept) >= FEWEST

    def in_order(self) -> list[tuple[Batch, Any]]:
        """The sampled rows in order: batches with the keys of their rows."""
        return sorted(zip(self.kept, self._keys, strict=True), key=lambda part: part[0].first_row)

    def batches(self) -> Iterator[Batch]:
        self._forget()
        return super().batches()

    def parts(self, threads: int) -> Iterator[Part] | None:
        """The parts of the source, if it has any; the sample is the same."""
        self._forget()
        return super().parts(threads)

    def _forget(self) -> None:
        self.kept, self._keys, self._limit = [], [], np.uint64(2**64 - 1)

    def _pass_on(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        for batch in batches:
            with self._lock:
                self._keep(batch, row_keys(batch.first_row, batch.rows))
            yield batch

    def _keep(self, batch: Batch, keys: object) -> None:
        self._take(batch, keys)
        most = self.most
        if self.cells is not None:
            most = max(FEWEST, min(most, self.cells // max(len(batch.names), 1)))
        while sum(part.rows for part in self.kept) > 2 * most:
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


KeyedRows = list[tuple[LabelledRows, Any]]
"""Rows with the keys used for sampling."""


def keyed(parts: Sequence[LabelledRows]) -> KeyedRows:
    """Rows in memory with keys that follow from their positions, as those of a source follow from its row numbers."""
    found, first = [], 0
    for rows in parts:
        found.append((rows, row_keys(first, rows.batch.rows)))
        first += rows.batch.rows
    return found


def drawn(parts: KeyedRows, most: int) -> list[LabelledRows]:
    """At most this many labelled rows with a positive weight: those with the smallest keys, in order."""
    known = [(rows, keys, rows.counting()) for rows, keys in parts]
    all_keys = np.concatenate([keys[there] for _, keys, there in known]) if known else np.empty(0, dtype=np.uint64)
    limit = np.partition(all_keys, most - 1)[most - 1] if len(all_keys) > most else None
    found = []
    for rows, keys, there in known:
        places = np.flatnonzero(there if limit is None else there & (keys <= limit))
        if len(places):
            found.append(rows.viewed() if len(places) == rows.batch.rows else rows.viewed().take(places))
    return found
