"""A product of tables over named variables: a Markov network, or the factors of a Bayesian network."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayesbox.network.compact.table import CompactTable


@dataclass(frozen=True)
class FactorTable:
    """A table with one axis per variable of its scope; variables are given by position."""

    scope: tuple[int, ...]
    table: NDArray[np.float64]


@dataclass(frozen=True)
class CompactSteps:
    """A node whose compact table was decomposed: its parents, and the variables and factors that replace the table.

    `variables` are the steps, which are not nodes; `factors` those of the steps and of the node itself.
    """

    node: int
    parents: tuple[int, ...]
    variables: tuple[int, ...]
    factors: tuple[int, ...]
    table: CompactTable


@dataclass(frozen=True)
class FactorModel:
    """Variables with named states, and non-negative factors; the distribution is their product over its sum Z.

    >>> coin = FactorModel(("side",), (("heads", "tails"),), (FactorTable((0,), np.array([3.0, 1.0])),))
    >>> coin.cards
    (2,)
    """

    names: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]
    factors: tuple[FactorTable, ...]
    auxiliary: int = 0  # how many of the last variables are steps of compact tables, not nodes
    compact: tuple[CompactSteps, ...] = ()  # the decomposed nodes

    @property
    def visible(self) -> int:
        """The number of variables that can be queried: the first ones."""
        return len(self.names) - self.auxiliary

    @cached_property
    def cards(self) -> tuple[int, ...]:
        """The number of states of each variable."""
        return tuple(len(states) for states in self.states)

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """The offsets of each variable's states in a row of all states, and the end."""
        return np.concatenate([[0], np.cumsum(self.cards)]).astype(np.int64)

    @cached_property
    def place(self) -> dict[str, int]:
        """The position of each variable."""
        return {name: index for index, name in enumerate(self.names)}
