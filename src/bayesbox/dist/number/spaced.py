"""The normal density of a number with a minimum std from the spacing of its values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from bayesbox.dist.base import Columns, Distribution, Doubles
from bayesbox.dist.fit import FitOptions, ValueTable, register
from bayesbox.dist.leave_one_out import LeaveOneOutPlan
from bayesbox.dist.number.density import NumberFamily
from bayesbox.dist.number.gaussian import Gaussian
from bayesbox.tally.book import Book
from bayesbox.tally.moments import LEAST, Moments
from bayesbox.tally.values import Values


@register("gaussian:spacing")
@dataclass(frozen=True)
class SpacedGaussian(Gaussian):
    """The normal density of each class, with a std of at least a sixth of the mean distance between neighbouring values
    of the whole column. This is Weka's floor: the spacing limits the precision of a class with one value."""

    tally: ClassVar[type] = Values

    @classmethod
    def fit(cls, column: str, tally: Any, options: FitOptions) -> Self | None:
        values, counts = tally.table
        moments = ValueTable(values, counts).moments()
        gap = mean_gap(values) / moments.pooled().unit
        return cls.of_moments(column, moments, float(gap / 6) ** 2, options.presence(tally))

    def averaged(self, tally: Moments, options: FitOptions, inclusion: float) -> tuple[Distribution, float] | None:  # noqa: ARG002
        raise self.not_averaged(options.density)

    def leave_one_out(self, plan: LeaveOneOutPlan, columns: Columns, book: Book, options: FitOptions) -> None:
        NumberFamily.leave_one_out(self, plan, columns, book, options)


def mean_gap(values: Doubles) -> float:
    """The mean distance between neighbouring values; safe if their difference overflows."""
    return max(float((values[-1] / 2 - values[0] / 2) / (len(values) - 1) * 2), LEAST)
