"""How long an interrupt takes to end each operation that can be long, in seconds of processor time.

    python -m tests.fuzz.interrupts [names]

interrupts each of them after several times and prints the latencies, the worst last. A timer that counts the processor
time of the process sends the signal, and the same clock is read when the exception arrives, so that a busy machine
changes nothing. Arrays of very many rows take no memory: all their rows are one.
"""

from __future__ import annotations

import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas  # noqa: F401 (all are imported here, since what arrives while Python imports may be lost)
import pyarrow.compute  # noqa: F401
import sklearn.base  # noqa: F401

import bayesbox as bb
from bayesbox import _core
from bayesbox.classifier.evaluate import cross_validate
from bayesbox.classifier.train import source_of
from bayesbox.errors import TooCostly
from bayesbox.rule.options import NaiveOptions
from bayesbox.table.naive.classifier import NaiveClassifier

Operation = Callable[[], object]

OPERATIONS: dict[str, Callable[[Path], Operation]] = {}
"""By name: what makes the operation ready, in a folder of its own; each takes several seconds at least."""

LATEST = 1.0  # seconds
DELAYS = (0.1, 0.4, 1.5)
MANY = 300_000_000


class Interrupt(BaseException):
    """What the handler of the signal raises."""


@contextmanager
def interrupt_after(seconds: float) -> Iterator[None]:
    """Raise Interrupt in the main thread when the process has used so many seconds more."""

    def leave(*_: object) -> None:
        raise Interrupt

    before = signal.signal(signal.SIGPROF, leave)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def latency(operation: Operation, after: float) -> float:
    """Seconds from the signal until its exception has come out of the operation."""
    with interrupt_after(after):
        start = time.process_time()
        try:
            operation()
        except Interrupt:
            return max(time.process_time() - start - after, 0.0)
    raise AssertionError("it ended before it was interrupted")


def operation(make: Callable[[Path], Operation]) -> Callable[[Path], Operation]:
    OPERATIONS[make.__name__] = make
    return make


def rows(value: float, dtype: Any = np.float64, count: int = MANY) -> Any:
    """A column of so many rows, all of them one and the same number in memory."""
    return np.broadcast_to(np.array(value, dtype), count)


def codes(count: int, columns: int, levels: int, seed: int = 0) -> dict[str, Any]:
    """Columns of texts."""
    chance = np.random.default_rng(seed)
    names = np.array([f"v{level}" for level in range(levels)], dtype=object)
    return {f"c{j}": names[chance.integers(0, levels, count)] for j in range(columns)}


# -- the loops of the core over rows, one call each -----------------------------------------------------------------


@operation
def count_labels(_: Path) -> Operation:
    return lambda: [_core.count_labels(rows(1, np.int32), 3) for _ in range(20)]


@operation
def count_codes(_: Path) -> Operation:
    return lambda: _core.count_codes([rows(1, np.uint8)] * 20, [3] * 20, rows(1, np.int32), 3)


@operation
def count_codes_weighted(_: Path) -> Operation:
    column, target, weights = rows(1, np.uint8), rows(1, np.int32), rows(0.5)
    return lambda: _core.count_codes_weighted([column], [3], target, 3, weights)


@operation
def moments(_: Path) -> Operation:
    return lambda: _core.moments([rows(1.25)] * 20, rows(1, np.int32), 3)


@operation
def count_grids(_: Path) -> Operation:
    return lambda: _core.count_grids([rows(1.25)] * 20, rows(1, np.int32), 3)


@operation
def comoments(_: Path) -> Operation:
    return lambda: _core.comoments([rows(1.25)] * 12, rows(1, np.int32), 3)


@operation
def count_pairs(_: Path) -> Operation:
    return lambda: _core.count_pairs([rows(1, np.uint8)] * 12, np.array([3] * 12), rows(1, np.int32), 3, 10_000)


@operation
def kernel_density(_: Path) -> Operation:
    values = np.sort(np.random.default_rng(0).normal(size=50_000))
    return lambda: _core.kernel_log_density(np.zeros(1_000_000), values, np.ones(50_000), 100.0)


@operation
def normal_cells(_: Path) -> Operation:
    zeros, ones = np.zeros(50), np.ones(50)
    return lambda: _core.log_normal_cells(np.linspace(-40, 40, 1_000_000), zeros, zeros, ones)


@operation
def mdl_cuts(_: Path) -> Operation:
    counts = np.random.default_rng(0).integers(0, 3, (3_000_000, 4)).astype(float)
    return lambda: [_core.mdl_cuts(counts) for _ in range(20)]


@operation
def modl_cuts(_: Path) -> Operation:
    counts = np.random.default_rng(0).integers(0, 3, (1_000_000, 3)).astype(float)
    return lambda: [_core.modl_cuts(counts) for _ in range(20)]


@operation
def factorize(_: Path) -> Operation:
    values = np.random.default_rng(0).integers(0, 2**60, 20_000_000)
    return lambda: [_core.factorize_integers(values) for _ in range(20)]


