"""A weight for each column of naive Bayes, learned on the log loss (WANBIA: Zaidi, Cerquides, Carman and Webb 2013).

    P(c | x) ~ P(c) times the product over the columns of P(x_j | c)^w_j

Columns that say the same share their weight, one that says nothing has 0, and weights below 1 throughout make the model
less sure. The terms are those of held-out rows; the loss is convex in the weights.
"""

from __future__ import annotations

import numpy as np

from bayesbox.dist import functions
from bayesbox.stat.calibrate import normalised
from bayesbox.stat.descent import minimum
from bayesbox.table.naive.select import Doubles, Terms

PULL = 1.0  # of each weight towards 1: a normal prior with this precision
LEAST = 0.01  # a weight below it counts as 0


def learned_weights(terms: Terms, *, steps: int = 200, decrease: float = 1e-9) -> Doubles:
    """The weights of the columns, 0 or more, under which held-out rows have the least log loss.

    It ends after this many `steps`, or where one lowers the loss by less than the share `decrease`.
    """
    rows = np.arange(len(terms.codes))
    width = len(terms.columns)
    flat = np.ascontiguousarray(terms.columns.reshape(width, -1))
    true = functions.product(terms.columns[:, rows, terms.codes], terms.weights)

    def loss(roots: Doubles) -> tuple[float, Doubles]:
        weights = roots * roots  # so that none is below 0
        log_q = normalised(terms.prior + functions.product(weights, flat).reshape(terms.prior.shape))
        off = weights - 1
        value = -functions.dot(terms.weights, log_q[rows, terms.codes]) + 0.5 * PULL * functions.dot(off, off)
        slope = functions.product(flat, (terms.weights[:, None] * functions.exp(log_q)).ravel()) - true + PULL * off
        return value, 2 * roots * slope

    roots = minimum(loss, np.ones(width), steps=steps, decrease=decrease)
    weights: Doubles = roots * roots
    return np.where(weights < LEAST, 0.0, weights)
