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


def log_normal_cell(low: Fraction, high: Fraction, mean: Fraction, deviation: Fraction) -> Decimal:
    """log P(low < x < high) for x ~ N(mean, deviation)."""
    lower, upper = sorted([(low - mean) / deviation, (high - mean) / deviation], key=abs)  # by their distance
    with localcontext(Context(prec=150, Emin=-999_999_999, Emax=999_999_999)):
        near, far = _log_tail(abs(lower)), _log_tail(abs(upper))
        if (lower > 0) == (upper > 0):
            return near + (1 - (far - near).exp()).ln()
        return (1 - near.exp() - far.exp()).ln()


def _log_tail(z: Fraction) -> Decimal:
    """log P(x > z) for x ~ N(0, 1) and z >= 0: by the series around 0, far away by Laplace's continued fraction."""
    x = Decimal(z.numerator) / Decimal(z.denominator)
    log_height = -x * x / 2 - (2 * LONG_PI).ln() / 2
    if x > 10:
        below = x
        for n in range(120, 0, -1):
            below = x + n / below
        return log_height - below.ln()
    term = total = x
    n = 1
    while abs(term) > Decimal(10) ** -140:
        n += 2
        term = term * x * x / n
        total += term
    return (Decimal("0.5") - log_height.exp() * total).ln()


def _pi(digits: int) -> Decimal:
    """Machin: pi = 16 arctan(1/5) - 4 arctan(1/239), in whole numbers."""
    one = 10 ** (digits + 10)

    def arctan(inverse: int) -> int:
        total = term = one // inverse
        n, sign = 1, 1
        while term:
            term //= inverse * inverse
            n, sign = n + 2, -sign
            total += sign * term // n
        return total

    return Decimal(16 * arctan(5) - 4 * arctan(239)).scaleb(-(digits + 10), Context(prec=digits + 20))


LONG_PI = _pi(150)
