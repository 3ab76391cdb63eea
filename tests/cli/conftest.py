"""The command run in this process, in an empty folder, with what it wrote and how it ended."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from bayesbox.cli.main import run


class Ended(NamedTuple):
    """Exit code, standard output, standard error."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Bayes = Callable[..., Ended]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def bayes(folder: Path, capsys: pytest.CaptureFixture[str]) -> Bayes:
    """The command: `bayes("train", "cars.csv", "-t", "class")`; it must end well unless `code` says otherwise."""

    def command(*arguments: object, code: int = 0) -> Ended:
        capsys.readouterr()
        ended = Ended(run([str(argument) for argument in arguments]), *capsys.readouterr())
        assert ended.code == code, ended
        assert "Traceback" not in ended.err
        return ended

    return command


TABLES = {
    "cars.csv": "age,car,class\n25,sports,L\n20,vintage,H\n25,sports,L\n45,suv,H\n20,sports,H\n25,suv,H\n",
    "heavy.csv": "heavy,size,colour,label\nYes,L,R,+\nNo,M,B,+\nNo,L,G,+\nNo,L,G,+\nYes,M,R,-\nYes,L,G,-\nNo,M,G,-\n",
    "shapes.csv": "shape,colour,size,class\ncircle,blue,large,+\ncircle,red,medium,-\ncircle,red,large,-\n"
    "square,blue,small,-\nsquare,red,small,-\nsquare,red,medium,+\nsquare,blue,medium,+\nsquare,blue,large,-\n"
    "triangle,red,small,-\ntriangle,red,large,+\ntriangle,blue,medium,+\n",
    "tennis.csv": "outlook,temperature,humidity,windy,play\nsunny,hot,high,FALSE,no\nsunny,hot,high,TRUE,no\n"
    "overcast,hot,high,FALSE,yes\nrainy,mild,high,FALSE,yes\nrainy,cool,normal,FALSE,yes\nrainy,cool,normal,TRUE,no\n"
    "overcast,cool,normal,TRUE,yes\nsunny,mild,high,FALSE,no\nsunny,cool,normal,FALSE,yes\nrainy,mild,normal,FALSE,yes\n"
    "sunny,mild,normal,TRUE,yes\novercast,mild,high,TRUE,yes\novercast,hot,normal,FALSE,yes\nrainy,mild,high,TRUE,no\n",
}


@pytest.fixture
def tables(folder: Path) -> Path:
    """A folder with the small tables as CSV files."""
    for name, text in TABLES.items():
        (folder / name).write_text(text)
    return folder
