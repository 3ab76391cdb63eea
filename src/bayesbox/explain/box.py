"""The Bayes box of one case: a factor in each row, a class in each column; the joint, the posterior and the odds below.

Where every factor is a ratio of counts, the joint, the posterior and the odds are exact fractions; a density makes
them decimals, worked out by logarithms. Where no class has a joint above 0, the posterior is the prior, as everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from bayesbox.dist.factor import MOST_LOG, Factor, Logged, NoFactor, Number, decimal, log_of

if TYPE_CHECKING:
    from bayesbox.file.reader import Json

DIGITS = 12  # of numerator and denominator: longer fractions are shown as decimals


@dataclass(frozen=True)
class Work:
    """The Bayes box of one case."""

    classes: tuple[str, ...]
    factors: tuple[Factor, ...]
    left_out: tuple[NoFactor, ...]

    @property
    def joint(self) -> tuple[Number, ...]:
        """P(class, x): the product of each column of the box."""
        return tuple(self._product(index) for index in self._range)

    @property
    def _range(self) -> range:
        return range(len(self.classes))

    def _product(self, index: int) -> Number:
        values = [factor.values[index] for factor in self.factors]
        fractions = [value for value in values if isinstance(value, Fraction)]
        if len(fractions) == len(values):
            return math.prod(fractions, start=Fraction(1))
        return Logged(math.fsum(log_of(value) for value in values) if all(values) else -math.inf)

    @property
    def exact(self) -> bool:
        """Whether every factor is a fraction."""
        return all(isinstance(value, Fraction) for value in self.joint)

    @property
    def possible(self) -> bool:
        """Whether any class has a joint above 0."""
        return any(self.joint)

    @property
    def posterior(self) -> tuple[Number, ...]:
        """P(class | x): each joint over their sum; the prior where that is 0."""
        values = self.joint if self.possible else self.factors[0].values
        fractions = [value for value in values if isinstance(value, Fraction)]
        if len(fractions) == len(values):
            return tuple(value / sum(fractions) for value in fractions)
        shares = [math.exp(log) for log in self._log_shares()]
        return tuple(Logged(math.log(share) - math.log(math.fsum(shares)) if share else -math.inf) for share in shares)

    def _log_shares(self) -> list[float]:
        """The joint of each class by its logarithm, the largest 0; the most point masses hit outrank all else."""
        logs = [[log_of(factor.values[k]) for factor in self.factors] for k in self._range]
        hits = [-1 if -math.inf in each else each.count(math.inf) for each in logs]
        most = max(hits)
        finite = [
            math.fsum(log for log in each if log < math.inf) if hit == most else -math.inf
            for each, hit in zip(logs, hits, strict=True)
        ]
        return [value - max(finite) for value in finite]

    def ranking(self) -> list[int]:
        """The classes from the most to the least probable."""
        posterior = self.posterior
        return sorted(self._range, key=lambda index: (-float(posterior[index]), index))

    def odds(self) -> list[str]:
        """The odds of two classes as a chain of equal fractions, ending in lowest terms and in a decimal.

        For two classes the first against the second, else the best against the next. The first fraction is the joint
        over the joint; then the numerators are cancelled, then everything. Fractions too long to read are left out.
        """
        if len(self.classes) < 2:
            return []
        one, other = self._pair()
        over, under = self.joint[one], self.joint[other]
        if not under:
            return []
        if not over:
            return ["0"]
        if not isinstance(over, Fraction) or not isinstance(under, Fraction):
            shares = self._log_shares()
            if shares[one] == shares[other] == -math.inf:
                return []
            odds = Logged(shares[one] - shares[other])
            return [decimal(float(odds)) if abs(odds.log) < MOST_LOG - 10 else odds.text()]
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
        return "\n".join([self.box(), *self.below()])

    def box(self) -> str:
        """The rows of the box as aligned text."""
        return "\n".join(_aligned(self.rows()))

    def rows(self) -> list[tuple[str, ...]]:
        """The box itself: the names of the classes, the factors, the joint and the posterior."""
        rows = [("", *self.classes)]
        rows.extend((factor.name, *map(_shown, factor.formulas, factor.values)) for factor in self.factors)
        rows.append(("joint: the product", *(_shown("", value) for value in self.joint)))
        rows.append(("posterior: joint / sum", *(_shown("", value) for value in self.posterior)))
        return rows

    def below(self) -> list[str]:
        """What is said below the box: what was left out, the odds, and the class."""
        lines = [f"left out: {reason}" for reason in _missing_together(self.left_out)]
        if not self.possible:
            lines.append("every class has the joint 0, so the posterior is the prior")
        elif len(self.classes) > 1:
            one, other = self._pair()
            chain = self.odds()
            pair = f"odds {self.classes[one]} : {self.classes[other]}"
            if chain:
                lines.append(f"{pair} = " + " = ".join(chain))
            else:
                lines.append(f"{pair}: the joint of {self.classes[other]} is 0")
        lines.append(f"so the class is {self.classes[self.ranking()[0]]}")
        return lines

    def as_dict(self) -> Json:
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
            "left_out": [str(each) for each in self.left_out],
            "joint": dict(zip(self.classes, map(float, self.joint), strict=True)),
            "posterior": dict(zip(self.classes, map(float, posterior), strict=True)),
            "exact_joint": dict(zip(self.classes, map(str, self.joint), strict=True)) if self.exact else None,
            "exact_posterior": dict(zip(self.classes, map(str, posterior), strict=True)) if self.exact else None,
            "odds": self.odds(),
            "class": self.classes[self.ranking()[0]],
        }


def _ratio_text(value: Fraction) -> str:
    return f"{value.numerator}/{value.denominator}"


def _shown(formula: str, value: Number) -> str:
    if isinstance(value, Fraction) and len(str(value.numerator)) + len(str(value.denominator)) <= 2 * DIGITS:
        lowest = _ratio_text(value) if value.denominator != 1 else str(value)
    else:
        lowest = ""
    digits = Logged(log_of(value)).text() if value and not float(value) else f"{float(value):.7g}"
    parts = [part for part in dict.fromkeys([formula, lowest, digits]) if part]
    return " = ".join(parts)


def _missing_together(left_out: Sequence[NoFactor]) -> list[str]:
    """The reasons, those of missing columns in one.

    >>> _missing_together([NoFactor("age"), NoFactor("car", "bike was never seen"), NoFactor("sex")])
    ['age and sex, since they are missing', 'car, since bike was never seen']
    """
    missing = [each.column for each in left_out if each.is_missing]
    if len(missing) < 2:
        return [str(each) for each in left_out]
    together = f"{', '.join(missing[:-1])} and {missing[-1]}, since they are missing"
    return [together, *(str(each) for each in left_out if not each.is_missing)]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
