"""A number that may depend on the class: the model average of its class-conditional and its pooled density."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist import functions
from bayesbox.dist.averaging import Shares, class_units, mixed_densities, number_evidence, shares_of
from bayesbox.dist.base import Columns, Distribution, Doubles
from bayesbox.dist.fit import FitOptions
from bayesbox.dist.leave_one_out import Codes, Flags, LeaveOneOutPlan, Others, leaves_only_flags, others_of
from bayesbox.dist.number.density import NumberDensity
from bayesbox.dist.posterior import refuse_infinite
from bayesbox.tally.book import Book
from bayesbox.tally.moments import Moments

FAR = 1e3  # the square of a distance in stds of the others; beyond it the evidence loses digits
LEAST_UNIT = 1e-290  # of a column: a smaller std loses digits


class UnitOthers(NamedTuple):
    """The moments without each row, in units of the std of the other rows."""

    n: Doubles
    x: Doubles
    distance: Doubles
    std: Doubles


class DensityWithEvidence(Protocol):
    """A density with a conjugate prior: its weight in rows, and the leave-one-out densities."""

    evidence_rows: ClassVar[float]

    @property
    def column(self) -> str: ...

    @property
    def log_observed(self) -> Doubles: ...

    @property
    def log_missing(self) -> Doubles: ...

    def log_density(self, values: Doubles) -> Doubles: ...

    def compiled_density(self) -> tuple[object, ...] | None: ...

    def sample(self, random: np.random.Generator, classes: NDArray[np.int64]) -> list[object]: ...

    @classmethod
    def leave_one_out_densities(cls, others: UnitOthers) -> tuple[Doubles, Doubles]: ...


@dataclass(frozen=True)
class AveragedNumber(NumberDensity):
    """w p(x | class) + (1 - w) p(x): the density of each class and that of the whole column."""

    by_class: DensityWithEvidence
    whole: DensityWithEvidence
    shares: Shares

    def log_density(self, values: Doubles) -> Doubles:
        return mixed_densities(self.by_class.log_density(values), self.whole.log_density(values), self.shares)

    def compiled_density(self) -> tuple[object, ...] | None:
        parts = self.by_class.compiled_density(), self.whole.compiled_density()
        if None in parts:
            return None
        shares = (float(functions.log(each)) for each in self.shares)
        return "mixed", *parts, *shares

    def sample(self, random: np.random.Generator, classes: NDArray[np.int64]) -> list[object]:
        """Samples from the density of the class with probability w, else from that of the whole column."""
        drawn = np.array(self.by_class.sample(random, classes)), np.array(self.whole.sample(random, classes))
        found: list[Any] = np.where(random.random(len(classes)) < self.shares.inside, *drawn).tolist()
        return found

    def leave_one_out_averaged(
        self, plan: LeaveOneOutPlan, columns: Columns, book: Book, options: FitOptions, inclusion: float
    ) -> None:
        values = self.numbers_of(columns)
        if values is None:
            return
        if options.chosen:  # the density must be chosen again
            plan.doubtful |= ~np.isnan(values)
            return
        refuse_infinite({self.column: values}, ~np.isnan(values), 0)
        tally = book[self.column]
        terms, doubtful = self._left_out_terms(tally, inclusion, values, plan.target)
        plan.add_terms(terms)
        plan.doubtful |= doubtful
        plan.doubtful[leaves_only_flags(options.kind, tally, values)] = True

    def _left_out_terms(
        self, tally: Moments, inclusion: float, values: Doubles, target: Codes
    ) -> tuple[Doubles, Flags]:
        """The log of the averaged leave-one-out density of each row in all classes, and which rows need a refit."""
        if tally.pooled().unit < LEAST_UNIT:
            return np.zeros((len(values), len(tally.classes))), ~np.isnan(values)
        others = others_of(tally, values, target)
        unit, rows = others.whole_std, self.by_class.evidence_rows
        found = UnitOthers(others.n, others.x / unit, others.distance / unit, others.std / unit)
        by_class, whole = self.by_class.leave_one_out_densities(found)
        odds = number_evidence(found.n, found.distance, found.std, rows)[:, None]
        terms = (
            mixed_densities(by_class, whole, shares_of(odds, inclusion))
            - functions.log(unit)
            - functions.log(others.unit)
        )
        terms[~others.present] = 0.0
        return terms, others.doubtful | _far(others, found, rows, target)


def _far(others: Others, found: UnitOthers, rows: float, target: Codes) -> Flags:
    """The rows whose value is so far from the others that subtracting it loses all digits."""
    own = np.arange(len(target)), target
    n, x = found.n[own], found.x[:, 0]
    away = n * (x - found.distance[own]) ** 2
    far: Flags = others.present & ((x**2 > FAR) | (away > FAR * (rows + n * found.std[own] ** 2)))
    return far


def averaged_number(
    by_class: DensityWithEvidence, whole: DensityWithEvidence, tally: Moments, inclusion: float
) -> tuple[Distribution, float]:
    """The average of two densities of a column, and the probability that the class matters."""
    shares = shares_of(number_evidence(*class_units(tally), by_class.evidence_rows), inclusion)
    made = AveragedNumber(by_class.column, by_class.log_observed, by_class.log_missing, by_class, whole, shares)
    return made, float(shares.inside)
