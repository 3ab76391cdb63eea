"""A source written outside the package: rows out of a text of fixed-width fields, read by its file's ending."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

import bayesbox as bb
from bayesbox.cli.main import run
from bayesbox.extend import Batch, Source, register_source


@register_source("fixed-width", extensions=["fwf"])
class FixedWidth(Source):
    """A head whose names begin where their fields do, then a line for each row; read a few lines at a time."""

    def __init__(self, path: str) -> None:
        self.name = path
        with open(path) as file:
            head = file.readline()
        self.names = tuple(head.split())
        self._starts = [head.index(name) for name in self.names]

    def batches(self) -> Iterator[Batch]:
        fields = [slice(start, stop) for start, stop in zip(self._starts, [*self._starts[1:], None], strict=True)]
        first = 0
        with open(self.name) as file:
            next(file)
            while lines := file.readlines(4096):
                cells = [[line.rstrip("\n")[field].strip() or None for line in lines] for field in fields]
                yield Batch(self.names, tuple(self._column(each) for each in cells), len(lines), first)
                first += len(lines)

    @staticmethod
    def _column(texts: list[str | None]) -> pa.Array:
        try:
            return pa.array([None if text is None else float(text) for text in texts])
        except ValueError:
            return pa.array(texts)


TABLE = """\
car    age risk
suv     25 L
suv     30 L
van     45 H
        50 H
van     41 H
sports     H
"""


def test_in_python_and_by_command(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "cars.fwf"
    path.write_text(TABLE)
    model = bb.train(path, target="risk")
    same = bb.NaiveBayes().fit(
        {"car": ["suv", "suv", "van", None, "van", "sports"], "age": [25, 30, 45, 50, 41, None]},
        ["L", "L", "H", "H", "H", "H"],
    )
    assert model.book_.digest() == same.book_.digest()
    assert bb.train(path, target="risk", threads=2).book_.digest() == same.book_.digest()

    saved = str(tmp_path / "cars.bayes")
    assert run(["train", str(path), "-t", "risk", "-o", saved]) == 0
    assert bb.load(saved).book_.digest() == same.book_.digest()
    capsys.readouterr()
    assert run(["predict", saved, str(path)]) == 0
    assert capsys.readouterr().out.splitlines()[1:3] == ["L", "L"]
    assert run(["forget", saved, str(path)]) == 0
    assert run(["evaluate", str(path), "-t", "risk", "--cv", "2", "--json"]) == 0
