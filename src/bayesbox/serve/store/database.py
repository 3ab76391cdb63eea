"""The interface to a database: transactions, and the few statements that differ between SQLite and PostgreSQL."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar, Generic, TypeVar

Row = tuple[Any, ...]
C = TypeVar("C")


class Transaction(ABC):
    """A read or write transaction; parameters are written `?`."""

    @abstractmethod
    def query(self, statement: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """The rows of a SELECT."""

    @abstractmethod
    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> Iterable[Row]:
        """The rows of a large SELECT, streamed: read them before another query."""

    @abstractmethod
    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> None:
        """Execute one statement."""

    @abstractmethod
    def execute_many(self, statement: str, rows: Sequence[Sequence[Any]]) -> int:
        """Execute a statement for several rows of parameters; returns the number of changed rows."""

    @abstractmethod
    def among(self, values: Sequence[Any]) -> tuple[str, Any]:
        """A condition that a preceding column is one of these values, and its single parameter."""

    @abstractmethod
    def holds(self, column: str) -> str:
        """A condition that a text column contains the text of a parameter."""

    @abstractmethod
    def columns(self, table: str) -> set[str]:
        """The names of the columns of a table."""

    @abstractmethod
    def lock_model(self, name: str) -> None:
        """Lock this model against other processes until the transaction ends."""

    @abstractmethod
    def lock_audit(self) -> None:
        """Lock the audit log against other processes until the transaction ends."""


class Database(ABC):
    """Connections to one database; its errors are raised as `StoreFailed` or `StoreBusy`."""

    not_erased: ClassVar[tuple[str, ...]]
    """Where what was deleted may still be, in words."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[Transaction]:
        """A write transaction: committed at the end of the block, rolled back on an error. For one thread."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[Transaction]:
        """A read transaction: a consistent snapshot, which does not wait for writers."""

    @abstractmethod
    def scrub(self) -> bool:
        """Erase the traces of deleted data; False if a reader blocks it, so try again later."""

    @abstractmethod
    def close(self) -> None:
        """Close all connections."""


class Connections(Generic[C]):
    """A pool of read connections: a reader takes a free or a new one, and returns it."""

    def __init__(self, connect: Callable[[], C], disconnect: Callable[[C], None]) -> None:
        self._connect, self._disconnect = connect, disconnect
        self._free: list[C] = []
        self._lock = threading.Lock()
        self._closed = False

    def take(self) -> C:
        """A connection for this reader only."""
        with self._lock:
            if self._free:
                return self._free.pop()
        return self._connect()

    def give_back(self, connection: C, *, usable: bool = True) -> None:
        """Return a connection to the pool, unless it is no longer usable."""
        with self._lock:
            if usable and not self._closed:
                self._free.append(connection)
                return
        self._disconnect(connection)

    def close(self) -> None:
        """Close the free connections; others are closed when they are returned."""
        with self._lock:
            self._closed, free, self._free = True, self._free, []
        for connection in free:
            self._disconnect(connection)
