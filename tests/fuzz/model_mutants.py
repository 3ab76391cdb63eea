"""Mutants of model files as a format of the run: loaded and asked, and then changed by rows and saved, or refused."""

from __future__ import annotations

import functools
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.files import examples
from tests.fuzz import model_files

import bayesbox as bb
from bayesbox.errors import BadModelFile, BayesboxError


@functools.cache
def _whole(path: Path) -> bytes:
    return path.read_bytes()


@functools.cache
def _files() -> tuple[Path, ...]:
    return tuple(path for path in sorted(model_files.FOLDER.iterdir()) if path.suffix == ".bayes")


@dataclass(frozen=True)
class ModelMutants:
    """Files of every kind of model. The name of a mutant says which example it was made of, and so what to ask it."""

    name: str = "model"
    refusals: tuple[type[Exception], ...] = (BayesboxError,)

    def make(self, chance: random.Random, folder: Path) -> Path:
        path = chance.choice(_files())
        mutant = folder / f"mutant.{path.name}"
        mutant.write_bytes(model_files.changed(_whole(path), chance, _whole(chance.choice(_files()))))
        return mutant

    def originals(self, folder: Path) -> list[Path]:
        paths = []
        for path in _files():
            paths.append(folder / f"whole.{path.name}")
            paths[-1].write_bytes(_whole(path))
        return paths

    def feed(self, path: Path) -> None:
        example = path.name.split(".")[1]
        if model_files.outcome(path, example) == "refused":
            raise BadModelFile("refused as it should be")
        model = bb.HiddenMarkovModel.load(path) if example.startswith("hmm-") else bb.load(path)
        _change(model, example)


def _change(model: Any, example: str) -> None:
    """Learn rows and forget them, which leaves the tallies as they were; or a refusal."""
    if example in examples.TEXTS:
        rows, labels = examples.notes()
    elif example in ("naive", "naive-kernel", "naive-auto", "averaged", "aode", "tan", "kdb", "full"):
        rows, labels = examples.table()
        if example == "full":
            rows = {name: rows[name] for name in ("outlook", "heat", "wind")}
    else:
        return
    try:
        before = model.book_.digest()
        model.partial_fit(rows, labels)
        model.forget(rows, labels)
    except BayesboxError:
        return
    if model.book_.digest() != before:
        raise AssertionError("learned and forgotten, but the digest is another")
