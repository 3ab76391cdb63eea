"""Products of very many factors: in double precision they underflow to 0.0, as sums of logarithms they do not.

No double lies between 0 and about 4.9e-324. Bayes' rule only needs the ratio of the joints, so the largest log is
subtracted from all before exponentiation: log-sum-exp.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

from bayesbox.dist.factor import Factor, log_of
from bayesbox.explain.steps import Cell, Row, Step, line

LEAST = sys.float_info.min  # below it a double loses digits, and finally is 0
NAME = "underflow"


def underflow_steps(classes: tuple[str, ...], factors: Sequence[Factor]) -> tuple[Step, ...]:
    """The steps from an underflowing product to log-sum-exp; empty if nothing underflows.

    >>> from fractions import Fraction
    >>> rare = Factor("P(x | class)", ("", ""), (Fraction(1, 10**200), Fraction(1, 10**201)))
    >>> for step in underflow_steps(("no", "yes"), [rare, rare]):
    ...     print(*step.rows, sep="\\n")
    the product of the factors is too small for double precision, so their logarithms are added
    product in double precision = 0.0 = 0.0
    sum of logs: log P(class, x) = -921.034 = -925.6392
    minus the largest = 0 = -4.60517
    exponential = 1 = 0.01
    """
    if not _underflows(len(classes), factors):
        return ()
    products = [math.prod(float(factor.values[place]) for factor in factors) for place in range(len(classes))]
    logs = log_joints(len(classes), factors)
    largest = max(logs)
    below = [value - largest for value in logs]
    rows = (
        Row("product in double precision", tuple(Cell(repr(value)) for value in products)),
        Row("sum of logs: log P(class, x)", tuple(Cell(value=value) for value in logs)),
        Row("minus the largest", tuple(Cell(value=value) for value in below)),
        Row("exponential", tuple(Cell(value=math.exp(value)) for value in below)),
    )
    why = "the product of the factors is too small for double precision, so their logarithms are added"
    return Step(NAME, (line(why),)), Step(NAME, rows, classes)


def log_joints(classes: int, factors: Sequence[Factor]) -> list[float]:
    """log P(class, x) of each class: the sum of the logs of its factors."""
    listed = [[log_of(factor.values[place]) for factor in factors] for place in range(classes)]
    return [-math.inf if -math.inf in logs else math.fsum(logs) for logs in listed]


def _underflows(classes: int, factors: Sequence[Factor]) -> bool:
    """Whether a product in double precision loses a possible class; False if a point mass was hit."""
    values = [[factor.values[place] for factor in factors] for place in range(classes)]
    if any(log_of(value) == math.inf for each in values for value in each):
        return False
    return any(all(each) and math.prod(map(float, each)) < LEAST for each in values)
