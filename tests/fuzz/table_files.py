"""Damaged CSV and JSON-lines files: each gives a model that answers, or a refusal with the file and the line."""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tests.fuzz.damage import damaged, damaged_json
from tests.fuzz.format import WrongAnswer, require, require_probabilities

import bayesbox as bb
from bayesbox.errors import BadRow, BayesboxError, KindContradiction
from bayesbox.estimators.train import estimator_of
from bayesbox.file.load import from_bytes
from bayesbox.file.save import to_bytes

TARGET = "risk"
CSV = b'''age,car,"note, short",new,risk
25,sports,"says ""no""",true,low
20,vintage,,false,high
,suv,"two
lines",true,low
45.5,suv,x,false,high
1e3,sports,\xc3\xa9t\xc3\xa9,,low
-7,,y,true,high
'''
JSONL = b"""{"age": 25, "car": "sports", "note": "says \\"no\\"", "new": true, "risk": "low"}
{"age": 20.5, "car": "vintage", "new": false, "risk": "high"}
{"age": null, "car": "suv", "note": "\\u00e9t\\u00e9", "new": true, "risk": "low"}
{"car": "suv", "age": 1e3, "note": "", "new": null, "risk": "high"}
{"age": -7, "car": null, "note": "y", "new": true, "risk": "low"}
"""
KINDS = {"csv": CSV, "jsonl": JSONL}


def _damaged_objects(text: bytes, chance: random.Random) -> bytes:
    """Lines of JSON in which values and keys were changed."""
    rows = [json.loads(line) for line in text.splitlines()]
    return b"".join(json.dumps(row).encode() + b"\n" for row in damaged_json(rows, chance))


@dataclass(frozen=True)
class TableFiles:
    """Files of one ending."""

    name: str
    refusals: tuple[type[Exception], ...] = (BayesboxError,)

    def make(self, chance: random.Random, folder: Path) -> Path:
        text = KINDS[self.name]
        by_structure = self.name == "jsonl" and chance.random() < 0.5
        path = folder / f"mutant.{self.name}"
        path.write_bytes(_damaged_objects(text, chance) if by_structure else damaged(text, chance))
        return path

    def originals(self, folder: Path) -> list[Path]:
        path = folder / f"whole.{self.name}"
        path.write_bytes(KINDS[self.name])
        return [path]

    def feed(self, path: Path) -> None:
        feed_table(path)


def feed_table(path: Path) -> None:
    """Train on a file, predict and explain the same, save and load the model, forget the file."""
    try:
        model = bb.train(str(path), target=TARGET)
    except BayesboxError as error:
        _require_refusal(error, path)
        raise
    answers = bb.predict(model, str(path), proba=True, explain=2)
    shares = [answers[name] for name in answers.column_names if name.startswith("P(")]
    if answers.num_rows and shares:
        require_probabilities(np.stack([share.to_numpy() for share in shares], axis=-1))
    data = to_bytes(model.classifier_)
    again = estimator_of(from_bytes(data))
    require(again.book_.digest() == model.book_.digest(), "the saved model has another digest")
    require(to_bytes(again.classifier_) == data, "a model that was loaded is saved as other bytes")


def _require_refusal(error: BayesboxError, path: Path) -> None:
    """A refusal of a file names it, and where a row is at fault its line."""
    message = str(error)
    if error.exit_code != 3 or path.name not in message:
        raise WrongAnswer(f"a refusal without the file: {message}") from error
    of_a_row = isinstance(error, (BadRow, KindContradiction)) and not re.search("header|UTF-16", message)
    if of_a_row and not re.search(r"\b(line|row) \d+", message):
        raise WrongAnswer(f"a refusal without its line: {message}") from error
