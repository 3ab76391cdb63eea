"""What a format to be fuzzed is: how a mutant is made, what is done with it, and what counts as a right answer."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, Protocol

import numpy as np


class WrongAnswer(Exception):
    """A mutant was taken, and what came of it cannot be right."""


class FuzzFormat(Protocol):
    """A format: `feed` returns where a mutant is taken, and raises one of `refusals` where it is refused."""

    @property
    def name(self) -> str:
        """In the table and in the names of findings."""

    @property
    def refusals(self) -> tuple[type[Exception], ...]:
        """What may be raised: BayesboxError, but for the core, which speaks of its arguments in Python's errors."""

    def make(self, chance: random.Random, folder: Path) -> Path:
        """Write a mutant, a file or a folder, and say where."""

    def feed(self, path: Path) -> None:
        """Take it through the entry points of the package."""

    def originals(self, folder: Path) -> list[Path]:
        """Files without damage, which must be taken: a worker warms up on them."""


def require(condition: object, what: str) -> None:
    """Raise WrongAnswer where something does not hold that must."""
    if not condition:
        raise WrongAnswer(what)


def require_probabilities(table: Any, *, possible: bool = False) -> None:
    """Rows of probabilities: each from 0 to 1, with a sum of 1; a row may be NaN as a whole unless all are possible."""
    rows = np.asarray(table, dtype=np.float64)
    rows = rows.reshape(-1, rows.shape[-1])
    whole = ~np.isnan(rows).all(axis=1)
    require(whole.all() or not possible, f"probabilities are NaN: {rows[~whole][:1].tolist()}")
    kept = rows[whole]
    require(np.isfinite(kept).all(), "a probability is not finite")
    require(((kept >= 0) & (kept <= 1 + 1e-9)).all(), f"a probability is outside 0 to 1: {kept.min()}, {kept.max()}")
    require(np.allclose(kept.sum(axis=1), 1, atol=1e-9), f"probabilities do not sum to 1: {kept.sum(axis=1).tolist()}")
