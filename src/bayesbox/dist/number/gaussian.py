"""The normal density of a number, one mean and standard deviation per class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist import functions
from bayesbox.dist.base import Columns, Distribution, Doubles, Plan
from bayesbox.dist.factor import decimal
from bayesbox.dist.fit import FitOptions, Presence, places_by, register
from bayesbox.dist.leave_one_out import LeaveOneOutGaussian, LeaveOneOutPlan, leaves_only_flags, power_of_two, scaled
from bayesbox.dist.number.density import NumberFamily, no_terms
from bayesbox.dist.number.special import LOG_ROOT_2_PI, normal_quantile
from bayesbox.errors import CannotExport
from bayesbox.schema.columns import Column, as_numbers
from bayesbox.tally.book import Book
from bayesbox.tally.exact import Dyadic, rounded_root
from bayesbox.tally.moments import LEAST, Moments, Spread
from bayesbox.tally.spread_table import SpreadTable, exact_share

if TYPE_CHECKING:
    from bayesbox.dist.expression import Expression, PmmlDensity
    from bayesbox.dist.number.averaged_number import UnitOthers


FITTED = ("mean", "mean_low", "std", "log_observed", "log_missing", "_compiled")


@dataclass(frozen=True, eq=False)
class NormalColumns:
    """The parameters of normal densities that were fitted together, columns x classes, none of them a point mass."""

    mean: Doubles
    mean_low: Doubles
    std: Doubles
    normals: Doubles  # all three and the log-density at the mean, as the core takes them
    nothing: Doubles  # the terms of an observed and of a missing value

    def fields(self, row: int) -> dict[str, Doubles]:
        """The fields of one density."""
        return {
            "mean": self.mean[row],
            "mean_low": self.mean_low[row],
            "std": self.std[row],
            "log_observed": self.nothing,
            "log_missing": self.nothing,
            "_compiled": self.normals[row],
        }

    def compiled(self, some: Sequence[Gaussian], /) -> tuple[object, ...]:
        rows = [each.row for each in some]
        every = rows == list(range(len(self.normals)))
        return "normals", tuple([each.column for each in some]), self.normals if every else self.normals[rows]


@register("gaussian")
@dataclass(frozen=True)
class Gaussian(NumberFamily):
    """N(x | mean, std) by class.

    The mean is stored in two doubles, `mean + mean_low`, so that the distance to it is accurate even if the values
    share a large offset. A std of 0 is a point mass: any other value is impossible, and the value itself outranks every
    density. `log_observed` and `log_missing` are zeros unless missing is a level of its own.
    """

    has_density: ClassVar[bool] = True
    fits_columns: ClassVar[bool] = True
    takes_prior: ClassVar[bool] = True

    column: str
    mean: Doubles
    mean_low: Doubles
    std: Doubles
    log_observed: Doubles
    log_missing: Doubles

    def log_prob(self, values: Column) -> Doubles:
        return self.terms({self.column: values}, len(values))

    def parameters(self) -> dict[str, Doubles]:
        return {"mean": self.mean, "std": self.std}

    def mean_and_std(self) -> tuple[Doubles, Doubles]:
        return self.mean, self.std

    def sample(self, random: np.random.Generator, classes: NDArray[np.int64]) -> list[object]:
        found: list[object] = random.normal(self.mean[classes], self.std[classes]).tolist()
        return found

    def quantile(self, share: float) -> Doubles:
        return self.mean + (self.mean_low + self.std * normal_quantile(share))

    def describe(self) -> str:
        return "gaussian"

    @property
    def point_mass(self) -> NDArray[np.bool_]:
        """Which classes have a single value."""
        return np.equal(self.std, 0.0)

    @property
    def log_constant(self) -> Doubles:
        """The log-density at the mean; 0 for a point mass, whose term is not a density."""
        return _log_constant(self.std)

    def log_density(self, values: Doubles) -> Doubles:
        """log N(x) of values that are present, values x classes, if no class is a point mass."""
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
        self.add_presence(plan, values)
        spread = np.where(self.point_mass, np.inf, self.std)
        plan.gaussians.append((values, np.column_stack([self.mean, self.mean_low, spread, self.log_constant])))
        if self.point_mass.any():
            self._add_point_masses(plan, np.asarray(values, dtype=np.float64))

    def compiled(self, weight: float) -> tuple[object, ...] | None:
        if type(self).add_to is not Gaussian.add_to:
            return None
        ready = getattr(self, "_compiled", None)  # computed for many columns at once
        if ready is not None and weight == 1:
            return "number", self.column, ready, None, weight, None
        if self.point_mass.any():
            return None
        normals = [self.mean, self.mean_low, self.std / math.sqrt(weight), weight * self.log_constant]
        return "number", self.column, np.column_stack(normals), None, weight, self.compiled_presence(weight)

    def compiled_density(self) -> tuple[object, ...] | None:
        """The density as a part of another; None if a class is a point mass."""
        if self.point_mass.any():
            return None
        return "normal", self.mean, self.mean_low, self.std, self.log_constant

    def _add_point_masses(self, plan: Plan, values: Doubles) -> None:
        observed = ~np.isnan(values)[:, None] & self.point_mass[None, :]
        hits = observed & (values[:, None] == self.mean[None, :])
        plan.add_terms(np.where(observed & ~hits, -np.inf, 0.0))
        plan.add_point_masses(hits)

    # -- from moments ----------------------------------------------------------------------------------------------

    @classmethod
    def fit(cls, column: str, tally: Moments, options: FitOptions) -> Self | None:
        """The normal density of each class, its variance at least `floor` times that of the whole column.

        A class without values gets the density of the whole column. None if all values are equal, so that the column is
        not informative, unless `floor` is 0: then it is a point mass.
        """
        return cls.fit_columns([column], [tally], [options])[0]

    @classmethod
    def fit_columns(
        cls, columns: Sequence[str], tallies: Sequence[Moments], options: Sequence[FitOptions]
    ) -> list[Self | None]:
        """Each std and the root of the floor are rounded once, so the larger one has the larger variance."""
        found: list[Self | None] = [None] * len(columns)
        for (floor, with_missing), places in places_by(options, attrgetter("floor", "missing_is_level")):
            some = tallies if len(places) == len(tallies) else [tallies[place] for place in places]
            table = SpreadTable.of(some, floor=floor)
            empty = table.n[:, :-1] == 0
            mean, low, unit = (
                np.where(empty, each[:, -1:], each[:, :-1]) for each in (table.mean, table.mean_low, table.unit)
            )
            std = np.maximum(unit, table.least[:, None])
            informative = (table.n[:, -1] > 0) & (table.has_spread() | (floor <= 0))
            normals = np.stack([mean, low, std, _log_constant(std)], axis=-1)
            nothing = no_terms(mean.shape[1])
            together = NormalColumns(mean, low, std, normals, nothing)
            plain = informative & np.all(std > 0, axis=1) & (cls is Gaussian and not with_missing)
            for row in np.flatnonzero(plain).tolist():
                place = places[row]
                found[place] = made = object.__new__(cls)  # the fields of a frozen class are set at once
                own = made.__dict__
                own["column"], own["fitted_together"], own["row"] = columns[place], together, row
            for row in np.flatnonzero(informative & ~plain).tolist():
                place = places[row]
                presence = options[place].presence(tallies[place]) if with_missing else Presence(nothing, nothing)
                found[place] = cls(columns[place], mean[row], low[row], std[row], *presence)
        return found

    def __getattr__(self, name: str) -> Any:
        """The fields, where they are among those that were fitted together."""
        together = self.__dict__.get("fitted_together")
        if name not in FITTED or together is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self.__dict__.update(together.fields(self.__dict__["row"]))
        return self.__dict__[name]

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone, without those of others."""
        assert self.mean is not None  # all fields are here now
        return {name: value for name, value in self.__dict__.items() if name not in ("fitted_together", "row")}

    @classmethod
    def of_moments(
        cls, column: str, moments: Moments, floor: float, presence: Presence, prior_rows: float = 0.0
    ) -> Self | None:
        """The density with any floor. With `prior_rows` it is the most probable density under a normal-inverse-gamma
        prior worth this many rows with the whole column's mean and variance."""
        whole = moments.pooled()
        if whole.n.m == 0 or (whole.excess.m == 0 and floor > 0):
            return None
        spreads = [spread if spread.n.m else whole for spread in moments.spreads()]
        if prior_rows:
            spreads = [_with_prior(spread, whole, Dyadic.of(prior_rows)) for spread in spreads]
        return cls(
            column,
            np.array([spread.mean for spread in spreads]),
            np.array([spread.rest_of_mean for spread in spreads]),
            np.array([floored_std(spread, whole, floor) for spread in spreads]),
            presence.log_observed,
            presence.log_missing,
        )

    def with_prior(self, tally: Moments, floor: float, rows: float) -> Self:
        made = self.of_moments(self.column, tally, floor, Presence(self.log_observed, self.log_missing), rows)
        assert made is not None  # a column without spread has no density
        return made

    # -- averaged over whether the class matters -------------------------------------------------------------------

    evidence_rows: ClassVar[float] = 0.25  # of the prior: enough for a class with one value, little for others

    def averaged(self, tally: Moments, options: FitOptions, inclusion: float) -> tuple[Distribution, float] | None:  # noqa: ARG002
        from bayesbox.dist.number.averaged_number import averaged_number

        whole = tally.pooled()
        if not whole.excess.m:
            return None  # a point mass under floor=0 has no marginal likelihood
        by_class = self.with_prior(tally, 0.0, self.evidence_rows)
        every = np.ones(self.classes)
        same = replace(by_class, mean=whole.mean * every, mean_low=whole.rest_of_mean * every, std=whole.unit * every)
        return averaged_number(by_class, same, tally, inclusion)

    @classmethod
    def leave_one_out_densities(cls, others: UnitOthers) -> tuple[Doubles, Doubles]:
        """The log-density of each row's value by class, and that of the whole column, without the row."""
        from bayesbox.dist.averaging import posterior_squares

        n, rows = others.n, cls.evidence_rows
        after = n + rows
        scale = np.sqrt(posterior_squares(n, others.distance, others.std, rows) / after)
        by_class = -0.5 * ((others.x - others.distance * n / after) / scale) ** 2 - functions.log(scale) - LOG_ROOT_2_PI
        return by_class, -0.5 * others.x**2 - LOG_ROOT_2_PI

    # -- shown -----------------------------------------------------------------------------------------------------

    def special_values(self) -> Doubles:
        return self.mean[self.point_mass]

    def formulas(self, value: float) -> list[str]:
        pairs = zip(self.mean.tolist(), self.std.tolist(), strict=True)
        return [f"N({decimal(value)} | {decimal(mean)}, {decimal(std)})" for mean, std in pairs]

    # -- leave one out ---------------------------------------------------------------------------------------------

    def leave_one_out(self, plan: LeaveOneOutPlan, columns: Columns, book: Book, options: FitOptions) -> None:
        """Without its row a class has, with d = x - mean,

            mean' = mean - d / (n - 1)        n' variance' = n variance - d**2 n / (n - 1)

        and the column's variance, which sets the floor, shrinks in the same way. If the difference of variances loses
        more than a few digits and the floor does not hide it, the core marks the row as doubtful.
        """
        values = self.leave_one_out_values(plan, columns, book, options)
        if values is None:
            return
        tally = book[self.column]
        whole = tally.pooled()
        scale = power_of_two(whole)
        moments = np.array([scaled(spread, scale) for spread in (*tally.spreads(), whole)])
        plan.held_out.append(LeaveOneOutGaussian(values, moments, options.floor, scale))
        plan.doubtful[leaves_only_flags(options.kind, tally, values)] = True

    # -- exported -------------------------------------------------------------------------------------------------

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
                f"column `{self.column}` has a variance that PMML cannot represent",
                found=variance.tolist(),
                remedy="Set a floor, or rescale the column",
            )
        parameters = {"mean": self.mean, "variance": variance}
        return PmmlDensity(self.column, "GaussianDistribution", parameters, self.log_observed, self.log_missing)


def _log_constant(std: Doubles) -> Doubles:
    with np.errstate(divide="ignore"):
        return np.where(np.equal(std, 0.0), 0.0, -functions.log(std) - LOG_ROOT_2_PI)


def _with_prior(spread: Spread, whole: Spread, rows: Dyadic) -> Spread:
    """The sums of a class with this many more rows with the mean and variance of the whole column.

    All three are multiplied by the rows of the column, so that nothing is divided; mean and variance do not change.
    """
    n = whole.n
    return Spread(
        (spread.n + rows) * n,
        spread.total * n + rows * whole.total,
        spread.squares * n + rows * whole.squares,
    )


def floored_std(spread: Spread, whole: Spread, floor: float) -> float:
    """The std of a class, or the root of floor times the variance of the column if that is larger.

    Variances are compared exactly, as excess / n**2 with the denominators multiplied out.
    """
    share = exact_share(floor)
    least = whole.excess * Dyadic(share.numerator, 0)
    least_under = whole.n * whole.n * Dyadic(share.denominator, 0)
    if (spread.excess * least_under - least * (spread.n * spread.n)).m < 0:
        return max(rounded_root(least, least_under), LEAST)
    return spread.unit
