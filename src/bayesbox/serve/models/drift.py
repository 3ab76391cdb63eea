"""Drift of the requests: a tally of the requested rows, compared with the training data.

No row is kept: rows wait in memory until the next second, are counted together, and are dropped. If there are very
many, an evenly spaced sample of each request is counted, so that counting costs a small fraction of predicting.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from bayesbox.classifier.answer.drift import DriftCounter, LevelDriftCounter
from bayesbox.classifier.base import AnyClassifier
from bayesbox.classifier.table import TableClassifier
from bayesbox.errors import BayesboxError
from bayesbox.serve.models.base import Json, Row
from bayesbox.serve.models.rows import rows_of_columns
from bayesbox.source.frames import batch_of

BYTES_A_ROW = 4096  # of a body: a longer one counts as this many rows


class _Rows(msgspec.Struct):
    """A body of predict whose rows are not parsed yet."""

    rows: list[msgspec.Raw]


_BODY = msgspec.json.Decoder(_Rows)
_ROW = msgspec.json.Decoder(Row)


class RequestTally:
    """Counts rows of requests; `classifier` returns the model to compare with after the next reset."""

    MOST_AT_ONCE = 100  # rows of one request
    MOST_A_SECOND = 1000  # rows

    def __init__(self, classifier: Callable[[], AnyClassifier]) -> None:
        self.classifier = classifier
        self.waiting: list[Mapping[str, Any]] = []
        self._bodies: list[bytes] = []
        self._many = 0  # queued rows in the bodies
        self.seen = 0
        self._lock = threading.Lock()
        self._counter: DriftCounter | None = None
        self.since = time.time()

    def observe(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Queue rows for counting."""
        waiting = self.waiting
        self.seen += len(rows)
        if len(waiting) < self.MOST_A_SECOND:
            waiting.extend(rows if len(rows) <= self.MOST_AT_ONCE else rows[:: len(rows) // self.MOST_AT_ONCE])

    def observe_columns(self, columns: Mapping[str, Sequence[Any]], rows: int) -> None:
        """Queue rows given as columns."""
        self.seen += rows
        if len(self.waiting) < self.MOST_A_SECOND:
            step = max(rows // self.MOST_AT_ONCE, 1)
            self.waiting.extend(rows_of_columns({name: values[::step] for name, values in columns.items()}))

    def observe_body(self, body: bytes, rows: int) -> None:
        """Queue rows given as the JSON of a request."""
        self.seen += rows
        if self._many < self.MOST_A_SECOND:
            self._bodies.append(body)
            self._many += max(min(rows, self.MOST_AT_ONCE), len(body) // BYTES_A_ROW)

    def _taken(self) -> list[Mapping[str, Any]]:
        """Remove and return the queued rows."""
        rows, self.waiting = self.waiting, []
        bodies, self._bodies, self._many = self._bodies, [], 0
        for body in bodies:
            texts = _BODY.decode(body).rows
            rows += [_ROW.decode(text) for text in texts[:: max(len(texts) // self.MOST_AT_ONCE, 1)]]
        return rows

    def count(self, pause: float = 0.0) -> None:
        """Count the queued rows in batches, with pauses for requests."""
        with self._lock:
            rows = self._taken()
            if not rows:
                return
            if self._counter is None:
                classifier = self.classifier()
                if not isinstance(classifier, TableClassifier) or classifier.fixed:
                    return
                self._counter = DriftCounter(classifier)
            rows = [row for row in rows if row]
            for first in range(0, len(rows), self.MOST_AT_ONCE):
                some = rows[first : first + self.MOST_AT_ONCE]
                if not _added(self._counter, some):
                    for row in some:  # texts and numbers in one column: row by row
                        _added(self._counter, [row])
                time.sleep(pause)

    def reset(self) -> None:
        """Restart the comparison with the current model."""
        with self._lock:
            self._counter, self.waiting, self.seen, self.since = None, [], 0, time.time()
            self._bodies, self._many = [], 0

    def taken(self) -> tuple[DriftCounter | None, int]:
        """The counts since the last call, to be added elsewhere."""
        self.count()
        with self._lock:
            found, self._counter = self._counter, None
            seen, self.seen = self.seen, 0
        return found, seen

    def add(self, counter: DriftCounter | None, seen: int) -> None:
        """Add the counts of another process."""
        with self._lock:
            self.seen += seen
            if counter is not None:
                self._counter = counter if self._counter is None else _sum(self._counter, counter)

    def result(self) -> Json:
        """The drift by column; empty if no row was counted."""
        self.count()
        with self._lock:
            counted = 0 if self._counter is None else self._counter.rows
            facts: Json = {"since": self.since, "rows_seen": self.seen, "rows_counted": counted}
            if not counted or self._counter is None:
                return {**facts, "columns": []}
            return {**facts, **self._counter.result().to_dict()}


def _added(counter: DriftCounter, rows: Sequence[Mapping[str, Any]]) -> bool:
    try:
        if rows:
            counter.add(batch_of(list(rows)))
    except BayesboxError:
        return False
    return True


def _sum(one: DriftCounter, other: DriftCounter) -> DriftCounter:
    """The sum of both counts if they have the same columns; else the newer ones."""
    same = one.columns.keys() == other.columns.keys() and len(one.expected) == len(other.expected)
    if not same or any(_levels(one, name) != _levels(other, name) for name in one.columns):
        return other
    for name, counter in one.columns.items():
        more: Any = other.columns[name]
        own: Any = counter
        own.unseen += more.unseen
        own.examples |= more.examples
        if isinstance(counter, LevelDriftCounter):
            own.after = own.after + more.after
        elif more.after is not None:
            own.after = more.after if own.after is None else own.after + more.after
            own.binned = own.binned + more.binned
        one.observed[name] += other.observed[name]
    one.expected = one.expected + other.expected
    one.predicted = one.predicted + other.predicted
    one.rows += other.rows
    return one


def _levels(counter: DriftCounter, name: str) -> object:
    found = counter.columns[name]
    return found.levels if isinstance(found, LevelDriftCounter) else found.by
