"""Logarithms and exponentials of the core: near to the exact ones, and the same with and without AVX2."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction

import numpy as np
import pytest

from bayesbox import _core

EXACT = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN)
DRAW = np.random.default_rng(8)
NUMBERS = np.concatenate(
    [
        np.exp(DRAW.uniform(-744, 709, 600)),
        DRAW.uniform(0, 2, 600),
        1 + DRAW.normal(size=300) * 1e-9,
        np.array(
            [5e-324, 2.2250738585072014e-308, 1.0, np.nextafter(1, 0), np.nextafter(1, 2), 1.7976931348623157e308]
        ),
    ]
)
BELOW = np.concatenate([-np.exp(DRAW.uniform(-40, 6.6, 900)), [0.0, -0.0, -708.3, -744.4, -745.0]])


def largest_error(found: np.ndarray, exact: list[Decimal]) -> float:
    """In units of the last place."""
    pairs = zip(found.tolist(), exact, strict=True)
    ulps = [abs(Fraction(value) - Fraction(true)) / Fraction(math.ulp(value)) for value, true in pairs]
    return float(max(ulps))


@pytest.mark.parametrize(("function", "values"), [(_core.logarithms, NUMBERS), (_core.exponentials, BELOW)])
def test_both_paths_have_the_same_bits(function: Callable[[np.ndarray], np.ndarray], values: np.ndarray) -> None:
    fast = function(values)
    for instructions in _core.instruction_sets():  # the widest last, which stay in force
        _core.use_instructions(instructions)
        np.testing.assert_array_equal(function(values), fast)


def test_logarithms_are_right_to_the_last_place() -> None:
    found = _core.logarithms(NUMBERS)
    assert largest_error(found, [EXACT.ln(Decimal(value)) for value in NUMBERS.tolist()]) < 1


def test_exponentials_are_right_to_the_last_place() -> None:
    found = _core.exponentials(BELOW)
    assert largest_error(found, [EXACT.exp(Decimal(value)) for value in BELOW.tolist()]) < 1


def test_what_has_no_logarithm() -> None:
    found = _core.logarithms(np.array([0.0, -0.0, -1.0, math.nan, math.inf]))
    np.testing.assert_array_equal(found, [-math.inf, -math.inf, math.nan, math.nan, math.inf])
    np.testing.assert_array_equal(
        _core.exponentials(np.array([-math.inf, -1e300, math.nan, 1.0])), [0, 0, math.nan, math.nan]
    )
