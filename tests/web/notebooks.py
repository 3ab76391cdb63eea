"""JupyterLab and marimo, started on this machine for a test, in folders of their own."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

START = 180  # seconds a server may take to answer, on a busy machine


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


@contextlib.contextmanager
def running(command: Sequence[str], folder: Path, address: str) -> Iterator[str]:
    """A server that has answered once; it is stopped afterwards. Its settings are in the folder."""
    home = {
        name: str(folder / name.lower()) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")
    }
    jupyter = {name: str(folder / name.lower()) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")}
    folder.mkdir(exist_ok=True)
    log = folder / "log.txt"
    with open(log, "w") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", *command], cwd=folder, env=os.environ | home | jupyter, stdout=out, stderr=out
        )
    try:
        end = time.monotonic() + START
        while True:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            with contextlib.suppress(urllib.error.URLError, ConnectionError):
                urllib.request.urlopen(address, timeout=10).close()
                break
            time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait(30)


@contextlib.contextmanager
def jupyterlab(folder: Path, cells: Sequence[str]) -> Iterator[str]:
    """JupyterLab with a notebook of these cells; gives the address that opens it."""
    folder.mkdir()
    sources = [
        {"cell_type": "code", "id": f"cell{at}", "metadata": {}, "source": text, "outputs": [], "execution_count": None}
        for at, text in enumerate(cells)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": sources}
    (folder / "widgets.ipynb").write_text(json.dumps(notebook))
    port, token = free_port(), os.urandom(16).hex()
    settings = {
        "ServerApp.port": port,
        "ServerApp.port_retries": 0,
        "ServerApp.root_dir": str(folder),
        "IdentityProvider.token": token,
        "LabApp.extension_manager": "readonly",
        "LabApp.news_url": "",
    }
    command = ["jupyterlab", "--no-browser", "--allow-root", *(f"--{name}={value}" for name, value in settings.items())]
    with running(command, folder, f"http://127.0.0.1:{port}/api"):
        yield f"http://127.0.0.1:{port}/lab/tree/widgets.ipynb?token={token}&reset"


@contextlib.contextmanager
def marimo(folder: Path, cells: Sequence[str]) -> Iterator[str]:
    """A notebook of marimo, run as an app; gives its address. Each cell is the body of a function with its names."""
    folder.mkdir()
    text = "import marimo\n\napp = marimo.App()\n\n" + "\n\n".join(cells) + "\n"
    (folder / "widgets.py").write_text(text)
    port = free_port()
    command = ["marimo", "-q", "-y", "run", "widgets.py", "--headless", "--no-token", "--port", str(port)]
    command += ["--host", "127.0.0.1"]
    with running(command, folder, f"http://127.0.0.1:{port}/health"):
        yield f"http://127.0.0.1:{port}/"
