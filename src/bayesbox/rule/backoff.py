"""Smoothing by back-off: a sparse table is smoothed towards the same table with one condition fewer.

    P(x | c, a, b) = (n(c, a, b, x) + m P(x | c, a)) / (n(c, a, b) + m)

and so on down to P(x), which is smoothed towards 1/K. This is the predictive probability of a hierarchy of Dirichlet
distributions, each with the previous one as its mean and m pseudo-counts. m is unknown: for each table and step, the
result is the average over several m, weighted by the leave-one-out probability of the rows. It depends only on the
counts, so only counts are stored, added and subtracted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayesbox.dist import functions
from bayesbox.dist.base import Doubles

WEIGHTS = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0)


class Trust(NamedTuple):
    """The weight of the previous step: P(m | rows) for several m."""

    weights: tuple[float, ...] = WEIGHTS
    shares: tuple[float, ...] = (0.0,) * (len(WEIGHTS) - 1) + (1.0,)

    def rows(self, total: Any) -> Any:
        """The single m that gives a context of this many rows the average over all m:

            sum of share m / (total + m), over the sum of share / (total + m)

        >>> Trust((2.0, 8.0), (1.0, 0.0)).rows(5.0), Trust((2.0, 8.0), (0.5, 0.5)).rows(0.0)
        (2.0, 3.2)
        """
        over: Any = 0.0
        under: Any = 0.0
        for weight, share in zip(self.weights, self.shares, strict=True):
            if share:
                over = over + share * weight / (total + weight)
                under = under + share / (total + weight)
        return over / under


class BackoffStep(NamedTuple):
    """One back-off step: probabilities over the last axis, and those without the row itself."""

    probability: Doubles
    held_out: Doubles
    trust: Trust


def uniform(shape: tuple[int, ...], size: int) -> BackoffStep:
    """1/K for every level: the last step of the back-off."""
    even = np.full(shape, 1.0 / max(size, 1))
    return BackoffStep(even, even, Trust())


def expanded(below: BackoffStep) -> BackoffStep:
    """The step with an additional axis before the last."""
    return below._replace(
        probability=np.expand_dims(below.probability, -2), held_out=np.expand_dims(below.held_out, -2)
    )


def step(counts: Doubles, lower: BackoffStep) -> BackoffStep:
    """The step with one more condition, from counts over the last axis and the previous step in a matching shape."""
    trust = learned_trust(counts, lower.held_out)
    total = counts.sum(axis=-1, keepdims=True)
    others, other_total = np.maximum(counts - 1, 0), np.maximum(total - 1, 0)
    m, other_m = trust.rows(total), trust.rows(other_total)
    probability = (counts + m * lower.probability) / (total + m)
    return BackoffStep(probability, (others + other_m * lower.held_out) / (other_total + other_m), trust)


def learned_trust(counts: Doubles, lower: Doubles) -> Trust:
    """P(m | rows) from the leave-one-out probability of the rows; the largest m if there are no rows."""
    seen = counts > 0
    n = counts[seen]
    if not len(n):
        return Trust()
    total = np.broadcast_to(counts.sum(axis=-1, keepdims=True), counts.shape)[seen]
    below = np.broadcast_to(lower, counts.shape)[seen]
    others, other_total = np.maximum(n - 1, 0), np.maximum(total - 1, 0)
    gains = np.array(
        [functions.dot(n, functions.log((others + weight * below) / (other_total + weight))) for weight in WEIGHTS]
    )
    shares = functions.exp(gains - gains.max())
    shares[shares < 1e-9 * shares.sum()] = 0.0  # negligible shares cost as much as the others
    return Trust(WEIGHTS, tuple((shares / shares.sum()).tolist()))
