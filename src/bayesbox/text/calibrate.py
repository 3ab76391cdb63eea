"""Calibration of documents: the weight of the words, learned on held-out documents.

Naive Bayes treats every word as independent evidence. The words of a document are redundant, so the evidence of n words
is less than the sum of its parts, and each word counts less in a longer document. With s the sum of the weights, the
posterior is P(class) exp(t s / n**a), normalised. t and a minimise the log loss; for each of a few values of a, the
loss is convex in t, and its slope is the mean of s / n**a under the posterior less that of the true class.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist.base import Doubles
from bayesbox.text.model import Strength

EXPONENTS = (0.0, 0.25, 0.5, 0.75, 1.0)
WEAKEST, STRONGEST = -14.0, 7.0  # logs of t
STEPS, NEAR, CLOSE = 40, 1e-3, 1e-7  # tolerances of log t: for each exponent, and for the best one
DIGITS = 7  # bits of t that are kept, so that rounding of a logarithm does not matter
IMPOSSIBLE = -1e3  # stands for the log of a prior of 0

Codes = NDArray[np.integer]


def least_loss(sums: Doubles, known: Doubles, log_prior: Doubles, target: Codes) -> tuple[float, Strength]:
    """(the lowest log loss of the classes `target`, the strength that gives it).

    `sums` (documents x classes) are the held-out sums of the weights, `known` the numbers of known words. Documents
    without a known word, and those impossible in a class, are ignored.
    """
    usable = speaks(sums, known, target)
    if not usable.any() or len(log_prior) < 2:
        return math.inf, Strength()
    sums, known, target = np.ascontiguousarray(sums[usable]), known[usable], target[usable].astype(np.int32)
    prior = np.maximum(log_prior, IMPOSSIBLE)
    found = []
    start = 0.0
    for exponent in EXPONENTS:
        factors = shrunk(known, exponent)
        loss, start = _fitted(sums, factors, prior, target, start, NEAR)
        found.append((loss, exponent, start))
        start += 0.25 * math.log(float(np.median(known)))  # a good start for the next exponent
    _, exponent, start = min(found)
    loss, log_strength = _fitted(sums, shrunk(known, exponent), prior, target, start, CLOSE)
    return loss, Strength(float(f"{math.exp(log_strength):.{DIGITS}g}"), exponent)


def losses_of(sums: Doubles, known: Doubles, log_prior: Doubles, target: Codes, strength: Strength | None) -> Doubles:
    """The log loss of each document with this strength, or without; 0 for one whose class is impossible."""
    usable = np.isfinite(sums).all(axis=1) & (target >= 0)
    losses = np.zeros(len(target))
    if usable.any():
        own = strength or Strength()
        factors = np.where(known > 0, shrunk(np.maximum(known, 1.0), own.exponent), 0.0)[usable]
        prior = np.maximum(log_prior, IMPOSSIBLE)
        table = np.ascontiguousarray(sums[usable])
        losses[usable] = _core.strength_loss(table, factors, prior, target[usable].astype(np.int32), own.strength)[3]
    return losses


def speaks(sums: Doubles, known: Doubles, target: Codes) -> NDArray[np.bool_]:
    """The documents that can be used to learn a strength."""
    found: NDArray[np.bool_] = np.isfinite(sums).all(axis=1) & (known > 0) & (target >= 0)
    return found


def shrunk(known: Doubles, exponent: float) -> Doubles:
    """1 / n**exponent for one of the exponents, computed with square roots, which round the same on every machine."""
    root = np.sqrt(known)
    powers = {0.0: np.ones_like(known), 0.25: np.sqrt(root), 0.5: root, 0.75: root * np.sqrt(root), 1.0: known}
    return 1.0 / powers[exponent]


def _fitted(
    sums: Doubles, factors: Doubles, prior: Doubles, target: Codes, start: float, close: float
) -> tuple[float, float]:
    """(the lowest loss, the log of its t), by Newton's method in log t with bisection outside the bracket."""
    low, high = WEAKEST, STRONGEST
    at = min(max(start, low + 1.0), high - 1.0)
    loss = math.inf
    for _ in range(STEPS):
        strength = math.exp(at)
        loss, slope, curvature, _ = _core.strength_loss(sums, factors, prior, target, strength)
        slope, curvature = slope * strength, (curvature * strength + slope) * strength  # by log t
        low, high = (low, at) if slope > 0 else (at, high)
        step = at - slope / curvature if curvature > 0 else math.nan
        following = step if low < step < high else (low + high) / 2
        if abs(following - at) < close:
            break
        at = following
    return loss, at
