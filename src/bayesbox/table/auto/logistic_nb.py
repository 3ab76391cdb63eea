"""Naive Bayes with terms fitted by log loss: log P(c | x) = b_c + the sum over the columns of f_jc(x_j).

Naive Bayes itself has this form, with f_jc(x) = log P(x_j | c). Here the f are free: any value for each level of a
category, a piecewise linear function for a number. So redundant columns share their weight, where naive Bayes counts
them twice. A normal prior shrinks every parameter towards 0; its precision is chosen by held-out log loss.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist import functions
from bayesbox.stat.calibrate import normalised
from bayesbox.stat.descent import minimum
from bayesbox.table.auto.features import View

Doubles = NDArray[np.float64]
Labels = NDArray[np.int64]

PRECISIONS = (10.0, 1.0)  # precisions of the prior, the highest first; each fit starts from the one before
FREE = 1e-3  # the precision of the offsets
STEPS = 60


@dataclass(frozen=True)
class LogisticNaiveBayes:
    """The weights, features x classes, with the offsets last."""

    weights: Doubles

    def log_p(self, view: View) -> Doubles:
        return normalised(functions.product(view.features, self.weights[:-1]) + self.weights[-1])

    def terms(self, view: View) -> Doubles:
        """Rows x classes x columns: what each column adds."""
        found, start = [], 0
        for axis in view.design.axes:
            part = slice(start, start + axis.width)
            found.append(functions.product(view.features[:, part], self.weights[part]))
            start += axis.width
        return np.stack(found, axis=2)


def learn_logistic(
    view: View, codes: Labels, classes: int, precision: float, start: LogisticNaiveBayes | None = None
) -> LogisticNaiveBayes:
    """The maximum a posteriori weights under the prior of this precision."""
    features = np.concatenate([view.features, np.ones((view.rows, 1))], axis=1)
    rows, width = features.shape
    pull = np.full((width, 1), precision)
    pull[-1] = FREE
    first = np.zeros(width * classes) if start is None else start.weights.ravel()
    places = np.arange(rows)
    across = np.ascontiguousarray(features.T)

    def loss(flat: Doubles) -> tuple[float, Doubles]:
        weights = flat.reshape(width, classes)
        log_q = normalised(functions.product(features, weights))
        wrong = functions.exp(log_q)
        wrong[places, codes] -= 1
        value = -float(log_q[places, codes].sum()) + 0.5 * float((pull * weights * weights).sum())
        return value, (functions.product(across, wrong) + pull * weights).ravel()

    return LogisticNaiveBayes(minimum(loss, first, steps=STEPS, decrease=1e-5).reshape(width, classes))
