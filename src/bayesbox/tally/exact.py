"""Dyadic numbers m * 2**e as pairs of Python integers, and the two roundings that end every exact computation.

A sum in a tally is a `Dyadic`; a mean, a variance or a std is a ratio of two of them, or the root of such a ratio,
rounded once, to nearest with ties to even.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple


class Dyadic(NamedTuple):
    """The number m * 2**e.

    >>> Dyadic(3, -1) * Dyadic(2, 0) - Dyadic(1, 0)
    Dyadic(m=4, e=-1)
    """

    m: int
    e: int

    def __mul__(self, other: Dyadic) -> Dyadic:  # type: ignore[override]
        return Dyadic(self.m * other.m, self.e + other.e)

    def __add__(self, other: Dyadic) -> Dyadic:  # type: ignore[override]
        low = min(self.e, other.e)
        return Dyadic((self.m << (self.e - low)) + (other.m << (other.e - low)), low)

    def __sub__(self, other: Dyadic) -> Dyadic:
        return self + Dyadic(-other.m, other.e)

    @property
    def fraction(self) -> Fraction:
        """The number as a fraction."""
        return Fraction(self.m << self.e) if self.e >= 0 else Fraction(self.m, 1 << -self.e)

    @classmethod
    def of(cls, value: float) -> Dyadic:
        """The exact value of a finite float."""
        numerator, denominator = value.as_integer_ratio()
        return cls(numerator, 1 - denominator.bit_length())


ZERO = Dyadic(0, 0)


def rounded_ratio(over: Dyadic, under: Dyadic) -> float:
    """over / under, rounded once; +-inf beyond the range of doubles.

    >>> rounded_ratio(Dyadic(1, 0), Dyadic(3, 0)) == 1 / 3
    True
    """
    shift = over.e - under.e
    numerator, denominator = over.m, under.m
    if shift >= 0:
        numerator <<= shift
    else:
        denominator <<= -shift
    try:
        return numerator / denominator  # Python divides integers with correct rounding
    except OverflowError:
        return math.inf if (numerator < 0) == (denominator < 0) else -math.inf


ROOT_BITS = 70  # of an integer root: more than the 53 of a double, so that a sticky bit resolves every tie


def rounded_root(over: Dyadic, under: Dyadic) -> float:
    """The square root of over / under (both at least zero), rounded once.

    >>> rounded_root(Dyadic(2, 0), Dyadic(1, 0)) == 2 ** 0.5
    True
    """
    if over.m == 0:
        return 0.0
    exponent = over.e - under.e
    shift = max(0, 2 * ROOT_BITS - over.m.bit_length() + under.m.bit_length())
    shift += (exponent - shift) & 1  # keeps the exponent even under the root
    quotient, remainder = divmod(over.m << shift, under.m)
    root = math.isqrt(quotient)
    sticky = 1 if remainder or root * root != quotient else 0
    return rounded_ratio(Dyadic(2 * root + sticky, (exponent - shift) // 2 - 1), Dyadic(1, 0))
