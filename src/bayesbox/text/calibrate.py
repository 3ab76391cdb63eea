"""How strongly the words of a document should speak, learned from documents that the model has not seen.

Naive Bayes takes every word as new evidence. Words of one document repeat each other, so the evidence of n words is
worth less than the sum of its parts, and the longer a document, the less each of its words. With s the sum of the
weights, the posterior is P(class) exp(t s / n**a), normalised. t and a are those with the least log loss; for each of a
few a, the loss is convex in t, and its slope is the mean of s / n**a under the posterior less that of the true class.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist.base import Doubles
from bayesbox.text.model import Strength

EXPONENTS = (0.0, 0.25, 0.5, 0.75, 1.0)
WEAKEST, STRONGEST = -14.0, 7.0  # logs of t
HALVINGS = 30


def least_loss(
    sums: Doubles, known: Doubles, log_prior: Doubles, target: NDArray[np.integer]
) -> tuple[float, Strength]:
    """(the least log loss of the classes `target` that a strength gives, this strength).

    `sums` (documents x classes) are the sums of the weights by a model that has not seen the document, `known` the
    numbers of its known words. Documents without a known word, and those that a class makes impossible, say nothing.
    """
    usable = np.isfinite(sums).all(axis=1) & (known > 0) & (target >= 0)
    if not usable.any() or len(log_prior) < 2:
        return math.inf, Strength()
    sums, known, target = sums[usable], known[usable], target[usable]
    sums = sums - sums[np.arange(len(target)), target][:, None]  # of the true class 0, so that its slope is 0
    prior = np.where(np.isneginf(log_prior), -1e3, log_prior)
    prior = prior[None, :] - prior[target][:, None]
    found = [(_fitted(sums / known[:, None] ** exponent, prior), exponent) for exponent in EXPONENTS]
    (loss, strength), exponent = min(found, key=lambda each: each[0][0])
    return loss, Strength(strength, exponent)


def _fitted(sums: Doubles, prior: Doubles) -> tuple[float, float]:
    """(the least loss, its t)."""
    low, high = WEAKEST, STRONGEST
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if _loss_and_slope(sums, prior, math.exp(middle))[1] > 0:
            high = middle
        else:
            low = middle
    strength = math.exp((low + high) / 2)
    return _loss_and_slope(sums, prior, strength)[0], strength


def _loss_and_slope(sums: Doubles, prior: Doubles, strength: float) -> tuple[float, float]:
    joint = prior + strength * sums
    best = joint.max(axis=1, keepdims=True)
    shares = np.exp(joint - best)
    total = shares.sum(axis=1)
    slope = (shares * sums).sum(axis=1) / total
    return float((np.log(total) + best[:, 0]).mean()), float(slope.mean())
