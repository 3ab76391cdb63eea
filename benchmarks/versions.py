"""This version against an earlier one: python benchmarks/versions.py FOLDER, a checkout with its core built.

Processes of both in turn, each doing the same work through public names alone; the median of the rounds, and the ratio
of the earlier time to the time now. Where a default has changed, both do what the earlier did. A ratio below 0.95 is
marked. An editable install puts its own folder before every other, so the processes run without `site`, and each checks
that it has the version that it was asked for.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from startup import WEATHER, cpu_seconds

HERE = Path(__file__).parent
PYTHON = [sys.executable, "-S"]
LEAST = 0.95
Work = dict[str, Callable[[], Any]]


def tables(folder: Path) -> Work:
    """Fits and predictions of tables in memory and in files."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    import bayesbox as bb

    rng = np.random.default_rng(0)
    rows = 200_000
    y = rng.integers(0, 3, rows)
    reals = rng.normal(y[:, None], 1.0, (rows, 20))
    codes = np.minimum(rng.integers(0, 8, (rows, 20)) + y[:, None], 9)
    texts = {
        f"c{place}": pa.array([f"level{code}" for code in codes[:, place]]).dictionary_encode() for place in range(10)
    }
    mixed = pa.table({**texts, **{f"x{place}": reals[:, place] for place in range(10)}})
    labels = np.array(["a", "b", "c"])[y]
    labelled = mixed.append_column("y", pa.array(labels))
    csv, parquet = folder / "rows.csv", folder / "rows.parquet"
    pa.csv.write_csv(labelled.slice(0, 100_000), csv)
    pa.parquet.write_table(labelled, parquet)
    small = mixed.slice(0, 2000)
    few = {name: column.to_pylist() for name, column in zip(mixed.column_names, mixed.slice(0, 300), strict=True)}
    kinds = dict.fromkeys(map(str, range(20)), "category")
    by_reals = bb.NaiveBayes(numeric="gaussian").fit(reals, labels)
    by_mixed = bb.NaiveBayes(numeric="gaussian").fit(mixed, labels)
    coded = pa.table({f"c{place}": codes[:, place].astype(str) for place in range(20)})
    return {
        "fit, 20 reals": lambda: bb.NaiveBayes(numeric="gaussian").fit(reals, labels),
        "predict_proba, 20 reals": lambda: by_reals.predict_proba(reals),
        "fit, 20 categories of integers": lambda: bb.NaiveBayes(columns=kinds, numeric="gaussian").fit(codes, labels),
        "fit, mixed Arrow columns": lambda: bb.NaiveBayes(numeric="gaussian").fit(mixed, labels),
        "predict_proba, mixed Arrow columns": lambda: by_mixed.predict_proba(mixed),
        "predict_proba, one row, 200 times": lambda: [by_mixed.predict_proba(small.slice(0, 1)) for _ in range(200)],
        "train, CSV, and answer": lambda: bb.train(str(csv), "y", model=bb.NaiveBayes(numeric="gaussian")).predict(
            small
        ),
        "train, Parquet, and answer": lambda: bb.train(
            str(parquet), "y", model=bb.NaiveBayes(numeric="gaussian")
        ).predict(small),
        "leave_one_out, mixed": lambda: by_mixed.leave_one_out(mixed, labels),
        "explain, 2,000 rows": lambda: by_mixed.explain(small),
        "forget and learn 2,000 rows": lambda: by_mixed.forget(small, labels[:2000]).partial_fit(small, labels[:2000]),
        "fit, AODE": lambda: bb.AODE().fit(coded.slice(0, 20_000), labels[:20_000]),
        "fit and predict, TAN": lambda: bb.TAN().fit(coded, labels).predict_proba(coded),
        "fit, full Bayes": lambda: bb.FullBayes().fit(reals, labels),
        "fit, AutoBayes, 300 rows": lambda: bb.AutoBayes().fit(few, labels[:300]),
        "save and load": lambda: (by_mixed.save(folder / "m.bayes"), bb.load(folder / "m.bayes")),
    }


def text(folder: Path) -> Work:  # noqa: ARG001
    """Documents."""
    import numpy as np

    import bayesbox as bb

    rng = np.random.default_rng(1)
    words = np.array([f"word{n}" for n in range(20_000)])
    picks = (rng.pareto(1.0, (20_000, 60)) * 20).astype(int) % len(words)
    documents = [" ".join(row) for row in words[picks]]
    labels = np.where(picks[:, 0] % 2, "odd", "even")
    fitted = bb.TextClassifier().fit(documents, labels)
    few = documents[:500]
    return {
        "fit, 20,000 documents": lambda: bb.TextClassifier().fit(documents, labels),
        "predict_proba, 20,000 documents": lambda: fitted.predict_proba(documents),
        "fit and predict, 500 documents": lambda: bb.TextClassifier().fit(few, labels[:500]).predict(few),
        "leave_one_out, 20,000 documents": lambda: fitted.leave_one_out(documents, labels),
    }


