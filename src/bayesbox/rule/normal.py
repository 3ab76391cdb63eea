"""From exact moments to a normal density: mean and deviation rounded once, the variance kept above its floor."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from bayesbox.dist.base import Doubles
from bayesbox.dist.gaussian import Gaussian
from bayesbox.dist.student import GREATEST, Student, apart
from bayesbox.tally.exact import Dyadic, rounded_root
from bayesbox.tally.moments import LEAST, Moments, Spread


def gaussian(
    column: str,
    moments: Moments,
    *,
    floor: float,
    log_observed: Doubles,
    log_missing: Doubles,
    prior_rows: float = 0.0,
) -> Gaussian | None:
    """The normal density of each class, its variance at least `floor` times that of the whole column.

    A class without a value takes the density of the whole column. None where the column has no spread at all, so that
    it can say nothing, unless `floor` is 0: then it is a point mass. With `prior_rows` it is the most probable density
    under a normal-inverse-gamma prior that is worth so many rows of the whole column's mean and variance.
    """
    whole = moments.pooled()
    if whole.n.m == 0 or (whole.excess.m == 0 and floor > 0):
        return None
    spreads = [spread if spread.n.m else whole for spread in moments.spreads()]
    if prior_rows:
        spreads = [_with_prior(spread, whole, Dyadic.of(prior_rows)) for spread in spreads]
    return Gaussian(
        column,
        np.array([spread.mean for spread in spreads]),
        np.array([spread.rest_of_mean for spread in spreads]),
        np.array([floored_deviation(spread, whole, floor) for spread in spreads]),
        log_observed,
        log_missing,
    )


def _with_prior(spread: Spread, whole: Spread, rows: Dyadic) -> Spread:
    """The sums of a class with so many rows that have the mean and the variance of the whole column.

    All three are times the rows of the column, so that nothing is divided; mean and variance stay what they are.
    """
    n = whole.n
    return Spread(
        (spread.n + rows) * n,
        spread.total * n + rows * whole.total,
        spread.squares * n + rows * whole.squares,
    )


def student(column: str, moments: Moments, *, log_observed: Doubles, log_missing: Doubles) -> Student | None:
    """The predictive density of a normal whose mean and variance have the conjugate prior of one row.

    The normal-inverse-gamma prior is worth a single row that has the column's own mean m and variance v over all
    classes: mean ~ N(m, variance / 1), variance ~ inverse gamma(1/2, v/2). A class of n rows with the mean a and the
    variance s then predicts by Student's t with n + 1 degrees of freedom around (m + n a) / (n + 1), and

        scale**2 = (v + n s + n (a - m)**2 / (n + 1)) (n + 2) / (n + 1)**2

    None where the column has no spread.
    """
    whole = moments.pooled()
    if whole.n.m == 0 or whole.excess.m == 0:
        return None
    n, distance, deviation = np.zeros((3, len(moments.classes)))
    for index, each in enumerate(moments.spreads()):
        if each.n.m:
            n[index], deviation[index] = float(each.n.fraction), each.unit
            distance[index] = apart(each.mean, whole.mean) + (each.rest_of_mean - whole.rest_of_mean)
    offset, scale = student_parameters(n, distance, deviation, whole.unit)
    return Student(column, log_observed, log_missing, whole.mean, whole.rest_of_mean + offset, scale, n + 1)


def student_parameters(
    n: Doubles, distance: Doubles, deviation: Doubles, unit: float | Doubles
) -> tuple[Doubles, Doubles]:
    """(location, scale) of the t of each class, locations and the means' distances counted from the column's mean.

    It is reckoned in units of the column's deviation, so that no square over- or underflows.
    """
    away, spread = distance / unit, deviation / unit
    squares = 1 + n * spread * spread + n * away * away / (n + 1)
    with np.errstate(over="ignore"):
        scale: Doubles = np.minimum(unit * (np.sqrt(squares * (n + 2)) / (n + 1)), GREATEST)
    return distance * (n / (n + 1)), scale


@lru_cache
def _exact(floor: float) -> Fraction:
    """A floor as it is written: 0.1 is one tenth."""
    return Fraction(str(floor))


def floored_deviation(spread: Spread, whole: Spread, floor: float) -> float:
    """The deviation of a class, or the root of floor times the variance of the column if that is more.

    Variances are compared exactly, as excess / n**2 with the denominators multiplied out.
    """
    share = _exact(floor)
    least = whole.excess * Dyadic(share.numerator, 0)
    least_under = whole.n * whole.n * Dyadic(share.denominator, 0)
    if (spread.excess * least_under - least * (spread.n * spread.n)).m < 0:
        return max(rounded_root(least, least_under), LEAST)
    return spread.unit
