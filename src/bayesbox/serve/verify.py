"""Check a whole store: recount base and events, and compare with the recorded digests.

For every model the base is loaded and all remaining events are counted on top of it. The digest must match that of the
head, those of the snapshots on the way, and that of the last record of the audit log. Then every certificate is
checked: its digests must match the audit log, and none of its ids may be among the remaining events.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bayesbox.serve import audit
from bayesbox.serve.live import learned, with_tallies
from bayesbox.serve.store.bases import sha256_of_base
from bayesbox.serve.store.database import Database, Transaction
from bayesbox.serve.store.events import StoredEvent, id_hmac
from bayesbox.serve.store.forgetting import certificates, is_certificate_signed
from bayesbox.serve.store.held import HEAD, Head, base_of, events_between, read_snapshot, snapshots

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    from bayesbox.classifier.base import AnyClassifier

CHANGES = frozenset({"attach", "learn", "forget", "reload", "retrain"})
"""The actions in the audit log that record the digest of a model."""

LOGGED = ("before", "after", "count", "ids")
"""The fields that a certificate and the audit log have in common."""


@dataclass
class ModelCheck:
    """The result of recounting a model: its digest, what it was counted from, and the problems in words."""

    name: str
    sequence: int
    rows: int
    recorded: str
    counted: str = ""
    events: int = 0
    snapshots: int = 0
    certificates: int = 0
    signed: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether there are no problems."""
        return not self.faults

    def to_json(self) -> dict[str, Any]:
        """The check as a plain dict, as `bayes verify --json` prints it."""
        return {
            "model": self.name,
            "holds": self.holds,
            "sequence": self.sequence,
            "rows": self.rows,
            "events": self.events,
            "digest": self.recorded,
            "retrained": self.counted,
            "snapshots": self.snapshots,
            "certificates": self.certificates,
            "signed": self.signed,
            "faults": self.faults,
        }


@dataclass(frozen=True)
class StoreCheck:
    """The checks of all models and of the audit log."""

    models: Sequence[ModelCheck]
    audit: audit.AuditCheck

    @property
    def holds(self) -> bool:
        """Whether there are no problems."""
        return self.audit.holds and all(each.holds for each in self.models)


def verify_store(
    database: Database, *, public_key: Ed25519PublicKey | None = None, head: str | None = None
) -> StoreCheck:
    """Check all models of a store on a consistent snapshot, while others may use it.

    `public_key` checks the signatures of the certificates, `head` is a hash of the audit log that was noted earlier.
    """
    with database.reading() as transaction:
        found = [Head(*row) for row in transaction.query(f"SELECT {HEAD} FROM models ORDER BY name")]
        models = [_checked(transaction, each, public_key) for each in found]
        return StoreCheck(models, audit.check(transaction, head=head))


def _checked(transaction: Transaction, head: Head, public_key: Ed25519PublicKey | None) -> ModelCheck:
    check = ModelCheck(head.name, head.sequence, head.rows, head.digest)
    (data,) = transaction.query("SELECT data FROM bases WHERE model = ?", (head.number,))[0]
    if sha256_of_base(bytes(data)) != head.base_sha256:
        check.faults.append("the recorded base is not the file that was attached")
    _check_tallies(transaction, head, check)
    _check_certificates(transaction, head, check, public_key)
    last = transaction.query(
        "SELECT details FROM audit WHERE model = ? AND action IN "
        f"({', '.join('?' * len(CHANGES))}) ORDER BY number DESC LIMIT 1",
        (head.name, *sorted(CHANGES)),
    )
    if not last or head.digest not in last[0][0]:
        check.faults.append("the audit log does not end with the digest of the model")
    return check


def _check_tallies(transaction: Transaction, head: Head, check: ModelCheck) -> None:
    base = base_of(transaction, head)
    if base.book.digest() != head.base_digest:
        check.faults.append("the digest of the base is not the one recorded")
    saved = snapshots(transaction, head)
    newest = read_snapshot(transaction, head, saved[-1][0]) if saved else base
    assert newest.schema is not None
    classifier = with_tallies(base, newest.schema, base.book)
    after = 0
    for sequence, digest in [*saved, (head.sequence, "")]:
        for events in events_between(transaction, head, after, sequence):
            check.events += len(events)
            classifier = learned(classifier, events)
        after = sequence
        if digest:
            check.snapshots += 1
            _check_snapshot(read_snapshot(transaction, head, sequence), sequence, digest, classifier, check)
    check.counted = classifier.book.digest()
    if check.counted != head.digest:
        check.faults.append(f"base and events have the digest {check.counted}, and the store says {head.digest}")
    if head.rows != head.base_rows + check.events:
        check.faults.append(
            f"{head.base_rows:,} rows and {check.events:,} events, and the store says {head.rows:,} rows"
        )
    beyond = "SELECT COUNT(*) FROM events WHERE model = ? AND (sequence > ? OR sequence < 1)"
    if transaction.query(beyond, (head.number, head.sequence))[0][0]:
        check.faults.append("there are events beyond the last number of the model")


def _check_snapshot(
    snapshot: AnyClassifier, sequence: int, digest: str, counted: AnyClassifier, check: ModelCheck
) -> None:
    if not snapshot.book.digest() == digest == counted.book.digest():
        check.faults.append(f"the snapshot as of event {sequence:,} is not what base and events give")


def _check_certificates(
    transaction: Transaction, head: Head, check: ModelCheck, public_key: Ed25519PublicKey | None
) -> None:
    key = transaction.query("SELECT value FROM settings WHERE name = 'hmac_key'")[0][0]
    statement = "SELECT id, certificate FROM forgotten WHERE model = ?"
    forgotten: dict[str, int] = dict(transaction.query(statement, (head.number,)))
    logged = _logged(transaction, head)
    documents = certificates(transaction, head)
    there = {document["number"] for document in documents}
    check.faults += [f"certificate {number} is missing" for number in sorted({*logged, *forgotten.values()} - there)]
    for document in documents:
        check.certificates += 1
        number = document["number"]
        if {name: document[name] for name in LOGGED} != logged.get(number):
            check.faults.append(f"certificate {number} is not the one that the audit log has")
        own = {id for id, of in forgotten.items() if of == number}
        if own != {*document["ids"]} or document["count"] != len(own):
            check.faults.append(f"certificate {number} names other ids than those that were forgotten")
        if public_key is not None and document["signature"] is not None:
            check.signed += 1
            if not is_certificate_signed(document, public_key):
                check.faults.append(f"certificate {number} is not signed by this key")
    for events in events_between(transaction, head, 0, head.sequence) if forgotten else ():
        back = [event for event in events if _is_forgotten(event, head, key, forgotten)]
        check.faults += [f"event {event.sequence:,} was forgotten, and is stored" for event in back]


def _logged(transaction: Transaction, head: Head) -> dict[int, dict[str, Any]]:
    """The records of forgets in the audit log, by the number of the certificate."""
    statement = "SELECT details FROM audit WHERE model = ? AND action = 'forget'"
    found = [json.loads(row[0]) for row in transaction.query(statement, (head.name,))]
    return {details["certificate"]: {name: details.get(name) for name in LOGGED} for details in found}


def _is_forgotten(event: StoredEvent, head: Head, key: str, forgotten: dict[str, int]) -> bool:
    return id_hmac(key, head.name, event.id) in forgotten
