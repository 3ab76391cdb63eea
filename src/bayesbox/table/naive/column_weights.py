"""A weight for each column of naive Bayes, learned on the log loss (WANBIA: Zaidi, Cerquides, Carman and Webb 2013).

    P(c | x) ~ P(c) times the product over the columns of P(x_j | c)^w_j

Redundant columns share their weight, an irrelevant one gets 0, and if all weights are below 1 the model is less
confident. The terms are those of held-out rows; the loss is convex in the weights.
"""

from __future__ import annotations

import numpy as np

from bayesbox.dist import functions
from bayesbox.stat.calibrate import normalised
from bayesbox.stat.descent import minimum
from bayesbox.table.naive.select import Doubles, Terms

PULL = 1.0  # the precision of the normal prior of each weight around 1
LEAST = 0.01  # a weight below it counts as 0


def learned_weights(terms: Terms, *, steps: int = 200, decrease: float = 1e-9) -> Doubles:
    """The non-negative column weights with the lowest held-out log loss.

    It stops after this many `steps`, or when a step lowers the loss by less than the share `decrease`.
    """
    rows = np.arange(len(terms.codes))
    width = len(terms.columns)
    flat = np.ascontiguousarray(terms.columns.reshape(width, -1))
    true = functions.product(terms.columns[:, rows, terms.codes], terms.weights)

    def loss(roots: Doubles) -> tuple[float, Doubles]:
        weights = roots * roots  # so that no weight is negative
        log_q = normalised(terms.prior + functions.product(weights, flat).reshape(terms.prior.shape))
        off = weights - 1
        value = -functions.dot(terms.weights, log_q[rows, terms.codes]) + 0.5 * PULL * functions.dot(off, off)
        slope = functions.product(flat, (terms.weights[:, None] * functions.exp(log_q)).ravel()) - true + PULL * off
        return value, 2 * roots * slope

    roots = minimum(loss, np.ones(width), steps=steps, decrease=decrease)
    weights: Doubles = roots * roots
    return np.where(weights < LEAST, 0.0, weights)
