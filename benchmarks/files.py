"""From a file to a fitted model: CPU seconds and peak memory of a whole process, ours and the ways people do it.

Ten columns of numbers and ten of text, 2 % missing. Each way runs in a process of its own on one core; the two ways
that are given the same task exactly (pandas + scikit-learn, DuckDB) are the peers.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np

import harness

NUMBERS = [f"x{index}" for index in range(10)]
TEXTS = [f"s{index}" for index in range(10)]
WORDS = np.array(["amber", "blue", "crimson", "denim", "ebony", "fawn", "green", "hazel"])
PART = 500_000  # rows written at a time
MANY = 20  # times the rows of the small file, for flat memory
MOST_MEGABYTES = 350

OURS = """
import sys
from bayesbox.rule.options import NaiveOptions
from bayesbox.table.naive.classifier import NaiveClassifier
from bayesbox.classifier.train import source_of, train
threads = int(sys.argv[2]) if len(sys.argv) > 2 else 1
classifier = NaiveClassifier(NaiveOptions())
source = source_of(sys.argv[1], "label", threads=threads)
training = train(classifier, source, "label", threads=threads)
classifier.model
print(training.rows, classifier.book.digest())
"""

PANDAS = """
import sys
import pandas as pd
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.preprocessing import OrdinalEncoder
path = sys.argv[1]
frame = pd.read_csv(path) if path.endswith("csv") else pd.read_parquet(path)
y = frame.pop("label")
texts = frame.select_dtypes(exclude="number").columns
numbers = frame.columns.difference(texts)
codes = OrdinalEncoder().fit_transform(frame[texts].fillna("missing"))
CategoricalNB().fit(codes, y)
GaussianNB().fit(SimpleImputer().fit_transform(frame[numbers]), y)
print(len(frame))
"""

DUCKDB = """
import sys
import duckdb
path = sys.argv[1]
duckdb.sql("set threads to 1")
columns = [name for name, *_ in duckdb.sql(f"describe select * from '{path}'").fetchall() if name != "label"]
texts, numbers = [c for c in columns if c[0] == "s"], [c for c in columns if c[0] == "x"]
sums = ", ".join(f"count({c}), sum({c}), sum({c} * {c})" for c in numbers)
sets = ", ".join(f"(label, {c})" for c in texts)
duckdb.sql(
    f"select label, {', '.join(texts)}, count(*), {sums} from '{path}' group by grouping sets ((label), {sets})"
).fetchall()
print(duckdb.sql("select 1").fetchall())
"""

WAYS = {"ours": OURS, "pandas + sklearn": PANDAS, "DuckDB": DUCKDB}


class Cost(NamedTuple):
    """What one process took."""

    cpu: float
    wall: float
    megabytes: float
    output: str


def measured(way: str, arguments: Sequence[str], *, cores: int = 1, first: int | None = None) -> Cost:
    """Run one way in a process of its own, on some cores from the first on, or on the last."""
    chosen = set(range(os.cpu_count() or 1)[-cores:] if first is None else range(first, first + cores))
    begin = time.perf_counter()
    child = subprocess.Popen(
        [sys.executable, "-c", WAYS[way], *arguments],
        stdout=subprocess.PIPE,
        preexec_fn=lambda: os.sched_setaffinity(0, chosen),
    )
    assert child.stdout is not None
    output = child.stdout.read().decode()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{way} failed on {arguments[0]}")
    wall = time.perf_counter() - begin
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024, output)


def part(seed: int, rows: int):
    """Some rows as an Arrow table."""
    import pyarrow as pa

    random = np.random.default_rng(seed)
    label = random.integers(0, 3, rows)
    columns = {}
    for index, name in enumerate(NUMBERS):
        values = np.round(random.normal(label * 0.3 + index, 2.0), 3)
        columns[name] = pa.array(values, mask=random.random(rows) < 0.02)
    for name in TEXTS:
        codes = np.minimum(random.geometric(0.3 + 0.05 * label) - 1, len(WORDS) - 1).astype(np.int32)
        coded = pa.DictionaryArray.from_arrays(pa.array(codes, mask=random.random(rows) < 0.02), pa.array(WORDS))
        columns[name] = coded.cast(pa.string())
    columns["label"] = pa.array(np.array(["low", "middle", "high"])[label])
    return pa.table(columns)


def write(path: Path, rows: int) -> None:
    """A file of that many rows, a part at a time."""
    import pyarrow.csv
    import pyarrow.parquet

    first = part(0, min(rows, PART))
    is_csv = path.suffix == ".csv"
    writer = pyarrow.csv.CSVWriter(path, first.schema) if is_csv else pyarrow.parquet.ParquetWriter(path, first.schema)
    with writer:
        for index, start in enumerate(range(0, rows, PART)):
            writer.write_table(part(index, min(PART, rows - start)))


def run(session: harness.Session) -> None:
    with tempfile.TemporaryDirectory() as folder:
        digests = set()
        for kind in ("csv", "parquet"):
            path = Path(folder, f"rows.{kind}")
            write(path, session.rows)
            costs = {way: [measured(way, [str(path)]) for _ in range(3)] for way in WAYS}
            cpu = {way: statistics.median(cost.cpu for cost in each) for way, each in costs.items()}
            digests |= {cost.output.split()[1] for cost in costs["ours"]}
            session.ratio(f"{kind} to model", cpu["ours"], "pandas + sklearn", cpu["pandas + sklearn"], 6)
            session.ratio(f"{kind} to model", cpu["ours"], "DuckDB's aggregation", cpu["DuckDB"], 1)
            most = max(cost.megabytes for cost in costs["ours"])
            theirs = max(cost.megabytes for cost in costs["pandas + sklearn"])
            session.amount(
                f"{kind} to model, peak memory",
                most,
                MOST_MEGABYTES,
                harness.megabytes,
                peer="pandas + sklearn",
                theirs=harness.megabytes(theirs),
            )
        if len(digests) != 1:
            raise SystemExit("CSV and Parquet gave different tallies")
        flat(session, Path(folder))


def flat(session: harness.Session, folder: Path) -> None:
    """Many rows: memory flat, time linear, and two threads."""
    small, large = folder / "small.parquet", folder / "large.parquet"
    write(small, session.rows * MANY // 10)
    write(large, session.rows * MANY)
    title = f"{session.rows * MANY:,} Parquet rows"
    few, many, two, apart = [], [], [], []
    for _ in range(session.rounds):
        few.append(measured("ours", [str(small)]))
        many.append(measured("ours", [str(large)]))
        two.append(measured("ours", [str(large), "2"], cores=2))
        apart.append(at_once(large))
    if len({cost.output for cost in many + two}) != 1:
        raise SystemExit("two threads gave other tallies than one")
    for threads, costs in (("", many), (", two threads", two)):
        most = max(cost.megabytes for cost in costs)
        session.amount(f"{title}{threads}, peak memory", most, MOST_MEGABYTES, harness.megabytes)
    longer = statistics.median(large.cpu / small.cpu for small, large in zip(few, many, strict=True))
    session.amount(f"{title}, CPU beside a tenth of them", longer, 11, lambda ratio: f"{ratio:.1f}x")
    one = statistics.median(cost.wall for cost in many)
    both = statistics.median(cost.wall for cost in two)
    session.ratio(f"{title}, wall time of two threads", both, "one thread", one, 1.7)
    session.say(
        f"two processes at once that share nothing do {2 * one / statistics.median(apart):.2f}x the work of one: "
        "what two cores of this machine can reach together"
    )


def at_once(path: Path) -> float:
    """The wall time of two processes on one core each."""
    with ThreadPoolExecutor(2) as pool:
        return max(cost.wall for cost in pool.map(lambda core: measured("ours", [str(path)], first=core), (0, 1)))


if __name__ == "__main__":
    harness.main(run)
