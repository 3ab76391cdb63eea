"""A count's own distribution: a Poisson with one rate a class."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbox.dist.base import Columns, Distribution, Doubles, Plan, left_out_where_impossible, log
from bayesbox.schema.columns import as_numbers

if TYPE_CHECKING:
    from bayesbox.dist.expression import Expression, PmmlDensity

MOST = 1e300  # beyond it the logarithms of x! and of rate**x are no doubles


@dataclass(frozen=True)
class Poisson(Distribution):
    """P(x | class) = rate**x exp(-rate) / x!, for x = 0, 1, 2, ...; any other number has probability 0: left out."""

    column: str
    rate: Doubles
    log_observed: Doubles
    log_missing: Doubles

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def classes(self) -> int:
        return len(self.rate)

    def parameters(self) -> dict[str, Doubles]:
        return {"rate": self.rate}

    @property
    def free_parameters(self) -> int:
        return (1 + bool(self.log_missing.any())) * self.classes

    def log_prob(self, values: Any) -> Doubles:
        """Rows x classes; a missing value has the terms of missing."""
        values = np.asarray(as_numbers(values, name=self.column), dtype=np.float64)
        counts, place = np.unique(values[~np.isnan(values)], return_inverse=True)
        terms = np.tile(self.log_missing, (len(values), 1))
        terms[~np.isnan(values)] = self._log_p_of(counts)[place]
        return terms

    def _log_p_of(self, counts: Doubles) -> Doubles:
        valid = (counts >= 0) & (counts == np.floor(counts)) & (counts <= MOST)
        whole = np.where(valid, counts, 0.0)[:, None]
        log_factorial = np.array([math.lgamma(count + 1) for count in whole[:, 0]])[:, None]
        with np.errstate(invalid="ignore"):
            power = np.where(whole == 0, 0.0, whole * log(self.rate)[None, :])
        terms = power - self.rate[None, :] - log_factorial
        terms = left_out_where_impossible(np.where(valid[:, None], terms, -np.inf))
        return terms + np.where(valid[:, None], self.log_observed[None, :], 0.0)

    def add_to(self, plan: Plan, columns: Columns) -> None:
        column = columns.get(self.column)
        if column is None:
            plan.add_constant(self.log_missing)
            return
        plan.add_terms(self.log_prob(column))

    def expression(self) -> Expression:
        """Without log x!, which is the same in every class."""
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
