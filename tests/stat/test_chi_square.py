"""The tail of the chi-square distribution against scipy's, and against closed forms."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import chdtrc

from bayesbox.stat.chi_square import upper_tail


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0, 5000), st.one_of(st.integers(1, 60), st.integers(1, 4000))), min_size=1, max_size=30
    )
)
def test_equals_scipy(cases: list[tuple[float, int]]) -> None:
    statistic, df = np.array([x for x, _ in cases]), np.array([k for _, k in cases])
    np.testing.assert_allclose(upper_tail(statistic, df), chdtrc(df, statistic), rtol=1e-9, atol=1e-300)


def test_near_the_middle_of_many_degrees_of_freedom() -> None:
    df = np.array([1e3, 1e4, 1e5, 1e6]).repeat(5)
    statistic = df + np.tile([-3, -1, 0, 1, 3], 4) * np.sqrt(2 * df)
    np.testing.assert_allclose(upper_tail(statistic, df), chdtrc(df, statistic), rtol=1e-7)


def test_two_degrees_of_freedom_are_an_exponential() -> None:
    for x in (1e-300, 1e-9, 0.5, 1.0, 2.0, 3.999, 4.0, 100.0, 1400.0):
        assert math.isclose(float(upper_tail(x, 2)), math.exp(-x / 2), rel_tol=1e-12)


def test_edges() -> None:
    assert upper_tail([0.0, -1.0, math.inf, 1e6], [1, 2, 3, 1]).tolist() == [1.0, 1.0, 0.0, 0.0]
    assert upper_tail([], []).tolist() == []
    assert upper_tail(3.0, 1).shape == ()
