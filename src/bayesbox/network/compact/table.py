"""Compact tables (noisy-MAX): each parent contributes a level on its own, and the node is their maximum.

    Y = max(Z_0, Z_1, ..., Z_n),   Z_i depends on the parent X_i alone, and Z_0, the leak, on nothing

    P(Y <= y | x) = P(Z_0 <= y) P(Z_1 <= y | x_1) ... P(Z_n <= y | x_n)

With two states it is the noisy-OR; with the order of the states reversed it becomes the noisy-AND. (Pearl 1988; Diez
and Druzdzel, Canonical probabilistic models, 2006.) A table of 2^n rows follows from n numbers, and inference never
builds it: the maximum is computed step by step in auxiliary variables, max(Z_0, ..., Z_i) given max(Z_0, ..., Z_{i-1})
and X_i.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Kind = Literal["or", "and", "max"]


@dataclass(frozen=True, eq=False)
class CompactTable:
    """P(node | parents), given by the contribution of each parent.

    `levels` are the states of the node from the lowest to the highest, by position; `causes` has an array for each
    parent, its states x the states of the node: P(Z_i | x_i); `leak` is P(Z_0).
    """

    kind: Kind
    levels: tuple[int, ...]
    causes: tuple[Doubles, ...]
    leak: Doubles

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CompactTable):
            return NotImplemented
        return (
            (self.kind, self.levels, len(self.causes)) == (other.kind, other.levels, len(other.causes))
            and np.array_equal(self.leak, other.leak)
            and all(np.array_equal(mine, theirs) for mine, theirs in zip(self.causes, other.causes, strict=True))
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the full table."""
        return (*(len(cause) for cause in self.causes), len(self.leak))

    @property
    def has_leak(self) -> bool:
        """Whether the effect can occur without a cause."""
        return bool(self.leak[self.levels[0]] != 1)

    def idle(self, parent: int) -> NDArray[np.bool_]:
        """The states of a parent in which it certainly causes nothing."""
        return np.asarray(self.causes[parent][:, self.levels[0]] == 1)

    def table(self) -> Doubles:
        """The full table, one axis per parent: differences of products of cumulative probabilities."""
        order = list(self.levels)
        product = np.cumsum(self.leak[order])
        product[-1] = 1
        for axis, cause in enumerate(self.causes):
            below = np.cumsum(cause[:, order], axis=1)
            below[:, -1] = 1
            sizes = [1] * len(self.causes)
            sizes[axis] = len(cause)
            product = product * below.reshape(*sizes, len(order))
        found = np.empty_like(product)
        found[..., order] = np.maximum(np.diff(product, axis=-1, prepend=0.0), 0.0)
        return np.ascontiguousarray(found)

    def rounded_table(self) -> Doubles:
        """The full table with each number rounded once, computed exactly from the given decimals."""
        order = list(self.levels)
        leak = _cumulated(self.leak[order])
        causes = [[_cumulated(row[order]) for row in cause] for cause in self.causes]
        found = np.empty(self.shape)
        for rows in itertools.product(*(range(len(cause)) for cause in causes)):
            before = Fraction(0)
            for level, place in enumerate(order):
                below = leak[level]
                for cause, row in zip(causes, rows, strict=True):
                    below *= cause[row][level]
                found[(*rows, place)] = float(below - before)
                before = below
        return found

    def step(self, contribution: Doubles) -> Doubles:
        """P(max(a, z) | a, row): states of a x rows of a contribution x states of the maximum."""
        count = len(self.levels)
        made = np.zeros((count, len(contribution), count))
        for row, cells in enumerate(contribution):
            below = _cumulated(cells[list(self.levels)])
            for level, place in enumerate(self.levels):
                for higher in self.levels[level + 1 :]:
                    made[place, row, higher] = cells[higher]
                made[place, row, place] = float(below[level])
        return made

    def maximum(self) -> Doubles:
        """P(max(a, z) | a, z), a table of zeros and ones."""
        return self.step(np.eye(len(self.levels)))


def _cumulated(cells: Doubles) -> list[Fraction]:
    """The cumulative sums, computed from the shortest decimals of the numbers; the last is 1."""
    *sums, _ = itertools.accumulate(Fraction(repr(float(value))) for value in cells)
    return [*sums, Fraction(1)]
