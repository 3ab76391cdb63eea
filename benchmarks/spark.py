"""Spark MLlib's NaiveBayes on one local core, warm: here against there, and both there on the rows of one DataFrame.

A DataFrame is scored from a Parquet file with the columns that the model reads, four texts that it does not, and the
number of the row. MLlib's model takes vectors, so that its pipeline makes one of the columns first.
"""

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
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with tempfile.TemporaryDirectory() as folder, quiet():
        times, theirs = ask_spark(Path(folder), X, y, min(session.rounds, 5))
    ours = bb.NaiveBayes(numeric="gaussian").fit(X, y)
    # MLlib adds a billionth of the largest variance to every variance.
    harness.require_equal(ours.predict_proba(X), theirs, within=1e-6, what="Spark")
    fit, predict = harness.in_turn([lambda: clone(ours).fit(X, y), lambda: ours.predict_proba(X)], session.rounds)
    session.ratio(f"fit, 20 reals, {len(y) // 1000}k rows", fit, "Spark MLlib, local[1]", times[0], 1)
    session.ratio(f"predict_proba, 20 reals, {len(y) // 1000}k rows", predict, "Spark MLlib, local[1]", times[1], 1)
    y = synthetic.labels(500_000 if not session.quick else 50_000)
    for reals in (20, 4):
        with tempfile.TemporaryDirectory() as folder, quiet():
            found = score_frame(Path(folder), synthetic.reals(y)[:, :reals], y, min(session.rounds, 5))
        for what, (mine, other) in found.items():
            work = f"DataFrame, {reals} reals, {len(y) // 1000}k rows: {what}"
            session.ratio(work, mine, "Spark MLlib, local[1]", other, 1)


def score_frame(folder: Path, X: np.ndarray, y: np.ndarray, rounds: int) -> dict[str, tuple[float, float]]:
    """The median CPU seconds of ours and of MLlib on one DataFrame, in turn, by what is asked for."""
    from pyspark.ml import PipelineModel
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import VectorAssembler

    path = folder / "rows.parquet"
    columns = synthetic.number_columns(X)
    texts = np.array(["red", "green", "blue", "violet"])
    unread = {f"text{place}": pa.array(texts[(np.arange(len(y)) + place) % 4]) for place in range(4)}
    label = pa.array(y.astype(np.float64))
    pq.write_table(pa.table({"place": pa.array(np.arange(len(y))), **columns, **unread, "label": label}), path)
    spark = local_session()
    try:
        frame = spark.read.parquet(str(path))
        assembler = VectorAssembler(inputCols=list(columns), outputCol="features")
        pipeline = PipelineModel([assembler, NaiveBayes(modelType="gaussian").fit(assembler.transform(frame))])
        ours = bb.train(frame.select(*columns, "label"), target="label", model=bb.NaiveBayes(numeric="gaussian"))
        asked = {
            "all columns, probabilities": (
                lambda: written(bb.predict(ours, frame, proba=True, keep=["*"])),
                lambda: written(pipeline.transform(frame)),
            ),
            "id, probabilities": (
                lambda: written(bb.predict(ours, frame, proba=True, keep=["place"])),
                lambda: written(pipeline.transform(frame).select("place", "prediction", "probability")),
            ),
            "id, class": (
                lambda: written(bb.predict(ours, frame, keep=["place"])),
                lambda: written(pipeline.transform(frame).select("place", "prediction")),
            ),
            "rows of each class": (
                lambda: by_class(bb.predict(ours, frame)),
                lambda: by_class(pipeline.transform(frame)),
            ),
        }
        mine, other = by_class(bb.predict(ours, frame)), by_class(pipeline.transform(frame))
        if sum(abs(mine[name] - other[name]) for name in other) > len(y) / 10_000:  # MLlib widens its variances
            raise SystemExit(f"Spark: the answers differ: {mine} and {other}: nothing was timed")
        found = {what: medians(runs, rounds) for what, runs in asked.items()}
    finally:
        spark.stop()
    return found


def written(frame: Any) -> None:
    """Compute a frame and drop it."""
    frame.write.format("noop").mode("overwrite").save()


def by_class(frame: Any) -> dict[float, int]:
    """How many rows get each class."""
    return {row["prediction"]: row["count"] for row in frame.groupBy("prediction").count().collect()}


def medians(runs: tuple[Callable[[], Any], Callable[[], Any]], rounds: int) -> tuple[float, float]:
    """The CPU seconds of two runs in turn. Three rounds warm them up."""
    taken: tuple[list[float], list[float]] = ([], [])
    for turn in range(rounds + 3):
        for run, times in zip(runs, taken, strict=True):
            start = cpu_of_all()
            run()
            if turn >= 3:
                times.append(cpu_of_all() - start)
    return statistics.median(taken[0]), statistics.median(taken[1])


def local_session() -> Any:
    """Spark on one core of this machine."""
    from pyspark.sql import SparkSession

    settings = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    settings = settings.config("spark.driver.memory", "4g").config("spark.sql.shuffle.partitions", "1")
    return settings.config("spark.log.level", "ERROR").getOrCreate()


def ask_spark(folder: Path, X: np.ndarray, y: np.ndarray, rounds: int) -> tuple[tuple[float, float], np.ndarray]:
    """The median seconds of fit and transform, and the probabilities."""
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import VectorAssembler
    from pyspark.ml.functions import vector_to_array

    rows = folder / "rows.parquet"
    columns = synthetic.number_columns(X)
    place = pa.array(np.arange(len(y)))
    pq.write_table(pa.table({**columns, "label": pa.array(y.astype(np.float64)), "place": place}), rows)
    spark = local_session()
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