@operation
def rank_texts(_: Path) -> Operation:
    letters = np.random.default_rng(0).integers(97, 122, 40_000_000).astype(np.uint8)
    offsets = np.arange(0, 40_000_001, 10)
    return lambda: [_core.rank_texts(letters, offsets) for _ in range(20)]


# -- classifiers ----------------------------------------------------------------------------------------------------


def numbers(count: int, columns: int) -> tuple[Any, Any]:
    chance = np.random.default_rng(0)
    X = chance.normal(size=(count, columns))
    return X, (X[:, 0] + chance.normal(size=count) > 0).astype(int)


@operation
def fit(_: Path) -> Operation:
    X, y = numbers(2_000_000, 10)
    return lambda: [bb.NaiveBayes().fit(X, y) for _ in range(100)]


@operation
def predict(_: Path) -> Operation:
    X, y = numbers(2_000_000, 10)
    model = bb.NaiveBayes().fit(X[:1000], y[:1000])
    return lambda: [model.predict_proba(X) for _ in range(100)]


@operation
def leave_one_out(_: Path) -> Operation:
    X, y = numbers(500_000, 10)
    model = bb.NaiveBayes().fit(X, y)
    return lambda: [model.leave_one_out(X, y) for _ in range(100)]


@operation
def full_leave_one_out(_: Path) -> Operation:
    X, y = numbers(200_000, 40)
    model = bb.FullBayes().fit(X, y)
    return lambda: [model.leave_one_out(X, y) for _ in range(50)]


@operation
def kernel(_: Path) -> Operation:
    X, y = numbers(100_000, 4)
    model = bb.NaiveBayes(numeric="kernel").fit(X, y)
    return lambda: [model.predict_proba(X) for _ in range(20)]


@operation
def modl(_: Path) -> Operation:
    X, y = numbers(200_000, 10)
    return lambda: [bb.NaiveBayes(numeric="modl").fit(X, y) for _ in range(20)]


@operation
def aode(_: Path) -> Operation:
    X = codes(100_000, 40, 4)
    y = np.arange(100_000) % 3
    return lambda: [bb.AODE().fit(X, y).predict_proba(X) for _ in range(20)]


@operation
def tan(_: Path) -> Operation:
    X = codes(100_000, 40, 4)
    y = np.arange(100_000) % 3
    return lambda: [bb.TAN().fit(X, y).predict_proba(X) for _ in range(20)]


@operation
def auto(_: Path) -> Operation:
    X, y = numbers(20_000, 12)
    return lambda: [bb.AutoBayes().fit(X, y) for _ in range(10)]


@operation
def text(_: Path) -> Operation:
    documents = [f"some words of a text {i} {7 * i}" for i in range(300_000)]
    y = [i % 2 for i in range(300_000)]
    return lambda: [bb.TextClassifier().fit(documents, y).predict_proba(documents) for _ in range(20)]


# -- networks and sequences -----------------------------------------------------------------------------------------


def grid(size: int, states: int) -> bb.BayesianNetwork:
    chance = np.random.default_rng(0)
    parents: dict[str, list[str]] = {}
    tables = {}
    for i in range(size):
        for j in range(size):
            above = ([f"x{i - 1}_{j}"] if i else []) + ([f"x{i}_{j - 1}"] if j else [])
            parents[f"x{i}_{j}"] = above
            tables[f"x{i}_{j}"] = chance.dirichlet(np.ones(states), size=(states,) * len(above))
    return bb.BayesianNetwork(parents, tables, states={name: [str(s) for s in range(states)] for name in parents})


@operation
def hill_climbing(_: Path) -> Operation:
    table = codes(200_000, 30, 4)
    return lambda: [bb.learn_network(table) for _ in range(20)]


@operation
def exact_search(_: Path) -> Operation:
    table = codes(5_000, 20, 3)
    return lambda: bb.learn_network(table, method="exact")


@operation
def pc(_: Path) -> Operation:
    chance = np.random.default_rng(0)
    hidden = chance.integers(0, 3, 20_000)
    table = {
        f"c{j}": ((hidden + chance.integers(0, 2, 20_000) * (chance.random(20_000) < 0.6)) % 3).astype(str)
        for j in range(25)
    }
    return lambda: [bb.learn_network(table, method="pc") for _ in range(20)]


@operation
def expected_counts(_: Path) -> Operation:
    chance = np.random.default_rng(0)
    hidden = chance.integers(0, 3, 20_000)
    table = {
        f"c{j}": np.where(chance.random(20_000) < 0.2, None, ((hidden + chance.integers(0, 2, 20_000)) % 3).astype(str))
        for j in range(10)
    }
    return lambda: [bb.learn_network(table, missing="em") for _ in range(20)]


@operation
def junction_tree(_: Path) -> Operation:
    net = grid(11, 3)
    return lambda: [net.posteriors({"x0_0": str(k % 3), f"x{k % 11}_5": "0"}) for k in range(500)]


@operation
def most_probable(_: Path) -> Operation:
    net = grid(11, 3)
    return lambda: [net.mpe({"x0_0": str(k % 3), f"x{k % 11}_5": "0"}) for k in range(500)]


