"""Smoothing by back-off: a thin table leans on the same table with one condition fewer.

    P(x | c, a, b) = (n(c, a, b, x) + m P(x | c, a)) / (n(c, a, b) + m)

and so on down to P(x), which leans on 1/K. This is the predictive probability of a hierarchy of Dirichlet
distributions in which each is drawn around the one above it, with m rows' worth of trust in that one. m is chosen for
each table and each step: of a few values the one under which the rows, each left out of the counts in turn, are most
probable. That is a function of the counts alone, so nothing but counts has to be kept, learned or forgotten.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayesbox.dist.base import Doubles

WEIGHTS = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)


class Step(NamedTuple):
    """One step of the back-off: probabilities over the last axis, and those with the row itself left out."""

    probability: Doubles
    left_out: Doubles
    weight: float


def uniform(shape: tuple[int, ...], size: int) -> Step:
    """1/K for every level: where all back-off ends."""
    even = np.full(shape, 1.0 / max(size, 1))
    return Step(even, even, 0.0)


def expanded(below: Step) -> Step:
    """The same for arrays with one axis more, before the last."""
    return below._replace(
        probability=np.expand_dims(below.probability, -2), left_out=np.expand_dims(below.left_out, -2)
    )


def step(counts: Doubles, lower: Step, weight: float | None = None) -> Step:
    """One condition more: counts over the last axis, and the step below in a shape that fits them.

    `weight` is chosen where it is not given.
    """
    if weight is None:
        weight = chosen_weight(counts, lower.left_out)
    total = counts.sum(axis=-1, keepdims=True)
    probability = (counts + weight * lower.probability) / (total + weight)
    others, other_total = np.maximum(counts - 1, 0), np.maximum(total - 1, 0)
    return Step(probability, (others + weight * lower.left_out) / (other_total + weight), weight)


def chosen_weight(counts: Doubles, lower: Doubles, weights: Sequence[float] = WEIGHTS) -> float:
    """The weight under which each row is most probable given all the others; the last of them where there is no row."""
    seen = counts > 0
    n = counts[seen]
    if not len(n):
        return weights[-1]
    total = np.broadcast_to(counts.sum(axis=-1, keepdims=True), counts.shape)[seen]
    below = np.broadcast_to(lower, counts.shape)[seen]
    others, other_total = np.maximum(n - 1, 0), np.maximum(total - 1, 0)
    gains = [float(n @ np.log((others + weight * below) / (other_total + weight))) for weight in weights]
    return weights[int(np.argmax(gains))]
