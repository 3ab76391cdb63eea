"""Where a naive Bayes decision is linear: the weights of a hyperplane."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayesbox.errors import BadOption, NotLinear
from bayesbox.schema.levels import level_text
from bayesbox.table.naive.classifier import NaiveClassifier


class LinearWeights(NamedTuple):
    """The second class is the more probable one where sum_i w_i x_i + a > 0.

    x_i is 1 for true, for the second of two levels, or the count; a column that is left out has the weight 0.
    """

    w: np.ndarray
    a: float


def linear_weights(classifier: NaiveClassifier, positive: Any = None) -> LinearWeights:
    """The weights and the constant, with t = P(x_i = 1 | class) and p = P(class):

    w_i = log[t1 (1 - t0)] - log[t0 (1 - t1)]        a = sum_i log[(1 - t1)/(1 - t0)] + log[p1/p0]
    """
    model = classifier.model
    if len(model.classes) != 2:
        raise NotLinear(f"the decision among {len(model.classes)} classes is no single hyperplane; two are needed")
    one = 1 if positive is None else _position(model.classes, positive)
    zero = 1 - one
    constant = model.log_prior[one] - model.log_prior[zero]
    assert classifier.schema is not None
    weights = {name: [0.0] for name in classifier.schema.used}
    for conditional in model.conditionals:
        power = model.weight_of(conditional)
        found = conditional.linear(one, zero)
        weights |= {name: [power * slope for slope in slopes] for name, slopes in found.weights.items()}
        constant += power * found.constant
    w = np.array([weight for column in weights.values() for weight in column])
    if not (np.isfinite(w).all() and np.isfinite(constant)):
        raise NotLinear("a probability of 0 makes a weight infinite", remedy="Use a rule that smooths, such as laplace")
    return LinearWeights(w, float(constant))


def _position(classes: tuple[str, ...], label: Any) -> int:
    text = level_text(label)
    if text not in classes:
        raise BadOption(f"the classes are {', '.join(classes)}", found=label)
    return classes.index(text)
