"""Forgetting in a transaction: the events, their part of every snapshot, and the certificate."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bayesbox.classifier.signature import Signature, is_signed_by, sign
from bayesbox.errors import CannotForget, UnknownEvents, UnknownRecord
from bayesbox.serve import audit
from bayesbox.serve.live import changed, derived_parts
from bayesbox.serve.store.database import Transaction
from bayesbox.serve.store.events import COLUMNS, StoredEvent, fragment, id_hmac
from bayesbox.serve.store.held import (
    Head,
    Held,
    base_of,
    counted_on,
    put_snapshot,
    read_snapshot,
    snapshots,
    with_calibration_of_base,
    write_head,
)

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.tally.book import Book

FORMAT = "bayesbox service certificate 1"
UNSIGNED = frozenset({"signature", "retrained"})
"""The fields that a signature does not cover: itself, and what happens after the forget."""


def forget(
    transaction: Transaction,
    held: Held,
    ids: Sequence[str],
    key_column: tuple[str, object] | None,
    *,
    hmac_key: str,
    signer: Ed25519PrivateKey | None,
    by: str | None,
    not_erased: Sequence[str],
) -> tuple[Held, dict[str, Any]]:
    """Remove events, all or none; returns the model after it and the certificate."""
    events = _chosen(transaction, held.head, ids, key_column)
    after, taken = _without(transaction, held, events)
    after = with_calibration_of_base(transaction, held.head, after)
    before = held.head
    hmacs = sorted(id_hmac(hmac_key, before.name, event.id) for event in events)
    number = transaction.query(
        "SELECT COALESCE(MAX(number), 0) + 1 FROM certificates WHERE model = ?", (before.number,)
    )[0][0]
    _erase(transaction, before, events, hmacs, number)
    head = replace(
        before,
        rows=before.rows - len(events),
        digest=after.book.digest(),
        changes=before.changes + 1,
        erasures=before.erasures + 1,
        retrained=min(before.retrained, events[0].sequence - 1),
    )
    write_head(transaction, head)
    held = replace(held, head=head, classifier=after)
    _subtract_from_snapshots(transaction, held, events)
    document: dict[str, Any] = {
        "format": FORMAT,
        "number": number,
        "model": head.name,
        "time": time.time(),
        "sequence": head.sequence,
        "before": before.digest,
        "rows": taken.digest(),
        "after": head.digest,
        "count": len(events),
        "ids": hmacs,
        "derived": list(derived_parts(after)),
        "not_erased": list(not_erased),
        "key": None if key_column is None else key_column[0],
    }
    document["signature"] = None if signer is None else sign(signed_bytes(document), signer).to_json()
    transaction.execute(
        "INSERT INTO certificates (model, number, document) VALUES (?, ?, ?)",
        (head.number, number, json.dumps(document, sort_keys=True)),
    )
    details = {"certificate": number, "count": len(events), "before": before.digest, "after": head.digest}
    audit.append(transaction, "forget", head.name, {**details, "ids": hmacs, **({"by": [by]} if by else {})})
    return held, {**document, "retrained": None}


def signed_bytes(document: Mapping[str, Any]) -> bytes:
    """The signed bytes of a certificate: JSON in ASCII with sorted keys and without spaces."""
    fields = {name: value for name, value in document.items() if name not in UNSIGNED}
    return json.dumps(fields, sort_keys=True, separators=(",", ":")).encode("ascii")


def is_certificate_signed(document: Mapping[str, Any], key: Ed25519PublicKey) -> bool:
    """Whether a certificate has a valid signature of this key."""
    try:
        signature = Signature.from_json(document.get("signature"))
    except ValueError:
        return False
    return is_signed_by(signature, signed_bytes(document), key)


def certificates(transaction: Transaction, head: Head, number: int | None = None) -> list[dict[str, Any]]:
    """The certificates of a model, oldest first; or the one with this number."""
    condition, values = ("", ()) if number is None else (" AND number = ?", (number,))
    found = transaction.query(
        f"SELECT document, retrained FROM certificates WHERE model = ?{condition} ORDER BY number",
        (head.number, *values),
    )
    if number is not None and not found:
        raise UnknownRecord(f"certificate {number} not found", where=head.name)
    return [
        {**json.loads(document), "retrained": None if retrained is None else json.loads(retrained)}
        for document, retrained in found
    ]


def _chosen(
    transaction: Transaction, head: Head, ids: Sequence[str], key_column: tuple[str, object] | None
) -> list[StoredEvent]:
    """The events with these ids, and those whose row has this value in this column."""
    wanted = list(dict.fromkeys(ids))
    condition, listed = transaction.among(wanted)
    statement = f"SELECT {COLUMNS} FROM events WHERE model = ? AND id {condition}"
    found = {row[1]: StoredEvent.from_row(row) for row in transaction.query(statement, (head.number, listed))}
    unknown = [id for id in wanted if id not in found]
    if unknown:
        raise UnknownEvents(unknown, where=head.name)
    if key_column is not None:
        part = fragment(*key_column)
        statement = f"SELECT {COLUMNS} FROM events WHERE model = ? AND {transaction.holds('row')} ORDER BY sequence"
        rows = (StoredEvent.from_row(row) for row in transaction.query(statement, (head.number, part)))
        column, value = key_column
        own = {each.id: each for each in rows if column in each.row and fragment(column, each.row[column]) == part}
        if not own:
            raise UnknownEvents([f"{column}={value}"], where=head.name)
        found |= own
    if not found:
        raise UnknownEvents((), where=head.name)
    return sorted(found.values(), key=lambda event: event.sequence)


def _without(transaction: Transaction, held: Held, events: Sequence[StoredEvent]) -> tuple[AnyClassifier, Book]:
    """The model without some events, which are still stored, and their tallies."""
    try:
        return changed(held.classifier, events, forget=True)
    except CannotForget:  # not all tallies support subtraction: count the remaining events
        gone = {event.sequence for event in events}
        base = base_of(transaction, held.head)
        left = counted_on(transaction, held, base, 0, held.head.sequence, without=gone)
        empty = base.with_empty_counts()
        return left, changed(empty, events, forget=False)[1]


def _erase(
    transaction: Transaction, head: Head, events: Sequence[StoredEvent], hmacs: Sequence[str], number: int
) -> None:
    condition, listed = transaction.among([event.sequence for event in events])
    transaction.execute(f"DELETE FROM events WHERE model = ? AND sequence {condition}", (head.number, listed))
    transaction.execute_many(
        "INSERT INTO forgotten (model, id, certificate) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        [(head.number, each, number) for each in hmacs],
    )


def _subtract_from_snapshots(transaction: Transaction, held: Held, events: Sequence[StoredEvent]) -> None:
    """Subtract the events, which are no longer stored, from every snapshot that includes them."""
    head = held.head
    for sequence, _ in snapshots(transaction, head, first=events[0].sequence):
        if sequence == head.sequence:
            put_snapshot(transaction, head, sequence, held.classifier)
            continue
        own = [event for event in events if event.sequence <= sequence]
        try:
            after = changed(read_snapshot(transaction, head, sequence), own, forget=True)[0]
        except CannotForget:
            after = counted_on(transaction, held, base_of(transaction, head), 0, sequence)
        put_snapshot(transaction, head, sequence, after)
