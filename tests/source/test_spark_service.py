"""The service as the sink of a stream: a query that is killed in the midst of a batch teaches every row once."""

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
from tests.serve.http.process import bayes, new_token, running
from tests.servers import java_home
from tests.source.test_spark_stream import started

import bayesbox as bb

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.usefixtures("sockets_left_open")]

FILES, EACH, SENT = 3, 40, 15  # rows of a file, and of a request
KILLED_AT = 1  # the batch in which the process dies, after its first request: a part of it is learned

QUERY = """
import os, signal, sys, warnings
warnings.simplefilter("ignore")
from pyspark.sql import SparkSession
import bayesbox as bb
from tests.source.test_spark_service import KILLED_AT, sink_of
from tests.source.test_spark_stream import started

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
spark = builder.config("spark.driver.host", "127.0.0.1").config("spark.sql.shuffle.partitions", "2").getOrCreate()
folder, url, token = sys.argv[1:]

class Deadly(bb.Client):
    def request(self, *arguments, **options):
        answer = super().request(*arguments, **options)
        if batches[-1] == KILLED_AT:
            os.killpg(0, signal.SIGKILL)  # this process and its Java
        return answer

learn, batches = sink_of(Deadly(url, token)), []

def deadly(rows, batch):
    batches.append(batch)
    learn(rows, batch)

started(spark, folder, deadly).awaitTermination()
"""


def sink_of(client: bb.Client) -> Any:
    """The function of the how-to page: an id is made of the query, the batch and the place of the row in it."""

    def learn(rows: Any, batch: int) -> dict[str, Any]:
        listed = (row.asDict() for row in rows.toLocalIterator())
        events = (
            {"id": f"people/{batch}/{place}", "label": row.pop("risk"), "row": row} for place, row in enumerate(listed)
        )
        return client.learn("people", events, batch=SENT)

    return learn


def _without_empty_texts(rows: pa.Table) -> pa.Table:
    """In a request an empty text is a missing value, in a table it is a level."""
    cars = [car or None for car in rows['the "car"'].to_pylist()]
    return rows.set_column(rows.column_names.index('the "car"'), 'the "car"', pa.array(cars))


def test_a_killed_query_teaches_the_service_every_row_once(spark: Any, tmp_path: Path) -> None:
    rows, base = (_without_empty_texts(people(count, seed)) for count, seed in ((FILES * EACH, 4), (100, 5)))
    models = tmp_path / "models"
    for folder in (models, tmp_path / "rows"):
        folder.mkdir()
    bb.train(base, target="risk").save(models / "people.bayes")
    for number in range(FILES):
        path = tmp_path / "rows" / f"{number}.parquet"
        pq.write_table(rows.slice(number * EACH, EACH), path)
        os.utime(path, (1e9 + number, 1e9 + number))  # files are read by age
    token = new_token(models, "predict", "learn")
    top = Path(__file__).parents[2]
    environment = {**os.environ, "JAVA_HOME": java_home(), "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(top)}
    with running(models) as service:
        command = [sys.executable, "-c", QUERY, str(tmp_path), service.url, token]
        with open(tmp_path / "log", "wb") as log:
            done = subprocess.run(
                command, env=environment, cwd=tmp_path, stdout=log, stderr=log, start_new_session=True, check=False
            )
        assert done.returncode == -signal.SIGKILL, (tmp_path / "log").read_text()[-3000:]
        client = bb.Client(service.url, token)
        assert client.models()[0]["rows"] == 100 + EACH + SENT  # a batch, and the first request of the next one

        learn, answers = sink_of(client), {}
        query = started(spark, tmp_path, lambda batch, number: answers.update({number: learn(batch, number)}))
        query.awaitTermination()
        assert query.exception() is None
        counts = {number: (answer["learned"], answer["known"]) for number, answer in answers.items()}
        assert counts == {1: (EACH - SENT, SENT), 2: (EACH, 0)}  # the batch of the killed query comes again
        [there] = client.models()
        client.close()
    one = bb.train(pa.concat_tables([base, rows]), target="risk")
    assert there["digest"] == one.book_.digest()
    assert there["rows"] == 100 + FILES * EACH
    assert bayes("verify", str(models))
