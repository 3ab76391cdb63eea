"""Whether an answer is right, however it is written."""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesbox.errors import BadOption
from bayesbox.teach.answer import check_answer, read_answer

THIRD = Fraction(2, 3)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("2/3", True),
        (" 4 / 6 ", True),
        ("2 in 3", True),
        ("0.67", True),
        (".6667", True),
        ("0.6666", True),  # cut off
        ("66.7%", True),
        ("66 %", True),
        ("6.67e-1", True),
        ("0.7", False),  # right as far as it goes
        ("0.68", False),
        ("0.66667", True),
        ("0.66668", False),
        ("1/3", False),
        ("67", False),
    ],
)
def test_two_thirds(text: str, right: bool) -> None:
    assert bool(check_answer(text, THIRD)) is right


@pytest.mark.parametrize("text", ["", "abc", "1/0", "1,5", "--1", "1/2/3", "%", "1e9999", "9" * 500, "0x10", "nan"])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(BadOption):
        read_answer(text)


def test_few_digits_are_enough_where_they_are_exact() -> None:
    assert check_answer("0.5", Fraction(1, 2))
    assert check_answer("50%", Fraction(1, 2))
    assert check_answer("0", Fraction(0))
    assert check_answer("144", Fraction(144))
    assert not check_answer("0", Fraction(1, 10**6))
    assert "as far as it goes" in str(check_answer("0.0", Fraction(1, 100)))


@given(st.fractions(Fraction(1, 10**6), 1, max_denominator=10**6), st.integers(2, 9))
def test_rounded_and_cut_off_decimals_are_right_and_others_wrong(answer: Fraction, digits: int) -> None:
    exact = Decimal(answer.numerator) / Decimal(answer.denominator)
    for rounding in (ROUND_HALF_EVEN, ROUND_DOWN):
        short = Context(prec=digits, rounding=rounding).plus(exact)
        unit = Decimal(1).scaleb(exact.adjusted() - digits + 1)
        written = f"{short.quantize(unit):f}"
        assert check_answer(written, answer)
        assert not check_answer(f"{short.quantize(unit) + 2 * unit:f}", answer)
        assert not check_answer(f"{short.quantize(unit) - 2 * unit:f}", answer)
