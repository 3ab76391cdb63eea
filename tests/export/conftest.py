"""Databases that score rows by a statement: each fixture makes a table `data` and gives the answers."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from tests.postgres import Postgres

from bayesbox.source import sql as sql_source

Scorer = Callable[[pa.Table, str], list[tuple[Any, ...]]]


@pytest.fixture
def in_duckdb() -> Iterator[Scorer]:
    with duckdb.connect() as connection:

        def score(rows: pa.Table, statement: str) -> list[tuple[Any, ...]]:
            connection.register("arrived", rows)
            connection.execute("create or replace table data as select * from arrived")
            return connection.execute(statement).fetchall()

        yield score


@pytest.fixture
def in_sqlite() -> Iterator[Scorer]:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:

        def score(rows: pa.Table, statement: str) -> list[tuple[Any, ...]]:
            names = ", ".join('"' + name.replace('"', '""') + '"' for name in rows.column_names)
            connection.execute("drop table if exists data")
            connection.execute(f"create table data ({names})")
            places = ", ".join("?" * rows.num_columns)
            cells = zip(*(column.to_pylist() for column in rows.columns), strict=True)
            connection.executemany(f"insert into data values ({places})", cells)
            return connection.execute(statement).fetchall()

        yield score


@pytest.fixture
def in_postgres(postgres: Postgres) -> Iterator[Scorer]:
    with duckdb.connect() as connection:
        sql_source._load(connection, "postgres_scanner", "postgres")
        connection.execute(f"attach '{postgres.address}' as server (type postgres)")

        def score(rows: pa.Table, statement: str) -> list[tuple[Any, ...]]:
            connection.register("arrived", rows)
            connection.execute("drop table if exists server.data")
            connection.execute("create table server.data as select * from arrived")
            quoted = statement.replace("'", "''")
            return connection.execute(f"select * from postgres_query('server', '{quoted}')").fetchall()

        yield score


@pytest.fixture(params=["duckdb", "sqlite", "postgres"])
def engine(request: pytest.FixtureRequest) -> tuple[str, Scorer]:
    return request.param, request.getfixturevalue(f"in_{request.param}")
