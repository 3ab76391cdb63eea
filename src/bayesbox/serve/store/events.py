"""Stored events: canonical JSON, so that equal events have equal texts.

Keys are sorted, missing values omitted, numbers written as by Python, and everything is ASCII.
"""

from __future__ import annotations

import hmac
import json
import math
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bayesbox.errors import BadData, BadWeight
from bayesbox.serve.store.base import Event
from bayesbox.serve.store.database import Row

LONGEST_ID = 512  # characters
COLUMNS = "sequence, id, row, label, weight"
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode
_PLAIN = frozenset({str, int, float, bool})


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event as JSON texts; `sequence` is its number, 0 if it has none yet."""

    id: str
    row: Mapping[str, Any]
    label: Any
    weight: float
    row_text: str
    label_text: str
    sequence: int = 0

    @classmethod
    def of(cls, event: Event) -> StoredEvent:
        """The stored form of an event; an error if it cannot be stored."""
        id = event.id
        if not isinstance(id, str) or not 0 < len(id) <= LONGEST_ID or "\0" in id or not _is_unicode(id):
            raise BadData(f"an event must have an id of 1 to {LONGEST_ID} characters", found=_short(id))
        weight = event.weight
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < math.inf:
            raise BadWeight(
                "the weight of an event must be a positive number", where=f"event {_short(id)}", found=weight
            )
        row = {name: value for name, value in event.row.items() if value is not None and value == value}
        for name, value in row.items():
            if type(value) not in _PLAIN or type(name) is not str or (type(value) is float and math.isinf(value)):
                raise BadData(
                    f"column `{name}` of an event must be a text, a finite number, true or false",
                    where=f"event {_short(id)}",
                    found=_short(value),
                    column=str(name),
                )
        if type(event.label) not in _PLAIN or event.label != event.label:
            raise BadData("an event must have a label", where=f"event {_short(id)}", found=_short(event.label))
        return cls(id, row, event.label, float(weight), _encode(row), _encode(event.label))

    @classmethod
    def from_row(cls, row: Row) -> StoredEvent:
        """An event from a row of the table."""
        sequence, id, row_text, label_text, weight = row
        return cls(id, json.loads(row_text), json.loads(label_text), weight, row_text, label_text, sequence)

    def equals(self, other: StoredEvent) -> bool:
        """Whether both have the same row, label and weight."""
        mine = self.row_text, self.label_text, self.weight
        return mine == (other.row_text, other.label_text, other.weight)


def fragment(column: str, value: object) -> str:
    """The text that the JSON of a row contains if a column has this value.

    >>> fragment("customer", "c-17")
    '"customer":"c-17"'
    """
    return _encode({column: value})[1:-1]


def new_key() -> str:
    """A key for the HMACs of a store."""
    return secrets.token_hex(32)


def id_hmac(key: str, model: str, id: str) -> str:
    """The HMAC-SHA256 of an id, used in certificates and in the audit log.

    >>> id_hmac("00", "people", "visit-17")[:16]
    '6ec26dc529e2f263'
    """
    return hmac.digest(bytes.fromhex(key), f"{model}\0{id}".encode(), "sha256").hex()


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _short(value: object) -> str:
    return ascii(value)[:80]