def networks(folder: Path) -> Work:
    """Inference and learning."""
    import numpy as np

    import bayesbox as bb

    rng = np.random.default_rng(2)
    parents = {f"n{k}": [f"n{p}" for p in sorted(rng.choice(k, min(k, 2), replace=False))] for k in range(40)}
    tables = {
        node: rng.dirichlet(np.ones(3), size=3 ** len(above)).reshape(*[3] * len(above), 3)
        for node, above in parents.items()
    }
    net = bb.BayesianNetwork(parents, tables, states={node: ["0", "1", "2"] for node in parents})
    names = list(parents)
    evidence = [{str(name): str(rng.integers(0, 3)) for name in rng.choice(names, 4, replace=False)} for _ in range(40)]
    rows = net.sample(20_000, seed=0)
    path = folder / "net.bif"
    net.write(path)

    def patterns() -> None:
        fresh = bb.read_network(path)
        for each in evidence:
            fresh.posteriors(each)

    return {
        "read a BIF file, 40 new patterns of evidence": patterns,
        "posteriors, a known pattern, 200 times": lambda: [net.posteriors(evidence[0]) for _ in range(200)],
        "hill climbing, 40 nodes, 20,000 rows": lambda: bb.learn_network(rows, score="bic"),
        "tables from 20,000 rows": lambda: net.fit(rows),
    }


def chains(folder: Path) -> Work:  # noqa: ARG001
    """Hidden Markov models."""
    import numpy as np

    import bayesbox as bb

    rng = np.random.default_rng(3)
    tables = {
        "start": rng.dirichlet(np.ones(5)),
        "transition": rng.dirichlet(np.ones(5), size=5),
        "emission": rng.dirichlet(np.ones(20), size=5),
    }
    hmm = bb.HiddenMarkovModel.from_tables(**tables)
    long = np.array(hmm.sample(300_000, seed=0).sequence)
    short = [long[start : start + 100] for start in range(0, 200_000, 100)]
    return {
        "score, one of 300,000": lambda: hmm.score(long),
        "posteriors, one of 300,000": lambda: hmm.predict_proba(long),
        "Viterbi, 2,000 of 100": lambda: hmm.predict(short),
        "Baum-Welch, 5 rounds": lambda: bb.HiddenMarkovModel(5, iterations=5, restarts=1).fit(short),
    }


PARTS = {"tables": tables, "text": text, "networks": networks, "chains": chains}


def child(part: str) -> None:
    """Print the CPU seconds of each work: the least of three runs, after one that fills the caches."""
    import warnings

    import bayesbox

    if not Path(bayesbox.__file__).is_relative_to(os.environ["PYTHONPATH"].split(os.pathsep)[0]):
        raise SystemExit(f"another version is imported: {bayesbox.__file__}")
    warnings.simplefilter("ignore")
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, work in PARTS[part](Path(folder)).items():
            work()
            times = []
            for _ in range(3):
                start = time.process_time()
                work()
                times.append(time.process_time() - start)
            found[name] = min(times)
    print(json.dumps(found))


def start_up(environment: dict[str, str], folder: Path) -> dict[str, float]:
    """CPU seconds of whole processes."""
    bayes = [*PYTHON, "-c", "from bayesbox.cli.main import main; main()"]
    data, model = folder / "weather.csv", folder / "weather.bayes"
    data.write_text(WEATHER)
    commands = {
        "python -c 'import bayesbox'": [*PYTHON, "-c", "import bayesbox"],
        "bayes --help": [*bayes, "--help"],
        "bayes train, 14 rows": [*bayes, "train", str(data), "-t", "play", "-o", str(model)],
        "bayes predict, 14 rows": [*bayes, "predict", str(model), str(data)],
        "import the estimators": [*PYTHON, "-c", "import bayesbox; bayesbox.NaiveBayes"],
    }
    before = dict(os.environ)
    os.environ.update(environment)
    try:
        return {name: min(cpu_seconds(command) for _ in range(2)) for name, command in commands.items()}
    finally:
        os.environ.clear()
        os.environ.update(before)


def measured(source: Path, part: str) -> dict[str, float]:
    """One process of a version."""
    path = os.pathsep.join([str(source), sysconfig.get_path("purelib")])
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    if part == "start-up":
        with tempfile.TemporaryDirectory() as folder:
            return start_up(environment, Path(folder))
    command = [*PYTHON, __file__, "--child", part]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{source}: {part} failed: {done.stderr[-2000:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", nargs="?", type=Path, help="a checkout of the earlier version, its core built")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", choices=[*PARTS, "start-up"], action="append")
    parser.add_argument("--child", choices=PARTS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given.child)
        return 0
    if given.before is None:
        parser.error("which version to compare with: a folder")
    sources = {"before": given.before.resolve() / "src", "now": HERE.parent / "src"}
    slower = 0
    print(f"{'':<52}{'before':>10}{'now':>10}{'ratio':>8}")
    for part in given.only or ["start-up", *PARTS]:
        times: dict[str, dict[str, list[float]]] = {version: {} for version in sources}
        for turn in range(given.rounds):
            order = list(sources) if turn % 2 == 0 else list(sources)[::-1]
            for version in order:
                for name, value in measured(sources[version], part).items():
                    times[version].setdefault(name, []).append(value)
        for name in times["now"]:
            before, now = (statistics.median(times[version][name]) for version in sources)
            mark = "  slower" if before / now < LEAST else ""
            slower += bool(mark)
            print(f"{name:<52}{before * 1e3:>8.1f}ms{now * 1e3:>8.1f}ms{before / now:>7.2f}x{mark}", flush=True)
    print(f"{slower} slower by more than {1 - LEAST:.0%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
