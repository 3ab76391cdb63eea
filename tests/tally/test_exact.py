"""Dyadic numbers and the two roundings."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle.test_exact_moments import assert_root, rounded

from bayesbox.tally.exact import ZERO, Dyadic, rounded_ratio, rounded_root

MOST, EXPONENTS = 2**80, st.integers(-1100, 1100)
DYADICS = st.builds(Dyadic, st.integers(-MOST, MOST), EXPONENTS)
NOT_NEGATIVE = st.builds(Dyadic, st.integers(0, MOST), EXPONENTS)
POSITIVE = st.builds(Dyadic, st.integers(1, MOST), EXPONENTS)
cases = settings(max_examples=300)


@given(one=DYADICS, other=DYADICS)
@cases
def test_arithmetic(one, other):
    assert (one + other).fraction == one.fraction + other.fraction
    assert (one - other).fraction == one.fraction - other.fraction
    assert (one * other).fraction == one.fraction * other.fraction
    assert (one + ZERO).fraction == one.fraction


@given(value=st.floats(allow_nan=False, allow_infinity=False))
@cases
def test_a_double_is_a_dyadic(value):
    assert Dyadic.of(value).fraction == Fraction(value)


@given(over=DYADICS, under=POSITIVE | POSITIVE.map(lambda one: ZERO - one))
@cases
def test_ratio_is_rounded_once(over, under):
    assert rounded_ratio(over, under) == rounded(over.fraction / under.fraction)


@given(over=NOT_NEGATIVE, under=POSITIVE)
@cases
def test_root_is_rounded_once(over, under):
    found = rounded_root(over, under)
    if math.isinf(found):
        assert over.fraction / under.fraction > Fraction(1.7976931348623157e308) ** 2
    else:
        assert_root(found, over.fraction / under.fraction)


@given(value=st.floats(0, 1e300))
@cases
def test_root_of_a_square_is_itself(value):
    square = Dyadic.of(value) * Dyadic.of(value)
    assert rounded_root(square, Dyadic(1, 0)) == value


@pytest.mark.parametrize(
    ("over", "expected"), [(Dyadic(1, 2000), math.inf), (Dyadic(-1, 2000), -math.inf), (Dyadic(1, -2000), 0.0)]
)
def test_beyond_the_range(over, expected):
    assert rounded_ratio(over, Dyadic(1, 0)) == expected


def test_ties_go_to_even():
    assert rounded_ratio(Dyadic(2**53 + 1, 0), Dyadic(1, 0)) == 2.0**53
    assert rounded_ratio(Dyadic(2**53 + 3, 0), Dyadic(1, 0)) == 2.0**53 + 4


@pytest.mark.parametrize("shift", [0, 2, -40, 600])
def test_root_next_to_a_tie(shift):
    """The root of the square of a half-way point is a tie; the least that is added to the square decides it."""
    half = Dyadic(2**53 + 1, shift - 1)  # half-way between 2**52 and 2**52 + 1, shifted
    square, least, one = half * half, Dyadic(1, 2 * shift - 300), Dyadic(1, 0)
    low, high = math.ldexp(2.0**52, shift), math.ldexp(2.0**52 + 1, shift)
    assert rounded_root(square, one) == low
    assert rounded_root(square - least, one) == low
    assert rounded_root(square + least, one) == high
    odd = Dyadic(2**53 + 3, shift - 1)
    assert rounded_root(odd * odd, one) == rounded_root(odd * odd + least, one) == math.ldexp(2.0**52 + 2, shift)
    assert rounded_root(odd * odd - least, one) == high
