"""Information in tables of counts: entropy, mutual information, and the G test of independence (2n times it)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]


def mutual_information(counts: Doubles) -> float:
    """I(class; x) in nats, from counts of classes x levels.

    >>> round(mutual_information(np.array([[5.0, 0], [0, 5]])), 6)
    0.693147
    """
    return conditional_mutual_information(counts[None])


def conditional_mutual_information(counts: Doubles) -> float:
    """I(x; y | z) in nats, from an array of counts with the axes z, x, y, over the rows that have all three.

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


ROUNDING = 1e-11  # of sums of a few thousand terms: far below what counts can differ by


def ties_united(values: Doubles) -> Doubles:
    """The same numbers, those that differ only by rounding made equal, so that ties are decided by their order.

    >>> ties_united(np.array([0.1 + 0.2, 0.5, 0.3])).tolist()
    [0.3, 0.5, 0.3]
    """
    distinct, place = np.unique(values, return_inverse=True)
    is_new = np.diff(distinct, prepend=-np.inf) > ROUNDING * np.abs(distinct)
    return np.asarray(distinct[is_new][np.cumsum(is_new) - 1][place].reshape(values.shape))


def symmetric_uncertainty(counts: Doubles) -> float:
    """2 I(x; y) / (H(x) + H(y)), from a table of counts; 1 if each determines the other.

    >>> round(symmetric_uncertainty(np.array([[3.0, 0], [0, 5]])), 9)
    1.0
    """
    both = entropy(counts.sum(axis=0)) + entropy(counts.sum(axis=1))
    return 2 * mutual_information(counts) / both if both > 0 else 0.0


def entropy(counts: Doubles) -> float:
    """The entropy in nats.

    >>> round(entropy(np.array([1.0, 1.0])), 6)
    0.693147
    """
    p = counts[counts > 0] / max(counts.sum(), 1e-300)
    return float(-(p * np.log(p)).sum())


def g_test(table: object) -> tuple[float, float]:
    """G and the degrees of freedom of a table of first x second x given; states that do not occur do not count.

    >>> statistic, degrees = g_test(np.array([[[10], [0]], [[0], [10]]]))
    >>> round(statistic, 6), degrees  # 40 log 2
    (27.725887, 1.0)
    """
    counts = np.asarray(table, dtype=np.float64)
    rows, columns, total = counts.sum(axis=1), counts.sum(axis=0), counts.sum(axis=(0, 1))
    statistic = 2 * (_terms(counts) - _terms(rows) - _terms(columns) + _terms(total))
    degrees = np.maximum((rows > 0).sum(axis=0) - 1, 0) * np.maximum((columns > 0).sum(axis=0) - 1, 0)
    return max(statistic, 0.0), float(degrees.sum())


def _terms(counts: Doubles) -> float:
    present = counts[counts > 0]
    return float((present * np.log(present)).sum())
