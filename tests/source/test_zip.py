"""A package in a zip file, as `--py-files` ships it: the compiled core cannot be imported, and the error says so."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tests.refusal import refusal

import bayesbox
from bayesbox.errors import SourceUnavailable
from bayesbox.source.spark import _translated

PACKAGE = Path(bayesbox.__file__).parent
IMPORTS = "import sys; sys.path[:0] = sys.argv[1:]; import bayesbox.tally.count"


class PythonException(Exception):
    """As pyspark raises what a worker printed."""


PythonException.__module__ = "pyspark.errors"


def zipped(folder: Path, *, core: bool) -> Path:
    file = folder / "bayesbox.zip"
    with zipfile.ZipFile(file, "w") as archive:
        for path in PACKAGE.rglob("*"):
            if path.suffix == ".py" or (core and path.name.startswith("_core.") and path.suffix in (".so", ".pyd")):
                archive.write(path, Path("bayesbox") / path.relative_to(PACKAGE))
    return file


@pytest.mark.parametrize("core", [False, True], ids=["sources", "wheel"])
def test_the_core_of_a_zipped_package(tmp_path: Path, core: bool) -> None:
    places = [str(zipped(tmp_path, core=core)), str(Path(np.__file__).parents[1])]
    done = subprocess.run([sys.executable, "-S", "-c", IMPORTS, *places], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: bayesbox has a compiled core, which cannot be imported from a zip file")
    assert "bayesbox.zip" in last
    with refusal(SourceUnavailable, what="zip file", where="people", remedy="--archives"), _translated("people"):
        raise PythonException(f"An exception was thrown from the Python worker\n{done.stderr}")


def test_a_package_without_its_core(tmp_path: Path) -> None:
    with zipfile.ZipFile(zipped(tmp_path, core=False)) as archive:
        archive.extractall(tmp_path / "site")
    places = [str(tmp_path / "site"), str(Path(np.__file__).parents[1])]
    done = subprocess.run([sys.executable, "-S", "-c", IMPORTS, *places], capture_output=True, text=True, check=False)
    assert done.stderr.strip().splitlines()[-1].startswith("ImportError: the compiled core of bayesbox is missing")
