"""The cells of co-moments: a class, a level of every category, and which numbers are present."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox._core import ExactArray

Codes = NDArray[np.int32]
Flags = NDArray[np.bool_]


class CoMomentAxes(NamedTuple):
    """The axes of the cells of a tally: classes, categories with their levels, numbers."""

    classes: tuple[str, ...]
    categories: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    numbers: tuple[str, ...]

    @property
    def pairs(self) -> int:
        return len(self.numbers) * (len(self.numbers) + 1) // 2


@dataclass(frozen=True)
class CoMomentCells:
    """Cells: their class, levels and pattern of missing values, and the sums over their rows."""

    label: Codes
    codes: Codes  # categories x cells, MISSING if there is none
    observed: Flags  # numbers x cells
    n: ExactArray
    totals: ExactArray  # cells x numbers
    products: ExactArray  # cells x pairs (i, j), i <= j

    def __len__(self) -> int:
        return len(self.label)

    @property
    def keys(self) -> tuple[Codes, Codes, Flags]:
        return self.label, self.codes, self.observed

    @property
    def sums(self) -> tuple[ExactArray, ExactArray, ExactArray]:
        return self.n, self.totals, self.products


def pair_place(i: int, j: int, width: int) -> int:
    """The position of the pair (i, j), i <= j, among the pairs of `width` numbers.

    >>> [pair_place(i, j, 3) for i in range(3) for j in range(i, 3)]
    [0, 1, 2, 3, 4, 5]
    """
    return i * width - i * (i + 1) // 2 + j
