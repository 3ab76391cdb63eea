"""Spark MLlib's NaiveBayes on one local core, warm: here against there, and both there on the rows of one DataFrame.

A DataFrame is scored from a Parquet file with the columns that the model reads, four texts that it does not, and the
number of the row. MLlib's model takes vectors, so that its pipeline makes numbers of categories and one vector of all
columns first.
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
    for name in ("20 reals", "4 reals", "10 reals and 10 categories"):
        sizes = (200_000,) if name == "4 reals" else (200_000, 2_000_000)
        with tempfile.TemporaryDirectory() as folder, quiet():
            found = score_frames(Path(folder), name, sizes if not session.quick else (20_000,), min(session.rounds, 5))
            for work, (mine, other) in found:
                session.ratio(f"DataFrame, {name}, {work}", mine, "Spark MLlib, local[1]", other, 1)


def columns_of(name: str, y: np.ndarray) -> dict[str, pa.Array]:
    """The columns that a model reads."""
    if not name.endswith("categories"):
        return synthetic.number_columns(synthetic.reals(y)[:, : int(name.split()[0])])
    categories = synthetic.dictionary_columns(synthetic.codes(y, 10))
    texts = {column: array.cast(pa.string()) for column, array in categories.items()}
    return {**synthetic.number_columns(synthetic.reals(y, 10)), **texts}


def write_rows(path: Path, name: str, rows: int) -> list[str]:
    """A file with the columns of a model, four texts that it does not read, the label and the number of the row."""
    y = synthetic.labels(rows)
    columns = columns_of(name, y)
    words = np.array(["red", "green", "blue", "violet"])
    unread = {f"text{place}": pa.array(words[(np.arange(rows) + place) % 4]) for place in range(4)}
    label = pa.array(y.astype(np.float64))
    pq.write_table(pa.table({"place": pa.array(np.arange(rows)), **columns, **unread, "label": label}), path)
    return list(columns)


def mllib_pipeline(frame: Any, columns: list[str]) -> Any:
    """What MLlib needs to answer: categories become numbers, and all of them a vector."""
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import StringIndexer, VectorAssembler

    texts = [column for column in columns if dict(frame.dtypes)[column] == "string"]
    codes = [f"{column}_code" for column in texts]
    inputs = [column for column in columns if column not in texts]
    indexer = [StringIndexer(inputCols=texts, outputCols=codes, handleInvalid="keep")] if texts else []
    assembler = VectorAssembler(inputCols=[*inputs, *codes], outputCol="features")
    return Pipeline(stages=[*indexer, assembler, NaiveBayes(modelType="gaussian")]).fit(frame)


def score_frames(
    folder: Path, name: str, sizes: tuple[int, ...], rounds: int
) -> Iterator[tuple[str, tuple[float, float]]]:
    """The median CPU seconds of ours and of MLlib on one DataFrame, in turn, by size and what is asked for.

    A small file of the same columns warms up first, so that Java has compiled all that plans and answers a query.
    """
    columns = write_rows(folder / "small.parquet", name, 20_000)
    for size in sizes:
        write_rows(folder / f"{size}.parquet", name, size)
    spark = local_session()
    try:
        small = spark.read.parquet(str(folder / "small.parquet"))
        pipeline = mllib_pipeline(small, columns)
        ours = bb.train(small.select(*columns, "label"), target="label", model=bb.NaiveBayes(numeric="gaussian"))

        def questions(frame: Any) -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
            def theirs(*kept: str) -> Any:
                return lambda: written(pipeline.transform(frame).select(*kept))

            asked = {
                "all columns, probabilities": (lambda: written(bb.predict(ours, frame, proba=True)), theirs("*")),
                "id, probabilities": (
                    lambda: written(bb.predict(ours, frame, proba=True, keep=["place"])),
                    theirs("place", "prediction", "probability"),
                ),
                "id, class": (
                    lambda: written(bb.predict(ours, frame, keep=["place"])),
                    theirs("place", "prediction"),
                ),
                "rows of each class": (
                    lambda: by_class(bb.predict(ours, frame)),
                    lambda: by_class(pipeline.transform(frame)),
                ),
            }
            if name == "20 reals":
                asked["id, probabilities, by Arrow"] = (
                    lambda: written(bb.predict(ours, frame, proba=True, keep=["place"], engine="arrow")),
                    asked["id, probabilities"][1],
                )
            return asked

        if name != "10 reals and 10 categories":  # MLlib takes the numbers of categories for reals
            mine, other = by_class(bb.predict(ours, small)), by_class(pipeline.transform(small))
            if sum(abs(mine[each] - other[each]) for each in other) > 20:  # MLlib widens its variances
                raise SystemExit(f"Spark: the answers differ: {mine} and {other}: nothing was timed")
        for runs in questions(small).values():
            medians(runs, 1, warm_up=12)
        for size in sizes:
            frame = spark.read.parquet(str(folder / f"{size}.parquet"))
            for what, runs in questions(frame).items():
                yield f"{size // 1000}k rows: {what}", medians(runs, rounds if size <= 200_000 else 3, warm_up=1)
    finally:
        spark.stop()


def written(frame: Any) -> None:
    """Compute a frame and drop it."""
    frame.write.format("noop").mode("overwrite").save()


def by_class(frame: Any) -> dict[float, int]:
    """How many rows get each class."""
    return {row["prediction"]: row["count"] for row in frame.groupBy("prediction").count().collect()}


def medians(runs: tuple[Callable[[], Any], Callable[[], Any]], rounds: int, *, warm_up: int) -> tuple[float, float]:
    """The CPU seconds of two runs in turn, after some rounds that are not counted."""
    taken: tuple[list[float], list[float]] = ([], [])
    for turn in range(rounds + warm_up):
        for run, times in zip(runs, taken, strict=True):
            start = cpu_of_all()
            run()
            if turn >= warm_up:
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
