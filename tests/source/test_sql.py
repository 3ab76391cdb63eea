"""Rows of queries: the same tallies as from a frame, and clear words for what goes wrong."""

from __future__ import annotations

import sqlite3
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.postgres import Postgres
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.errors import BadData, BadOption, BayesboxError, KindContradiction, SourceUnavailable, UnknownColumn
from bayesbox.schema.columns import as_numbers
from bayesbox.source import sql as sql_source

PEOPLE = pd.DataFrame(
    {
        "age": [25.5, None, 0.1, 1e12 + 0.1, 44.25, 1e-300],
        "visits": [3, 1, 4, 1, 5, 9],
        "car": ["suv", "sports", None, "it's", "suv", "vintage"],
        "member": [True, False, None, True, True, False],
        "risk": ["L", "H", "H", None, "L", "H"],
    }
)
KINDS = {"member": "flag"}


def digest_of(source: Any) -> str:
    return bb.train(source, target="risk", model=bb.NaiveBayes(columns=KINDS)).book_.digest()


@pytest.fixture(scope="module")
def expected() -> str:
    return digest_of(PEOPLE)


@pytest.fixture
def duckdb_file(tmp_path: Path) -> Path:
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.register("frame", pa.Table.from_pandas(PEOPLE))
        connection.execute("create table people as select * from frame")
    return path


def sqlite_file(path: Path) -> Path:
    with sqlite3.connect(path) as connection:
        connection.execute("create table people (age real, visits integer, car text, member boolean, risk text)")
        rows = PEOPLE.astype(object).where(PEOPLE.notna(), None)
        connection.executemany("insert into people values (?, ?, ?, ?, ?)", rows.itertuples(index=False, name=None))
    connection.close()
    return path


def test_duckdb(duckdb_file: Path, expected: str) -> None:
    assert digest_of(bb.sql("select * from people", database=duckdb_file)) == expected


def test_an_open_connection(duckdb_file: Path, expected: str) -> None:
    with duckdb.connect(str(duckdb_file)) as connection:
        assert digest_of(bb.sql("select * from people", database=connection)) == expected
        assert connection.execute("select count(*) from people").fetchone() == (6,)  # it is left open


def test_parquet_in_the_query(tmp_path: Path, expected: str) -> None:
    path = tmp_path / "people.parquet"
    pq.write_table(pa.Table.from_pandas(PEOPLE), path)
    assert digest_of(bb.sql(f"select * from '{path}'")) == expected


def test_sqlite(tmp_path: Path, expected: str) -> None:
    path = sqlite_file(tmp_path / "it's.db")
    assert digest_of(bb.sql("select * from people", database=path)) == expected


def test_postgres(postgres: Postgres, expected: str) -> None:
    values = ", ".join(
        "({})".format(", ".join("null" if pd.isna(cell) else _literal(cell) for cell in row))
        for row in PEOPLE.itertuples(index=False, name=None)
    )
    postgres.execute(
        "create table people (age double precision, visits integer, car text, member boolean, risk text);"
        f"insert into people values {values};"
    )
    assert digest_of(bb.sql("select * from people", database=postgres.address)) == expected


def _literal(cell: object) -> str:
    return (
        "'" + repr(cell).replace("'", "''") + "'" if not isinstance(cell, str) else "'" + cell.replace("'", "''") + "'"
    )


def test_the_query_decides(duckdb_file: Path) -> None:
    source = bb.sql("select age * 2 as double, risk from people where visits > 1", database=duckdb_file)
    clf = bb.train(source, target="risk")
    assert clf.book_["double"].n.tolist() == [2, 2]
    assert clf.training_.rows == 4


def test_rows_come_in_batches() -> None:
    source = bb.sql("select i as age, 'L' as risk from range(200000) as numbers(i)")
    batches = list(source.batches())
    assert len(batches) > 2
    assert [batch.first_row for batch in batches[1:]] == pd.Series([b.rows for b in batches]).cumsum()[:-1].tolist()
    assert sum(batch.rows for batch in source.batches()) == 200_000  # each pass asks anew


