"""Differences and functions that do not overflow."""

from __future__ import annotations

import math

import numpy as np

from bayesbox.dist.base import Doubles

LOG_ROOT_2_PI = 0.5 * math.log(2 * math.pi)
GREATEST = np.finfo(np.float64).max


def apart(x: float | Doubles, y: float | Doubles) -> Doubles:
    """x - y, clipped to the largest double.

    >>> apart(np.array([1.5e308, 3.0]), np.array([-1.5e308, 1.0])).tolist()
    [1.7976931348623157e+308, 2.0]
    """
    with np.errstate(over="ignore"):
        return np.clip(np.subtract(x, y), -GREATEST, GREATEST)


def normal_quantile(shares: float | Doubles) -> Doubles:
    """The quantiles of the standard normal distribution; -inf for 0 and inf for 1.

    >>> normal_quantile(np.array([0.0, 0.5, 0.975, 1.0])).round(6).tolist()
    [-inf, 0.0, 1.959964, inf]
    """
    from statistics import NormalDist  # slow to import, and training does not need it

    standard = NormalDist()
    found = [
        standard.inv_cdf(each) if 0 < each < 1 else math.copysign(math.inf, each - 0.5) for each in np.ravel(shares)
    ]
    return np.array(found).reshape(np.shape(shares))


def unit_of(low: float, high: float) -> float:
    """A factor that keeps the distances of these values finite."""
    return 0.25 if max(abs(low), abs(high)) > 1e300 else 1.0
