"""Student's t of a number: the posterior predictive of a normal with uncertain mean and variance."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist import functions
from bayesbox.dist.base import Columns, Distribution, Doubles
from bayesbox.dist.factor import decimal
from bayesbox.dist.fit import FitOptions, register
from bayesbox.dist.functions import log, log1p
from bayesbox.dist.leave_one_out import LeaveOneOutPlan, leaves_only_flags, others_of
from bayesbox.dist.number.averaged_number import UnitOthers, averaged_number
from bayesbox.dist.number.density import NumberDensity
from bayesbox.dist.number.special import GREATEST, apart, normal_quantile
from bayesbox.dist.posterior import refuse_infinite
from bayesbox.tally.book import Book
from bayesbox.tally.moments import Moments

MANY_DEGREES = 1000

if TYPE_CHECKING:
    from bayesbox.dist.expression import Expression


@register("student")
@dataclass(frozen=True)
class Student(NumberDensity):
    """t(x | df, loc, scale) by class.

    `loc` is `base + shift`, stored separately so that the distance to it is accurate even if the values share a large
    offset. Distances that overflow are clipped to the largest double.
    """

    tally: ClassVar[type] = Moments

    base: float  # one for all classes
    shift: Doubles
    scale: Doubles
    df: Doubles

    def parameters(self) -> dict[str, Doubles]:
        return {"loc": self.loc, "scale": self.scale, "df": self.df}

    @property
    def free_parameters(self) -> int:
        return super().free_parameters - self.classes  # the degrees of freedom follow from the rows

    def describe(self) -> str:
        return "student"

    def log_density(self, values: Doubles) -> Doubles:
        return log_student(apart(values, self.base)[:, None], self.shift, self.scale, self.df)

    def compiled_density(self) -> tuple[object, ...]:
        constant = log_student_height(self.df) - log(self.scale)
        return "student", self.base, self.shift, self.scale, self.df, constant

    def quantile(self, share: float) -> Doubles:
        t = np.array([student_quantile(each, share) for each in self.df.tolist()])
        return apart(self.shift + self.scale * t, -self.base)

    def sample(self, random: np.random.Generator, classes: NDArray[np.int64]) -> list[object]:
        steps = self.shift[classes] + self.scale[classes] * random.standard_t(self.df[classes])
        found: list[Any] = apart(steps, -self.base).tolist()
        return found

    @property
    def loc(self) -> Doubles:
        """The location of the density of each class."""
        return apart(self.shift, -self.base)

    @classmethod
    def fit(cls, column: str, tally: Moments, options: FitOptions) -> Self | None:
        """The posterior predictive density of a normal with a conjugate prior worth one row.

        The normal-inverse-gamma prior is worth a single row with the column's mean m and variance v over all classes:
        mean ~ N(m, variance / 1), variance ~ inverse gamma(1/2, v/2). A class of n rows with the mean a and the
        variance s then predicts by Student's t with n + 1 degrees of freedom around (m + n a) / (n + 1), and

            scale**2 = (v + n s + n (a - m)**2 / (n + 1)) (n + 2) / (n + 1)**2

        None if the column has no spread.
        """
        whole = tally.pooled()
        if whole.n.m == 0 or whole.excess.m == 0:
            return None
        n, distance, std = np.zeros((3, len(tally.classes)))
        for index, each in enumerate(tally.spreads()):
            if each.n.m:
                n[index], std[index] = float(each.n.fraction), each.unit
                distance[index] = apart(each.mean, whole.mean) + (each.rest_of_mean - whole.rest_of_mean)
        shift, scale = student_parameters(n, distance, std, whole.unit)
        return cls(column, *options.presence(tally), whole.mean, whole.rest_of_mean + shift, scale, n + 1)

    # -- averaged over whether the class matters -------------------------------------------------------------------

    evidence_rows: ClassVar[float] = 1.0  # of the prior

    def averaged(self, tally: Moments, options: FitOptions, inclusion: float) -> tuple[Distribution, float] | None:  # noqa: ARG002
        whole = tally.pooled()
        n = np.array([float(whole.n.fraction)])
        _, scale = student_parameters(n, np.zeros(1), np.array([whole.unit]), whole.unit)
        every = np.ones(self.classes)
        same = replace(self, shift=whole.rest_of_mean * every, scale=scale[0] * every, df=(n[0] + 1) * every)
        return averaged_number(self, same, tally, inclusion)

    @classmethod
    def leave_one_out_densities(cls, others: UnitOthers) -> tuple[Doubles, Doubles]:
        """The log-density of each row's value by class, and that of the whole column, without the row."""
        shift, scale = student_parameters(others.n, others.distance, others.std, 1.0)
        n = others.n.sum(axis=1, keepdims=True)
        by_class = log_student(others.x, shift, scale, others.n + 1)
        whole_scale = student_parameters(n, n * 0, n * 0 + 1, 1.0)[1]
        return by_class, log_student(others.x, np.zeros_like(others.x), whole_scale, n + 1)

    # -- shown, and each row left out ------------------------------------------------------------------------------

    def formulas(self, value: float) -> list[str]:
        each = zip(self.loc.tolist(), self.scale.tolist(), self.df.tolist(), strict=True)
        return [f"t({decimal(value)} | {decimal(m)}, {decimal(s)}, {decimal(v)} degrees)" for m, s, v in each]

    def leave_one_out(self, plan: LeaveOneOutPlan, columns: Columns, book: Book, options: FitOptions) -> None:
        """From the moments without the row's value."""
        values = self.leave_one_out_values(plan, columns, book, options)
        if values is None:
            return
        tally = book[self.column]
        refuse_infinite({self.column: values}, ~np.isnan(values), 0)
        plan.doubtful[leaves_only_flags(options.kind, tally, values)] = True
        others = others_of(tally, values, plan.target)
        shift, scale = student_parameters(others.n, others.distance, others.std, others.whole_std)
        terms = log_student(others.x, shift, scale, others.n + 1) - functions.log(others.unit)
        terms[~others.present] = 0.0
        plan.add_terms(terms)
        plan.doubtful |= others.doubtful

    # -- exported -------------------------------------------------------------------------------------------------

    def expression(self) -> Expression:
        from bayesbox.dist.expression import ReadNumber, case, constant, log1p, squared

        x = ReadNumber(self.column)
        at_loc = log_student(np.zeros((1, 1)), np.zeros(self.classes), self.scale, self.df)[0]
        height = constant(at_loc + self.log_observed)
        share = squared(x - self.base - self.shift, self.scale) / self.df
        density = height - log1p(share) * ((self.df + 1) / 2)
        return case((x.is_missing(), self.log_missing), otherwise=density)


