"""The normal density with many digits: exact moments as fractions, the logarithm and the exponential as decimals."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction

CONTEXT = Context(prec=80, Emin=-999_999, Emax=999_999)
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534")


def decimal(value: Fraction) -> Decimal:
    """A fraction as a decimal of eighty digits."""
    return CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


def moments(values: Sequence[Fraction], weights: Sequence[Fraction] | None = None) -> tuple[Fraction, Fraction]:
    """Mean and population variance."""
    weights = weights or [Fraction(1)] * len(values)
    n = sum(weights)
    mean = sum(w * x for w, x in zip(weights, values, strict=True)) / n
    return mean, sum(w * (x - mean) ** 2 for w, x in zip(weights, values, strict=True)) / n


def log_normal(x: Fraction, mean: Fraction, variance: Fraction) -> Decimal:
    """log N(x | mean, variance)."""
    with localcontext(CONTEXT):
        spread = decimal(variance)
        return -(2 * PI * spread).ln() / 2 - decimal((x - mean) ** 2 / variance) / 2


def normal_pdf(x: Fraction, mean: Fraction, variance: Fraction) -> Decimal:
    """N(x | mean, variance)."""
    with localcontext(CONTEXT):
        return log_normal(x, mean, variance).exp()


def softmax(logs: Sequence[Decimal]) -> list[Decimal]:
    """Probabilities from their logarithms up to a constant."""
    with localcontext(CONTEXT):
        best = max(logs)
        weights = [(value - best).exp() for value in logs]
        total = sum(weights)
        return [weight / total for weight in weights]
