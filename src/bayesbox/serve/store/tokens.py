"""Tokens in a transaction: stored by their SHA-256, and never deleted, so that the audit log can refer to them."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Sequence

from bayesbox.errors import UnknownRecord
from bayesbox.serve import audit
from bayesbox.serve.store.base import TokenRecord
from bayesbox.serve.store.database import Transaction

COLUMNS = "id, sha256, scopes, expires, label, created, revoked"


def add(transaction: Transaction, sha256: str, scopes: Sequence[str], expires: float | None, label: str) -> str:
    """Store a token; returns its id."""
    id = secrets.token_hex(6)
    values = (id, sha256, json.dumps(sorted(scopes)), expires, label, time.time())
    transaction.execute(
        "INSERT INTO tokens (id, sha256, scopes, expires, label, created) VALUES (?, ?, ?, ?, ?, ?)", values
    )
    details = {"token": id, "scopes": sorted(scopes), "expires": expires, "label": label}
    audit.append(transaction, "token create", None, details)
    return id


def records(transaction: Transaction, sha256: str | None = None) -> list[TokenRecord]:
    """All tokens, oldest first, or the one with a SHA-256."""
    condition, values = ("", ()) if sha256 is None else (" WHERE sha256 = ?", (sha256,))
    found = transaction.query(f"SELECT {COLUMNS} FROM tokens{condition} ORDER BY created, id", values)
    return [
        TokenRecord(id, digest, tuple(json.loads(scopes)), expires, label, created, revoked)
        for id, digest, scopes, expires, label, created, revoked in found
    ]


def revoke(transaction: Transaction, id: str) -> None:
    """Revoke a token."""
    if not transaction.query("SELECT id FROM tokens WHERE id = ?", (id,)):
        raise UnknownRecord(f"no token `{id}`", remedy="bayes token list DIR lists all tokens")
    transaction.execute("UPDATE tokens SET revoked = ? WHERE id = ? AND revoked IS NULL", (time.time(), id))
    audit.append(transaction, "token revoke", None, {"token": id})
