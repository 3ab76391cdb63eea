"""What a store asks of a database: transactions, and few words that SQLite and PostgreSQL say differently."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar, Generic, TypeVar

Row = tuple[Any, ...]
C = TypeVar("C")


class Transaction(ABC):
    """Statements that are one change, or one consistent look; parameters stand as `?`."""

    @abstractmethod
    def query(self, statement: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """The rows of a SELECT."""

    @abstractmethod
    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> Iterable[Row]:
        """The same, of which there may be more than memory should hold: read them at once, before another query."""

    @abstractmethod
    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> None:
        """One change."""

    @abstractmethod
    def execute_many(self, statement: str, rows: Sequence[Sequence[Any]]) -> int:
        """The same change for several rows of parameters; how many rows of the table it changed."""

    @abstractmethod
    def among(self, values: Sequence[Any]) -> tuple[str, Any]:
        """A condition, to follow a column, that it is one of these values; and its one parameter."""

    @abstractmethod
    def holds(self, column: str) -> str:
        """A condition that a column of text holds the text of a parameter."""

    @abstractmethod
    def columns(self, table: str) -> set[str]:
        """The names of the columns of a table."""

    @abstractmethod
    def lock_model(self, name: str) -> None:
        """Let no other process change this model until the transaction ends."""

    @abstractmethod
    def lock_audit(self) -> None:
        """Let no other process append to the audit log until the transaction ends."""


class Database(ABC):
    """Connections to one database; errors of the database's own are raised as `StoreFailed` or `StoreBusy`."""

    not_erased: ClassVar[tuple[str, ...]]
    """Where what was deleted may still be, in words."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[Transaction]:
        """A change, which has lasted when the block is left; one that an error leaves never was. For one thread."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[Transaction]:
        """A look at one state of all tables, which waits for no writer."""

    @abstractmethod
    def scrub(self) -> bool:
        """Remove the traces of what was deleted; False if somebody who reads is in the way, so try again later."""

    @abstractmethod
    def close(self) -> None:
        """Close all connections."""


class Connections(Generic[C]):
    """Connections that read: a reader takes one that is free, or a new one, and gives it back."""

    def __init__(self, connect: Callable[[], C], disconnect: Callable[[C], None]) -> None:
        self._connect, self._disconnect = connect, disconnect
        self._free: list[C] = []
        self._lock = threading.Lock()
        self._closed = False

    def take(self) -> C:
        """A connection for this reader alone."""
        with self._lock:
            if self._free:
                return self._free.pop()
        return self._connect()

    def give_back(self, connection: C, *, usable: bool = True) -> None:
        """Leave a connection to the next reader, unless it is no longer usable."""
        with self._lock:
            if usable and not self._closed:
                self._free.append(connection)
                return
        self._disconnect(connection)

    def close(self) -> None:
        """Close those that are free; others are when they are given back."""
        with self._lock:
            self._closed, free, self._free = True, self._free, []
        for connection in free:
            self._disconnect(connection)
