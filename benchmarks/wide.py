"""Many levels, many columns, many classes: a column of 40,000 levels read from Parquet, and wide tables of numbers.

The peers are DuckDB, which counts and sums the same, and scikit-learn's GaussianNB; ours is there with its default
density too, whose second tally and cells the peers do not have.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.naive_bayes import GaussianNB

import bayesbox as bb
import harness

SHAPES = ((20_000, 2_000, 3), (2_000, 20_000, 2), (100_000, 100, 100), (200_000, 20, 1_000))  # rows, columns, classes
ASKED = 2_000  # rows that are predicted
PART = 1_000_000  # rows written at a time


def run(session: harness.Session) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _many_levels(session, Path(folder) / "levels.parquet")
    for rows, columns, classes in SHAPES:
        scale = 4 if session.quick else 1
        _wide(
            session, rows // scale if rows > columns else rows, columns if rows > columns else columns // scale, classes
        )
    _hundred_thousand(session)
    _small_counts(session)


def _many_levels(session: harness.Session, path: Path) -> None:
    """Six numbers, four categories of 30 levels and one of 40,000, three classes."""
    rows = 1_000_000 if session.quick else 8_000_000
    random = np.random.default_rng(0)
    large = np.array([f"customer-{index:06d}" for index in range(40_000)], dtype=object)
    small = np.array([f"level {index}" for index in range(30)], dtype=object)
    writer = None
    for _ in range(0, rows, PART):
        y = random.integers(0, 3, PART)
        columns = {f"x{place}": random.normal(size=PART) + y for place in range(6)}
        columns |= {f"c{place}": small[random.integers(0, 30, PART)] for place in range(4)}
        table = pa.table(
            {**columns, "large": large[random.integers(0, 40_000, PART)], "y": np.array(["a", "b", "c"])[y]}
        )
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()
    kinds = (bb.NaiveBayes(numeric="gaussian"), bb.NaiveBayes())
    for name, model in zip(("gaussian", "robust"), kinds, strict=True):
        session.compare(
            f"Parquet, {rows:,} rows, 40,000 levels, {name}",
            lambda model=model: bb.train(path, target="y", model=model, threads=1),
            "DuckDB, one thread",
            lambda: _duckdb(path),
            1,
            rounds=3,
        )
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    one, two = (
        _wall(lambda threads=threads: bb.train(path, target="y", model=kinds[0], threads=threads)) for threads in (1, 2)
    )
    session.ratio("the same, two threads (wall time)", two, "ours, one thread", one, 1.7)
    harness.one_core()


def _duckdb(path: Path) -> None:
    """Counts of every category and sums of every number by class."""
    duckdb.sql("set threads to 1")
    texts = [*(f"c{place}" for place in range(4)), "large"]
    sums = ", ".join(f"count(x{k}), sum(x{k}), sum(x{k} * x{k})" for k in range(6))
    sets = ", ".join(f"(y, {name})" for name in texts)
    duckdb.sql(f"select y, {', '.join(texts)}, count(*) from '{path}' group by grouping sets ({sets})").fetchnumpy()
    duckdb.sql(f"select y, {sums} from '{path}' group by y").fetchnumpy()


def _wall(run: Callable[[], object]) -> float:
    taken = []
    for _ in range(3):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return min(taken)


def _wide(session: harness.Session, rows: int, columns: int, classes: int) -> None:
    random = np.random.default_rng(0)
    y = random.integers(0, classes, rows)
    X = random.normal(size=(rows, columns)) + y[:, None] % 7 * 0.1
    asked = X[:ASKED]
    shape = f"{rows:,} x {columns:,}, {classes:,} classes"
    peer = GaussianNB(var_smoothing=0).fit(X, y)
    harness.require_equal(
        bb.NaiveBayes(numeric="gaussian").fit(X, y).predict_proba(asked),
        peer.predict_proba(asked),
        within=1e-6,
        what=shape,
    )
    for numeric in ("gaussian", "robust"):
        taken: dict[str, list[float]] = {name: [] for name in ("fit", "first", "later", "peer fit", "peer predict")}
        for _ in range(3):
            model, other = bb.NaiveBayes(numeric=numeric), GaussianNB(var_smoothing=0)
            taken["fit"].append(_cpu(lambda model=model: model.fit(X, y)))
            taken["peer fit"].append(_cpu(lambda other=other: other.fit(X, y)))
            taken["first"].append(_cpu(lambda model=model: model.predict_proba(asked)))
            taken["later"].append(_cpu(lambda model=model: model.predict_proba(asked)))
            taken["peer predict"].append(_cpu(lambda other=other: other.predict_proba(asked)))
        median = {name: statistics.median(each) for name, each in taken.items()}
        sklearn = "sklearn GaussianNB"
        session.ratio(f"fit {numeric}, {shape}", median["fit"], sklearn, median["peer fit"], 6)
        session.ratio(f"first predict_proba {numeric}, {shape}", median["first"], sklearn, median["peer predict"], 3)
        session.ratio(f"later predict_proba {numeric}, {shape}", median["later"], sklearn, median["peer predict"], 8)


def _hundred_thousand(session: harness.Session) -> None:
    random = np.random.default_rng(0)
    columns = 10_000 if session.quick else 100_000
    X, y = random.normal(size=(200, columns)), random.integers(0, 2, 200)
    model = bb.NaiveBayes(numeric="gaussian")
    session.amount(f"fit gaussian, 200 x {columns:,}", _cpu(lambda: model.fit(X, y)), 2.0, harness.seconds)
    session.amount(
        f"first predict_proba, {columns:,} columns", _cpu(lambda: model.predict_proba(X)), 2.0, harness.seconds
    )


def _small_counts(session: harness.Session) -> None:
    """1,080 rows x 856 columns of small counts in 9 classes, as short documents are: fit and the first answers."""
    random = np.random.default_rng(0)
    y = np.repeat(np.arange(9), 120)
    everywhere, topic = random.gamma(0.15, size=856), random.gamma(0.03, size=(9, 856))
    rate = 6 * everywhere / everywhere.sum() + 6 * (topic / topic.sum(axis=1, keepdims=True))[y]
    X = np.minimum(random.poisson(rate), 8).astype(float)
    kinds = {
        "KDB": (lambda: bb.KDB(), 3.0),
        "AODE": (lambda: bb.AODE(), 3.0),
        "TAN": (lambda: bb.TAN(), 3.0),
        'numeric="auto", temperature': (lambda: bb.NaiveBayes(numeric="auto", calibration="temperature"), 3.0),
        'column_weights="learned"': (lambda: bb.NaiveBayes(column_weights="learned"), 3.0),
        "AutoBayes": (lambda: bb.AutoBayes(), 8.0),
    }
    for name, (made, target) in kinds.items():
        model = made()
        taken = _cpu(lambda model=model: model.fit(X, y))
        session.amount(f"fit {name}, 1,080 x 856 small counts", taken, target, harness.seconds)
        taken += _cpu(lambda model=model: model.predict_proba(X[:100]))
        session.amount(f"the same and 100 rows predicted, {name}", taken, target, harness.seconds)


def _cpu(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


if __name__ == "__main__":
    harness.main(run)
