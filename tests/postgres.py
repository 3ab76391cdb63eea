"""A PostgreSQL server of the package pgserver, or of Debian: to be started, killed and started again."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PATIENCE = 300.0  # seconds for a server to come up on a busy machine


@dataclass(frozen=True)
class Postgres:
    """A PostgreSQL server that listens on a socket in its folder."""

    folder: Path
    programs: Path
    account: dict[str, Any]  # who runs it: PostgreSQL refuses to be run by root
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"postgresql://postgres@/postgres?host={self.folder}"

    def run(self, program: str, *arguments: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
        command = [str(self.programs / program), *arguments]
        return subprocess.run(command, input=text, capture_output=True, text=True, cwd=self.folder, **self.account)

    def start(self, *options: str) -> None:
        """Start the server, with options beyond the usual ones, and wait until it answers."""
        command = [str(self.programs / "postgres"), "-D", str(self.folder / "rows"), "-k", str(self.folder)]
        deadline = time.monotonic() + PATIENCE
        process: subprocess.Popen[bytes] | None = None
        while process is None or self.run("psql", self.address, "-c", "select 1").returncode != 0:
            if process is None or process.poll() is not None:  # what a killed one left may be in the way
                process = subprocess.Popen(
                    [*command, "-h", "", "-F", *options],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd=self.folder,
                    **self.account,
                )
                self.running[:] = [process]
            assert time.monotonic() < deadline, "PostgreSQL does not answer"
            time.sleep(0.1)

    def stop(self, number: signal.Signals = signal.SIGINT) -> None:
        """Stop the server: SIGINT ends it in order, SIGQUIT at once, SIGKILL without a word to its own processes."""
        for process in self.running:
            process.send_signal(number)
            process.wait(timeout=PATIENCE)
        self.running.clear()

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
        from_debian("postgresql", "PostgreSQL")
    return max(installed.glob("*/bin/initdb")).parent


def from_debian(package: str, name: str) -> None:
    """Install a package of Debian, where we may."""
    command = ["apt-get", "install", "-q", "-y", "-o", "DPkg::Lock::Timeout=300", "--no-install-recommends", package]
    may = os.geteuid() == 0 and shutil.which("apt-get") is not None
    done = may and subprocess.run(command, capture_output=True, check=False).returncode == 0
    assert done, f"the tests need {name}: type `apt-get install {package}` as root"


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
        try:
            server.start()
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder)
