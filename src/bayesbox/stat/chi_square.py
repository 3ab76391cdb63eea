"""The upper tail of the chi-square distribution, for p-values.

P(X > x) with k degrees of freedom is Q(k/2, x/2), the regularised upper incomplete gamma function: 1 minus its power
series if x/2 < k/2 + 1, otherwise its continued fraction (Abramowitz and Stegun 6.5.29 and 6.5.31).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Doubles = NDArray[np.float64]

PRECISION = 1e-16  # a term below this fraction of the sum is negligible
TINY = 1e-300  # replaces a zero denominator


def upper_tail(statistic: ArrayLike, df: ArrayLike) -> Doubles:
    """P(X > statistic) with `df` degrees of freedom, for each pair; 1 if the statistic is 0 or less.

    >>> upper_tail([3.841458820694124, 0.0, 50.0], [1, 3, 2]).round(12)
    array([5.0e-02, 1.0e+00, 1.4e-11])
    """
    x, a = np.broadcast_arrays(np.asarray(statistic, dtype=np.float64) / 2, np.asarray(df, dtype=np.float64) / 2)
    tail = np.ones(x.shape)
    tail[np.isposinf(x)] = 0.0
    inside = (x > 0) & np.isfinite(x)
    low, high = inside & (x < a + 1), inside & (x >= a + 1)
    tail[low] = 1 - _factor(x[low], a[low]) * _series(x[low], a[low])
    tail[high] = _factor(x[high], a[high]) * _fraction(x[high], a[high])
    return np.clip(tail, 0.0, 1.0)


def _factor(x: Doubles, a: Doubles) -> Doubles:
    """x**a exp(-x) / gamma(a)."""
    shapes, place = np.unique(a, return_inverse=True)
    log_gamma = np.array([math.lgamma(shape) for shape in shapes.tolist()])[place] if len(shapes) else a
    with np.errstate(under="ignore"):
        return np.asarray(np.exp(a * np.log(x) - x - log_gamma))


def _series(x: Doubles, a: Doubles) -> Doubles:
    """The sum over n of x**n / (a (a + 1) ... (a + n))."""
    term = 1 / a
    total, n = term.copy(), 0
    while (term > PRECISION * total).any():
        n += 1
        term = term * x / (a + n)
        total += term
    return total


def _fraction(x: Doubles, a: Doubles) -> Doubles:
    """1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ...))), evaluated forwards (Lentz 1976)."""
    b = x + 1 - a
    c, d = np.full_like(x, 1 / TINY), 1 / b
    value, n = d.copy(), 0
    change = np.full_like(x, 2.0)
    while (np.abs(change - 1) > PRECISION * 10).any():
        n += 1
        step = n * (a - n)
        b = b + 2
        d = step * d + b
        c = b + step / c
        d, c = np.where(np.abs(d) < TINY, TINY, d), np.where(np.abs(c) < TINY, TINY, c)
        d = 1 / d
        change = c * d
        value *= change
    return value
