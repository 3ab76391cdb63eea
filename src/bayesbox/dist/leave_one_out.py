"""Leave-one-out terms: what the families enter for rows that are each judged by the tallies of all the others.

A row's own unit is subtracted from the tally and the rule applied anew, in full: the number of levels, the variance floor
and the cut points may change with it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist.base import Doubles, Plan
from bayesbox.schema.kinds import Kind
from bayesbox.tally.exact import Dyadic
from bayesbox.tally.moments import Moments, Spread

Codes = NDArray[np.int32]
Flags = NDArray[np.bool_]


class LeftOutGaussian(NamedTuple):
    """What the core needs of one column with a normal density, its own row left out."""

    values: Doubles
    moments: Doubles  # n, mean in two doubles, n times the variance in scaled units: a class a row, then the column
    floor: float
    scale: float


class LeaveOneOutPlan(Plan):
    """The terms of rows that are learned, each without its own row.

    `target` are the classes of the rows. `doubtful` marks the rows that only a refit of the whole model can answer.
    Normal densities are gathered, and worked out together by the core in `finish`.
    """

    def __init__(self, target: Codes, classes: int) -> None:
        super().__init__(len(target), np.zeros(classes))
        self.target: Codes = target
        self.doubtful: Flags = np.zeros(len(target), dtype=bool)
        self.left_out: list[LeftOutGaussian] = []

    def finish(self) -> None:
        """Enter the terms of the normal densities."""
        if self.left_out:
            terms, unsure = _core.leave_one_out_gaussians(list(self.left_out), self.target, self.classes)
            self.add_terms(terms)
            self.doubtful |= unsure.view(bool)
            self.left_out = []

    def add_left_out_table(self, table: Doubles, codes: Codes, width: int) -> None:
        """Enter a table of (class of the row x code) x classes; a negative code says nothing."""
        combined = np.where(codes < 0, -1, self.target * width + codes).astype(np.int32)
        self.tables.append((combined, np.vstack([table, np.zeros(self.classes)])))


def leaves_only_flags(kind: Kind, tally: Moments, values: Doubles) -> list[int]:
    """The row, if there is one, without which a column of numbers would hold only 0 and 1, and so be a flag."""
    if not kind.may_be_flag or float(tally.sums.fractional.to_doubles().sum()) > 1:
        return []
    whole = tally.pooled()
    if not _is_one_value(whole.squares - whole.total) and not tally.sums.fractional.signs().any():
        return []
    others = np.flatnonzero((values != 0) & (values != 1) & ~np.isnan(values))
    if len(others) != 1:
        return []
    row, own = int(others[0]), Dyadic.of(float(values[others[0]]))
    rest = whole.squares - whole.total - (own * own - own)  # the sum of x*x - x over the others, 0 for flags
    is_fractional = values[row] != np.floor(values[row])
    fractional = float(tally.sums.fractional.to_doubles().sum())
    return [row] if rest.m == 0 and fractional == float(is_fractional) else []


def _is_one_value(excess: Dyadic) -> bool:
    """Whether the sum of x*x - x can be that of one integer beside flags: v*(v - 1) for some v."""
    number = excess.fraction
    root = math.isqrt(int(4 * number + 1)) if number.denominator == 1 else 0
    return root * root == 4 * number + 1


def power_of_two(whole: Spread) -> float:
    """A factor that brings the column's deviation near 1, so that no square over- or underflows."""
    _, exponent = math.frexp(whole.deviation)
    return math.ldexp(1.0, max(-1022, min(1022, -exponent)))


def scaled(spread: Spread, scale: float) -> tuple[float, float, float, float]:
    """(n, mean, low part of the mean, n times the variance in scaled units)."""
    if spread.n.m == 0:
        return 0.0, 0.0, 0.0, 0.0
    n = float(spread.n.fraction)
    std = spread.deviation * scale
    return n, spread.mean, spread.rest_of_mean, n * std * std

