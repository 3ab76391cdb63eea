"""Learning in a transaction: the events of several callers, in one commit."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from bayesbox.errors import BayesboxError, EventConflict, StoreFailed
from bayesbox.serve import audit
from bayesbox.serve.live import learned
from bayesbox.serve.store.base import FORGOTTEN, KNOWN, LEARNED, LearnResult
from bayesbox.serve.store.database import Transaction
from bayesbox.serve.store.events import COLUMNS, StoredEvent, id_hmac
from bayesbox.serve.store.held import Held, with_snapshot, write_head

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier


@dataclass
class LearnJob:
    """The events of one waiting caller."""

    name: str
    events: Sequence[StoredEvent]
    by: str | None
    since: float = field(default_factory=time.monotonic)
    future: Future[LearnResult] = field(default_factory=Future)


@dataclass(frozen=True)
class LearnOutcome:
    """The model after a group of jobs, and the result or error of each."""

    held: Held
    answers: list[LearnResult | BayesboxError]


def learn_jobs(transaction: Transaction, held: Held, jobs: Sequence[LearnJob], key: str) -> LearnOutcome:
    """Learn the events of some jobs, each all or nothing: a failed job does not affect the others."""
    stored = _stored(transaction, held, jobs, key)
    try:
        statuses, new = _sorted(held, jobs, stored)
        after = learned(held.classifier, new)
        answers: list[list[str] | BayesboxError] = [*statuses]
    except BayesboxError:
        after, new, answers = _one_by_one(held, jobs, stored)
    if new:
        held = _written(transaction, replace(held, classifier=after), new, jobs, answers)
    head = held.head
    return LearnOutcome(
        held,
        [
            each if isinstance(each, BayesboxError) else LearnResult(each, head.sequence, head.digest, head.rows)
            for each in answers
        ],
    )


Stored = dict[str, StoredEvent | None]  # by id: the stored event, None if it was forgotten


def _stored(transaction: Transaction, held: Held, jobs: Sequence[LearnJob], key: str) -> Stored:
    """The stored events for the ids of some jobs."""
    name, number = held.head.name, held.head.number
    ids = list(dict.fromkeys(event.id for job in jobs for event in job.events))
    condition, listed = transaction.among(ids)
    rows = transaction.query(f"SELECT {COLUMNS} FROM events WHERE model = ? AND id {condition}", (number, listed))
    found: Stored = {row[1]: StoredEvent.from_row(row) for row in rows}
    hmacs = {id_hmac(key, name, id): id for id in ids}
    condition, listed = transaction.among(list(hmacs))
    forgotten = transaction.query(f"SELECT id FROM forgotten WHERE model = ? AND id {condition}", (number, listed))
    return found | {hmacs[row[0]]: None for row in forgotten}


def _sorted(held: Held, jobs: Sequence[LearnJob], stored: Stored) -> tuple[list[list[str]], list[StoredEvent]]:
    """The status of every event of every job, and the new events."""
    stored, new, statuses = dict(stored), list[StoredEvent](), list[list[str]]()
    for job in jobs:
        own: list[str] = []
        conflicts: list[str] = []
        for event in job.events:
            if event.id not in stored:
                stored[event.id] = event
                new.append(event)
                own.append(LEARNED)
                continue
            known = stored[event.id]
            own.append(FORGOTTEN if known is None else KNOWN)
            if known is not None and not known.equals(event):
                conflicts.append(event.id)
        if conflicts:
            raise EventConflict(dict.fromkeys(conflicts), where=held.head.name)
        statuses.append(own)
    return statuses, new


def _one_by_one(
    held: Held, jobs: Sequence[LearnJob], stored: Stored
) -> tuple[AnyClassifier, list[StoredEvent], list[list[str] | BayesboxError]]:
    """The same job by job, if one of them fails."""
    classifier, new = held.classifier, list[StoredEvent]()
    answers: list[list[str] | BayesboxError] = []
    for job in jobs:
        try:
            statuses, own = _sorted(held, [job], stored)
            classifier = learned(classifier, own)
        except BayesboxError as error:
            answers.append(error)
            continue
        answers += statuses
        new += own
        stored = stored | {event.id: event for event in own}
    return classifier, new, answers


def _written(
    transaction: Transaction,
    held: Held,
    new: Sequence[StoredEvent],
    jobs: Sequence[LearnJob],
    answers: Sequence[list[str] | BayesboxError],
) -> Held:
    """Append the events and update the head."""
    head, now = held.head, time.time()
    rows = [
        (head.number, head.sequence + place, event.id, event.row_text, event.label_text, event.weight, now)
        for place, event in enumerate(new, start=1)
    ]
    written = transaction.execute_many(
        "INSERT INTO events (model, sequence, id, row, label, weight, time) VALUES (?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT DO NOTHING",
        rows,
    )
    if written != len(new):
        raise StoreFailed("another process has changed the store without its lock", where=head.name)
    head = replace(
        head,
        sequence=head.sequence + len(new),
        rows=head.rows + len(new),
        digest=held.classifier.book.digest(),
        changes=head.changes + 1,
    )
    write_head(transaction, head)
    details = {"events": len(new), "sequence": head.sequence, "digest": head.digest, "rows": head.rows}
    by = sorted({job.by for job, each in zip(jobs, answers, strict=True) if job.by and isinstance(each, list)})
    audit.append(transaction, "learn", head.name, {**details, "by": by} if by else details)
    return with_snapshot(transaction, replace(held, head=head))
