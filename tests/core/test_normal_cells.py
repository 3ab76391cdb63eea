"""The probability of a cell under a normal density, against many digits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.oracle.exact_normal import LONG_PI, log_normal_cell

from bayesbox import _core


def found(cell: float, mean: float, deviation: float, rest: float = 0.0) -> float:
    return float(_core.log_normal_cells(*(np.array([each]) for each in (cell, mean, rest, deviation)))[0, 0])


def expected(cell: float, mean: float, deviation: float, rest: float = 0.0) -> float:
    k = Fraction(cell)
    edges = k - Fraction(1, 2), k + Fraction(1, 2)
    return float(log_normal_cell(*edges, Fraction(mean) + Fraction(rest), Fraction(deviation)))


def test_the_oracle() -> None:
    assert str(LONG_PI).startswith("3.14159265358979323846264338327950288419716939937510")
    assert expected(0, 0, 0.5) == pytest.approx(np.log(0.682689492137085897), rel=1e-15)  # one deviation
    assert expected(2.5, 0, 1) == pytest.approx(np.log(0.022750131948179207 - 0.0013498980316300946), rel=1e-13)


@pytest.mark.parametrize("deviation", [1 / 6, 0.3, 1.0, 12.5, 3e4, 1e9])
def test_cells_near_and_far(deviation: float) -> None:
    for distance in (0.0, 0.2, 0.49, 0.5, 0.5000001, 0.51, 1.0, 1.7, 3.0, 14.2, 300.0, 1e5, 1e9):
        for cell in (7 + distance, 7 - distance):
            assert found(cell, 7.0, deviation) == pytest.approx(expected(cell, 7.0, deviation), rel=1e-12)


@settings(max_examples=100, deadline=None)
@given(
    st.integers(-(10**7), 10**7).map(float),
    st.floats(-1e7, 1e7),
    st.floats(-15.0, 15.0).map(lambda power: max(2.0**power, 1 / 6)),
)
@example(cell=0.0, mean=-1.0, deviation=1.0)  # where the two forms of the tail meet
@example(cell=1.0, mean=-3.0, deviation=2.0)
def test_any_cell(cell: float, mean: float, deviation: float) -> None:
    assert found(cell, mean, deviation) == pytest.approx(expected(cell, mean, deviation), rel=1e-12)


def test_the_mean_has_two_parts() -> None:
    offset, rest = 2.0**52, 0.3
    assert found(offset + 1, offset, 0.4, rest) == pytest.approx(expected(offset + 1, offset, 0.4, rest), rel=1e-12)


def test_cells_add_up_to_one() -> None:
    cells = np.arange(-2000.0, 2001.0)
    mean, deviation = np.array([0.25, -17.5, 0.5]), np.array([1 / 6, 3.0, 90.0])
    total = np.exp(_core.log_normal_cells(cells, mean, np.zeros(3), deviation)).sum(axis=0)
    np.testing.assert_allclose(total, 1.0, rtol=1e-13)


def test_beyond_all_doubles() -> None:
    assert found(1e200, 0.0, 1.0) == -np.inf
    assert found(np.inf, 0.0, 1.0) == -np.inf
    assert np.isfinite(found(1e150, 0.0, 1.0))


def test_arguments_are_checked() -> None:
    one = np.ones(1)
    with pytest.raises(ValueError, match=r"deviation.*not above zero"):
        _core.log_normal_cells(one, one, one, np.zeros(1))
    with pytest.raises(ValueError, match="length"):
        _core.log_normal_cells(one, np.ones(2), one, one)
