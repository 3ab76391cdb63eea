"""Counts of every family of a network: each state of a node with each combination of its parents' states.

The structure and the states are fixed, so the tallies of two sets of rows have the same cells and add cell by cell,
exactly; subtraction removes rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayesbox._core import ExactArray
from bayesbox.errors import CannotMerge, NeverLearned
from bayesbox.schema.arrays import CountArray
from bayesbox.tally.base import added, digest_of, numbers, quoted


@dataclass(frozen=True)
class FamilyBook:
    """The counts of the families by node; `scopes` has (parents..., node), in the order of the cells.

    >>> states = {"rain": ("yes", "no"), "grass": ("wet", "dry")}
    >>> scopes = {"rain": ("rain",), "grass": ("rain", "grass")}
    >>> book = FamilyBook.of(scopes, states, {"rain": [1, 3], "grass": [1, 0, 1, 2]}, 4)
    >>> (book + book).counts("grass").tolist(), (book + book) - book == book
    ([[2, 0], [2, 4]], True)
    """

    scopes: Mapping[str, tuple[str, ...]]
    states: Mapping[str, tuple[str, ...]]
    cells: Mapping[str, ExactArray]
    total: ExactArray  # one cell: the rows, or the sum of the weights

    @classmethod
    def of(
        cls,
        scopes: Mapping[str, tuple[str, ...]],
        states: Mapping[str, tuple[str, ...]],
        counts: Mapping[str, ArrayLike],
        rows: int,
    ) -> FamilyBook:
        """The book from integer counts."""
        cells = {
            name: ExactArray.from_integers(np.asarray(counts[name], dtype=np.int64).reshape(-1)) for name in scopes
        }
        return cls(scopes, states, cells, ExactArray.from_integers(np.array([rows], dtype=np.int64)))

    def __getstate__(self) -> dict[str, Any]:
        """Plain data with the counts as texts, so that a pickle has no objects of the core."""
        cells = {name: each.text() for name, each in self.cells.items()}
        return {"scopes": dict(self.scopes), "states": dict(self.states), "cells": cells, "total": self.total.text()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        cells = {name: ExactArray.from_text(text) for name, text in state["cells"].items()}
        self.__dict__.update({**state, "cells": cells, "total": ExactArray.from_text(state["total"])})

    @property
    def n(self) -> float:
        """The rows, or the sum of the weights."""
        total: float = numbers(self.total)[0].item()
        return total

    def shape(self, node: str) -> tuple[int, ...]:
        """One axis per parent, and the states of the node on the last."""
        return tuple(len(self.states[name]) for name in self.scopes[node])

    def counts(self, node: str) -> CountArray:
        """The counts of a node's family as a table."""
        return numbers(self.cells[node]).reshape(self.shape(node))

    def __add__(self, other: FamilyBook) -> FamilyBook:
        return self._combined(other, sign=1)

    def __sub__(self, other: FamilyBook) -> FamilyBook:
        left = self._combined(other, sign=-1)
        below = [name for name, cells in left.cells.items() if (cells.signs() < 0).any()]
        if below or (left.total.signs() < 0).any():
            raise NeverLearned(
                "rows that were never learned cannot be forgotten", where=f"node `{below[0]}`" if below else None
            )
        return left

    def _combined(self, other: FamilyBook, *, sign: int) -> FamilyBook:
        if dict(self.scopes) != dict(other.scopes) or dict(self.states) != dict(other.states):
            raise CannotMerge("the two networks differ in their nodes, states or arcs")
        cells = {name: added(mine, other.cells[name], sign=sign) for name, mine in self.cells.items()}
        return FamilyBook(self.scopes, self.states, cells, added(self.total, other.total, sign=sign))

    def canonical(self) -> Iterator[bytes]:
        """The counts as lines."""
        yield self.total.text()
        for name in sorted(self.scopes):
            yield quoted(self.scopes[name])
            yield quoted(self.states[name])
            yield self.cells[name].text()

    def digest(self) -> str:
        """SHA-256 of the counts, in hex."""
        return digest_of(self.canonical())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FamilyBook):
            return NotImplemented
        return list(self.canonical()) == list(other.canonical())

    __hash__ = None  # type: ignore[assignment]
