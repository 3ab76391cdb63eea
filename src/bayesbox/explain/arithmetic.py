"""Sums, products and quotients of exact fractions, and of logarithms if they are not exact."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from bayesbox.dist.factor import Logged, Number, log_of


def product_of(numbers: Iterable[Number]) -> Number:
    """The product; a fraction if all factors are.

    >>> product_of([Fraction(1, 2), Fraction(2, 3)]), float(product_of([Fraction(1, 2), Logged(0.0)]))
    (Fraction(1, 3), 0.5)
    """
    listed = list(numbers)
    fractions = [number for number in listed if isinstance(number, Fraction)]
    if len(fractions) == len(listed):
        return math.prod(fractions, start=Fraction(1))
    return Logged(sum(map(log_of, listed)))


def sum_of(numbers: Iterable[Number]) -> Number:
    """The sum; a fraction if all terms are.

    >>> sum_of([Fraction(1, 2), Fraction(1, 3)]), sum_of([])
    (Fraction(5, 6), Fraction(0, 1))
    """
    listed = list(numbers)
    fractions = [number for number in listed if isinstance(number, Fraction)]
    if len(fractions) == len(listed):
        return sum(fractions, Fraction(0))
    logs = [log_of(number) for number in listed]
    most = max(logs)
    return Logged(most) if math.isinf(most) else Logged(most + math.log(math.fsum(math.exp(v - most) for v in logs)))


def quotient(number: Number, by: Number) -> Number:
    """The quotient of two numbers; the second is not 0."""
    if isinstance(number, Fraction) and isinstance(by, Fraction):
        return number / by
    return Logged(log_of(number) - log_of(by))


def difference(number: Number, less: Number) -> Number:
    """The difference of two numbers; the second is not larger."""
    if isinstance(number, Fraction) and isinstance(less, Fraction):
        return number - less
    ratio = math.exp(log_of(less) - log_of(number)) if number else 1.0
    return Logged(log_of(number) + math.log1p(-ratio) if ratio < 1 else -math.inf)
