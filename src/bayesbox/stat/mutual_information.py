"""How much columns say of the class, and of each other given the class."""

from __future__ import annotations

import numpy as np

from bayesbox.dist.base import Doubles


def mutual_information(counts: Doubles) -> float:
    """I(class; x) in nats, from classes x levels of counts.

    >>> round(mutual_information(np.array([[5.0, 0], [0, 5]])), 6)
    0.693147
    """
    return conditional_mutual_information(counts[None])


def conditional_mutual_information(counts: Doubles) -> float:
    """I(x; y | z) in nats, from an array of counts with the axes z, x, y: the rows that have all three.

    >>> conditional_mutual_information(np.ones((2, 3, 4)))
    0.0
    """
    total = counts.sum()
    if not total:
        return 0.0
    x, y = counts.sum(axis=2, keepdims=True), counts.sum(axis=1, keepdims=True)
    both = x.sum(axis=1, keepdims=True)
    seen = counts > 0
    expected = np.where(seen, x * y, 1.0)
    ratio = np.where(seen, counts * both, 1.0) / expected
    return max(float((counts * np.log(ratio)).sum() / total), 0.0)
