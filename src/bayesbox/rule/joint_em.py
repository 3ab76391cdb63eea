"""Expectation maximisation for a multivariate normal, from the sums of each pattern of missing values.

For rows with observed numbers o and missing numbers m, mean u and covariance S,

    E[x_m | x_o] = a + B x_o      B = S_mo S_oo^-1      a = u_m - B u_o      Var[x_m | x_o] = S_mm - B S_om

so the expected sums of x and of x x' follow from n, the sum of x_o and the sum of x_o x_o' of the pattern (Little and
Rubin, Statistical Analysis with Missing Data). The rows are not needed again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bayesbox.dist import functions
from bayesbox.dist.base import Doubles
from bayesbox.tally.exact import Dyadic, rounded_ratio
from bayesbox.tally.moments import Spread

ONE = Dyadic(1, 0)
TOLERANCE = 1e-11  # the tolerance of a mean or covariance, in standard deviations
MOST_STEPS = 1000


class MissingPattern(NamedTuple):
    """Rows with the same observed numbers: which ones, the number of rows, and the exact sums."""

    observed: tuple[int, ...]
    n: Dyadic
    totals: Mapping[int, Dyadic]
    products: Mapping[tuple[int, int], Dyadic]


class UnitScale(NamedTuple):
    """Centres, and units that are powers of two near the standard deviations, in which all sums are of similar size."""

    centres: tuple[Dyadic, ...]
    exponents: tuple[int, ...]

    @classmethod
    def of(cls, spreads: Sequence[Spread], deviations: Doubles) -> UnitScale:
        exponents = (math.frexp(deviation)[1] for deviation in deviations.tolist())
        return cls(tuple(Dyadic.of(spread.mean) for spread in spreads), tuple(max(-1000, e) for e in exponents))

    @property
    def units(self) -> Doubles:
        return np.array([math.ldexp(1.0, min(exponent, 1023)) for exponent in self.exponents])


class Sums(NamedTuple):
    """A pattern in these units: the observed numbers, n, sum of x, sum of x x'."""

    observed: list[int]
    n: float
    total: Doubles
    product: Doubles


def maximised(patterns: Sequence[MissingPattern], columns: Sequence[int], scale: UnitScale) -> tuple[Doubles, Doubles]:
    """(mean less the centre, covariance) of these columns, in units: the maximum likelihood estimate."""
    place = {column: index for index, column in enumerate(columns)}
    sums = [_centred(pattern, place, scale) for pattern in patterns]
    width, rows = len(columns), sum(each.n for each in sums)
    mean, covariance = np.zeros(width), np.diag(_variances(sums, width))
    for _ in range(MOST_STEPS):
        total, product = np.zeros(width), np.zeros((width, width))
        for each in sums:
            _add_expected(each, mean, covariance, total, product)
        new_mean = total / rows
        new_covariance = product / rows - np.outer(new_mean, new_mean)
        moved = max(np.abs(new_mean - mean).max(), np.abs(new_covariance - covariance).max())
        mean, covariance = new_mean, (new_covariance + new_covariance.T) / 2
        if moved <= TOLERANCE:
            break
    np.fill_diagonal(covariance, np.maximum(np.diag(covariance), 0.0))
    return mean, covariance


def _centred(pattern: MissingPattern, place: Mapping[int, int], scale: UnitScale) -> Sums:
    """The sums about the centres, computed exactly, then rounded."""
    there = [place[column] for column in pattern.observed]
    total, product = np.zeros(len(there)), np.zeros((len(there), len(there)))
    shifts = {}
    for k, column in enumerate(pattern.observed):
        centre = scale.centres[there[k]]
        shifts[column] = pattern.totals[column] - pattern.n * centre
        total[k] = _rounded(shifts[column], scale.exponents[there[k]])
    for k, one in enumerate(pattern.observed):
        for m in range(k, len(there)):
            other = pattern.observed[m]
            # sum (x - a)(y - b) = sum x y - b sum x - a sum (y - b)
            about = pattern.products[one, other] - scale.centres[there[m]] * pattern.totals[one]
            about = about - scale.centres[there[k]] * shifts[other]
            product[k, m] = product[m, k] = _rounded(about, scale.exponents[there[k]] + scale.exponents[there[m]])
    return Sums(there, float(pattern.n.fraction), total, product)


def _rounded(number: Dyadic, exponent: int) -> float:
    return rounded_ratio(Dyadic(number.m, number.e - exponent), ONE)


def _variances(sums: Sequence[Sums], width: int) -> Doubles:
    """The variance of each number over the rows that have it: the start of the iteration."""
    n, squares = np.zeros(width), np.zeros(width)
    for each in sums:
        n[each.observed] += each.n
        squares[each.observed] += np.diag(each.product)
    return squares / n


def _slope(within: Doubles, across: Doubles) -> Doubles:
    """across within^-1; with few rows `within` may be singular, and its pseudo-inverse is used.

    Swept without BLAS, so that every processor performs the same operations in the same order.
    """
    width = len(within)
    swept = np.concatenate([within, across.T], axis=1)
    pivots = np.zeros(width)
    with np.errstate(all="ignore"):
        for place in range(width):
            pivots[place] = swept[place, place]
            if not pivots[place] > 0:
                break
            row = swept[place] / pivots[place]
            swept -= swept[:, place, None] * row
            swept[place] = row
        if pivots.min() > 1e-12 * pivots.max():
            return swept[:, width:].T
        inverse: Doubles = across @ np.linalg.pinv(within, rcond=1e-12, hermitian=True)
        return inverse


def _add_expected(given: Sums, mean: Doubles, covariance: Doubles, total: Doubles, product: Doubles) -> None:
    """Add the expected sums of x and x x' of all numbers to `total` and `product`."""
    there = given.observed
    total[there] += given.total
    product[np.ix_(there, there)] += given.product
    gone = [index for index in range(len(mean)) if index not in there]
    if not gone:
        return
    across = covariance[np.ix_(gone, there)]
    slope = _slope(covariance[np.ix_(there, there)], across)
    start = mean[gone] - functions.product(slope, mean[there])
    expected = functions.product(slope, given.total)
    total[gone] += given.n * start + expected
    known = functions.product(slope, given.product)
    beside = np.outer(start, given.total) + known
    product[np.ix_(gone, there)] += beside
    product[np.ix_(there, gone)] += beside.T
    within = given.n * (covariance[np.ix_(gone, gone)] - functions.product(slope, across.T))
    both = np.outer(start, expected)
    within += given.n * np.outer(start, start) + both + both.T + functions.product(known, slope.T)
    product[np.ix_(gone, gone)] += within
