"""The Bayes box of one case: one row per factor, one column per class; the joint, posterior and odds below.

If every factor is a ratio of counts, the joint, the posterior and the odds are exact fractions; with a density they are
decimals, computed by logarithms. If no class has a joint above 0, the posterior is the prior.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from bayesbox.dist.factor import MOST_LOG, Factor, Logged, NoFactor, Number, decimal, log_of
from bayesbox.explain.class_work import ClassWork
from bayesbox.explain.steps import DIGITS, Cell, Row, Step, fraction_text, line
from bayesbox.explain.underflow import log_joints, underflow_steps

if TYPE_CHECKING:
    from bayesbox.file.reader import Json

MOST_TERMS = 6  # of a printed sum


@dataclass(frozen=True)
class BayesBox:
    """The Bayes box of one case: the first of the `factors` is the prior.

    `is_probability` says whether the joint is P(class, x): a product of factors raised to weights is not. The odds are
    those of the most probable class `against` the given one, or the second most probable.
    """

    classes: tuple[str, ...]
    factors: tuple[Factor, ...]
    ignored: tuple[NoFactor, ...] = ()
    is_probability: bool = True
    against: str | None = None

    @property
    def joint(self) -> tuple[Number, ...]:
        """P(class, x), the product of each column of the box."""
        return self._products(self.factors)

    @property
    def likelihood(self) -> tuple[Number, ...]:
        """P(x | class), the product without the prior."""
        return self._products(self.factors[1:])

    @property
    def evidence(self) -> Number:
        """P(x), the sum of the joint."""
        joint = self.joint
        fractions = [value for value in joint if isinstance(value, Fraction)]
        if len(fractions) == len(joint):
            return sum(fractions, Fraction(0))
        logs = [log_of(value) for value in joint]
        most = max(logs)
        if math.isinf(most):
            return Logged(most)
        return Logged(most + math.log(math.fsum(math.exp(each - most) for each in logs)))

    def _products(self, factors: Sequence[Factor]) -> tuple[Number, ...]:
        return tuple(_product([factor.values[index] for factor in factors]) for index in self._range)

    @property
    def _range(self) -> range:
        return range(len(self.classes))

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
        """P(class | x), each joint over their sum; the prior if the sum is 0."""
        values = self.joint if self.possible else self.factors[0].values
        fractions = [value for value in values if isinstance(value, Fraction)]
        if len(fractions) == len(values):
            return tuple(value / sum(fractions) for value in fractions)
        shares = [math.exp(log) for log in self._log_shares()]
        return tuple(Logged(math.log(share) - math.log(math.fsum(shares)) if share else -math.inf) for share in shares)

    def _log_shares(self) -> list[float]:
        """The log joint of each class, with the largest at 0; the most point masses hit rank first."""
        factors = self.factors if self.possible else self.factors[:1]
        logs = [[log_of(factor.values[k]) for factor in factors] for k in self._range]
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
        """The odds of the most probable class against the next, or against the given class: fraction and decimal.

        A fraction that is too long to read is omitted.
        """
        if len(self.classes) < 2 or not self.possible:
            return []
        one, other = self._pair()
        over, under = self.joint[one], self.joint[other]
        if not under:
            return []
        if not isinstance(over, Fraction) or not isinstance(under, Fraction):
            shares = self._log_shares()
            if shares[other] == -math.inf:
                return []
            odds = Logged(shares[one] - shares[other])
            return [decimal(float(odds)) if abs(odds.log) < MOST_LOG - 10 else odds.text()]
        return Cell(value=over / under).parts()

    def _pair(self) -> tuple[int, int]:
        first, second, *_ = self.ranking()
        if self.against is not None and self.classes.index(self.against) != first:
            return first, self.classes.index(self.against)
        return first, second

    def steps(self) -> tuple[Step, ...]:
        """The calculation in steps: prior, likelihood, joint, evidence, posterior, decision."""
        steps = [self._step("prior", self._row(self.factors[0]))]
        if self.factors[1:]:
            likelihood = _row("likelihood: P(x | class)", self.likelihood)
            steps.append(self._step("likelihood", *map(self._row, self.factors[1:]), likelihood))
        steps.append(self._step("joint", _row("joint: P(class, x)", self.joint)))
        steps += self._underflow()
        name = "P(x)" if self.is_probability else "sum"
        steps.append(Step("evidence", (line(f"evidence: {name}", self._sum_text(), self.evidence),)))
        steps.append(self._step("posterior", _row(f"posterior: joint / {name}", self.posterior)))
        if self.ignored:
            reasons = [line(f"ignored: {reason}") for reason in missing_together(self.ignored)]
            steps.append(Step("left out", tuple(reasons)))
        steps.append(Step("decision", tuple(line(each) for each in self._decision())))
        return tuple(steps)

    def _row(self, factor: Factor) -> Row:
        return Row(factor.name, tuple(map(Cell, factor.formulas, factor.values)))

    def _step(self, name: str, *rows: Row) -> Step:
        return Step(name, rows, self.classes)

    def _sum_text(self) -> str:
        """The sum of the joint in full, if it is short."""
        terms = [cell.fraction() or cell.decimal() for cell in (Cell(value=value) for value in self.joint)]
        return " + ".join(terms) if len(terms) <= MOST_TERMS else f"the sum of {len(terms)} joints"

    def _decision(self) -> list[str]:
        lines = []
        if not self.possible:
            lines.append("the joint probability is 0 in every class, so the posterior is the prior")
        elif len(self.classes) > 1:
            one, other = self._pair()
            chain = self.odds()
            pair = f"odds {self.classes[one]} : {self.classes[other]}"
            if chain:
                lines.append(f"{pair} = " + " = ".join(chain) + self._other_way(one, other))
            else:
                why = (
                    "the value equals a point mass" if self.joint[other] else f"the joint of {self.classes[other]} is 0"
                )
                lines.append(f"{pair} = infinite: {why}")
        return [*lines, f"so the class is {self.classes[self.ranking()[0]]}"]

    def _other_way(self, one: int, other: int) -> str:
        """The inverse odds of two classes, if they are a short fraction."""
        over, under = self.joint[one], self.joint[other]
        if len(self.classes) > 2 or not isinstance(over, Fraction) or not isinstance(under, Fraction):
            return ""
        fraction = Cell(value=under / over).fraction()
        return (
            f"; {self.classes[other]} : {self.classes[one]} = {fraction}"
            if 0 < len(fraction) < DIGITS and over != under
            else ""
        )

    def work(self, title: str, before: Sequence[Step] = ()) -> ClassWork:
        """The calculation, after the steps that lead to the factors."""
        shares = tuple(float(share) for share in self.posterior)
        return ClassWork(title, (*before, *self.steps()), self.classes, shares, self.facts())

    def facts(self) -> Json:
        """The box for JSON: formulas and decimals by class, and fractions where they are exact."""
        posterior, joint = self.posterior, self.joint
        logs = log_joints(len(self.classes), self.factors) if self._underflow() else None
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
            "left_out": [str(each) for each in self.ignored],
            "likelihood": dict(zip(self.classes, map(float, self.likelihood), strict=True)),
            "joint": dict(zip(self.classes, map(float, joint), strict=True)),
            "evidence": float(self.evidence),
            "posterior": dict(zip(self.classes, map(float, posterior), strict=True)),
            "exact_joint": _texts(self.classes, joint),
            "exact_posterior": _texts(self.classes, posterior),
            "odds": self.odds(),
            "class": self.classes[self.ranking()[0]],
            **({"log_joint": dict(zip(self.classes, logs, strict=True))} if logs else {}),
        }

    def _underflow(self) -> tuple[Step, ...]:
        return underflow_steps(self.classes, self.factors)


def _texts(classes: Sequence[str], values: Sequence[Number]) -> dict[str, str] | None:
    """Exact numbers as fractions by class; None if one is not exact, or too long."""
    texts = [fraction_text(value) for value in values]
    return dict(zip(classes, texts, strict=True)) if all(texts) else None


def _product(values: Sequence[Number]) -> Number:
    fractions = [value for value in values if isinstance(value, Fraction)]
    if len(fractions) == len(values):
        return math.prod(fractions, start=Fraction(1))
    return Logged(math.fsum(log_of(value) for value in values) if all(values) else -math.inf)


def _row(name: str, values: Sequence[Number]) -> Row:
    return Row(name, tuple(Cell(value=value) for value in values))


def missing_together(ignored: Sequence[NoFactor]) -> list[str]:
    """The reasons, with missing columns combined into one.

    >>> missing_together([NoFactor("age"), NoFactor("car", "bike was never seen"), NoFactor("sex")])
    ['age and sex, since they are missing', 'car, since bike was never seen']
    """
    missing = [each.column for each in ignored if each.is_missing]
    if len(missing) < 2:
        return [str(each) for each in ignored]
    together = f"{', '.join(missing[:-1])} and {missing[-1]}, since they are missing"
    return [together, *(str(each) for each in ignored if not each.is_missing)]
