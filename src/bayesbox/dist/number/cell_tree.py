"""A Polya tree over the cells of a grid: the ratio of a class's density in a cell to its t.

The cells are halved from the whole line down: at zero, at powers of two, at the eighths of a power of two. In a node of
the tree with at least 20 values, the t gives a share q of a class to one of its halves. The values of all classes
correct it first: with N values in the node, M of them in the half, and r the share by the mixture of all t,

    r' = (M + a r) / (N + a)        q' = q r'/r / (q r'/r + (1 - q) (1 - r')/(1 - r))

so that spikes, gaps and modes common to all classes are included in each. Then the class's own values, n and m, correct
it:

    q'' = (m + b q') / (n + b)        a = (1 - log2 p)**2        b = 16 (1 - log2 p)**2

where p is the mass of the node, by the mixture for a, by the t of the class for b: the deeper the node, the more rows
are needed. The product of q''/q along the path to a cell is the factor of the class's density there. A prior that grows
with the square of the depth gives densities (Mauldin, Sudderth and Williams, Polya trees and random distributions,
1992).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist.base import Doubles
from bayesbox.tally.grid import CELL_BITS, Cells, Grid

LAST_KEY = 16_376  # beyond the largest double

Keys = NDArray[np.int64]


def keys_of(cells: Cells) -> Keys:
    """Cells in consecutive order: 0 for zero and the smallest numbers, -1 and below for negative ones."""
    return np.where(cells > 0, cells - 1, cells).astype(np.int64)


def edges_of(keys: Keys) -> Doubles:
    """The smallest number of each positive cell, or the next number above each negative cell."""
    size = np.minimum(np.abs(keys), LAST_KEY) << CELL_BITS
    return np.where(keys < 0, -size.view(np.float64), size.view(np.float64))


class StudentShape(NamedTuple):
    """The t of each class and, last, that of a class without rows: rows x classes, or 1 x classes."""

    shift: Doubles
    scale: Doubles
    df: Doubles

    def tail(self, place: Doubles) -> Doubles:
        """P(T < z), or -P(T > z) above the location, so that differences are accurate."""
        with np.errstate(over="ignore"):
            z = (place - self.shift) / self.scale
        df = np.broadcast_to(self.df, z.shape)
        found = _core.student_below(-np.abs(z).ravel(), np.ascontiguousarray(df).ravel()).reshape(z.shape)
        return np.where(z > 0, -found, found)

    def between(self, low: Doubles, high: Doubles) -> Doubles:
        """The mass between two tails."""
        around = ~np.signbit(low) & np.signbit(high)
        mass: Doubles = high - low + around
        return mass


class Places(NamedTuple):
    """The scale of the t of each row: origin + (x - base) / unit, or log x - base."""

    base: Doubles
    origin: Doubles
    unit: float | None  # None on the log scale


class CellTree:
    """The counts of the nodes of a grid, without the class without rows; the core traverses them."""

    def __init__(self, keys: Keys, label: NDArray[np.int32], counts: Doubles, classes: int) -> None:
        self.classes = classes
        self._core = _core.CellTree(keys, label, counts, classes)

    @classmethod
    def of(cls, tally: Grid, *, zeros: bool) -> CellTree:
        """The tree of a grid, with or without the zeros."""
        grid, cell = tally.grid, tally.grid.cell
        kept = np.flatnonzero(cell != 0) if not zeros else np.arange(len(cell))
        return cls(keys_of(cell[kept]), grid.label[kept], grid.counts.take(kept).to_doubles(), len(tally.classes))

    def log_ratios(self, keys: Keys, spread: StudentShape, places: Places, own: NDArray[np.int32]) -> Doubles:
        """The logs of what each density is multiplied by in the cell of each key, keys x (classes and that of no rows).

        A row has a key, and its own value, of a class and in that cell, does not count.
        """
        base, origin, unit = places
        return self._core.log_ratios(keys, *spread, base, origin, own, 1.0 if unit is None else unit, unit is None)
