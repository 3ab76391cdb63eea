"""The information of an answer about the class, in bits.

A question has answers v with a probability q(v), after each of which the classes have the probabilities P(c | v). The
mutual information of answer and class is the entropy of the mean of P(c | v) minus the mean of their entropies:

    I = H(sum of q(v) P(c | v)) - sum of q(v) H(P(c | v))
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]

BIT = math.log(2)


def entropy_bits(shares: Doubles) -> Doubles:
    """The entropy of each row of probabilities.

    >>> entropy_bits(np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    logs = np.log(np.where(shares > 0, shares, 1.0))
    found: Doubles = -(shares * logs).sum(axis=-1) / BIT
    return np.where(found > 0, found, 0.0)


def shares_of(log_joint: Doubles) -> tuple[Doubles, Doubles]:
    """Log-probabilities, rows x classes, normalised to probabilities, and the log of the sum of each row.

    A row that is impossible in every class has probabilities of 0.

    >>> shares, log_sum = shares_of(np.log(np.array([[0.1, 0.3]])))
    >>> shares.round(3).tolist(), np.exp(log_sum).round(3).tolist()
    ([[0.25, 0.75]], [0.4])
    """
    highest = log_joint.max(axis=1, keepdims=True)
    highest = np.where(np.isfinite(highest), highest, 0.0)
    heights = np.exp(log_joint - highest)
    sums = heights.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        return heights / np.where(sums > 0, sums, 1.0), (np.log(sums) + highest)[:, 0]


def answer_sums(weights: Doubles, shares: Doubles) -> Doubles:
    """q(v) P(c | v) and, last, q(v) H(P(c | v)), answers x (classes + 1), to be summed over all answers."""
    return np.column_stack([weights[:, None] * shares, weights * entropy_bits(shares)])


def information(sums: Doubles) -> float:
    """The mutual information in bits, from such sums over all answers; 0 without answers.

    >>> information(answer_sums(np.array([0.5, 0.5]), np.array([[1.0, 0.0], [0.0, 1.0]])).sum(axis=0))
    1.0
    """
    mass = float(sums[:-1].sum())
    if mass <= 0:
        return 0.0
    return max(float(entropy_bits((sums[:-1] / mass)[None])[0]) - float(sums[-1]) / mass, 0.0)


def word_information(counts: Doubles, prior: Doubles) -> Doubles:
    """The information of each word about the class, in bits: its term in I(class; word drawn from a text).

    `counts` are classes x words; one is added to each count, so that rare words have little information.

    >>> word_information(np.array([[9, 0, 5], [0, 9, 5]]), np.array([0.5, 0.5])).round(3).tolist()
    [0.181, 0.181, 0.0]
    """
    more = np.asarray(counts, dtype=np.float64) + 1
    joint = prior[:, None] * more / more.sum(axis=1, keepdims=True)
    whole = joint.sum(axis=0)
    ratio = joint / (prior[:, None] * np.where(whole > 0, whole, 1.0))
    found: Doubles = (joint * np.log2(np.where(joint > 0, ratio, 1.0))).sum(axis=0)
    return np.maximum(found, 0.0)
