"""The interpreters of Python that this machine has, by version: on the path, of pyenv, or of uv."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

USABLE = "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])"


def interpreter(version: str) -> Path | None:
    """One that can make environments; None where there is none."""
    for path in _candidates(version):
        done = subprocess.run([path, "-c", USABLE], capture_output=True, text=True, check=False)
        if done.returncode == 0 and done.stdout.strip() == version:
            return path
    return None


def _candidates(version: str) -> Iterator[Path]:
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from sorted((pyenv / "versions").glob(f"{version}.*/bin/python"), reverse=True)
    for name in (f"python{version}", "python3"):
        if found := shutil.which(name):
            yield Path(found)
    if uv := shutil.which("uv"):
        done = subprocess.run([uv, "python", "find", version], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            yield Path(done.stdout.strip())
