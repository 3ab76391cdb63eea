"""Spark Structured Streaming: a query that is killed and started again counts every row once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.export.cases import people
from tests.servers import java_home

import bayesbox as bb

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.usefixtures("sockets_left_open")]

FILES, EACH = 4, 100
KILLED_AT = 1  # the batch after which the process dies: it is counted, and not committed

QUERY = """
import os, signal, sys, warnings
warnings.simplefilter("ignore")
from pyspark.sql import SparkSession
import bayesbox as bb
from tests.source.test_spark_stream import FILES, KILLED_AT, started

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
spark = builder.config("spark.driver.host", "127.0.0.1").config("spark.sql.shuffle.partitions", "2").getOrCreate()
folder = sys.argv[1]
trainer = bb.StreamTrainer(f"{folder}/model", target="risk")

def deadly(rows, batch):
    trainer(rows, batch)
    if batch == KILLED_AT:
        os.killpg(0, signal.SIGKILL)  # this process and its Java

started(spark, folder, deadly).awaitTermination()
"""


def started(spark: Any, folder: str | Path, sink: Any) -> Any:
    """The query that reads a file in each batch, from its checkpoint to the last file."""
    fields = spark.read.parquet(f"{folder}/rows").schema
    files = spark.readStream.schema(fields).option("maxFilesPerTrigger", 1).parquet(f"{folder}/rows")
    writer = files.writeStream.foreachBatch(sink).option("checkpointLocation", f"{folder}/checkpoint")
    return writer.trigger(availableNow=True).start()


@pytest.fixture(scope="module")
def rows() -> pa.Table:
    return people(FILES * EACH, 3)


@pytest.fixture
def folder(rows: pa.Table, tmp_path: Path) -> Path:
    (tmp_path / "rows").mkdir()
    for number in range(FILES):
        pq.write_table(rows.slice(number * EACH, EACH), tmp_path / "rows" / f"{number}.parquet")
        os.utime(tmp_path / "rows" / f"{number}.parquet", (1e9 + number, 1e9 + number))  # files are read by age
    return tmp_path


def test_a_killed_query_counts_every_row_once(spark: Any, rows: pa.Table, folder: Path) -> None:
    top = Path(__file__).parents[2]
    environment = {**os.environ, "JAVA_HOME": java_home(), "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(top)}
    command = [sys.executable, "-c", QUERY, str(folder)]
    with open(folder / "log", "wb") as log:
        done = subprocess.run(
            command, env=environment, cwd=folder, stdout=log, stderr=log, start_new_session=True, check=False
        )
    assert done.returncode == -signal.SIGKILL, (folder / "log").read_text()[-3000:]
    trainer = bb.StreamTrainer(folder / "model", target="risk")
    assert trainer.last_batch == KILLED_AT
    commits = {path.name for path in (folder / "checkpoint" / "commits").iterdir() if not path.name.startswith(".")}
    assert commits == {str(number) for number in range(KILLED_AT)}  # Spark does not know that it was counted

    delivered = []

    def sink(batch: Any, number: int) -> None:
        delivered.append(number)
        trainer(batch, number)

    query = started(spark, folder, sink)
    query.awaitTermination()
    assert query.exception() is None
    assert delivered == list(range(KILLED_AT, FILES))  # the batch of the killed query is delivered again
    one = bb.train(rows, target="risk")
    assert trainer.model().book_.digest() == one.book_.digest()
    assert bb.load(folder / "model" / "model.bayes").book_.digest() == one.book_.digest()
