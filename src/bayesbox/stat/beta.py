"""The beta distribution: the regularised incomplete beta function and its inverse, without scipy.

    I_x(a, b) = 1 / B(a, b) * integral from 0 to x of t^(a-1) (1-t)^(b-1) dt

Computed by its continued fraction with Lentz's method (Press et al., Numerical Recipes, 6.4), on the side where it
converges fast, and the factor x^a (1-x)^b / (a B(a, b)) by logarithms. The inverse is found by bisection, with Newton
steps that stay inside the interval.
"""

from __future__ import annotations

import math
from functools import lru_cache

TINY = 1e-300
CLOSE = 1e-16
NEAR = 1e-14  # tolerance of the search in log x
MOST_TERMS = 100_000
MOST_STEPS = 200
LARGE = 15.0  # above it Stirling's series is accurate to the last digit


def cumulative(x: float, a: float, b: float) -> float:
    """I_x(a, b): the probability that a Beta(a, b) variable is at most x.

    >>> cumulative(0.25, 1, 1), round(cumulative(0.5, 2, 3), 12)
    (0.25, 0.6875)
    """
    if not (a > 0 and b > 0):
        raise ValueError(f"the parameters of a beta distribution must be positive, got {a} and {b}")
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x <= (a + 1) / (a + b + 2):
        return math.exp(_log_power(x, a, b)) * _fraction(x, a, b) / a
    return 1 - math.exp(_log_power(x, a, b)) * _fraction(1 - x, b, a) / b


@lru_cache(maxsize=4096)
def quantile(p: float, a: float, b: float) -> float:
    """The x with I_x(a, b) = p.

    >>> round(quantile(0.6875, 2, 3), 12), quantile(0, 2, 3), quantile(1, 2, 3)
    (0.5, 0.0, 1.0)
    """
    p, a, b = float(p), float(a), float(b)
    if not 0 <= p <= 1:
        raise ValueError(f"p must be between 0 and 1, got {p}")
    if p in (0, 1):
        return float(p)
    if p > 0.5:  # doubles are denser near 0: a quantile close to 1 is found as 1 - x
        upper = 1 - p
        return 1 - _root(upper, b, a)
    return _root(p, a, b)


def interval(level: float, a: float, b: float) -> tuple[float, float]:
    """The central interval with probability `level` of a Beta(a, b); the limits 0 and 1 if a parameter is 0.

    >>> [round(end, 4) for end in interval(0.95, 3, 9)], interval(0.95, 0, 5)
    ([0.0602, 0.5178], (0.0, 0.0))
    """
    if a <= 0:
        return 0.0, 0.0
    if b <= 0:
        return 1.0, 1.0
    tail = (1 - level) / 2
    return quantile(tail, a, b), 1 - quantile(tail, b, a)


def _root(p: float, a: float, b: float) -> float:
    """The quantile by its logarithm, so that even 1e-300 is accurate."""
    low, high = -745.0, 0.0  # of log x
    if cumulative(math.exp(low), a, b) > p:
        return 0.0
    middle = math.log(a / (a + b))
    for _ in range(MOST_STEPS):
        x = math.exp(middle)
        found = cumulative(x, a, b)
        if found > p:
            high = middle
        else:
            low = middle
        slope = math.exp(_log_power(x, a, b)) / (1 - x) if x < 1 else 0.0  # d I / d log x
        step = (found - p) / slope if slope > 0 else math.inf
        nearer = middle - step
        if not low < nearer < high:
            nearer = (low + high) / 2
        if abs(nearer - middle) <= NEAR * max(abs(middle), 1.0):
            return math.exp(nearer)
        middle = nearer
    return math.exp(middle)


def _log_power(x: float, a: float, b: float) -> float:
    """log of x^a (1-x)^b / B(a, b)."""
    return a * math.log(x) + b * math.log1p(-x) - log_beta(a, b)


def log_beta(a: float, b: float) -> float:
    """log B(a, b). If both are large, Stirling's remainders avoid the lost digits of lgamma.

    >>> round(math.exp(log_beta(2, 3)), 12)
    0.083333333333
    """
    a, b = min(a, b), max(a, b)
    if b < LARGE:
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    whole = a + b
    rest = _stirling(b) - _stirling(whole)
    if a < LARGE:
        return math.lgamma(a) + rest + a - a * math.log(whole) + (b - 0.5) * math.log1p(-a / whole)
    return (
        (a - 0.5) * math.log(a / whole)
        + b * math.log1p(-a / whole)
        - 0.5 * math.log(b)
        + 0.5 * math.log(2 * math.pi)
        + _stirling(a)
        + rest
    )


def _stirling(z: float) -> float:
    """log Gamma(z) - (z - 1/2) log z + z - log(2 pi) / 2, for z of 15 or more."""
    w = 1 / (z * z)
    series = 1 / 156 - w * 3617 / 122400
    for term in (-691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12):
        series = term + w * series
    return series / z


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction by Lentz's method."""
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > TINY else TINY)
    found = d
    for m in range(1, MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d, c = _step(even, d, c)
        found *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d, c = _step(odd, d, c)
        found *= d * c
        if abs(d * c - 1) < CLOSE:
            break
    return found


def _step(term: float, d: float, c: float) -> tuple[float, float]:
    d = 1 + term * d
    c = 1 + term / c
    return 1 / (d if abs(d) > TINY else TINY), (c if abs(c) > TINY else TINY)
