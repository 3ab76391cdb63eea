"""Leave-one-out terms of numbers: a row's own value taken out of mean, variance, floor and rate."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist.base import Doubles, Plan
from bayesbox.dist.poisson import Poisson
from bayesbox.errors import CannotForget
from bayesbox.rule.smoothing import Smoothing
from bayesbox.schema.kinds import DEFAULT_FLOOR, Kind, Number, Real
from bayesbox.tally.exact import Dyadic
from bayesbox.tally.moments import Moments, Spread

Codes = NDArray[np.int32]
Flags = NDArray[np.bool_]


class LeftOutGaussian(NamedTuple):
    """What the core needs of one column of numbers, and the places of rows it cannot answer."""

    values: Doubles
    moments: Doubles
    floor: float
    scale: float
    doubtful: list[int]


def gaussian(kind: Kind, tally: Moments, values: Doubles) -> LeftOutGaussian:
    """A column with a normal density.

    Without its row a class has, with d = x - mean,

        mean' = mean - d / (n - 1)        n' variance' = n variance - d**2 n / (n - 1)

    and the column's variance, which sets the floor, shrinks in the same way. Where the difference of variances loses
    more than a few digits and the floor does not hide it, the core calls the row doubtful.
    """
    whole = tally.pooled()
    scale = _power_of_two(whole)
    moments = np.array([_scaled(spread, scale) for spread in (*tally.spreads(), whole)])
    floor = kind.floor if isinstance(kind, Real) else DEFAULT_FLOOR
    return LeftOutGaussian(values, moments, floor, scale, leaves_only_flags(kind, tally, whole, values))


def add_gaussians(plan: Plan, gaussians: list[LeftOutGaussian], target: Codes) -> Flags:
    """Enter the terms of all columns with a normal density; which rows a refit must answer."""
    doubtful = np.zeros(plan.rows, dtype=bool)
    if not gaussians:
        return doubtful
    terms, unsure = _core.leave_one_out_gaussians([each[:4] for each in gaussians], target, plan.classes)
    plan.add_terms(terms)
    doubtful |= unsure.view(bool)
    for each in gaussians:
        doubtful[each.doubtful] = True
    return doubtful


def _power_of_two(whole: Spread) -> float:
    """A factor that brings the column's deviation near 1, so that no square over- or underflows."""
    _, exponent = math.frexp(whole.deviation)
    return math.ldexp(1.0, max(-1022, min(1022, -exponent)))


def _scaled(spread: Spread, scale: float) -> tuple[float, float, float, float]:
    """(n, mean, rest of the mean, n times the variance in scaled units)."""
    if spread.n.m == 0:
        return 0.0, 0.0, 0.0, 0.0
    n = float(spread.n.fraction)
    deviation = spread.deviation * scale
    return n, spread.mean, spread.rest_of_mean, n * deviation * deviation


def leaves_only_flags(kind: Kind, tally: Moments, whole: Spread, values: Doubles) -> list[int]:
    """The row, if there is one, without which a column of numbers would hold only 0 and 1, and so be a flag."""
    if not isinstance(kind, Number) or float(tally.sums.fractional.to_doubles().sum()) > 1:
        return []
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


def add_poisson(plan: Plan, tally: Moments, rule: Smoothing, values: Doubles, target: Codes) -> Flags:
    """Enter the terms of a Poisson, whose rate depends only on the class and the count of the row that is gone; which
    rows a refit must answer, since without them there is no rate."""
    observed = ~np.isnan(values)
    pairs, place = np.unique(np.column_stack([target[observed], values[observed]]), axis=0, return_inverse=True)
    n, total = tally.sums.n.to_doubles(), tally.sums.total.to_doubles()
    terms = np.zeros((plan.rows, plan.classes))
    table = np.array([_poisson_row(n, total, rule, int(pair[0]), float(pair[1])) for pair in pairs])
    if len(pairs):
        terms[observed] = table.reshape(-1, plan.classes)[place.ravel()]
    plan.add_terms(terms)
    all_there_is: Flags = observed & (values == total.sum())
    return all_there_is


def _poisson_row(n: Doubles, total: Doubles, rule: Smoothing, gone: int, count: float) -> Doubles:
    if n[gone] < 1 or total[gone] < count:
        raise CannotForget("some of these rows were never learned: a count is larger than all that were counted")
    left, rest = n.copy(), total.copy()
    left[gone] -= 1
    rest[gone] -= count
    if rest.sum() == 0:
        return np.zeros(len(n))
    weight = rule.weight or 0.0
    mean = rest.sum() / left.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = np.where(left + weight > 0, (rest + weight * mean) / (left + weight), mean)
    nothing = np.zeros(len(n))
    terms: Doubles = Poisson("", rate, nothing, nothing).log_prob(np.array([count]))[0]
    return terms
