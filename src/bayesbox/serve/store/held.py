"""A stored model: its head in the table of models, and its tallies in memory.

The tallies of a model are those of its newest snapshot and of the events after it. The head has their digest, written
in the transaction that appended the events, so that counting them again can be checked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from bayesbox.errors import StoreFailed, UnknownRecord
from bayesbox.file.load import CLASSIFIER, from_bytes
from bayesbox.file.save import to_bytes
from bayesbox.serve.live import derived_parts, learned, lost_calibration, with_tallies
from bayesbox.serve.store.base import ModelState
from bayesbox.serve.store.database import Transaction
from bayesbox.serve.store.events import COLUMNS, StoredEvent

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.schema.schema import Schema

SNAPSHOT_EVENTS = 10_000  # between two snapshots: the most that a start must count
MOST_SNAPSHOTS = 32  # of a model; with more, every second one is dropped
PIECE = 5_000  # events counted at a time
HEAD = "number, name, base_sha256, base_digest, base_rows, sequence, rows, digest, changes, erasures, retrained, "
HEAD += "file_sha256"


@dataclass(frozen=True)
class Head:
    """A row of the table of models. `file_sha256` is that of the attached or reloaded model file, which is the base
    until derived parts are retrained."""

    number: int
    name: str
    base_sha256: str
    base_digest: str
    base_rows: int
    sequence: int
    rows: int
    digest: str
    changes: int
    erasures: int
    retrained: int
    file_sha256: str


@dataclass(frozen=True)
class Held:
    """A head with its model. `saved` is the number of the newest snapshot, 0 if there is only the base, and
    `saved_schema` its schema: when the schema changes, a snapshot is due."""

    head: Head
    classifier: AnyClassifier
    saved: int
    saved_schema: Schema | None

    def state(self, *, base_changed: bool = False) -> ModelState:
        """The state that the service predicts with."""
        head, classifier = self.head, self.classifier
        stale = derived_parts(classifier) if head.sequence > head.retrained else ()
        return ModelState(
            head.name, head.sequence, head.digest, head.rows, classifier, head.base_digest, base_changed, stale
        )


def read_head(transaction: Transaction, name: str) -> Head | None:
    """The head of a model, None if the store does not have it."""
    found = transaction.query(f"SELECT {HEAD} FROM models WHERE name = ?", (name,))
    return Head(*found[0]) if found else None


def require_head(transaction: Transaction, name: str) -> Head:
    """The head of a model; an error if the store does not have it."""
    head = read_head(transaction, name)
    if head is None:
        raise UnknownRecord(f"the store has no model `{name}`")
    return head


def write_head(transaction: Transaction, head: Head) -> None:
    """Update the head of a model."""
    transaction.execute(
        "UPDATE models SET base_sha256 = ?, base_digest = ?, base_rows = ?, sequence = ?, rows = ?, digest = ?, "
        "changes = ?, erasures = ?, retrained = ?, file_sha256 = ? WHERE number = ?",
        (
            head.base_sha256,
            head.base_digest,
            head.base_rows,
            head.sequence,
            head.rows,
            head.digest,
            head.changes,
            head.erasures,
            head.retrained,
            head.file_sha256,
            head.number,
        ),
    )


def events_between(transaction: Transaction, head: Head, after: int, last: int) -> Iterator[list[StoredEvent]]:
    """The remaining events after one number and up to another, in batches of some thousands."""
    while after < last:
        statement = f"SELECT {COLUMNS} FROM events WHERE model = ? AND sequence > ? AND sequence <= ? "
        found = transaction.query(statement + "ORDER BY sequence LIMIT ?", (head.number, after, last, PIECE))
        if not found:
            return
        yield [StoredEvent.from_row(row) for row in found]
        after = found[-1][0]


def base_of(transaction: Transaction, head: Head) -> AnyClassifier:
    """The base of a model."""
    (data,) = transaction.query("SELECT data FROM bases WHERE model = ?", (head.number,))[0]
    return _model(data, head)


def load(transaction: Transaction, head: Head) -> Held:
    """The model of a head, from its newest snapshot and later events."""
    found = transaction.query(
        "SELECT sequence, data FROM snapshots WHERE model = ? ORDER BY sequence DESC LIMIT 1", (head.number,)
    )
    saved, classifier = (found[0][0], _model(found[0][1], head)) if found else (0, base_of(transaction, head))
    schema = classifier.schema
    for events in events_between(transaction, head, saved, head.sequence):
        classifier = learned(classifier, events)
    classifier = with_calibration_of_base(transaction, head, classifier)
    if classifier.book.digest() != head.digest:
        raise StoreFailed(
            f"the tallies of `{head.name}` are not those that the store has recorded",
            found=classifier.book.digest(),
            remedy="Run bayes verify on the folder, and restore a back-up",
        )
    return Held(head, classifier, saved, schema)


def with_calibration_of_base(transaction: Transaction, head: Head, classifier: AnyClassifier) -> AnyClassifier:
    """A new class drops the calibration; once its events are forgotten, that of the base applies again."""
    if not lost_calibration(classifier):
        return classifier
    base = base_of(transaction, head)
    if base.calibrated is None or base.calibrated.classes != classifier.classes:
        return classifier
    return classifier.changed(calibrated=base.calibrated, learned_at=base.learned_at or base.book.digest())


def caught_up(transaction: Transaction, held: Held) -> Held:
    """The model with the changes of others since; the same object if there are none."""
    head = require_head(transaction, held.head.name)
    if head.changes == held.head.changes and head.number == held.head.number:
        return held
    if head.erasures != held.head.erasures or head.number != held.head.number:
        return load(transaction, head)
    classifier = held.classifier
    for events in events_between(transaction, head, held.head.sequence, head.sequence):
        classifier = learned(classifier, events)
    if classifier.book.digest() != head.digest:
        return load(transaction, head)
    saved = transaction.query("SELECT MAX(sequence) FROM snapshots WHERE model = ?", (head.number,))[0][0]
    return Held(head, classifier, saved or 0, classifier.schema)


def model_at(transaction: Transaction, held: Held, sequence: int) -> AnyClassifier:
    """The model as of an event number: the newest snapshot up to it, and the remaining events between."""
    head = held.head
    found = transaction.query(
        "SELECT sequence, data FROM snapshots WHERE model = ? AND sequence <= ? ORDER BY sequence DESC LIMIT 1",
        (head.number, sequence),
    )
    after, classifier = (found[0][0], _model(found[0][1], head)) if found else (0, base_of(transaction, head))
    return counted_on(transaction, held, classifier, after, sequence)


def counted_on(
    transaction: Transaction,
    held: Held,
    classifier: AnyClassifier,
    after: int,
    last: int,
    *,
    without: Collection[int] = (),
) -> AnyClassifier:
    """A model with the events between two numbers, with the current kinds of columns."""
    schema = held.classifier.schema
    assert schema is not None
    classifier = with_tallies(classifier, schema, classifier.book)
    for events in events_between(transaction, held.head, after, last):
        classifier = learned(classifier, [event for event in events if event.sequence not in without])
    return classifier


def with_snapshot(transaction: Transaction, held: Held) -> Held:
    """Write a snapshot if one is due."""
    due = held.head.sequence - held.saved >= SNAPSHOT_EVENTS
    if not due and (held.saved_schema is held.classifier.schema or held.saved_schema == held.classifier.schema):
        return held
    put_snapshot(transaction, held.head, held.head.sequence, held.classifier)
    _thin(transaction, held.head)
    return replace(held, saved=held.head.sequence, saved_schema=held.classifier.schema)


def put_snapshot(transaction: Transaction, head: Head, sequence: int, classifier: AnyClassifier) -> None:
    """Write the tallies as of an event number."""
    transaction.execute("DELETE FROM snapshots WHERE model = ? AND sequence = ?", (head.number, sequence))
    transaction.execute(
        "INSERT INTO snapshots (model, sequence, digest, data) VALUES (?, ?, ?, ?)",
        (head.number, sequence, classifier.book.digest(), to_bytes(classifier)),
    )


def snapshots(transaction: Transaction, head: Head, first: int = 0) -> list[tuple[int, str]]:
    """The event numbers of the snapshots from a number on, ascending, with their digests."""
    return [
        (row[0], row[1])
        for row in transaction.query(
            "SELECT sequence, digest FROM snapshots WHERE model = ? AND sequence >= ? ORDER BY sequence",
            (head.number, first),
        )
    ]


def read_snapshot(transaction: Transaction, head: Head, sequence: int) -> AnyClassifier:
    """The model of a snapshot."""
    statement = "SELECT data FROM snapshots WHERE model = ? AND sequence = ?"
    return _model(transaction.query(statement, (head.number, sequence))[0][0], head)


def _thin(transaction: Transaction, head: Head) -> None:
    """Drop every second snapshot if there are too many; the newest stays."""
    found = [sequence for sequence, _ in snapshots(transaction, head)]
    if len(found) <= MOST_SNAPSHOTS:
        return
    for sequence in islice(reversed(found), 1, None, 2):
        transaction.execute("DELETE FROM snapshots WHERE model = ? AND sequence = ?", (head.number, sequence))


def _model(data: bytes, head: Head) -> AnyClassifier:
    classifier: AnyClassifier = from_bytes(bytes(data), name=head.name, holds=CLASSIFIER)
    return classifier
