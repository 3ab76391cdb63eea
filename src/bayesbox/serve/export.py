"""The events of a model as a table: one row per event, with its number, id, row, label and weight."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from bayesbox.schema.levels import level_text
from bayesbox.serve.store.database import Database, Transaction
from bayesbox.serve.store.events import StoredEvent
from bayesbox.serve.store.held import Head, base_of, events_between, require_head

OWN = ("event_sequence", "event_id", "event_weight")
TYPES = {"flag": pa.bool_(), "integer": pa.int64(), "real": pa.float64(), "text": pa.string()}
LARGEST = 1 << 63


class EventTable:
    """The current events of a model, as a consistent snapshot; a column with values of several types becomes text."""

    def __init__(self, transaction: Transaction, head: Head) -> None:
        self._transaction, self._head = transaction, head
        self.target = base_of(transaction, head).target or "label"
        self.rows = 0
        types: dict[str, set[str]] = {}
        labels: set[str] = set()
        for events in events_between(transaction, head, 0, head.sequence):
            self.rows += len(events)
            for event in events:
                labels.add(_type_of(event.label))
                for name, value in event.row.items():
                    types.setdefault(name, set()).add(_type_of(value))
        types.pop(self.target, None)  # the label counts
        self.columns = {name: _common(types[name]) for name in sorted(types) if name not in OWN}
        self.label_type = _common(labels or {"text"})

    @property
    def names(self) -> tuple[str, ...]:
        """The columns in order."""
        return (*OWN[:2], *self.columns, self.target, OWN[2])

    def tables(self) -> Iterator[pa.Table]:
        """The rows in tables of some thousands; one empty table if there are none."""
        if not self.rows:
            yield self._table([])
        for events in events_between(self._transaction, self._head, 0, self._head.sequence):
            yield self._table(events)

    def _table(self, events: Sequence[StoredEvent]) -> pa.Table:
        columns = {
            OWN[0]: pa.array([event.sequence for event in events], pa.int64()),
            OWN[1]: pa.array([event.id for event in events], pa.string()),
            **{name: _column([event.row.get(name) for event in events], kind) for name, kind in self.columns.items()},
            self.target: _column([event.label for event in events], self.label_type),
            OWN[2]: pa.array([event.weight for event in events], pa.float64()),
        }
        return pa.table(columns)


@contextlib.contextmanager
def event_table(database: Database, name: str) -> Iterator[EventTable]:
    """The events of a model, as a context manager."""
    with database.reading() as transaction:
        yield EventTable(transaction, require_head(transaction, name))


def _type_of(value: object) -> str:
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, int):
        return "integer" if -LARGEST <= value < LARGEST else "text"
    return "real" if isinstance(value, float) else "text"


def _common(types: set[str]) -> str:
    """The common type of values of these types.

    >>> _common({"integer", "real"}), _common({"flag"}), _common({"flag", "text"})
    ('real', 'flag', 'text')
    """
    if len(types) == 1:
        return next(iter(types))
    return "real" if types == {"integer", "real"} else "text"


def _column(values: Sequence[Any], kind: str) -> pa.Array:
    if kind == "text":
        values = [None if value is None else level_text(value) for value in values]
    elif kind == "real":
        values = [None if value is None else float(value) for value in values]
    return pa.array(values, TYPES[kind])
