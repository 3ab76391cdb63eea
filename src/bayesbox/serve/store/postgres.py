"""A store in a PostgreSQL database, by psycopg 3, for several processes and machines.

The tables are in their own schema, `bayesbox`. One process at a time changes a model, by an advisory lock until the end
of the transaction. A lost connection is reopened for the next change.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.errors import DeadlockDetected, LockNotAvailable, QueryCanceled, SerializationFailure

from bayesbox.errors import BadOption, StoreBusy, StoreFailed
from bayesbox.serve.store.base import Store
from bayesbox.serve.store.database import Connections, Database, Row, Transaction
from bayesbox.serve.store.durable import DurableStore
from bayesbox.serve.store.tables import TABLES

SCHEMA = "bayesbox"
MAKING, MODEL, AUDIT = 2_107_001, 2_107_002, 2_107_003  # the numbers of the advisory locks
SESSION = (
    f"SET search_path TO {SCHEMA}",
    "SET synchronous_commit TO on",  # a returned commit is durable, whatever the server's setting
    "SET lock_timeout TO '10s'",
    "SET client_min_messages TO warning",
)


def open_at(url: str, **options: Any) -> Store:
    """The store in this database; missing tables are created."""
    return DurableStore(PostgresDatabase(url), **options)


def look_at(url: str) -> Database:
    """The database of an existing store."""
    return PostgresDatabase(url, make=False)


class PostgresDatabase(Database):
    """One write connection, and as many read connections as concurrent readers."""

    not_erased = (
        "back-ups and copies of the store",
        "replicas",
        "the write-ahead log and its archives, until they are recycled",
        "free space of the database's files, until it is used again",
    )

    def __init__(self, url: str, *, make: bool = True) -> None:
        self.url = url
        try:
            found = conninfo_to_dict(url)
        except psycopg.ProgrammingError:
            raise BadOption("the address of the store is not valid", remedy="postgresql://host/database") from None
        self.name = f"PostgreSQL database {found.get('dbname', '')} on {found.get('host', 'this machine')}"
        self._readers: Connections[psycopg.Connection[Row]] = Connections(self._connect, lambda each: each.close())
        with _errors(self.name):
            self._writer = self._connect()
            there = self._writer.execute(f"SELECT to_regclass('{SCHEMA}.settings')").fetchone()
            self._writer.commit()
            if there is None or there[0] is None:
                if not make:
                    raise StoreFailed("there is no store in this database", where=self.name)
                self._make_tables()

    def _connect(self) -> psycopg.Connection[Row]:
        connection = cast(
            "psycopg.Connection[Row]", psycopg.connect(self.url, application_name="bayesbox", connect_timeout=10)
        )
        for setting in SESSION:
            connection.execute(setting)
        connection.commit()
        return connection

    def _make_tables(self) -> None:
        with self.writing() as transaction:
            transaction.execute("SELECT pg_advisory_xact_lock(?, 0)", (MAKING,))
            transaction.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
            for statement in TABLES.replace("BLOB", "BYTEA").split(";"):
                transaction.execute(statement)

    @contextlib.contextmanager
    def writing(self) -> Iterator[Transaction]:
        with _errors(self.name):
            if self._writer.closed or self._writer.broken:
                self._writer = self._connect()
        connection = self._writer
        try:
            yield _PostgresTransaction(connection, self.name)
            with _errors(self.name):
                connection.commit()
        except BaseException:
            with contextlib.suppress(psycopg.Error):  # the first error is raised
                connection.rollback()
            raise

    @contextlib.contextmanager
    def reading(self) -> Iterator[Transaction]:
        with _errors(self.name):
            connection = self._readers.take()
        usable = False
        try:
            with _errors(self.name):
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield _PostgresTransaction(connection, self.name)
            usable = True
        finally:
            with contextlib.suppress(psycopg.Error):
                connection.rollback()
            self._readers.give_back(connection, usable=usable or not (connection.closed or connection.broken))

    def scrub(self) -> bool:
        """Vacuum the deleted rows; their disk space may be readable until it is reused."""
        with _errors(self.name):
            connection = self._connect()
            try:
                connection.autocommit = True
                connection.execute("VACUUM events, snapshots, models, bases")
            finally:
                connection.close()
        return True

    def close(self) -> None:
        self._readers.close()
        self._writer.close()


class _PostgresTransaction(Transaction):
    def __init__(self, connection: psycopg.Connection[Row], where: str) -> None:
        self._connection, self._where = connection, where

    def query(self, statement: str, parameters: Sequence[Any] = ()) -> list[Row]:
        with _errors(self._where):
            return list(self._connection.execute(_placed(statement), tuple(parameters)).fetchall())

    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> Iterable[Row]:
        with _errors(self._where), self._connection.cursor(name="rows") as cursor:
            cursor.execute(_placed(statement), tuple(parameters))
            yield from cursor

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> None:
        with _errors(self._where):
            self._connection.execute(_placed(statement), tuple(parameters) or None)

    def execute_many(self, statement: str, rows: Sequence[Sequence[Any]]) -> int:
        with _errors(self._where), self._connection.cursor() as cursor:
            cursor.executemany(_placed(statement), rows)
            return int(cursor.rowcount)

    def among(self, values: Sequence[Any]) -> tuple[str, Any]:
        return "= ANY(?)", list(values)

    def holds(self, column: str) -> str:
        return f"strpos({column}, ?) > 0"

    def columns(self, table: str) -> set[str]:
        statement = "SELECT column_name FROM information_schema.columns WHERE table_schema = ? AND table_name = ?"
        return {row[0] for row in self.query(statement, (SCHEMA, table))}

    def lock_model(self, name: str) -> None:
        self.execute("SELECT pg_advisory_xact_lock(?, hashtext(?))", (MODEL, name))

    def lock_audit(self) -> None:
        self.execute("SELECT pg_advisory_xact_lock(?, 0)", (AUDIT,))


def _placed(statement: str) -> Any:
    """A statement with psycopg's parameter markers."""
    return statement.replace("?", "%s")


@contextlib.contextmanager
def _errors(where: str) -> Iterator[None]:
    """Raise PostgreSQL's errors as errors of a store; their text contains at most the caller's own password."""
    try:
        yield
    except (LockNotAvailable, QueryCanceled, DeadlockDetected, SerializationFailure) as error:
        raise StoreBusy(
            f"others keep the store locked: {_text(error)}", where=where, remedy="Nothing was changed; try again"
        ) from None
    except psycopg.Error as error:
        raise StoreFailed(
            f"the store cannot be used: {_text(error)}", where=where, remedy="Check the database, then try again"
        ) from None


def _text(error: psycopg.Error) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
