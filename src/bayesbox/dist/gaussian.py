"""The normal density of a number, one mean and deviation a class."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist.base import Columns, Doubles, Plan
from bayesbox.schema.columns import as_numbers

LOG_ROOT_2_PI = 0.5 * math.log(2 * math.pi)


@dataclass(frozen=True)
class Gaussian:
    """N(x | mean, deviation) by class.

    The mean is carried in two doubles, `mean + rest`, so that the distance to it is right even where the values share
    a large offset. A deviation of 0 is a point mass: any other value is impossible, and the value itself outranks
    every density. `log_observed` and `log_missing` are zeros unless missing is a level of its own.
    """

    column: str
    mean: Doubles
    rest: Doubles
    deviation: Doubles
    log_observed: Doubles
    log_missing: Doubles

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def point_mass(self) -> NDArray[np.bool_]:
        """Which classes hold one value only."""
        return np.equal(self.deviation, 0.0)

    @property
    def log_constant(self) -> Doubles:
        """The log-density at the mean; 0 for a point mass, whose term is not a density."""
        with np.errstate(divide="ignore"):
            return np.where(self.point_mass, 0.0, -np.log(self.deviation) - LOG_ROOT_2_PI)

    def log_density(self, values: Doubles) -> Doubles:
        """log N(x) of values that are present, values x classes, where no class is a point mass."""
        with np.errstate(over="ignore"):
            z = ((values[:, None] - self.mean) - self.rest) / self.deviation
            terms: Doubles = self.log_constant - 0.5 * z * z
        return terms

    def add_to(self, plan: Plan, columns: Columns) -> None:
        column = columns.get(self.column)
        if column is None:
            plan.add_constant(self.log_missing)
            return
        values = as_numbers(column, name=self.column)
        self._add_presence(plan, values)
        spread = np.where(self.point_mass, np.inf, self.deviation)
        plan.gaussians.append((values, np.column_stack([self.mean, self.rest, spread, self.log_constant])))
        if self.point_mass.any():
            self._add_point_masses(plan, np.asarray(values, dtype=np.float64))

    def _add_presence(self, plan: Plan, values: NDArray[Any]) -> None:
        """The terms of being observed or missing, either of which may be impossible; the core adds no density where
        a value is missing."""
        if values.dtype.kind != "f":
            plan.add_constant(self.log_observed)
        elif self.log_observed.any() or self.log_missing.any():
            plan.tables.append((np.isnan(values).astype(np.int8), np.vstack([self.log_observed, self.log_missing])))

    def _add_point_masses(self, plan: Plan, values: Doubles) -> None:
        observed = ~np.isnan(values)[:, None] & self.point_mass[None, :]
        hits = observed & (values[:, None] == self.mean[None, :])
        plan.add_terms(np.where(observed & ~hits, -np.inf, 0.0))
        plan.add_point_masses(hits)