def test_decimals_are_the_nearest_doubles() -> None:
    texts = ["0.3", "0.009", "20611.60", "-0.7", "12345678901234567890.123"]
    found = as_numbers(pa.array([Decimal(text) for text in texts]))
    assert found.tolist() == [float(text) for text in texts]
    rows = bb.sql("select x, 'L' as risk from (values (0.3), (0.1)) as numbers(x)")  # such literals are decimals
    assert bb.train(rows, target="risk").book_ == bb.NaiveBayes().fit({"x": [0.3, 0.1]}, ["L", "L"]).book_


def test_the_database_is_only_read(tmp_path: Path, duckdb_file: Path) -> None:
    for path in (duckdb_file, sqlite_file(tmp_path / "people.db")):
        before = path.read_bytes()
        with refusal((BadOption, BadData), what="read-only"):
            digest_of(bb.sql("delete from people", database=path))
        assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("query", "error", "words"),
    [
        ("", BadOption, "query"),
        ("selct 1", BadOption, "syntax error"),
        ("select 1 as a; select 2 as a", BadOption, "2"),
        ("select * from nothing", BadOption, "nothing"),
        ("select age from (values (1)) as people(age)", UnknownColumn, "`risk`"),
        ("select 1 as risk, 1 as risk", BadData, "`risk`"),
        ("select [1, 2] as ages, 'L' as risk", BadData, "nested"),
        ("select 'old'::integer as age, 'L' as risk", BadData, "'old'"),
        ("select * from 'nowhere.parquet'", SourceUnavailable, "nowhere.parquet"),
    ],
)
def test_bad_queries(query: str, error: type[BayesboxError], words: str) -> None:
    with refusal(error, what=words):
        digest_of(bb.sql(query))


def test_a_value_that_cannot_be_read_far_down() -> None:
    query = (
        "select (case when i = 150000 then 'x' else '1' end)::integer as age, 'L' as risk from range(200000) as t(i)"
    )
    with refusal(BadData, where="the query"):
        bb.train(bb.sql(query), target="risk")


def test_contradictory_kinds() -> None:
    with refusal(KindContradiction, column="age", where="the query, row 1", found="old"):
        bb.train(
            bb.sql("select 'old' as age, 'L' as risk"), target="risk", model=bb.NaiveBayes(columns={"age": "real"})
        )


def test_bad_databases(tmp_path: Path) -> None:
    text = tmp_path / "people.txt"
    text.write_text("age,risk\n1,L\n")
    with refusal(BadData, where="people.txt"):
        digest_of(bb.sql("select 1", database=text))
    with refusal(SourceUnavailable, where="nothing.db"):
        digest_of(bb.sql("select 1", database=tmp_path / "nothing.db"))
    with refusal(BadOption, found="int"):
        digest_of(bb.sql("select 1", database=3))


def test_no_password_in_messages() -> None:
    with pytest.raises(SourceUnavailable) as caught:
        digest_of(bb.sql("select 1", database="postgresql://ann:secret@127.0.0.1:1/people"))
    assert "secret" not in str(caught.value)
    assert "ann:***@127.0.0.1" in str(caught.value)
    assert "secret" not in repr(bb.sql("select 1", database="host=127.0.0.1 password='se cret' user=ann"))


def test_without_the_reader_of_a_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a package nor a network: the message says what to install."""
    monkeypatch.setattr(sql_source.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(duckdb, "connect", lambda **_: _Offline())
    with refusal(SourceUnavailable, where="the query on people.db"):
        digest_of(bb.sql("select * from people", database=sqlite_file(tmp_path / "people.db")))


class _Offline:
    """A connection of a DuckDB that can load nothing."""

    def load_extension(self, name: str) -> None:
        raise duckdb.IOException(f"Extension {name} not found")

    install_extension = load_extension
