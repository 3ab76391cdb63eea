"""The Bayes box of one case: a factor in each row, a class in each column; the joint, the posterior and the odds below.

Where every factor is a ratio of counts, the joint, the posterior and the odds are exact fractions; a density makes
them decimals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bayesbox.errors import ImpossibleEvidence

Number = Fraction | float

DIGITS = 12  # of numerator and denominator: longer fractions are shown as decimals
IS_MISSING = ", since it is missing"  # behind the name of a column that is left out


@dataclass(frozen=True)
class Factor:
    """One row of the box: a name such as P(size=M | class), and for each class the formula and its value."""

    name: str
    formulas: tuple[str, ...]
    values: tuple[Number, ...]

    def power(self, weight: float) -> Factor:
        """The factor raised to the weight of its column."""
        if weight == 1:
            return self
        shown = [text or decimal(float(value)) for text, value in zip(self.formulas, self.values, strict=True)]
        values = tuple(exp(weight * _log(value)) if value else 0.0 for value in self.values)
        return Factor(f"{self.name}^{weight:.4g}", tuple(f"({text})^{weight:.4g}" for text in shown), values)


@dataclass(frozen=True)
class Work:
    """The Bayes box of one case."""

    classes: tuple[str, ...]
    factors: tuple[Factor, ...]
    left_out: tuple[str, ...]

    @property
    def joint(self) -> tuple[Number, ...]:
        """P(class, x): the product of each column of the box."""
        return tuple(
            math.prod((factor.values[index] for factor in self.factors), start=Fraction(1)) for index in self._range
        )

    @property
    def _range(self) -> range:
        return range(len(self.classes))

    @property
    def exact(self) -> bool:
        """Whether every factor is a fraction."""
        return all(isinstance(value, Fraction) for value in self.joint)

    @property
    def posterior(self) -> tuple[Number, ...]:
        """P(class | x): each joint over their sum."""
        joint = self.joint
        if self.exact:
            total = sum(joint)
            if total == 0:
                raise ImpossibleEvidence("every class has the joint probability 0")
            return tuple(value / total for value in joint)
        logs = [self._log_joint(index) for index in self._range]
        if math.inf in logs:
            shares = [1.0 if value == math.inf else 0.0 for value in logs]
        else:
            best = max(logs)
            if best == -math.inf:
                raise ImpossibleEvidence("every class has the joint probability 0")
            shares = [math.exp(value - best) for value in logs]
        return tuple(share / math.fsum(shares) for share in shares)

    def _log_joint(self, index: int) -> float:
        values = [factor.values[index] for factor in self.factors]
        return -math.inf if 0 in values else math.fsum(_log(value) for value in values)

    def ranking(self) -> list[int]:
        """The classes from the most to the least probable."""
        posterior = self.posterior
        return sorted(self._range, key=lambda index: (-posterior[index], index))

    def odds(self) -> list[str]:
        """The odds of two classes as a chain of equal fractions, ending in lowest terms and in a decimal.

        For two classes the first against the second, else the best against the next. The first fraction is the joint
        over the joint; then the numerators are cancelled, then everything. Fractions too long to read are left out.
        """
        one, other = self._pair()
        over, under = self.joint[one], self.joint[other]
        if not under:
            return []
        if not over:
            return ["0"]
        if not isinstance(over, Fraction) or not isinstance(under, Fraction):
            return [decimal(float(over) / float(under))]
        common = math.gcd(over.numerator, under.numerator)
        whole = f"{over.numerator * under.denominator}/{over.denominator * under.numerator}"
        cancelled = f"{over.numerator // common * under.denominator}/{over.denominator * (under.numerator // common)}"
        lowest = over / under
        chain = dict.fromkeys([whole, cancelled, _ratio_text(lowest)])
        return [*(text for text in chain if len(text) <= 2 * DIGITS), f"{float(lowest):.7g}"]

    def _pair(self) -> tuple[int, int]:
        if len(self.classes) == 2:
            return 0, 1
        first, second, *_ = self.ranking()
        return first, second

    def text(self) -> str:
        """The box as aligned text."""
        rows = [("", *self.classes)]
        rows.extend((factor.name, *map(_shown, factor.formulas, factor.values)) for factor in self.factors)
        rows.append(("joint: the product", *(_shown("", value) for value in self.joint)))
        rows.append(("posterior: joint / sum", *(_shown("", value) for value in self.posterior)))
        lines = _aligned(rows)
        lines.extend(f"left out: {reason}" for reason in _missing_together(self.left_out))
        if len(self.classes) > 1:
            one, other = self._pair()
            chain = self.odds()
            pair = f"odds {self.classes[one]} : {self.classes[other]}"
            if chain:
                lines.append(f"{pair} = " + " = ".join(chain))
            else:
                lines.append(f"{pair}: the joint of {self.classes[other]} is 0")
        lines.append(f"so the class is {self.classes[self.ranking()[0]]}")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """The box for JSON: formulas and decimals by class, and fractions where they are exact."""
        posterior = self.posterior
        return {
            "classes": list(self.classes),
            "factors": [
                {
                    "name": factor.name,
                    "formulas": dict(zip(self.classes, factor.formulas, strict=True)),
                    "values": dict(zip(self.classes, map(float, factor.values), strict=True)),
                }
                for factor in self.factors
            ],
            "left_out": list(self.left_out),
            "joint": dict(zip(self.classes, map(float, self.joint), strict=True)),
            "posterior": dict(zip(self.classes, map(float, posterior), strict=True)),
            "exact_joint": dict(zip(self.classes, map(str, self.joint), strict=True)) if self.exact else None,
            "exact_posterior": dict(zip(self.classes, map(str, posterior), strict=True)) if self.exact else None,
            "odds": self.odds(),
            "class": self.classes[self.ranking()[0]],
        }


def _ratio_text(value: Fraction) -> str:
    return f"{value.numerator}/{value.denominator}"


def decimal(value: float) -> str:
    """A number in few digits where they say all of it, else in ten."""
    return f"{value:.6g}" if abs(value) < 1e15 and float(f"{value:.6g}") == value else f"{value:.10g}"


def exp(term: float) -> float:
    """The exponential of a term, +inf for a point mass."""
    return math.inf if term == math.inf else math.exp(term)


def _log(value: Number) -> float:
    if isinstance(value, Fraction):
        return math.log(value.numerator) - math.log(value.denominator)
    return math.inf if value == math.inf else math.log(value)


def _shown(formula: str, value: Number) -> str:
    if isinstance(value, Fraction) and len(str(value.numerator)) + len(str(value.denominator)) <= 2 * DIGITS:
        lowest = _ratio_text(value) if value.denominator != 1 else str(value)
    else:
        lowest = ""
    decimal = f"{float(value):.7g}"
    parts = [part for part in dict.fromkeys([formula, lowest, decimal]) if part]
    return " = ".join(parts)


def _missing_together(left_out: Sequence[str]) -> list[str]:
    """The reasons, those of missing columns in one.

    >>> _missing_together(["age, since it is missing", "car, since bike was never seen", "sex, since it is missing"])
    ['age and sex, since they are missing', 'car, since bike was never seen']
    """
    missing = [reason.removesuffix(IS_MISSING) for reason in left_out if reason.endswith(IS_MISSING)]
    if len(missing) < 2:
        return list(left_out)
    together = f"{', '.join(missing[:-1])} and {missing[-1]}, since they are missing"
    return [together, *(reason for reason in left_out if not reason.endswith(IS_MISSING))]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
