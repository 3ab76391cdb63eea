"""Student's t of a number: what a normal density becomes when its mean and variance are not known for sure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesbox.dist.base import Doubles
from bayesbox.dist.numbers import NumberDensity

if TYPE_CHECKING:
    from bayesbox.dist.expression import Expression


@dataclass(frozen=True)
class Student(NumberDensity):
    """t(x | df, loc, scale) by class.

    `loc` is `base + shift`, kept apart so that the distance to it is right even where the values share a
    large offset. Numbers farther apart than the greatest double count as that far apart.
    """

    base: float  # one for all classes
    shift: Doubles
    scale: Doubles
    df: Doubles

    def parameters(self) -> dict[str, Doubles]:
        return {"loc": self.loc, "scale": self.scale, "df": self.df}

    @property
    def free_parameters(self) -> int:
        return super().free_parameters - self.classes  # the degrees of freedom are those of the rows

    def describe(self) -> str:
        return "student"

    def log_density(self, values: Doubles) -> Doubles:
        return log_student(apart(values, self.base)[:, None], self.shift, self.scale, self.df)

    @property
    def loc(self) -> Doubles:
        """The middle of the density of each class."""
        return apart(self.shift, -self.base)

    def expression(self) -> Expression:
        from bayesbox.dist.expression import ReadNumber, case, constant, log1p, squared

        x = ReadNumber(self.column)
        at_loc = log_student(np.zeros((1, 1)), np.zeros(self.classes), self.scale, self.df)[0]
        height = constant(at_loc + self.log_observed)
        share = squared(x - self.base - self.shift, self.scale) / self.df
        density = height - log1p(share) * ((self.df + 1) / 2)
        return case((x.is_missing(), self.log_missing), otherwise=density)


GREATEST = np.finfo(np.float64).max


def apart(x: float | Doubles, y: float | Doubles) -> Doubles:
    """x - y, where it is no double the greatest one.

    >>> apart(np.array([1.5e308, 3.0]), np.array([-1.5e308, 1.0])).tolist()
    [1.7976931348623157e+308, 2.0]
    """
    with np.errstate(over="ignore"):
        return np.clip(np.subtract(x, y), -GREATEST, GREATEST)


def log_gamma(x: Doubles) -> Doubles:
    """The log of the gamma function of each number, worked out once where many are equal.

    >>> log_gamma(np.array([1.0, 2, 1, 2])).tolist()
    [0.0, 0.0, 0.0, 0.0]
    """
    distinct, place = np.unique(x, return_inverse=True)
    return np.array([math.lgamma(each) for each in distinct.tolist()])[place].reshape(np.shape(x))


def log_student(x: Doubles, loc: Doubles, scale: Doubles, df: Doubles) -> Doubles:
    """log of the density of Student's t.

    log G((v + 1) / 2) - log G(v / 2) - log(v pi) / 2 - log s - (v + 1) / 2 log(1 + ((x - m) / s)**2 / v)
    """
    with np.errstate(over="ignore"):
        z = apart(x, loc) / scale
        tail = np.log1p(z * z / df)
    constant = log_gamma((df + 1) / 2) - log_gamma(df / 2) - 0.5 * np.log(df * math.pi) - np.log(scale)
    terms: Doubles = constant - (df + 1) / 2 * tail
    return terms
