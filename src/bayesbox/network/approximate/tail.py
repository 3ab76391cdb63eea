"""How heavy the tail of importance weights is, which shows whether their standard errors are reliable.

A generalised Pareto distribution is fitted to the largest weights. Its shape k determines which moments the weights
have: the mean of samples has a finite variance for k < 1/2, and converges in practice up to about 0.7; beyond that a
few samples not yet drawn outweigh all others (Vehtari, Simpson, Gelman, Yao and Gabry, "Pareto smoothed importance
sampling", 2024).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

BELIEVED = 0.7  # the largest shape for which errors are reported
FEWEST = 25  # the fewest weights of a tail


def tail_size(samples: int) -> int:
    """The number of largest weights in the tail: a fifth of n, at most 3 sqrt(n).

    >>> tail_size(100), tail_size(1_000_000)
    (20, 3000)
    """
    return int(min(samples / 5, 3 * math.sqrt(samples)))


def tail_shape(log_weights: NDArray[np.float64]) -> float:
    """The shape k of the largest weights, given as ascending logarithms of which the first is the threshold.

    0 if there are too few, or all are equal.
    """
    if len(log_weights) < FEWEST:
        return 0.0
    weights = np.exp(log_weights - log_weights[-1])
    above = weights[1:] - weights[0]
    above = above[above > 0]
    return pareto_shape(above) if len(above) >= FEWEST else 0.0


def pareto_shape(values: NDArray[np.float64]) -> float:
    """The shape of a generalised Pareto distribution of positive values in ascending order.

    Zhang and Stephens (2009): the mean of a profile likelihood over a grid, with a weak prior of 10 values at 1/2.

    >>> uniform = (np.arange(1000) + 0.5) / 1000
    >>> round(pareto_shape(((1 - uniform) ** -1.0 - 1)[np.argsort(uniform)]), 1)
    1.0
    """
    count, quarter = len(values), values[int(len(values) / 4 + 0.5) - 1]
    points = 30 + int(math.sqrt(count))
    grid = 1 / values[-1] + (1 - np.sqrt(points / (np.arange(1, points + 1) - 0.5))) / (3 * quarter)
    shapes = np.log1p(-grid[:, None] * values).mean(axis=1)
    likelihoods = count * (np.log(-grid / shapes) - shapes - 1)
    weights = np.exp(likelihoods - likelihoods.max())
    best = float((weights / weights.sum()) @ grid)
    shape = float(np.log1p(-best * values).mean())
    return (shape * count + 5.0) / (count + 10)
