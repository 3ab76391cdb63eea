"""Spark MLlib's NaiveBayes on 200,000 rows of 20 numbers: one local core, data cached, warm."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.base import clone

import bayesbox as bb
import harness
import synthetic


def run(session: harness.Session) -> None:
    if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
        session.say("Spark is not installed: pip install pyspark; apt-get install default-jre-headless")
        return
    y = synthetic.labels(200_000 if not session.quick else 20_000)
    X = synthetic.reals(y)
    with tempfile.TemporaryDirectory() as folder, quiet():
        times, theirs = ask_spark(Path(folder), X, y, min(session.rounds, 5))
    ours = bb.NaiveBayes(numeric="gaussian").fit(X, y)
    # MLlib adds a billionth of the largest variance to every variance.
    harness.require_equal(ours.predict_proba(X), theirs, within=1e-6, what="Spark")
    fit, predict = harness.in_turn([lambda: clone(ours).fit(X, y), lambda: ours.predict_proba(X)], session.rounds)
    session.ratio(f"fit, 20 reals, {len(y) // 1000}k rows", fit, "Spark MLlib, local[1]", times[0], 1)
    session.ratio(f"predict_proba, 20 reals, {len(y) // 1000}k rows", predict, "Spark MLlib, local[1]", times[1], 1)


def ask_spark(folder: Path, X: np.ndarray, y: np.ndarray, rounds: int) -> tuple[tuple[float, float], np.ndarray]:
    """The median seconds of fit and transform, and the probabilities."""
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import VectorAssembler
    from pyspark.ml.functions import vector_to_array
    from pyspark.sql import SparkSession

    rows = folder / "rows.parquet"
    columns = synthetic.number_columns(X)
    place = pa.array(np.arange(len(y)))
    pq.write_table(pa.table({**columns, "label": pa.array(y.astype(np.float64)), "place": place}), rows)
    settings = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    settings = settings.config("spark.driver.memory", "4g").config("spark.sql.shuffle.partitions", "1")
    spark = settings.config("spark.log.level", "ERROR").getOrCreate()
    try:
        assembler = VectorAssembler(inputCols=list(columns), outputCol="features")
        data = assembler.transform(spark.read.parquet(str(rows))).select("place", "label", "features").cache()
        data.count()
        learner = NaiveBayes(modelType="gaussian")
        model = learner.fit(data)

        def transform() -> None:
            model.transform(data).write.format("noop").mode("overwrite").save()

        times = (median_cpu(lambda: learner.fit(data), rounds), median_cpu(transform, rounds))
        answers = model.transform(data).select("place", vector_to_array("probability").alias("p")).toPandas()
    finally:
        spark.stop()
    return times, np.stack(answers.sort_values("place")["p"].to_numpy())


def median_cpu(work: Callable[[], Any], rounds: int) -> float:
    """CPU seconds of this process and of the Java machine it started. Two rounds warm it up."""
    taken = []
    for _ in range(rounds + 2):
        start = cpu_of_all()
        work()
        taken.append(cpu_of_all() - start)
    return statistics.median(taken[2:])


def cpu_of_all() -> float:
    import psutil

    own = psutil.Process()
    times = [process.cpu_times() for process in (own, *own.children(recursive=True))]
    return sum(time.user + time.system for time in times)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Spark's log on stderr, shown only if it fails."""
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as log:
        os.dup2(log.fileno(), 2)
        try:
            yield
        except BaseException:
            log.seek(0)
            os.write(kept, log.read())
            raise
        finally:
            os.dup2(kept, 2)
            os.close(kept)


if __name__ == "__main__":
    harness.main(run)
