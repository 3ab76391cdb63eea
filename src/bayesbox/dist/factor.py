"""One factor of a case as calculated by hand: a count over a count with the pseudo-counts of its rule, or a density."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bayesbox.dist.cells import Smoothing
from bayesbox.dist.dirichlet import SharePosterior


@dataclass(frozen=True)
class Logged:
    """A number given by its natural logarithm, so that it cannot underflow; +inf means a point mass was hit.

    >>> float(Logged(-2.0)), Logged(-2000.0).text()
    (0.1353352832366127, '2.576536e-869')
    """

    log: float

    def __float__(self) -> float:
        return math.inf if self.log > MOST_LOG else math.exp(self.log)

    def __bool__(self) -> bool:
        return self.log > -math.inf

    def text(self, digits: int = 7) -> str:
        """The number to this many digits, of any magnitude."""
        if math.isinf(self.log) or abs(self.log) < MOST_LOG - 10:
            return f"{float(self):.{digits}g}"
        exponent = math.floor(self.log / math.log(10))
        mantissa = f"{10 ** (self.log / math.log(10) - exponent):.{digits - 1}f}".rstrip("0").rstrip(".")
        return f"1e{exponent + 1}" if mantissa == "10" else f"{mantissa}e{exponent}"


Number = Fraction | Logged

MOST_LOG = 709.0  # with a finite exponential


@dataclass(frozen=True)
class Factor:
    """One row of the Bayes box: a name such as P(size=M | class), and for each class the formula and its value."""

    name: str
    formulas: tuple[str, ...]
    values: tuple[Number, ...]
    posteriors: tuple[SharePosterior, ...] = ()
    """The posterior of each probability, if it was counted."""
    exponent: float = 1.0
    """The exponent of the probabilities of `posteriors`."""

    def power(self, weight: float) -> Factor:
        """The factor raised to the weight of its column."""
        if weight == 1:
            return self
        shown = [text or decimal(float(value)) for text, value in zip(self.formulas, self.values, strict=True)]
        values = tuple(Logged(weight * log_of(value) if value else -math.inf) for value in self.values)
        formulas = tuple(f"({text})^{weight:.4g}" for text in shown)
        return Factor(f"{self.name}^{weight:.4g}", formulas, values, self.posteriors, self.exponent * weight)


def product_of_words(column: str, log_p: Sequence[float]) -> Factor:
    """The combined factor of words that are too many to show individually."""
    values = tuple(Logged(float(term)) for term in log_p)
    return Factor(f"P({column} | class)", ("product over its words",) * len(values), values)


@dataclass(frozen=True)
class NoFactor:
    """A column without a row in the Bayes box, and the reason; missing by default.

    >>> str(NoFactor("age")), str(NoFactor("car", "bike was never seen"))
    ('age, since it is missing', 'car, since bike was never seen')
    """

    column: str
    why: str = ""

    @property
    def is_missing(self) -> bool:
        """Whether its value is missing."""
        return not self.why

    def __str__(self) -> str:
        return f"{self.column}, since {self.why or 'it is missing'}"


def decimal(value: float) -> str:
    """A number in few digits if these are exact, else in ten."""
    return f"{value:.6g}" if abs(value) < 1e15 and float(f"{value:.6g}") == value else f"{value:.10g}"


def log_of(value: Number) -> float:
    """The natural logarithm; -inf for 0."""
    if not value:
        return -math.inf
    return math.log(value.numerator) - math.log(value.denominator) if isinstance(value, Fraction) else value.log


def given_value(p: float) -> tuple[str, Number]:
    """A given probability as text and value: a fraction if it equals one up to the last bit.

    >>> given_value(0.25), given_value(1 / 3)
    (('0.25', Fraction(1, 4)), ('', Fraction(1, 3)))
    """
    value = Fraction(p).limit_denominator(1_000_000)
    if abs(float(value) - p) > 1e-15 * p:
        return decimal(p), Logged(math.log(p) if p else -math.inf)
    return (decimal(p) if Fraction(decimal(p)) == value else ""), value


def observed(log_p: float) -> str:
    """The factor of having a value, if missing is a level."""
    return f" * {decimal(round(math.exp(log_p), 6))}" if log_p else ""


def formula(count: Any, total: Any, over: Any, under: Any, rule: Smoothing) -> str:
    """A ratio as the rule computes it from a count and a total: with pseudo-counts, or the replaced values."""
    count, total, over, under = Fraction(count), Fraction(total), Fraction(over), Fraction(under)
    if (over, under) == (count, total):
        return f"{_plain(count)}/{_plain(total)}"
    if rule.replaces or (total == 0 and not rule.weight):
        return f"{_plain(over)}/{_plain(under)} instead of {_plain(count)}/{_plain(total)}"
    return f"({_plain(count)} + {_plain(over - count)})/({_plain(total)} + {_plain(under - total)})"


def divided(over: Any, under: Any) -> Fraction:
    """A ratio as a fraction."""
    return Fraction(over) / Fraction(under)


def _plain(value: Fraction) -> str:
    """A fraction as text: an integer, a short decimal, or a fraction in brackets."""
    if value.denominator == 1:
        return str(value.numerator)
    short = decimal(float(value))
    return short if Fraction(short) == value else f"({value})"
