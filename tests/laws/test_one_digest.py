"""One digest: the same rows from a frame, a file, three databases and a cluster, even one that loses an executor."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.export.cases import people
from tests.postgres import Postgres

import bayesbox as bb
from bayesbox.source import spark as spark_source
from bayesbox.source import sql as sql_source

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.usefixtures("sockets_left_open")]

KINDS = {"member": "flag", "zip": "category", "visits": "count"}  # SQLite has no truth values


def digest_of(data: Any) -> str:
    return bb.train(data, target="risk", model=bb.NaiveBayes(columns=KINDS)).book_.digest()


@pytest.fixture(scope="module")
def rows() -> pa.Table:
    return people(1000, 11)


@pytest.fixture(scope="module")
def path(rows: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> str:
    found = tmp_path_factory.mktemp("rows") / "people.parquet"
    pq.write_table(rows, found, row_group_size=300)
    return str(found)


@pytest.fixture(scope="module")
def expected(rows: pa.Table) -> str:
    return digest_of(rows.to_pandas())


def test_files_and_frames(rows: pa.Table, path: str, expected: str) -> None:
    assert digest_of(path) == expected
    assert digest_of(rows.take(list(range(999, -1, -1)))) == expected


def test_duckdb(path: str, tmp_path: Path, expected: str) -> None:
    file = str(tmp_path / "people.duckdb")
    with duckdb.connect(file) as connection:
        connection.execute(f"create table people as from '{path}'")
    assert digest_of(bb.sql("select * from people", database=file)) == expected
    assert digest_of(bb.sql(f"select * from '{path}'")) == expected


def test_sqlite(rows: pa.Table, tmp_path: Path, expected: str) -> None:
    file = tmp_path / "people.db"
    types = {pa.float64(): "real", pa.int64(): "integer", pa.string(): "text", pa.bool_(): "boolean"}
    columns = ", ".join('"{}" {}'.format(field.name.replace('"', '""'), types[field.type]) for field in rows.schema)
    connection = sqlite3.connect(file)
    with connection:
        connection.execute(f"create table people ({columns})")
        cells = zip(*(column.to_pylist() for column in rows.columns), strict=True)
        connection.executemany(f"insert into people values ({', '.join('?' * rows.num_columns)})", cells)
    connection.close()
    assert digest_of(bb.sql("select * from people", database=file)) == expected


def test_postgres(path: str, postgres: Postgres, expected: str) -> None:
    with duckdb.connect() as connection:
        sql_source._load(connection, "postgres_scanner", "postgres")
        connection.execute(f"attach '{postgres.address}' as server (type postgres)")
        connection.execute(f"create table server.townspeople as from '{path}'")
    assert digest_of(bb.sql("select * from townspeople", database=postgres.address)) == expected


@pytest.mark.parametrize("partitions", [1, 2, 7])
def test_spark(spark: Any, path: str, expected: str, partitions: int, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = spark.read.parquet(path).repartition(partitions)
    assert frame.rdd.getNumPartitions() == partitions
    assert digest_of(frame) == expected
    monkeypatch.setattr(spark_source, "FEW", 0)  # added in a tree on the executors, as many tallies are
    assert digest_of(frame) == expected


def test_spark_loses_an_executor(spark: Any, path: str, expected: str, tmp_path: Path) -> None:
    """The executor of one partition is killed after it has passed some of its rows on; the rows count once."""
    marker = tmp_path / "killed"
    frame = spark.read.parquet(path).repartition(7)
    assert digest_of(frame.mapInArrow(_deadly(str(marker)), frame.schema)) == expected
    killed = int(marker.read_text())
    assert not psutil.pid_exists(killed) or psutil.Process(killed).status() == psutil.STATUS_ZOMBIE


def _deadly(marker: str) -> Any:
    def passed_on(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        for place, batch in enumerate(batches):
            if place == 1 and context.partitionId() == 3 and not os.path.exists(marker):
                machine = next(each for each in psutil.Process().parents() if each.name() == "java")
                with open(marker, "w") as file:
                    file.write(str(machine.pid))
                machine.kill()
                time.sleep(600)  # nothing more comes from here
            yield batch

    return passed_on
