"""Leave-one-out terms: the terms of each training row under the tallies of all other rows.

The row is subtracted from the tally and the rule applied again in full: the number of levels, the variance floor and
the cut points may change.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist.base import Doubles, Plan
from bayesbox.dist.number.special import GREATEST, apart
from bayesbox.schema.kinds import Kind
from bayesbox.tally.exact import Dyadic
from bayesbox.tally.moments import Moments, Spread

LOST_DIGITS = 1e-6  # the fraction of the column's variance that must remain for floats to be accurate

Codes = NDArray[np.int32]
Flags = NDArray[np.bool_]


class LeaveOneOutGaussian(NamedTuple):
    """The input of the core for a column with a normal density, with each row held out."""

    values: Doubles
    moments: Doubles  # n, mean in two doubles, n times the variance in scaled units: one row per class, then the column
    floor: float
    scale: float


class LeaveOneOutPlan(Plan):
    """The terms of training rows, each with itself held out.

    `target` are the classes of the rows. `doubtful` marks the rows that need a refit of the whole model. Normal
    densities are collected, and computed together by the core in `finish`.
    """

    def __init__(self, target: Codes, classes: int) -> None:
        super().__init__(len(target), np.zeros(classes))
        self.target: Codes = target
        self.doubtful: Flags = np.zeros(len(target), dtype=bool)
        self.held_out: list[LeaveOneOutGaussian] = []

    def finish(self) -> None:
        """Add the terms of the normal densities."""
        if self.held_out:
            terms, unsure = _core.leave_one_out_gaussians(list(self.held_out), self.target, self.classes)
            self.add_terms(terms)
            self.doubtful |= unsure.view(bool)
            self.held_out = []

    def add_left_out_table(self, table: Doubles, codes: Codes, width: int) -> None:
        """Add a table of (class of the row x code) x classes; a negative code adds nothing."""
        combined = np.where(codes < 0, -1, self.target * width + codes).astype(np.int32)
        self.tables.append((combined, np.vstack([table, np.zeros(self.classes)])))


def leaves_only_flags(kind: Kind, tally: Moments, values: Doubles) -> list[int]:
    """The row, if any, without which a column of numbers would only have 0 and 1, and so be a flag."""
    if not kind.may_be_flag or float(tally.sums.fractional.to_doubles().sum()) > 1:
        return []
    whole = tally.pooled()
    if not _is_one_value(whole.squares - whole.total) and not tally.sums.fractional.signs().any():
        return []
    others = np.flatnonzero((values != 0) & (values != 1) & ~np.isnan(values))
    if len(others) != 1:
        return []
    row, own = int(others[0]), Dyadic.of(float(values[others[0]]))
    rest = whole.squares - whole.total - (own * own - own)  # the sum of x*x - x over the other rows, 0 for flags
    is_fractional = values[row] != np.floor(values[row])
    fractional = float(tally.sums.fractional.to_doubles().sum())
    return [row] if rest.m == 0 and fractional == float(is_fractional) else []


def _is_one_value(excess: Dyadic) -> bool:
    """Whether the sum of x*x - x can come from one integer among flags: v*(v - 1) for some v."""
    number = excess.fraction
    root = math.isqrt(int(4 * number + 1)) if number.denominator == 1 else 0
    return root * root == 4 * number + 1


def power_of_two(whole: Spread) -> float:
    """A power of two that scales the column's std to about 1, so that no square over- or underflows."""
    _, exponent = math.frexp(whole.std)
    return math.ldexp(1.0, max(-1022, min(1022, -exponent)))


def scaled(spread: Spread, scale: float) -> tuple[float, float, float, float]:
    """(n, mean, low part of the mean, n times the variance in scaled units)."""
    if spread.n.m == 0:
        return 0.0, 0.0, 0.0, 0.0
    n = float(spread.n.fraction)
    std = spread.std * scale
    return n, spread.mean, spread.rest_of_mean, n * std * std


class Others(NamedTuple):
    """The moments without each row, rows x classes or rows x 1, in units of the whole column's std.

    `x` is the row's value relative to the mean of the others; `distance` that of each class mean.
    """

    unit: float
    present: Flags  # rows with a value
    doubtful: Flags  # rows beyond float precision
    x: Doubles
    n: Doubles
    distance: Doubles
    std: Doubles
    whole_std: Doubles


def others_of(tally: Moments, values: Doubles, target: Codes) -> Others:
    """The moments without each row's value.

    With d = x - mean: mean' = mean - d / (n - 1) and n' variance' = n variance - d**2 n / (n - 1), in units of the
    column's std. If hardly any of the column's variance remains, the row is doubtful.
    """
    whole, spreads = tally.pooled(), tally.spreads()
    unit, centre = whole.unit, whole.mean
    n, mean, squares = np.array([_scaled(each, whole) for each in (*spreads, whole)]).T
    present = ~np.isnan(values)
    away = apart(np.where(present, values, centre), centre)
    x = np.where(present, (away - whole.rest_of_mean) / unit, 0.0)
    rows = len(values)
    all_n, all_mean, all_squares = _without(n[-1], mean[-1], squares[-1], x)
    own = np.zeros((rows, len(spreads)), dtype=bool)
    own[np.arange(rows), target] = True
    class_n, class_mean, class_squares = (np.tile(each[:-1], (rows, 1)) for each in (n, mean, squares))
    class_n[own], class_mean[own], class_squares[own] = _without(n[target], mean[target], squares[target], x)
    doubtful = present & ((all_squares < LOST_DIGITS * squares[-1]) | (all_n < 1) | (np.abs(away) == GREATEST))
    std = np.sqrt(np.where(doubtful | (all_n < 1), 1.0, all_squares) / np.maximum(all_n, 1))[:, None]
    class_std = np.sqrt(class_squares / np.maximum(class_n, 1))
    distance = np.where(class_n > 0, class_mean - all_mean[:, None], 0.0)
    x = (x - all_mean)[:, None]
    return Others(unit, present, doubtful, x, class_n, distance, class_std, std)


def _scaled(spread: Spread, whole: Spread) -> tuple[float, float, float]:
    """(n, mean, n times the variance) in units of the column's std, relative to its mean."""
    if spread.n.m == 0:
        return 0.0, 0.0, 0.0
    n = float(spread.n.fraction)
    distance = float(apart(spread.mean, whole.mean)) + (spread.rest_of_mean - whole.rest_of_mean)
    return n, distance / whole.unit, n * (spread.unit / whole.unit) ** 2


def _without(n: Doubles, mean: Doubles, squares: Doubles, x: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    left = np.maximum(n - 1, 0.0)
    distance = x - mean
    some = left > 0
    divisor = np.where(some, left, 1.0)
    return (
        left,
        np.where(some, mean - distance / divisor, 0.0),
        np.where(some, np.maximum(squares - distance**2 * n / divisor, 0.0), 0.0),
    )
