"""Products of matrices with their sums in one order, against exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from bayesbox import _core
from bayesbox.dist.functions import dot, product


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 0, 2), (0, 4, 2), (5, 19, 1), (4, 23, 3), (2, 9, 40), (3, 8, 16)])
def test_each_cell_is_the_sum_of_products(shape: tuple[int, int, int]) -> None:
    rows, inner, columns = shape
    draw = np.random.default_rng(sum(shape))
    a, b = draw.normal(size=(rows, inner)), draw.normal(size=(inner, columns))
    found = product(a, b)
    assert found.shape == (rows, columns)
    for i in range(rows):
        for j in range(columns):
            exact = sum((Fraction(a[i, k]) * Fraction(b[k, j]) for k in range(inner)), Fraction(0))
            size = float(np.abs(a[i] * b[:, j]).sum())
            assert abs(float(exact - Fraction(found[i, j]))) <= inner * np.finfo(float).eps * size
        np.testing.assert_allclose(product(a[i], b), found[i], rtol=1e-14, atol=1e-15)
    if columns == 1 and rows:
        assert dot(a[0], b[:, 0]) == pytest.approx(found[0, 0], rel=1e-13)


def test_matrices_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="other"):
        _core.matrix_product(np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(ValueError, match="one after another"):
        _core.matrix_product(np.ones((4, 3))[::2], np.ones((3, 2)))
