"""The central interval of a share of which so many rows were counted: quantiles of the beta distribution.

P(X <= x) of Beta(a, b) is the regularised incomplete beta function, by its continued fraction (Abramowitz and Stegun
26.5.8), evaluated from the front (Lentz 1976); quantiles are found by Newton's method.
"""

from __future__ import annotations

import math

STEPS = 1000
PRECISION = 1e-13
TINY = 1e-300


def share_interval(a: float, b: float, probability: float = 0.95) -> tuple[float, float]:
    """Where the share of Beta(a, b) is with this probability, the rest on both sides alike.

    >>> [round(end, 6) for end in share_interval(3, 9)]
    [0.060218, 0.517756]
    >>> share_interval(0, 5)
    (0.0, 0.0)
    """
    if a <= 0 or b <= 0:
        return (0.0, 0.0) if b > 0 else (1.0, 1.0) if a > 0 else (0.0, 1.0)
    tail = (1 - probability) / 2
    return _quantile(a, b, tail), _quantile(a, b, 1 - tail)


def cumulative(x: float, a: float, b: float) -> float:
    """P(X <= x) of Beta(a, b).

    >>> round(cumulative(0.3, 2.0, 5.0), 9)  # 1 - .7**6 - 6 * .3 * .7**5
    0.579825
    """
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    if x < (a + 1) / (a + b + 2):
        return math.exp(log_front) * _fraction(x, a, b) / a
    return 1 - math.exp(log_front) * _fraction(1 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    c, d = 1.0, 1 / _kept(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, STEPS):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 / _kept(1 + step * d), _kept(1 + step / c)
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value


def _kept(value: float) -> float:
    return value if abs(value) > TINY else TINY


def _quantile(a: float, b: float, share: float) -> float:
    """By Newton's steps from the mean, by halves where one would leave what is known to hold it."""
    low, high, x = 0.0, 1.0, a / (a + b)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    for _ in range(STEPS):
        away = cumulative(x, a, b) - share
        low, high = (x, high) if away < 0 else (low, x)
        log_density = log_front + (a - 1) * math.log(x) + (b - 1) * math.log1p(-x)
        step = away / math.exp(log_density) if log_density > -700 else math.inf
        after = x - step if low < x - step < high else (low + high) / 2
        if abs(after - x) <= PRECISION * after or not low < after < high:
            return after
        x = after
    return x
