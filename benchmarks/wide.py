"""Many levels, many columns, many classes: a column of 40,000 levels read from Parquet, and wide tables of numbers.

The peers are DuckDB, which counts and sums the same, and scikit-learn's GaussianNB; ours is there with its default
density too, whose second tally and cells the peers do not have.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.naive_bayes import BernoulliNB, GaussianNB

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
    _other_numbers(session)
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
        _fit_and_ask(
            session,
            f"{numeric}, {shape}",
            lambda numeric=numeric: (bb.NaiveBayes(numeric=numeric), GaussianNB(var_smoothing=0)),
            X,
            y,
            asked,
            targets=(6, 3, 8),
        )


def _fit_and_ask(
    session: harness.Session,
    what: str,
    models: Callable[[], tuple[Any, Any]],
    X: Any,
    y: np.ndarray,
    asked: Any,
    targets: tuple[float | None, float | None, float | None] = (None, None, None),
) -> None:
    """Fit, the first answer (the model is made then) and a later one, beside the peer's."""
    taken: dict[str, list[float]] = {name: [] for name in ("fit", "first", "later", "peer fit", "peer predict")}
    for _ in range(3):
        model, other = models()
        taken["fit"].append(_cpu(lambda model=model: model.fit(X, y)))
        taken["peer fit"].append(_cpu(lambda other=other: other.fit(X, y)))
        taken["first"].append(_cpu(lambda model=model: model.predict_proba(asked)))
        taken["later"].append(_cpu(lambda model=model: model.predict_proba(asked)))
        taken["peer predict"].append(_cpu(lambda other=other: other.predict_proba(asked)))
    median = {name: statistics.median(each) for name, each in taken.items()}
    sklearn = f"sklearn {type(other).__name__}"
    session.ratio(f"fit {what}", median["fit"], sklearn, median["peer fit"], targets[0])
    session.ratio(f"first predict_proba {what}", median["first"], sklearn, median["peer predict"], targets[1])
    session.ratio(f"later predict_proba {what}", median["later"], sklearn, median["peer predict"], targets[2])


def _other_numbers(session: harness.Session) -> None:
    """Wide tables that are no plain numbers in an array: flags, counts, positive numbers, and a frame."""
    rows, columns = 500, 5_000 if session.quick else 20_000
    random = np.random.default_rng(0)
    y = random.integers(0, 2, rows)
    shifts = 1 + 0.2 * y[:, None]
    normal = random.normal(size=(rows, columns)) + 0.1 * y[:, None]
    tables: dict[str, tuple[Any, type]] = {
        "flags": ((random.random((rows, columns)) < 0.3).astype(float), BernoulliNB),
        "counts": (random.poisson(random.gamma(0.5, 4, columns) * shifts, (rows, columns)).astype(float), GaussianNB),
        "positive numbers": (np.exp(normal), GaussianNB),
        "a pandas frame": (pd.DataFrame(normal, columns=[f"x{place}" for place in range(columns)]), GaussianNB),
    }
    for name, (X, peer) in tables.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bb.errors.SuspiciousData)  # some counts are all zero
            what = f"{name}, {rows:,} x {columns:,}, 2 classes"
            _fit_and_ask(session, what, lambda peer=peer: (bb.NaiveBayes(), peer()), X, y, X)


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
