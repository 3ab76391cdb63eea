"""The base of a model in a transaction: recorded the first time, replaced by a reload."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bayesbox.serve import audit
from bayesbox.serve.live import counts_events, learned, require_counting, rows_in
from bayesbox.serve.store.database import Transaction
from bayesbox.serve.store.held import HEAD, Head, Held, events_between, load, put_snapshot, read_head, write_head

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier


def sha256_of_base(data: bytes) -> str:
    """The SHA-256 of a model file."""
    return hashlib.sha256(data).hexdigest()


def attach(transaction: Transaction, name: str, model: AnyClassifier, data: bytes) -> Held:
    """The model under a name: the stored one, or this one if there is none."""
    transaction.lock_model(name)
    head = read_head(transaction, name)
    if head is not None:
        return load(transaction, head)
    digest, rows = model.book.digest(), rows_in(model.book)
    transaction.lock_audit()  # taken by every attach, so that numbers are unique
    number = transaction.query("SELECT COALESCE(MAX(number), 0) + 1 FROM models")[0][0]
    sha256 = sha256_of_base(data)
    head = Head(number, name, sha256, digest, rows, 0, rows, digest, 1, 1, 0, sha256)
    transaction.execute(
        f"INSERT INTO models ({HEAD}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (number, name, sha256, digest, rows, 0, rows, digest, 1, 1, 0, sha256),
    )
    transaction.execute("INSERT INTO bases (model, data) VALUES (?, ?)", (number, data))
    audit.append(transaction, "attach", name, {"base": head.base_sha256, "digest": digest, "rows": rows})
    return Held(head, model, 0, model.schema)


def rebase(
    transaction: Transaction,
    held: Held,
    model: AnyClassifier,
    data: bytes,
    *,
    action: str,
    details: dict[str, Any],
    retrained: int = 0,
    absorbed: int = 0,
) -> Held:
    """Count the remaining events on top of another base; an error if that is impossible.

    `retrained` is the last event that the base's derived parts include, and `absorbed` the number of events that it was
    trained on, if it cannot count single ones.
    """
    before, classifier = held.head, model
    if before.rows > before.base_rows and counts_events(model):
        require_counting(model)
    for events in events_between(transaction, before, 0, before.sequence):
        classifier = learned(classifier, events)
    base_rows = rows_in(model.book) - absorbed
    sha256 = sha256_of_base(data)
    head = replace(
        before,
        base_sha256=sha256,
        file_sha256=sha256 if action == "reload" else before.file_sha256,
        base_digest=model.book.digest(),
        base_rows=base_rows,
        rows=base_rows + before.rows - before.base_rows,
        digest=classifier.book.digest(),
        changes=before.changes + 1,
        erasures=before.erasures + 1,
        retrained=retrained,
    )
    transaction.execute("DELETE FROM bases WHERE model = ?", (head.number,))
    transaction.execute("INSERT INTO bases (model, data) VALUES (?, ?)", (head.number, data))
    transaction.execute("DELETE FROM snapshots WHERE model = ?", (head.number,))
    write_head(transaction, head)
    if head.sequence:
        put_snapshot(transaction, head, head.sequence, classifier)
    facts = {"base": head.base_sha256, "before": before.digest, "digest": head.digest, "sequence": head.sequence}
    audit.append(transaction, action, head.name, {**facts, **details})
    return Held(head, classifier, head.sequence, classifier.schema)
