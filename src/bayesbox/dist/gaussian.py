"""The normal density of a number, one mean and standard deviation per class."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist.base import Columns, Distribution, Doubles, Plan
from bayesbox.errors import CannotExport
from bayesbox.schema.columns import as_numbers

if TYPE_CHECKING:
    from bayesbox.dist.expression import Expression, PmmlDensity

LOG_ROOT_2_PI = 0.5 * math.log(2 * math.pi)


@dataclass(frozen=True)
class Gaussian(Distribution):
    """N(x | mean, std) by class.

    The mean is carried in two doubles, `mean + mean_low`, so that the distance to it is right even where the values share
    a large offset. A std of 0 is a point mass: any other value is impossible, and the value itself outranks
    every density. `log_observed` and `log_missing` are zeros unless missing is a level of its own.
    """

    column: str
    mean: Doubles
    mean_low: Doubles
    std: Doubles
    log_observed: Doubles
    log_missing: Doubles

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def classes(self) -> int:
        return len(self.log_missing)

    def log_prob(self, values: Any) -> Doubles:
        return self.terms({self.column: values}, len(values))

    def parameters(self) -> dict[str, Doubles]:
        return {"mean": self.mean, "std": self.std}

    @property
    def free_parameters(self) -> int:
        return (2 + bool(self.log_missing.any())) * self.classes

    def describe(self) -> str:
        return "gaussian"

    @property
    def point_mass(self) -> NDArray[np.bool_]:
        """Which classes hold one value only."""
        return np.equal(self.std, 0.0)

    @property
    def log_constant(self) -> Doubles:
        """The log-density at the mean; 0 for a point mass, whose term is not a density."""
        with np.errstate(divide="ignore"):
            return np.where(self.point_mass, 0.0, -np.log(self.std) - LOG_ROOT_2_PI)

    def log_density(self, values: Doubles) -> Doubles:
        """log N(x) of values that are present, values x classes, where no class is a point mass."""
        with np.errstate(over="ignore"):
            z = ((values[:, None] - self.mean) - self.mean_low) / self.std
            terms: Doubles = self.log_constant - 0.5 * z * z
        return terms

    def add_to(self, plan: Plan, columns: Columns) -> None:
        column = columns.get(self.column)
        if column is None:
            plan.add_constant(self.log_missing)
            return
        values = as_numbers(column, name=self.column)
        self._add_presence(plan, values)
        spread = np.where(self.point_mass, np.inf, self.std)
        plan.gaussians.append((values, np.column_stack([self.mean, self.mean_low, spread, self.log_constant])))
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

    def expression(self) -> Expression:
        from bayesbox.dist.expression import InClasses, PointMass, ReadNumber, case, constant, squared

        x, point = ReadNumber(self.column), self.point_mass
        height = constant(self.log_constant + self.log_observed)
        distance = x - self.mean - self.mean_low
        density = height - squared(distance, np.where(point, 1.0, self.std)) * 0.5
        if not point.any():
            return case((x.is_missing(), self.log_missing), otherwise=density)
        hit = x.equals(self.mean)
        term = case(
            (x.is_missing(), self.log_missing), (InClasses(~point), density), (hit, height), otherwise=-math.inf
        )
        return PointMass(term, where=InClasses(point) & hit)

    def pmml_density(self) -> PmmlDensity:
        from bayesbox.dist.expression import PmmlDensity

        with np.errstate(all="ignore"):
            variance = self.std**2
        if not (np.isfinite(variance) & (variance > 0)).all():
            raise CannotExport(
                f"column `{self.column}` has a variance that PMML cannot hold",
                found=variance.tolist(),
                remedy="Give it a floor, or another scale",
            )
        parameters = {"mean": self.mean, "variance": variance}
        return PmmlDensity(self.column, "GaussianDistribution", parameters, self.log_observed, self.log_missing)
