"""Rows one at a time, and a few: answered, learned and forgotten, against river, scikit-learn and mixed-naive-bayes.

The table has the shape of the adult census: 8 categories, 6 numbers, 2 classes. Times are CPU microseconds a row.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from mixed_naive_bayes import MixedNB
from river import compose, naive_bayes, preprocessing
from sklearn.naive_bayes import GaussianNB

import bayesbox as bb
import harness
from synthetic import census

Row = dict[str, Any]


def microseconds(run: Callable[[], Any], *, times: int = 300, rounds: int = 7) -> float:
    """The median CPU time of one call."""
    run()
    taken = []
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(times):
            run()
        taken.append((time.process_time() - start) / times)
    return statistics.median(taken) * 1e6


def shown(value: float) -> str:
    return f"{value:.1f} us" if value < 100 else f"{value:.0f} us"


def against(session: harness.Session, work: str, ours: float, peer: str, theirs: float, target: float) -> None:
    ratio = theirs / ours
    goal = "ahead" if target == 1 else f">= {target:g}x"
    session.add(harness.Result(work, shown(ours), goal, ratio >= target, peer, shown(theirs), f"{ratio:.1f}x"))


def in_a_row(learn: Callable[[Row, str], Any], rows: list[Row], y: list[str]) -> float:
    """The mean CPU time of one row that is learned."""
    start = time.process_time()
    for row, label in zip(rows, y, strict=True):
        learn(row, label)
    return (time.process_time() - start) / len(rows) * 1e6


def answers(session: harness.Session, rows: list[Row], y: list[str]) -> None:
    row = rows[5]
    numbers = {name: value for name, value in row.items() if name.startswith("number")}
    one_hot = compose.Select(*(name for name in row if name.startswith("cat"))) | preprocessing.OneHotEncoder()
    categories = one_hot | naive_bayes.BernoulliNB()
    gaussian = compose.Select(*numbers) | naive_bayes.GaussianNB()
    for each, label in zip(rows[:2000], y, strict=False):
        categories.learn_one(each, label)
        gaussian.learn_one(each, label)
    peers = {
        "river BernoulliNB, one-hot": microseconds(lambda: categories.predict_proba_one(row)),
        "river GaussianNB, 6 reals": microseconds(lambda: gaussian.predict_proba_one(row)),
    }
    for numeric in ("robust", "gaussian"):
        clf = bb.NaiveBayes(numeric=numeric).fit(rows, y)
        scorer = clf.scorer()
        expected = clf.predict_proba([row])[0]
        harness.require_equal(np.array(list(clf.predict_proba_one(row).values())), expected, within=1e-14)
        one = microseconds(partial(clf.predict_proba_one, row))
        compiled = microseconds(partial(scorer.proba, row))
        for peer, theirs in peers.items():
            against(session, f"predict_proba_one, 14 columns, {numeric}", one, peer, theirs, 10)
        session.amount(f"predict_proba_one, 14 columns, {numeric}", one, 10, shown)
        session.amount(f"scorer().proba, 14 columns, {numeric}", compiled, 4, shown)


def learning(session: harness.Session, rows: list[Row], y: list[str]) -> None:
    one_hot = compose.Select(*(name for name in rows[0] if name.startswith("cat"))) | preprocessing.OneHotEncoder()
    categories, gaussian = one_hot | naive_bayes.BernoulliNB(), naive_bayes.GaussianNB()
    theirs = in_a_row(categories.learn_one, rows[:5000], y[:5000])
    reals = [{name: value for name, value in row.items() if name.startswith("number")} for row in rows[:5000]]
    their_reals = in_a_row(gaussian.learn_one, reals, y[:5000])
    for numeric in ("robust", "gaussian"):
        clf = bb.NaiveBayes(numeric=numeric)
        ours = in_a_row(clf.learn_one, rows, y)
        against(session, f"learn_one, 14 columns, {numeric}", ours, "river BernoulliNB, one-hot", theirs, 1)
        against(session, f"learn_one, 14 columns, {numeric}", ours, "river GaussianNB, 6 reals", their_reals, 1)
        if clf.book_.digest() != bb.NaiveBayes(numeric=numeric).fit(rows, y).book_.digest():
            raise SystemExit("learn_one has another digest than fit: nothing was timed")
        taken = []
        for row, label in zip(rows[:5000], y, strict=False):
            start = time.process_time()
            clf.learn_one(row, label)
            clf.predict_proba_one(row)
            taken.append((time.process_time() - start) * 1e6)
        session.amount(f"learn_one + predict_proba_one, {numeric}, median", statistics.median(taken), 15, shown)
        session.amount(f"learn_one + predict_proba_one, {numeric}, 99 %", float(np.quantile(taken, 0.99)), 40, shown)
        forgotten = in_a_row(clf.forget_one, rows[:100], y[:100])
        session.amount(f"forget_one, 14 columns, {numeric}", forgotten, 6, shown)
    reals_of_20(session)
    levels = [{name: value for name, value in row.items() if name.startswith("cat")} for row in rows[:5000]]
    clf = bb.NaiveBayes()
    in_a_row(clf.learn_one, levels, y[:5000])
    clf.predict_one(levels[0])
    session.amount("forget_one, 8 categories", in_a_row(clf.forget_one, levels[:4000], y[:4000]), 6, shown)


def reals_of_20(session: harness.Session) -> None:
    """Learned and asked at once, 20 reals of three classes."""
    draw = np.random.default_rng(4)
    label = draw.integers(0, 3, 6_000)
    table = draw.normal(0.3 * label[:, None], 1.0, (6_000, 20))
    table[:, 5:10] = np.exp(table[:, 5:10])
    rows = [{f"x{place}": value for place, value in enumerate(row)} for row in table.tolist()]
    y = [f"class {each}" for each in label]
    for numeric in ("robust", "gaussian"):
        clf = bb.NaiveBayes(numeric=numeric).fit(rows[:4_000], y[:4_000])
        clf.learn_one(rows[0], y[0])
        clf.predict_one(rows[0])

        def both(row: Row, label: str, *, clf: Any = clf) -> None:
            clf.learn_one(row, label)
            clf.predict_proba_one(row)

        work = f"learn_one + predict_proba_one, 20 reals, 3 classes, {numeric}"
        session.amount(work, in_a_row(both, rows[4_000:], y[4_000:]), 40, shown)
        session.amount(f"forget_one, 20 reals, {numeric}", in_a_row(clf.forget_one, rows[:1_000], y[:1_000]), 6, shown)


def kinds(session: harness.Session, rows: list[Row], y: list[str]) -> None:
    """One row of models that are no product of tables and normals, or have more behind it."""
    models: dict[str, tuple[Any, float]] = {
        "AODE": (bb.AODE(), 10),
        "TAN": (bb.TAN(), 10),
        "KDB": (bb.KDB(), 10),
        "FullBayes": (bb.FullBayes(), 10),
        "AveragedNaiveBayes": (bb.AveragedNaiveBayes(), 10),
        "NaiveBayes, calibrated": (bb.NaiveBayes(calibration="temperature"), 10),
        "NaiveBayes, student": (bb.NaiveBayes(numeric="student"), 10),
        "NaiveBayes, lognormal": (bb.NaiveBayes(numeric="lognormal"), 10),
        "NaiveBayes, kernel": (bb.NaiveBayes(numeric="kernel"), 50),
        "AutoBayes": (bb.AutoBayes(), 100),
    }
    for name, (clf, target) in models.items():
        some = rows[:4_000]
        if name == "FullBayes":
            some = [{key: value for key, value in each.items() if key.startswith("number")} for each in some]
        clf.fit(some, y[:4_000])
        row = some[5]
        table = pd.DataFrame(some[:40])  # too many rows for a compiled model
        expected = clf.predict_proba(table)[5]
        harness.require_equal(np.array(list(clf.predict_proba_one(row).values())), expected, within=1e-14)
        session.amount(f"predict_proba_one, {name}", microseconds(partial(clf.predict_proba_one, row)), target, shown)


def growth(session: harness.Session) -> None:
    """The time of a learned row with rows, levels and classes; that of the last tenth over that of the first."""
    total = 100_000 if session.quick else 1_000_000
    rows, y = census(20_000, 1)
    for numeric in ("gaussian", "robust"):
        clf = bb.NaiveBayes(numeric=numeric)
        parts = [in_a_row(clf.learn_one, rows, y) for _ in range(total // len(rows))]
        session.amount(
            f"learn_one after {total:,} rows over the first, {numeric}",
            parts[-1] / statistics.median(parts[:3]),
            1.3,
            "{:.2f}x".format,
        )
    for levels, classes in ((100, 2), (10_000, 2), (100, 1_000)):
        draw = np.random.default_rng(levels + classes)
        some = [
            {"a": f"level {a}", "b": float(b)}
            for a, b in zip(draw.integers(0, levels, 30_000), draw.normal(size=30_000), strict=True)
        ]
        labels = [f"class {k}" for k in draw.integers(0, classes, 30_000)]
        for numeric in ("gaussian", "robust"):
            clf = bb.NaiveBayes(numeric=numeric).fit(some[:20_000], labels[:20_000])
            clf.learn_one(some[0], labels[0])
            work = f"learn_one, 2 columns, {levels:,} levels, {classes:,} classes, {numeric}"
            session.amount(work, in_a_row(clf.learn_one, some[20_000:], labels[20_000:]), 6, shown)


def few_rows(session: harness.Session) -> None:
    draw = np.random.default_rng(0)
    y = draw.integers(0, 2, 5_000)
    X = draw.normal(size=(5_000, 20)) + y[:, None]
    peer, mixed = GaussianNB(var_smoothing=0).fit(X, y), MixedNB().fit(X, y)
    clf = bb.NaiveBayes(numeric="gaussian").fit(X, y)
    harness.require_equal(clf.predict_proba(X[:100]), peer.predict_proba(X[:100]))
    for rows in (1, 10, 100, 1_000):
        part = X[:rows]
        ours = microseconds(lambda part=part: clf.predict_proba(part))
        theirs = microseconds(lambda part=part: peer.predict_proba(part))
        against(
            session,
            f"predict_proba, {rows:,} rows x 20 reals",
            ours,
            "sklearn GaussianNB",
            theirs,
            5 if rows == 1 else 4,
        )
        if rows == 1:
            continue  # which mixed-naive-bayes does not take
        theirs = microseconds(lambda part=part: mixed.predict_proba(part))
        against(session, f"predict_proba, {rows:,} rows x 20 reals", ours, "mixed-naive-bayes", theirs, 4)
    rows, labels = census(5_000)
    frame = pd.DataFrame(rows)
    clf = bb.NaiveBayes().fit(frame, labels)
    one = frame.iloc[5:6]
    session.amount(
        "predict_proba, a pandas frame of 1 row, 14 columns", microseconds(lambda: clf.predict_proba(one)), 100, shown
    )


def run(session: harness.Session) -> None:
    rows, y = census(20_000)
    answers(session, rows, y)
    kinds(session, rows, y)
    few_rows(session)
    learning(session, rows, y)
    growth(session)


if __name__ == "__main__":
    harness.main(run)
