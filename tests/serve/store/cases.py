"""A small model, rows for it, and the model that was trained on rows alone: what the tests of the stores share."""

from __future__ import annotations

import functools
import pickle
import random
from collections.abc import Iterable, Sequence
from typing import Any

import bayesbox as bb
from bayesbox.file.save import to_bytes
from bayesbox.serve.store.base import Event

NAME = "people"
COLOURS = ("red", "green", "blue")


def row(chance: random.Random) -> dict[str, Any]:
    """A row; some values are missing, and `person` is no column of the model."""
    found: dict[str, Any] = {
        "age": chance.choice([chance.randrange(90), round(chance.uniform(0, 90), 3), None]),
        "colour": chance.choice([*COLOURS, "mauve", None]),
        "member": chance.choice([True, False]),
        "person": f"p{chance.randrange(8)}",
    }
    return {name: value for name, value in found.items() if value is not None}


def label(chance: random.Random) -> str:
    return chance.choice(["no", "yes"])


def events(count: int, *, seed: int = 0, prefix: str = "e") -> list[Event]:
    """So many events."""
    chance = random.Random(seed)
    return [Event(f"{prefix}{number}", row(chance), label(chance)) for number in range(count)]


def estimator(**options: Any) -> bb.NaiveBayes:
    """The model that is served, trained on forty rows."""
    found: bb.NaiveBayes = pickle.loads(_trained(**options))
    return found


@functools.cache
def _trained(**options: Any) -> bytes:
    chance = random.Random(99)
    rows = [{"age": 1.5, "colour": None, "member": None} | row(chance) for _ in range(40)]
    for each in rows:
        del each["person"]
    return pickle.dumps(bb.NaiveBayes(**options).fit(rows, [label(chance) for _ in rows]))


def base(**options: Any) -> tuple[Any, bytes]:
    """The classifier and its file."""
    classifier = estimator(**options).classifier_
    return classifier, to_bytes(classifier)


def retrained(kept: Iterable[Event], **options: Any) -> str:
    """The digest of the base and these events, learned by the estimator one row at a time: another way to count."""
    found = estimator(**options)
    for event in kept:
        known = {"age": None} | {name: value for name, value in event.row.items() if name != "person"}
        found.learn_one(known, event.label, weight=None if event.weight == 1.0 else event.weight)
    return str(found.book_.digest())


def ids(some: Sequence[Event]) -> list[str]:
    return [event.id for event in some]
