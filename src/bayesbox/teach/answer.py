"""Checking a student's answer: a fraction, a rounded decimal, or a percentage."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from bayesbox.errors import BadOption
from bayesbox.explain.steps import Cell

FEWEST_DIGITS = 2  # significant digits of a decimal that is not exact
WHOLE = r"[0-9]{1,40}"
FRACTION = re.compile(rf"([+-]?{WHOLE}) */ *({WHOLE})")
ONE_IN = re.compile(rf"({WHOLE}) +in +({WHOLE})")
DECIMAL = re.compile(rf"[+-]?(?:{WHOLE}(?:\.[0-9]{{0,40}})?|\.[0-9]{{1,40}})(?:[eE][+-]?[0-9]{{1,3}})?")

Slip = tuple[str, Fraction]
"""The name of a common mistake, and its number."""


@dataclass(frozen=True)
class GivenAnswer:
    """A number as written: exact, or to the last digit, which is worth `unit`."""

    value: Fraction
    unit: Fraction | None = None
    digits: int = 0

    def agrees_with(self, answer: Fraction) -> bool:
        """Whether it is the answer, rounded or truncated at its last digit."""
        if self.unit is None:
            return self.value == answer
        cut = abs(answer) // self.unit * self.unit
        return abs(self.value - answer) * 2 <= self.unit or (self.value == (cut if answer >= 0 else -cut))


@dataclass(frozen=True)
class CheckedAnswer:
    """Whether an answer is right, as a truth value, and a sentence about it."""

    is_right: bool
    message: str

    def __bool__(self) -> bool:
        return self.is_right

    def __str__(self) -> str:
        return self.message


def read_answer(text: str) -> GivenAnswer:
    """The number in a student's text.

    >>> read_answer("9/64").value, read_answer("1 in 8").value, read_answer("14%")
    (Fraction(9, 64), Fraction(1, 8), GivenAnswer(value=Fraction(7, 50), unit=Fraction(1, 100), digits=2))
    """
    bare = text.strip()
    if found := FRACTION.fullmatch(bare) or ONE_IN.fullmatch(bare):
        if int(found[2]):
            return GivenAnswer(Fraction(int(found[1]), int(found[2])))
    elif DECIMAL.fullmatch(number := bare.removesuffix("%").rstrip()):
        by = 100 if bare.endswith("%") else 1
        mantissa, _, exponent = number.lower().partition("e")
        places = len(mantissa.partition(".")[2]) - int(exponent or 0)
        digits = len(re.sub("[^0-9]", "", mantissa).lstrip("0"))
        return GivenAnswer(Fraction(number) / by, Fraction(10) ** -places / by, digits)
    raise BadOption("an answer is a fraction, a decimal or a percentage: 9/64, 0.1406 or 14.06%", found=text)


def check_answer(text: str, answer: Fraction, slips: Sequence[Slip] = ()) -> CheckedAnswer:
    """Whether the text is the answer; if it is a common mistake, its name.

    >>> print(check_answer("0.141", Fraction(9, 64)))
    right: 9/64 = 0.140625
    >>> print(check_answer("55/64", Fraction(9, 64), [("of the other class", Fraction(55, 64))]))
    wrong: that is of the other class
    """
    given = read_answer(text)
    if given.agrees_with(answer):
        if given.unit is None or given.value == answer or given.digits >= FEWEST_DIGITS:
            return CheckedAnswer(True, f"right: {Cell(value=answer)}")
        return CheckedAnswer(
            False, f"right as far as it goes: give a fraction, or at least {FEWEST_DIGITS} significant digits"
        )
    for name, value in slips:
        if given.agrees_with(value) and (given.unit is None or given.digits >= FEWEST_DIGITS):
            return CheckedAnswer(False, f"wrong: that is {name}")
    return CheckedAnswer(False, "wrong: it is too large" if given.value > answer else "wrong: it is too small")
