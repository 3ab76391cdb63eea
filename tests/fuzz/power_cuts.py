"""Power cuts while models are trained, updated, forgotten, merged and saved.

    python -m tests.fuzz.power_cuts 2000

tries at least that many cuts and prints how many: at every step of a series of changes, with what had not lasted lost,
torn or out of order by chance. A cut after which the model is neither the old one nor the new one, or that loses a
change that was acknowledged, ends in an error.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import sys
import tempfile
from pathlib import Path

from tests.file.power import Disk, try_cuts

import bayesbox as bb
from bayesbox.cli.main import run

CHANGES = (
    "update m.bayes b.csv --keep-old",
    "update m.bayes a.csv --keep-old",
    "merge m.bayes m.bayes -o m.bayes --keep-old",
    "train a.csv b.csv -t class -o m.bayes --keep-old",
    "save",
)


def rows(chance: random.Random, count: int) -> str:
    """A table of so many rows."""
    colours = ["red", "blue", "green"]
    lines = (f"{chance.randrange(90)},{chance.choice(colours)},{chance.choice('pq')}" for _ in range(count))
    return "\n".join(["age,colour,class", *lines]) + "\n"


def series(folder: Path, chance: random.Random) -> Disk:
    """A disk on which a model was changed some times, in ways that chance has chosen."""
    (folder / "a.csv").write_text(rows(chance, chance.randrange(10, 400)))
    (folder / "b.csv").write_text(rows(chance, chance.randrange(3, 20)))
    _run("train a.csv -t class -o m.bayes")
    disk = Disk(folder)
    for change in chance.sample(CHANGES, 3):
        with disk.watching():
            if change == "save":
                bb.load("m.bayes").partial_fit({"age": [3], "colour": ["red"]}, ["p"]).save("m.bayes")
            else:
                _run(change)
        disk.acknowledge("m.bayes")
    return disk


def _run(command: str) -> None:
    with contextlib.redirect_stderr(io.StringIO()) as error:
        code = run([*command.split()])
    if code != 0:
        raise AssertionError(f"bayes {command}: {error.getvalue()}")


def try_many(count: int, *, seed: int, folder: Path) -> int:
    """Cut the power at least so many times; how many times it was."""
    chance, tried = random.Random(seed), 0
    while tried < count:
        with tempfile.TemporaryDirectory(dir=folder) as own:
            os.chdir(own)
            try:
                tried += try_cuts(series(Path(own), chance), "m.bayes", times=10, seed=chance.randrange(1 << 30))
            finally:
                os.chdir(folder)
    return tried


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        print(f"{try_many(int(sys.argv[1]), seed=0, folder=Path(folder)):,} power cuts, nothing lost")
