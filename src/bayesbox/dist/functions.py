"""exp, log and related functions from the core, with bit-identical results on every processor.

Those of numpy and of the C library differ in the last digit, depending on the processor's instructions.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesbox import _core

Doubles = NDArray[np.float64]


def _each(function: Callable[[Doubles], Doubles], values: ArrayLike) -> Doubles:
    given = np.asarray(values, dtype=np.float64)
    found: Doubles = function(np.ascontiguousarray(given).ravel()).reshape(given.shape)[()]
    return found


def exp(values: ArrayLike) -> Doubles:
    """e to the power of each number; inf on overflow, without a warning.

    >>> exp([[0.0, 1.0], [-np.inf, 1000.0]])
    array([[1.        , 2.71828183],
           [0.        ,        inf]])
    """
    return _each(_core.exp, values)


def log(values: ArrayLike) -> Doubles:
    """The natural logarithm; -inf for zero, without a warning.

    >>> log([1.0, 0.5, 0.0])
    array([ 0.        , -0.69314718,        -inf])
    """
    return _each(_core.logarithms, values)


def log1p(values: ArrayLike) -> Doubles:
    """log(1 + x), accurate for small x.

    >>> log1p([1e-20, 1.0]).tolist()
    [1e-20, 0.6931471805599453]
    """
    return _each(_core.log1p, values)


def log_gamma(values: ArrayLike) -> Doubles:
    """The log of the gamma function for positive numbers.

    >>> log_gamma(np.array([1.0, 2, 1, 2])).tolist()
    [0.0, 0.0, 0.0, 0.0]
    """
    return _each(_core.lgamma, values)


def log_sum(first: ArrayLike, second: ArrayLike) -> Doubles:
    """log(exp(a) + exp(b)), without overflow.

    >>> log_sum([-1000.0, -np.inf], [-1000.0, -np.inf])
    array([-999.30685282,          -inf])
    """
    a, b = np.broadcast_arrays(np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64))
    top = np.maximum(a, b)
    with np.errstate(invalid="ignore"):
        rest = log1p(exp(-np.abs(a - b)))
    found: Doubles = np.where(np.isinf(top), top, top + rest)
    return found


def log_sum_along(logs: ArrayLike, axis: int = 0) -> Doubles:
    """The log of the sum of exp along one axis; -inf where there is nothing else.

    >>> log_sum_along([[-1000.0, -np.inf], [-1000.0, -np.inf]])
    array([-999.30685282,          -inf])
    """
    given = np.asarray(logs, dtype=np.float64)
    top = given.max(axis=axis, keepdims=True)
    base = np.where(np.isinf(top), 0.0, top)
    found: Doubles = log(exp(given - base).sum(axis=axis)) + base.squeeze(axis)
    return found


def dot(one: Doubles, other: Doubles) -> float:
    """The dot product, summed in a fixed order; that of BLAS depends on the processor.

    >>> dot(np.array([1.0, 2.0]), np.array([3.0, 0.5]))
    4.0
    """
    return float((one * other).sum())


def product(one: Doubles, other: Doubles) -> Doubles:
    """The product of matrices, or of a matrix and a vector, summed in a fixed order.

    >>> product(np.eye(2) * 3, np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[3.0, 6.0], [9.0, 12.0]]
    >>> product(np.array([1.0, 2.0]), np.eye(2)).tolist(), product(np.eye(2), np.array([1.0, 2.0])).tolist()
    ([1.0, 2.0], [1.0, 2.0])
    """
    a = np.ascontiguousarray(one if one.ndim == 2 else one[None, :], dtype=np.float64)
    b = np.ascontiguousarray(other if other.ndim == 2 else other[:, None], dtype=np.float64)
    shape = (*one.shape[:-1], *other.shape[1:])
    found: Doubles = _core.matrix_product(a, b).reshape(shape)
    return found


def cholesky(matrix: Doubles) -> Doubles:
    """The lower root of a positive definite matrix, with its sums in one order.

    >>> cholesky(np.array([[4.0, 2.0], [2.0, 5.0]])).tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """
    lower: Doubles = np.zeros(matrix.shape)
    for column in range(len(matrix)):
        rest = matrix[column:, column] - product(lower[column:, :column], lower[column, :column])
        if not rest[0] > 0:
            raise np.linalg.LinAlgError("the matrix is not positive definite")
        root = math.sqrt(rest[0])
        lower[column:, column] = rest / root
        lower[column, column] = root
    return lower


def lower_inverse(lower: Doubles) -> Doubles:
    """The inverse of a lower triangular matrix, by forward substitution.

    >>> lower_inverse(np.array([[2.0, 0.0], [1.0, 2.0]])).tolist()
    [[0.5, 0.0], [-0.25, 0.5]]
    """
    inverse = np.zeros_like(lower)
    for row in range(len(lower)):
        inverse[row] -= product(lower[row, :row], inverse[:row])
        inverse[row, row] += 1.0
        inverse[row] /= lower[row, row]
    return inverse
