"""Real servers for the tests, started once a session: PostgreSQL."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 180.0  # seconds for a server to come up on a busy machine


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


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A server made of the programs in the package pgserver; root hands it to another account."""
    package = importlib.util.find_spec("pgserver")
    assert package is not None
    assert package.submodule_search_locations
    installed = Path(package.submodule_search_locations[0])
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))  # a socket's path must be short
    try:
        account: dict[str, Any] = {}
        if os.geteuid() == 0:  # the other account may not see where the package lies
            account = {"user": "nobody", "extra_groups": []}
            folder.chmod(0o755)
            shutil.copytree(installed / "pginstall", folder / "pgserver" / "pginstall", symlinks=True)
            libraries = installed.with_name("pgserver.libs")
            if libraries.exists():
                shutil.copytree(libraries, folder / "pgserver.libs", symlinks=True)
            installed = folder / "pgserver"
            shutil.chown(folder, "nobody")
        server = Postgres(folder, installed / "pginstall" / "bin", account)
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
