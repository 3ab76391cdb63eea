"""One table with a column of every kind, missing values, offsets and weights: what the metamorphic laws work on."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import numpy as np

import bayesbox as bb

ROWS = 60
TARGET = "outcome"

KINDS = {
    "visits": bb.Count(),
    "calls": bb.Count(),
    "parcels": bb.Count("poisson"),
    "zip": bb.Category(missing="level"),
    "height": bb.Real(floor=0),
}


def table(rows: int = ROWS, seed: int = 0) -> tuple[dict[str, list[Any]], list[str]]:
    """A dict of columns, and the labels."""
    random = np.random.default_rng(seed)

    def holes(values: Sequence[Any]) -> list[Any]:
        gone = random.random(rows) < 0.15
        return [None if missing else value for value, missing in zip(values, gone, strict=True)]

    first = datetime.date(2024, 2, 27)
    X = {
        "car": holes(random.choice(["sports", "suv", "truck", "Ünique", 'a "quote"'], rows).tolist()),
        "age": holes(random.integers(18, 90, rows).tolist()),
        "income": holes((1e12 + random.normal(size=rows)).tolist()),
        "dose": holes((random.normal(size=rows) * 10.0 ** random.integers(-300, 300, rows)).tolist()),
        "smoker": holes((random.random(rows) < 0.3).tolist()),
        "member": holes(random.integers(0, 2, rows).tolist()),
        "visits": random.integers(0, 4, rows).tolist(),
        "calls": random.integers(0, 9, rows).tolist(),
        "parcels": holes(random.integers(0, 5, rows).tolist()),
        "zip": holes(random.choice(["01099", "1099", "10115"], rows).tolist()),
        "height": holes(random.normal(170, 10, rows).tolist()),
        "joined": holes([first + datetime.timedelta(days=int(day)) for day in random.integers(0, 4, rows)]),
    }
    y = random.choice(["no", "yes", "maybe"], rows).tolist()
    return X, y


def estimator(**parameters: Any) -> bb.NaiveBayes:
    """An estimator with these kinds declared."""
    return bb.NaiveBayes(columns=KINDS, **parameters)


def pick(X: dict[str, list[Any]], rows: Sequence[int]) -> dict[str, list[Any]]:
    """Some rows of a dict of columns."""
    return {name: [values[row] for row in rows] for name, values in X.items()}


def take(values: Sequence[Any], rows: Sequence[int]) -> list[Any]:
    """Some values of a list."""
    return [values[row] for row in rows]


def state(clf: bb.NaiveBayes) -> bytes:
    """What was learned, as canonical bytes."""
    return b"".join(clf.book_.canonical())
