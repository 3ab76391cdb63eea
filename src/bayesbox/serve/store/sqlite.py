"""A store in one SQLite file, by apsw, which includes its own SQLite.

The file is in WAL mode with synchronous=FULL: a commit returns when its log is on disk, and readers do not wait for
writers. secure_delete overwrites deleted data, and `scrub` truncates the log, which has older versions of pages.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apsw

from bayesbox.errors import StoreBusy, StoreFailed
from bayesbox.serve.store.base import Store
from bayesbox.serve.store.database import Connections, Database, Row, Transaction
from bayesbox.serve.store.durable import DurableStore
from bayesbox.serve.store.tables import TABLES

WAIT = 10_000  # milliseconds to wait for another writer
WAIT_FOR_READERS = 500  # milliseconds, before the log is truncated
SETTINGS = (
    "PRAGMA synchronous=EXTRA",  # syncs the folder too, while a new file is put into WAL mode
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous={synchronous}",
    "PRAGMA fullfsync=ON",
    "PRAGMA secure_delete=ON",
    "PRAGMA temp_store=MEMORY",
    "PRAGMA trusted_schema=OFF",
)


def open_at(path: str, *, vfs: str | None = None, synchronous: str = "FULL", **options: Any) -> Store:
    """The store in this file; it is created if missing."""
    return DurableStore(SqliteDatabase(path, vfs=vfs, synchronous=synchronous), **options)


def look_at(path: str) -> Database:
    """The database of an existing store."""
    if os.path.isfile(os.path.dirname(path)):
        raise StoreFailed("DIR must be the folder of a service", where=os.path.dirname(path), remedy="Pass the folder")
    if not os.path.isfile(path):
        raise StoreFailed("store not found", where=path, remedy="bayes serve DIR and bayes token create DIR create it")
    return SqliteDatabase(path, make=False)


class SqliteDatabase(Database):
    """One write connection, and as many read connections as concurrent readers."""

    not_erased = ("back-ups and copies of the store", "file system snapshots")

    def __init__(self, path: str, *, vfs: str | None = None, synchronous: str = "FULL", make: bool = True) -> None:
        self.path, self._vfs, self._synchronous = path, vfs, synchronous
        self._readers: Connections[apsw.Connection] = Connections(self._connect, lambda each: each.close())
        with _errors(path):
            if make and vfs is None:
                _make_private(path)
            self._writer = self._connect()
            if make:
                self._make_tables()
                self.scrub()

    def _make_tables(self) -> None:
        with self.writing() as transaction:
            for statement in TABLES.split(";"):
                transaction.execute(statement)

    def _connect(self) -> apsw.Connection:
        connection = apsw.Connection(self.path, vfs=self._vfs)
        connection.set_busy_timeout(WAIT)
        for setting in SETTINGS:
            connection.execute(setting.format(synchronous=self._synchronous))
        return connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[Transaction]:
        connection = self._writer
        with _errors(self.path):
            connection.execute("BEGIN IMMEDIATE")
        try:
            yield _SqliteTransaction(connection, self.path)
            with _errors(self.path):
                connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                with contextlib.suppress(apsw.Error):  # the first error is raised
                    connection.execute("ROLLBACK")
            raise

    @contextlib.contextmanager
    def reading(self) -> Iterator[Transaction]:
        with _errors(self.path):
            connection = self._readers.take()
        try:
            with _errors(self.path):
                connection.execute("BEGIN")
            yield _SqliteTransaction(connection, self.path)
        finally:
            if connection.in_transaction:
                with contextlib.suppress(apsw.Error):  # nothing was changed
                    connection.execute("ROLLBACK")
            self._readers.give_back(connection, usable=not connection.in_transaction)

    def scrub(self) -> bool:
        with _errors(self.path):
            self._writer.set_busy_timeout(WAIT_FOR_READERS)
            try:
                busy = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            finally:
                self._writer.set_busy_timeout(WAIT)
        return busy is not None and busy[0] == 0

    def close(self) -> None:
        with _errors(self.path):
            self._readers.close()
            self._writer.close()


class _SqliteTransaction(Transaction):
    def __init__(self, connection: apsw.Connection, path: str) -> None:
        self._connection, self._path = connection, path

    def query(self, statement: str, parameters: Sequence[Any] = ()) -> list[Row]:
        with _errors(self._path):
            return list(self._connection.execute(statement, tuple(parameters)))

    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> Iterable[Row]:
        with _errors(self._path):
            yield from self._connection.execute(statement, tuple(parameters))

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> None:
        with _errors(self._path):
            self._connection.execute(statement, tuple(parameters))

    def execute_many(self, statement: str, rows: Sequence[Sequence[Any]]) -> int:
        before = self._connection.total_changes()
        with _errors(self._path):
            self._connection.executemany(statement, rows)
        return int(self._connection.total_changes() - before)

    def among(self, values: Sequence[Any]) -> tuple[str, Any]:
        return "IN (SELECT value FROM json_each(?))", json.dumps(list(values))

    def holds(self, column: str) -> str:
        return f"instr({column}, ?) > 0"

    def columns(self, table: str) -> set[str]:
        return {row[0] for row in self.query("SELECT name FROM pragma_table_info(?)", (table,))}

    def lock_model(self, name: str) -> None:
        """BEGIN IMMEDIATE has locked the file."""

    def lock_audit(self) -> None:
        """BEGIN IMMEDIATE has locked the file."""


@contextlib.contextmanager
def _errors(path: str) -> Iterator[None]:
    """Raise SQLite's errors as errors of a store."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError):
        raise StoreBusy(
            "another process keeps the store locked", where=path, remedy="Nothing was changed; try again"
        ) from None
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise StoreFailed(f"the store is damaged: {error}", where=path, remedy="Restore a back-up") from None
    except apsw.Error as error:
        raise StoreFailed(
            f"the store cannot be used: {error}",
            where=path,
            remedy="Nothing was changed; check the disk, then try again",
        ) from None


def _make_private(path: str) -> None:
    """Create a file readable only by the owner, and sync its folder."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise StoreFailed(error.strerror or "cannot be created", where=path) from None
    if os.name == "posix":
        folder = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
