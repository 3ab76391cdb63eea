"""Files made to break the reader: the command ends with 3 and the place, whichever way the rows come."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

import bayesbox as bb
from bayesbox.errors import BadRow

from .conftest import Bayes

COMMAND = [sys.executable, "-m", "bayesbox.cli.main"]
DEEP = '{"x": ' + "[" * 20_000 + "]" * 20_000 + ', "y": "p"}\n'
"""40 kB in which Arrow's reader runs out of stack."""


@pytest.fixture
def deep(folder: Path) -> Path:
    """A folder with such a file, plain and compressed, and a model of the same columns."""
    (folder / "deep.jsonl").write_text(DEEP)
    (folder / "deep.jsonl.gz").write_bytes(gzip.compress(DEEP.encode()))
    (folder / "good.jsonl").write_text('{"x": "a", "y": "p"}\n{"x": "b", "y": "q"}\n')
    return folder


@pytest.mark.parametrize("name", ["deep.jsonl", "deep.jsonl.gz"])
def test_values_nested_without_end(bayes: Bayes, deep: Path, name: str) -> None:
    bayes("train", "good.jsonl", "-t", "y", "-o", "m.bayes")
    for command in (["train", name, "-t", "y"], ["predict", "m.bayes", name], ["update", "m.bayes", name]):
        ended = bayes(*command, code=3)
        assert f"{name}, line 1, column `x`" in ended.err
    with pytest.raises(BadRow):
        bb.train(str(deep / name), "y")


def test_values_nested_without_end_from_a_pipe(deep: Path) -> None:
    command = [*COMMAND, "train", "-", "--format", "jsonl", "-t", "y", "-o", "m.bayes"]
    ended = subprocess.run(command, input=DEEP.encode(), capture_output=True, cwd=deep, check=False)
    assert ended.returncode == 3
    assert b"line 1, column `x`" in ended.stderr


QUOTES = 'id,x,y\n1,a,p\n2,"b,q\n3,"c,p\n4,d,q\n5,e,p\n'


def test_stray_quotes_join_no_rows(bayes: Bayes, folder: Path) -> None:
    (folder / "q.csv").write_text(QUOTES)
    assert "q.csv, line 3, column `x`" in bayes("train", "q.csv", "-t", "y", code=3).err
    ended = bayes("train", "q.csv", "-t", "y", "--bad-rows", "skip", "-o", "m.bayes")
    assert "2 malformed rows skipped" in ended.err
    assert bb.load(folder / "m.bayes").book_.n.sum() == 3
