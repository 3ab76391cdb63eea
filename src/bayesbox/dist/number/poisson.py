"""The Poisson distribution of a count, one rate per class."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist import functions
from bayesbox.dist.base import Columns, Doubles, Linear, Plan, ignored_where_impossible
from bayesbox.dist.cells import Smoothing
from bayesbox.dist.factor import decimal
from bayesbox.dist.fit import FitOptions
from bayesbox.dist.functions import log
from bayesbox.dist.leave_one_out import LeaveOneOutPlan
from bayesbox.dist.number.density import NumberFamily
from bayesbox.dist.number.special import normal_quantile
from bayesbox.errors import BadOption, NeverLearned
from bayesbox.schema.columns import Column, as_numbers
from bayesbox.tally.book import Book
from bayesbox.tally.moments import Moments

MOST = 1e300  # beyond it the logs of x! and of rate**x overflow

MANY = 1e6  # a rate; beyond it the quantile is by an expansion, exact to one count
WIDE = 40  # stds from the rate; beyond it probabilities are negligible
FAR = 1e15  # a rate; beyond it doubles are coarser than counts, and a normal sample is used

TAIL, MOST_SUPPORT = 1e-14, 100_000  # the tail probability omitted at each end; the maximum number of counts

if TYPE_CHECKING:
    from bayesbox.dist.expression import Expression, PmmlDensity


@dataclass(frozen=True)
class Poisson(NumberFamily):
    """P(x | class) = rate**x exp(-rate) / x!, for x = 0, 1, 2, ...; other numbers are ignored."""

    silent: ClassVar[str] = "all its counts are 0"
    least: ClassVar[float] = 0.0

    column: str
    rate: Doubles
    log_observed: Doubles
    log_missing: Doubles

    def parameters(self) -> dict[str, Doubles]:
        return {"rate": self.rate}

    def quantile(self, share: float) -> Doubles:
        """The quantile: the smallest count with at least this cumulative probability."""
        return np.array([_quantile(rate, share) for rate in self.rate.tolist()])

    def support(self) -> Doubles:
        low, high = float(self.quantile(TAIL).min()), float(self.quantile(1 - TAIL).max())
        step = max((high - low) // MOST_SUPPORT, 1.0)  # with too many counts, each stands for its neighbours
        return np.arange(low, high + step, step)

    def sample(self, random: np.random.Generator, classes: NDArray[np.int64]) -> list[object]:
        rate = self.rate[classes]
        far = rate > FAR
        drawn = random.poisson(np.where(far, 0.0, rate)).astype(np.float64)
        normal = np.rint(rate + np.sqrt(rate) * random.standard_normal(len(rate)))
        return [int(each) for each in np.where(far, normal, drawn).tolist()]

    def log_prob(self, values: Column) -> Doubles:
        """log P, rows x classes; a missing value has the terms of missing."""
        values = np.asarray(as_numbers(values, name=self.column), dtype=np.float64)
        counts, place = np.unique(values[~np.isnan(values)], return_inverse=True)
        terms = np.tile(self.log_missing, (len(values), 1))
        terms[~np.isnan(values)] = self._log_p_of(counts)[place]
        return terms

    def _log_p_of(self, counts: Doubles) -> Doubles:
        valid = (counts >= 0) & (counts == np.floor(counts)) & (counts <= MOST)
        whole = np.where(valid, counts, 0.0)[:, None]
        log_factorial = np.array([functions.log_gamma(count + 1) for count in whole[:, 0]])[:, None]
        with np.errstate(invalid="ignore"):
            power = np.where(whole == 0, 0.0, whole * log(self.rate)[None, :])
        terms = power - self.rate[None, :] - log_factorial
        terms = ignored_where_impossible(np.where(valid[:, None], terms, -np.inf))
        return terms + np.where(valid[:, None], self.log_observed[None, :], 0.0)

    def add_to(self, plan: Plan, columns: Columns) -> None:
        column = columns.get(self.column)
        if column is None:
            plan.add_constant(self.log_missing)
            return
        plan.add_terms(self.log_prob(column))

    @classmethod
    def fit(cls, column: str, tally: Moments, options: FitOptions) -> Self | None:
        """The rate of each class: (sum of x + a * mean of the column) / (n + a), as if `a` more rows had the column's
        mean.

        `a` is the weight of the rule: 0 for maximum likelihood, 1 for Laplace. None if every count is 0.
        """
        rule = options.smoothing
        if rule.weight is None:
            raise BadOption(
                f"column `{column}` has a Poisson rate, which {type(rule).__name__} cannot smooth",
                remedy="Use mle, laplace, lidstone:a or m:m",
            )
        whole = tally.pooled()
        if whole.n.m == 0 or whole.total.m == 0:
            return None
        n, total = tally.sums.n.to_doubles(), tally.sums.total.to_doubles()
        return cls(column, _rate(n, total, whole.mean, rule.weight), *options.presence(tally))

    def formulas(self, value: float) -> list[str]:
        return [f"Poisson({decimal(value)} | {decimal(rate)})" for rate in self.rate.tolist()]

    def linear(self, one: int, zero: int) -> Linear:
        with np.errstate(divide="ignore"):
            slope = float(functions.log(self.rate[one]) - functions.log(self.rate[zero]))
        return Linear({self.column: [slope]}, -float(self.rate[one] - self.rate[zero]))

    def leave_one_out(self, plan: LeaveOneOutPlan, columns: Columns, book: Book, options: FitOptions) -> None:
        """The rate depends only on the class and the count of the held-out row; a row without which there is no rate
        needs a refit."""
        values = self.leave_one_out_values(plan, columns, book, options)
        if values is None:
            return
        tally, there = book[self.column], ~np.isnan(values)
        pairs, place = np.unique(np.column_stack([plan.target[there], values[there]]), axis=0, return_inverse=True)
        n, total = tally.sums.n.to_doubles(), tally.sums.total.to_doubles()
        terms = np.zeros((plan.rows, plan.classes))
        rows = [_row_without(n, total, options.smoothing, int(label), count) for label, count in pairs.tolist()]
        if len(pairs):
            terms[there] = np.array(rows).reshape(-1, plan.classes)[place.ravel()]
        plan.add_terms(terms)
        plan.doubtful |= there & (values == total.sum())

    # -- exported -------------------------------------------------------------------------------------------------

    def expression(self) -> Expression:
        """Omits log x!, which is equal in every class."""
        from bayesbox.dist.expression import InClasses, ReadNumber, case, floor

        x, never = ReadNumber(self.column), self.rate == 0
        power = x * np.where(never, 0.0, log(self.rate))
        if never.any():
            power = case((InClasses(~never), power), (x.equals(0.0), 0.0), otherwise=-math.inf)
        count = (x >= 0.0) & x.equals(floor(x))
        term = power + (self.log_observed - self.rate)
        return case((x.is_missing(), self.log_missing), (count, term), otherwise=0.0)

    def pmml_density(self) -> PmmlDensity:
        from bayesbox.dist.expression import PmmlDensity

        return PmmlDensity(self.column, "PoissonDistribution", {"mean": self.rate}, self.log_observed, self.log_missing)


def _quantile(rate: float, share: float) -> float:
    """The least k with P(X <= k) >= share: from the sums of P(X = k) if there are not too many, else by the
    Cornish-Fisher expansion (1938)."""
    z = float(normal_quantile(share))
    if rate > MANY:
        return max(float(np.ceil(rate + z * math.sqrt(rate) + (z * z - 1) / 6 - 0.5)), 0.0)
    away = WIDE * math.sqrt(rate) + WIDE
    k = np.arange(max(math.floor(rate - away), 0), math.ceil(rate + away) + 1, dtype=np.float64)
    ratios = np.concatenate([[0.0], log(rate) - functions.log(k[1:])])  # P(k) / P(k - 1) = rate / k
    terms = np.cumsum(ratios)
    sums = np.cumsum(functions.exp(terms - terms.max()))
    return float(k[np.searchsorted(sums, share * sums[-1])])


def _rate(n: Doubles, total: Doubles, mean: float, weight: float) -> Doubles:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(n + weight > 0, (total + weight * mean) / (n + weight), mean)


def _row_without(n: Doubles, total: Doubles, rule: Smoothing, gone: int, count: float) -> Doubles:
    if n[gone] < 1 or total[gone] < count:
        raise NeverLearned("some of these rows were never learned: a count is larger than all that were counted")
    left, rest = n.copy(), total.copy()
    left[gone] -= 1
    rest[gone] -= count
    if rest.sum() == 0:
        return np.zeros(len(n))
    rate = _rate(left, rest, rest.sum() / left.sum(), rule.weight or 0.0)
    nothing = np.zeros(len(n))
    terms: Doubles = Poisson("", rate, nothing, nothing).log_prob(np.array([count]))[0]
    return terms
