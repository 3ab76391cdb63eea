"""What the densities of a number share: terms worked out at each value, and what a missing one gets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesbox.dist.base import Columns, Distribution, Doubles, Plan
from bayesbox.schema.columns import as_numbers


@dataclass(frozen=True)
class NumberDensity(Distribution):
    """A density of one column of numbers, one a class.

    `log_observed` and `log_missing` are zeros unless missing is a level of its own.
    """

    column: str
    log_observed: Doubles
    log_missing: Doubles

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def classes(self) -> int:
        return len(self.log_missing)

    @property
    def free_parameters(self) -> int:
        return super().free_parameters + bool(self.log_missing.any()) * self.classes

    def log_density(self, values: Doubles) -> Doubles:
        """log P(x | class) of values that are present, values x classes; a row of zeros leaves the value out."""
        raise NotImplementedError

    def log_prob(self, values: Any) -> Doubles:
        """Rows x classes; a missing value has the terms of missing."""
        values = np.asarray(as_numbers(values, name=self.column), dtype=np.float64)
        missing = np.isnan(values)
        if not missing.any():
            return self.log_density(values) + self.log_observed
        terms = np.tile(self.log_missing, (len(values), 1))
        terms[~missing] = self.log_density(values[~missing]) + self.log_observed
        return terms

    def add_to(self, plan: Plan, columns: Columns) -> None:
        column = columns.get(self.column)
        if column is None:
            plan.add_constant(self.log_missing)
            return
        values = np.asarray(as_numbers(column, name=self.column), dtype=np.float64)
        self.enter(plan, values)
        forbid_infinite(plan, values)

    def enter(self, plan: Plan, values: Doubles) -> None:
        """Add the terms of these values, NaN where missing; a density of few different terms enters a table."""
        plan.add_terms(self.log_prob(values))


def forbid_infinite(plan: Plan, values: Doubles) -> None:
    """Make a row with an infinite value impossible in every class, as it is under a normal density: it is refused."""
    infinite = np.isinf(values)
    if infinite.any():
        plan.add_terms(np.where(infinite[:, None], -np.inf, np.zeros(plan.classes)))
