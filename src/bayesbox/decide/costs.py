"""Cost-sensitive decisions: the class with the lowest expected cost under the posterior.

A cost matrix has the cost of predicting one class when another is true. Unnamed costs are 1 for a wrong and 0 for a
right prediction, so that without costs the most probable class is chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbox.errors import BadOption
from bayesbox.schema.levels import level_text

Doubles = NDArray[np.float64]
Costs = Mapping[tuple[Any, Any], float]
"""Costs by (true class, prediction)."""
WRITTEN = "Write {(true class, answer): cost}"


def cost_matrix(costs: Costs, classes: tuple[str, ...]) -> Doubles:
    """The cost matrix, true classes x predictions.

    >>> cost_matrix({("ill", "well"): 50}, ("ill", "well"))
    array([[ 0., 50.],
           [ 1.,  0.]])
    """
    matrix = 1.0 - np.eye(len(classes))
    if not isinstance(costs, Mapping):
        raise BadOption("costs must be a dict keyed by true class and answer", found=costs, remedy=WRITTEN)
    for pair, cost in costs.items():
        if not (isinstance(pair, tuple) and len(pair) == 2):
            raise BadOption("each key of costs must be a pair of true class and answer", found=pair, remedy=WRITTEN)
        true, answer = pair
        for name in (level_text(true), level_text(answer)):
            if name not in classes:
                known = ", ".join(classes[:12]) + (", ..." if len(classes) > 12 else "")
                raise BadOption("a cost names an unknown class", found=name, remedy=f"The classes are {known}")
        if not (isinstance(cost, Real) and np.isfinite(cost)):
            raise BadOption("a cost must be a number", found=cost)
        matrix[classes.index(level_text(true)), classes.index(level_text(answer))] = cost
    return matrix


def expected_costs(posterior: Doubles, matrix: Doubles) -> Doubles:
    """The expected costs, rows x predictions."""
    found: Doubles = posterior @ matrix
    return found


def cheapest(posterior: Doubles, matrix: Doubles) -> NDArray[np.int64]:
    """The prediction with the lowest expected cost for each row; the first in case of a tie.

    >>> cheapest(np.array([[0.05, 0.95], [0.01, 0.99]]), cost_matrix({("ill", "well"): 50}, ("ill", "well")))
    array([0, 1])
    """
    found: NDArray[np.int64] = expected_costs(posterior, matrix).argmin(axis=1)
    return found