@operation
def elimination_order(_: Path) -> Operation:
    net = grid(40, 2)

    def refuse() -> None:
        for _ in range(500):
            with suppress(TooCostly):
                net.posteriors({})

    return refuse


@operation
def sample(_: Path) -> Operation:
    net = grid(3, 3)
    return lambda: net.sample(20_000_000, seed=0)


@operation
def weighting(_: Path) -> Operation:
    net = grid(8, 3)
    return lambda: net.posteriors({"x0_0": "1"}, approx="weighting", samples=20_000_000)


@operation
def gibbs(_: Path) -> Operation:
    net = grid(8, 3)
    return lambda: net.posteriors({"x0_0": "1"}, approx="gibbs", samples=20_000_000)


@operation
def hidden_markov_fit(_: Path) -> Operation:
    chance = np.random.default_rng(0)
    sequences = [chance.integers(0, 20, 50_000) for _ in range(20)]
    return lambda: bb.HiddenMarkovModel(20, iterations=500).fit(sequences)


def chain(states: int) -> bb.HiddenMarkovModel:
    chance = np.random.default_rng(0)
    return bb.HiddenMarkovModel.from_tables(
        start=chance.dirichlet(np.ones(states)),
        transition=chance.dirichlet(np.ones(states), size=states),
        emission=chance.dirichlet(np.ones(20), size=states),
    )


@operation
def best_path(_: Path) -> Operation:
    model, steps = chain(64), np.random.default_rng(0).integers(0, 20, 5_000_000)
    return lambda: [model.predict(steps) for _ in range(10)]


@operation
def best_path_of_few_states(_: Path) -> Operation:
    model, steps = chain(4), np.random.default_rng(0).integers(0, 20, 20_000_000)
    return lambda: [model.predict(steps) for _ in range(20)]


@operation
def state_posteriors(_: Path) -> Operation:
    model, steps = chain(32), np.random.default_rng(0).integers(0, 20, 1_000_000)
    return lambda: [model.predict_proba(steps) for _ in range(50)]


# -- files ----------------------------------------------------------------------------------------------------------


def csv_file(folder: Path, count: int = 400_000) -> Path:
    chance = np.random.default_rng(0)
    lines = [f"{a:.4f},{b:.4f},v{c},{'pq'[c % 2]}" for c, (a, b) in enumerate(chance.random((10_000, 2)))]
    path = folder / "long.csv"
    path.write_text("a,b,c,y\n" + ("\n".join(lines) + "\n") * (count // 10_000))
    return path


def jsonl_file(folder: Path, count: int = 300_000) -> Path:
    lines = [f'{{"a": {i / 7:.4f}, "c": "v{i}", "y": "{"pq"[i % 2]}"}}\n' for i in range(10_000)]
    path = folder / "long.jsonl"
    path.write_text("".join(lines) * (count // 10_000))
    return path


@operation
def train_csv(folder: Path) -> Operation:
    path = csv_file(folder)
    return lambda: [bb.train(path, target="y") for _ in range(50)]


@operation
def train_csv_on_threads(folder: Path) -> Operation:
    path = csv_file(folder)
    return lambda: [bb.train(path, target="y", threads=2) for _ in range(50)]


@operation
def train_jsonl(folder: Path) -> Operation:
    path = jsonl_file(folder)
    return lambda: [bb.train(path, target="y") for _ in range(50)]


@operation
def train_parquet(folder: Path) -> Operation:
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, y = numbers(2_000_000, 4)
    path = folder / "long.parquet"
    pq.write_table(pa.table({**{f"c{j}": X[:, j] for j in range(4)}, "y": y}), path)
    return lambda: [bb.train(path, target="y") for _ in range(50)]


@operation
def evaluate_on_threads(folder: Path) -> Operation:
    path = csv_file(folder, 100_000)

    def evaluate() -> None:
        for _ in range(50):
            cross_validate(NaiveClassifier(NaiveOptions()), source_of(str(path), "y"), "y", threads=2)

    return evaluate


@operation
def read_bif(folder: Path) -> Operation:
    path = folder / "long.bif"
    grid(30, 8).write(path)
    return lambda: [bb.read_network(path) for _ in range(100)]


def main(names: list[str]) -> int:
    """Interrupt the named operations, or all; 0 where none takes longer than it may."""
    warnings.simplefilter("ignore")
    worst = ("", 0.0)
    for name in names or OPERATIONS:
        with tempfile.TemporaryDirectory() as folder:
            ready = OPERATIONS[name](Path(folder))
            found = [latency(ready, delay) for delay in DELAYS]
        worst = max(worst, (name, max(found)), key=lambda each: each[1])
        print(f"{name:26}", *(f"{seconds:7.3f}" for seconds in found), flush=True)
    print(f"worst: {worst[1]:.3f} s of processor time, {worst[0]}; {len(names or OPERATIONS)} operations")
    return 0 if worst[1] <= LATEST else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