def student_parameters(n: Doubles, distance: Doubles, std: Doubles, unit: float | Doubles) -> tuple[Doubles, Doubles]:
    """(location, scale) of the t of each class, with locations relative to the column's mean.

    Computed in units of the column's std, so that no square over- or underflows.
    """
    away, spread = distance / unit, std / unit
    squares = 1 + n * spread * spread + n * away * away / (n + 1)
    with np.errstate(over="ignore"):
        scale: Doubles = np.minimum(unit * (np.sqrt(squares * (n + 2)) / (n + 1)), GREATEST)
    return distance * (n / (n + 1)), scale


def student_quantile(df: float, share: float) -> float:
    """The quantile of Student's t.

    With t = sqrt(v) / tan(u), P(T > t) is the integral of sin(u)**(v - 1) from 0 to u over B(v / 2, 1 / 2), and u
    follows by bisection. Above 1,000 degrees of freedom it is by the Cornish-Fisher expansion (1938) around the normal
    quantile.

    >>> round(student_quantile(1, 0.75), 12), round(student_quantile(2, 0.1), 6), round(student_quantile(1e9, 0.9), 6)
    (1.0, -1.885618, 1.281552)
    """
    if share == 0.5:
        return 0.0
    if df > MANY_DEGREES:
        return _expanded(df, float(normal_quantile(share)))
    tail = min(share, 1 - share)
    log_beta = functions.log_gamma(df / 2) + math.log(math.pi) / 2 - functions.log_gamma((df + 1) / 2)
    nodes, weights = _graded_rule()
    low, high = 0.0, math.pi / 2
    while True:
        u = low / 2 + high / 2
        if not low < u < high:
            break
        with np.errstate(divide="ignore"):
            heights = functions.exp((df - 1) * functions.log(np.sin(u * nodes)) - log_beta)
        low, high = (u, high) if float(heights @ weights) * u < tail else (low, u)
    return math.copysign(math.sqrt(df) / math.tan(u), share - 0.5)


@lru_cache(maxsize=1)
def _graded_rule() -> tuple[Doubles, Doubles]:
    """Nodes and weights of the Gauss rule on (0, 1), in panels halved repeatedly towards both ends."""
    halves = 0.5 ** np.arange(1, 40)
    edges = np.unique(np.concatenate([[0.0], halves, 1 - halves, [1.0]]))
    nodes, weights = np.polynomial.legendre.leggauss(8)
    half = np.diff(edges)[:, None] / 2
    return (edges[:-1, None] + half * (nodes + 1)).ravel(), (half * weights).ravel()


def _expanded(df: float, z: float) -> float:
    """z and the terms of 1 / v up to the fourth power."""
    powers = [
        z * (z**2 + 1) / 4,
        z * (5 * z**4 + 16 * z**2 + 3) / 96,
        z * (3 * z**6 + 19 * z**4 + 17 * z**2 - 15) / 384,
        z * (79 * z**8 + 776 * z**6 + 1482 * z**4 - 1920 * z**2 - 945) / 92160,
    ]
    return z + math.fsum(term / df ** (place + 1) for place, term in enumerate(powers))


def log_student_height(df: Doubles) -> Doubles:
    """The log-density at the location, for a scale of 1, accurate for any degrees of freedom.

    >>> log_student_height(np.array([3.0, 1e9])).round(10).tolist()
    [-1.0008888496, -0.9189385335]
    """
    return _core.log_student_heights(np.ascontiguousarray(df, dtype=np.float64).ravel()).reshape(np.shape(df))


def log_student(x: Doubles, loc: Doubles, scale: Doubles, df: Doubles) -> Doubles:
    """log of the density of Student's t.

    log G((v + 1) / 2) - log G(v / 2) - log(v pi) / 2 - log s - (v + 1) / 2 log(1 + ((x - m) / s)**2 / v)
    """
    with np.errstate(over="ignore"):
        z = apart(x, loc) / scale
        tail = log1p(z * z / df)
    constant = log_student_height(df) - log(scale)
    terms: Doubles = constant - (df + 1) / 2 * tail
    return terms
