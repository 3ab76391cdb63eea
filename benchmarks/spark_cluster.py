"""A Spark cluster of a master and two workers: training on a DataFrame there, against MLlib's NaiveBayes.

Both fit the same cached rows in one session, in turn. Time is the CPU of every process: the driver, its Java machine,
the executors and their Python workers; memory is the most that all of them held together while fitting.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

import bayesbox as bb
import harness
import synthetic
from spark import cpu_of_all, quiet

PATIENCE = 300.0
PARTITIONS = 4


def run(session: harness.Session) -> None:
    if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
        session.say("Spark is not installed: pip install pyspark; apt-get install default-jre-headless")
        return
    rows = 200_000 if not session.quick else 20_000
    y = synthetic.labels(rows)
    kinds = {"gaussian": synthetic.reals(y), "bernoulli": synthetic.flags(y).astype(np.float64)}
    with tempfile.TemporaryDirectory() as folder, quiet(), cluster(Path(folder)) as master:
        found = {kind: measured(Path(folder), master, kind, X, y, min(session.rounds, 5)) for kind, X in kinds.items()}
    for kind, (ours, theirs, held, held_by_them) in found.items():
        what = f"fit on a cluster, 20 {'reals' if kind == 'gaussian' else 'flags'}, {rows // 1000}k rows"
        session.ratio(f"{what}, CPU", ours[0], "Spark MLlib", theirs[0], 1)
        session.ratio(f"{what}, wall clock", ours[1], "Spark MLlib", theirs[1], 1)
        session.say(f"memory of all processes while fitting: {held:,.0f} MB, MLlib {held_by_them:,.0f} MB")


Times = tuple[float, float]


def measured(
    folder: Path, master: str, kind: str, X: np.ndarray, y: np.ndarray, rounds: int
) -> tuple[Times, Times, float, float]:
    """(CPU, wall) seconds of ours and of MLlib's, and the memory of each in megabytes."""
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import VectorAssembler

    path = folder / f"{kind}.parquet"
    columns = synthetic.number_columns(X)
    pq.write_table(pa.table({**columns, "label": pa.array(y.astype(np.float64))}), path)
    spark = spark_session(master)
    try:
        frame = spark.read.parquet(str(path)).repartition(PARTITIONS).cache()
        frame.count()
        assembler = VectorAssembler(inputCols=list(columns), outputCol="features")
        vectors = assembler.transform(frame).select("label", "features").cache()
        vectors.count()
        learner = NaiveBayes(modelType=kind)
        digest = bb.train(pa.table({**columns, "label": y.astype(np.float64)}), target="label").book_.digest()
        if bb.train(frame, target="label").book_.digest() != digest:
            raise SystemExit("Spark: another digest than that of the same rows here: nothing was timed")
        runs = (lambda: bb.train(frame, target="label"), lambda: learner.fit(vectors))
        taken: list[list[Times]] = [[], []]
        held = [0.0, 0.0]
        for turn in range(rounds + 2):
            for place, fit in enumerate(runs):
                with watched() as most:
                    times = timed(fit)
                if turn >= 2:  # two rounds warm the machines up
                    taken[place].append(times)
                    held[place] = max(held[place], most[0])
    finally:
        spark.stop()
    ours, theirs = ((statistics.median(t[0] for t in each), statistics.median(t[1] for t in each)) for each in taken)
    return ours, theirs, held[0], held[1]


def timed(work: Callable[[], Any]) -> Times:
    cpu, wall = cpu_of_all(), time.perf_counter()
    work()
    return cpu_of_all() - cpu, time.perf_counter() - wall


@contextlib.contextmanager
def watched() -> Iterator[list[float]]:
    """The most memory that this process and all below it held together, in megabytes."""
    most, done = [0.0], threading.Event()

    def watch() -> None:
        own = psutil.Process()
        while not done.wait(0.25):
            total = 0
            for process in (own, *own.children(recursive=True)):
                with contextlib.suppress(psutil.Error):
                    total += process.memory_info().rss
            most[0] = max(most[0], total / 1e6)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield most
    finally:
        done.set()
        thread.join()


def spark_session(master: str) -> Any:
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.memory": "1g",
        "spark.executor.memory": "1g",
        "spark.executor.cores": "1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": str(PARTITIONS),
    }
    builder = SparkSession.builder.master(master).appName("benchmark")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """A master and two workers of one core, each a process; gives the master's address."""
    import pyspark

    home = Path(pyspark.__file__).parent
    os.environ.update({"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"})
    paths = [str(Path(bb.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "SPARK_HOME": str(home), "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    port, page = free_port(), free_port()
    address = f"spark://127.0.0.1:{port}"
    parts = [["master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", str(page)]]
    for number in range(2):
        place = ["-d", str(folder / f"worker{number}"), "--webui-port", "0", "--host", "127.0.0.1"]
        parts.append(["worker.Worker", address, "--cores", "1", "--memory", "2g", *place])
    processes = []
    try:
        for name, *arguments in parts:
            command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *arguments]
            processes.append(
                subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
            )
        deadline = time.monotonic() + PATIENCE
        while alive_workers(f"http://127.0.0.1:{page}/json/") < 2:
            if time.monotonic() > deadline:
                raise SystemExit("the Spark cluster does not come up")
            time.sleep(0.3)
        yield address
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            process.wait()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def alive_workers(page: str) -> int:
    try:
        with urllib.request.urlopen(page, timeout=10) as answer:
            return int(json.load(answer)["aliveworkers"])
    except (OSError, ValueError):
        return 0


if __name__ == "__main__":
    harness.main(run)
