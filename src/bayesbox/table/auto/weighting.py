"""Log-linear pooling of several models: P(c) ~ prod_k P_k(c)^w_k, with w_k >= 0.

The weights minimise the held-out log loss, shrunk towards equal weights with a strength of `pull(rows)` rows, more if
there are few. They also calibrate: weights that sum to less than 1 make a pool less confident.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist import functions
from bayesbox.stat.calibrate import normalised
from bayesbox.stat.descent import minimum

Doubles = NDArray[np.float64]

FEW = 20.0  # rows that count as few: with this many, the class shares start with half of the weight
LEAST = 1e-6  # the lowest probability of a class in a pool


def pull(rows: int) -> float:
    """The strength of the shrinkage to the initial weights, higher for few rows."""
    return 3.0 + 1500.0 / max(rows, 1)


def limited(log_p: Doubles) -> Doubles:
    """Log-probabilities bounded from below, so that no class is impossible."""
    return np.maximum(log_p, functions.log(LEAST))


def pooled(answers: Sequence[Doubles], powers: Doubles) -> Doubles:
    """log P of the pool, rows x classes."""
    total = sum(power * limited(log_p) for power, log_p in zip(powers, answers, strict=True))
    return normalised(np.asarray(total))


def learned_powers(answers: Sequence[Doubles], codes: NDArray[np.int64]) -> Doubles:
    """The weights of models with these predictions for the classes `codes`. The last model is the class shares.

    >>> sure, blind = np.log([[0.9, 0.1]] * 200), np.log([[0.5, 0.5]] * 200)
    >>> powers = learned_powers([sure, blind], np.array([0] * 180 + [1] * 20))
    >>> bool(0.8 < powers[0] < 1.1)
    True
    """
    rows, models = len(codes), len(answers)
    stack = np.stack([limited(log_p) for log_p in answers])
    true = stack[:, np.arange(rows), codes].sum(axis=1)
    trusted = rows / (rows + FEW)
    middle = np.full(models, trusted / max(models - 1, 1))
    middle[-1] = 1 - trusted

    def loss(roots: Doubles) -> tuple[float, Doubles]:
        powers = roots * roots
        log_q = normalised(functions.product(powers, stack.reshape(models, -1)).reshape(stack.shape[1:]))
        off = powers - middle
        value = -float(log_q[np.arange(rows), codes].sum()) + 0.5 * pull(rows) * functions.dot(off, off)
        slope = (functions.exp(log_q)[None] * stack).sum(axis=(1, 2)) - true + pull(rows) * off
        return value, 2 * roots * slope

    roots = minimum(loss, np.sqrt(np.maximum(middle, 1e-3)), steps=200)
    powers: Doubles = roots * roots
    return powers
