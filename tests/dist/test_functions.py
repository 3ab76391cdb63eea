"""Products, roots and sums that every processor rounds alike, beside those of numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesbox.dist import functions


def positive_definite(seed: int, width: int) -> np.ndarray:
    drawn = np.random.default_rng(seed).normal(size=(width + 3, width))
    return drawn.T @ drawn


@given(st.integers(0, 10**6), st.integers(1, 40))
def test_the_root_and_its_inverse_are_those_of_lapack(seed: int, width: int) -> None:
    matrix = positive_definite(seed, width)
    lower = functions.cholesky(matrix)
    assert (np.triu(lower, 1) == 0).all()
    np.testing.assert_allclose(lower @ lower.T, matrix, rtol=1e-12, atol=1e-12 * np.abs(matrix).max())
    np.testing.assert_allclose(lower, np.linalg.cholesky(matrix), rtol=1e-6, atol=1e-9)
    away = functions.lower_inverse(lower) @ lower - np.eye(width)
    assert np.abs(away).max() < 1e-12 * np.linalg.cond(lower)


@pytest.mark.parametrize("matrix", [[[0.0]], [[1.0, 2.0], [2.0, 1.0]], [[np.nan]]])
def test_a_matrix_that_is_not_positive_definite_is_refused(matrix: list[list[float]]) -> None:
    with pytest.raises(np.linalg.LinAlgError):
        functions.cholesky(np.array(matrix))


@given(st.lists(st.lists(st.floats(-700, 700) | st.just(-np.inf), min_size=3, max_size=3), min_size=1, max_size=9))
def test_logs_of_sums(logs: list[list[float]]) -> None:
    given_logs = np.array(logs)
    np.testing.assert_allclose(functions.log_sum_along(logs), np.logaddexp.reduce(given_logs), rtol=1e-13, atol=1e-13)
    across = functions.log_sum_along(logs, axis=1)
    np.testing.assert_allclose(across, np.logaddexp.reduce(given_logs, axis=1), rtol=1e-13, atol=1e-13)
