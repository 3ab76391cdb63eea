"""`bayes serve` as a process of its own, as it is run in earnest."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BAYES = (sys.executable, "-m", "bayesbox.cli.main")


def bayes(*arguments: str) -> Any:
    """A verb that ends by itself, and its JSON."""
    done = subprocess.run([*BAYES, *arguments, "--json"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def new_token(folder: Path, *scopes: str) -> str:
    """A token for the service of a folder."""
    token: str = bayes("token", "create", str(folder), *(f"--scope={scope}" for scope in scopes))["token"]
    return token


class ServiceProcess:
    """A service that runs; `log` is what it wrote to standard error."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.errors = folder / f"serve-{len(list(folder.glob('serve-*')))}.log"
        self._log = self.errors.open("w")
        command = [*BAYES, "serve", str(folder), "--port", "0", "--json", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self._log, text=True)
        assert self.process.stdout is not None
        text = ""
        for line in self.process.stdout:
            text += line
            if line.startswith("}"):
                break
        assert text, self.log()
        self.started: dict[str, Any] = json.loads(text)
        self.url: str = self.started["address"]

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def log(self) -> str:
        return self.errors.read_text()

    def send(self, number: int) -> None:
        self.process.send_signal(number)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Stop it; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(120)
        if self.process.stdout is not None:
            self.process.stdout.close()
        self._log.close()
        return code


@contextlib.contextmanager
def running(folder: Path, *options: str) -> Iterator[ServiceProcess]:
    """A service that is stopped in the end."""
    found = ServiceProcess(folder, *options)
    try:
        yield found
    finally:
        with contextlib.suppress(ProcessLookupError):
            found.stop(signal.SIGTERM if os.name == "posix" else signal.SIGINT)
