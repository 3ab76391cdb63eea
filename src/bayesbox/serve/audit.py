"""The audit log: every record has the hash of the previous one, so that none can be changed, added or removed later.

    hash = SHA-256 of the record, as JSON in ASCII with sorted keys and without spaces, and without the hash itself

Truncating the log at the end leaves no trace in the log itself: note the last hash elsewhere, and pass it to `bayes
audit verify --head`.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bayesbox.serve.store.database import Row, Transaction

FIRST = "0" * 64
"""The previous hash of the first record."""
COLUMNS = "number, time, action, model, details, previous, hash"


def append(transaction: Transaction, action: str, model: str | None, details: Mapping[str, Any]) -> dict[str, Any]:
    """Append a record within a transaction."""
    transaction.lock_audit()
    last = transaction.query("SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1")
    number, previous = last[0] if last else (0, FIRST)
    record: dict[str, Any] = {
        "number": number + 1,
        "time": time.time(),
        "action": action,
        "model": model,
        "details": json.loads(json.dumps(dict(details))),
        "previous": previous,
    }
    record["hash"] = hash_of(record)
    values = [record[name] if name != "details" else _text(record[name]) for name in COLUMNS.split(", ")]
    transaction.execute(f"INSERT INTO audit ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", values)
    return record


def records(transaction: Transaction, model: str | None, *, after: int = 0, limit: int) -> list[dict[str, Any]]:
    """The records after a number, oldest first: of one model, or of all."""
    condition, values = ("", ()) if model is None else (" AND model = ?", (model,))
    statement = f"SELECT {COLUMNS} FROM audit WHERE number > ?{condition} ORDER BY number LIMIT ?"
    return [_record(row) for row in transaction.query(statement, (after, *values, limit))]


def last_records(transaction: Transaction, model: str | None, count: int) -> list[dict[str, Any]]:
    """The last records, oldest first: of one model, or of all."""
    condition, values = ("", ()) if model is None else (" WHERE model = ?", (model,))
    statement = f"SELECT {COLUMNS} FROM audit{condition} ORDER BY number DESC LIMIT ?"
    return [_record(row) for row in reversed(transaction.query(statement, (*values, count)))]


def hash_of(record: Mapping[str, Any]) -> str:
    """The hash of a record.

    >>> hash_of({"number": 1, "action": "start"})[:8]
    '0da21dde'
    """
    return hashlib.sha256(_text({name: each for name, each in record.items() if name != "hash"}).encode()).hexdigest()


@dataclass
class AuditCheck:
    """The result of checking an audit log: its records and last hash, and the problems in words."""

    records: int = 0
    head: str = FIRST
    faults: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether there are no problems."""
        return not self.faults


def check(transaction: Transaction, *, head: str | None = None) -> AuditCheck:
    """Check the whole log; `head` is a hash that was noted earlier, and must still be in it."""
    return check_records(
        (_record(row) for row in transaction.rows(f"SELECT {COLUMNS} FROM audit ORDER BY number")), head
    )


def check_records(found: Iterable[Mapping[str, Any]], head: str | None = None) -> AuditCheck:
    """Check these records."""
    result, seen = AuditCheck(), head in (None, FIRST)
    for record in found:
        result.records += 1
        if record["number"] != result.records:
            result.faults.append(f"record {result.records} is missing: the next one has the number {record['number']}")
            result.records = record["number"]
        if record["previous"] != result.head:
            result.faults.append(f"record {record['number']} does not follow the one before it")
        if hash_of(record) != record["hash"]:
            result.faults.append(f"record {record['number']} was changed: its hash is not that of its content")
        result.head = record["hash"]
        seen = seen or result.head == head
    if not seen:
        result.faults.append(f"no record has the hash {head}: the log was cut off or replaced")
    return result


def _record(row: Row) -> dict[str, Any]:
    found = dict(zip(COLUMNS.split(", "), row, strict=True))
    try:
        found["details"] = json.loads(found["details"])
    except ValueError:  # it was changed: the hash will not match
        found["details"] = {"unreadable": found["details"]}
    return found


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
