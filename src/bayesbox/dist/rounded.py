"""A normal number that was recorded to a step: the probability of the cell that a value is rounded to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist.base import Doubles, Plan
from bayesbox.dist.numbers import NumberDensity


@dataclass(frozen=True)
class Rounding:
    """How values are rounded: cell number k is around origin + k * step, both in units of 2**exponent.

    The units keep the step a normal double for any column, from 5e-324 to 1.8e308.
    """

    origin: float
    step: float
    exponent: int

    def numbers(self, values: Doubles) -> Doubles:
        """The cell of each value, a whole number; a value in the midst of two belongs to the even one.

        >>> Rounding(origin=0.0, step=0.75, exponent=1).numbers(np.array([-1.6, 0.75, 2.2, 3.1]))
        array([-1.,  0.,  1.,  2.])
        """
        with np.errstate(over="ignore", under="ignore"):
            return np.rint((np.ldexp(values, -self.exponent) - self.origin) / self.step)

    def place(self, number: float | Doubles) -> Doubles:
        """Where on the column's own scale a cell has its middle; its edges are half a cell away."""
        with np.errstate(over="ignore"):
            return np.ldexp(self.origin + number * self.step, self.exponent)

    @property
    def width(self) -> float:
        """The step on the column's own scale."""
        with np.errstate(over="ignore"):
            return float(np.ldexp(self.step, self.exponent))


@dataclass(frozen=True)
class Rounded(NumberDensity):
    """P(cell of x | class) = Phi((k + 1/2 - mean) / std) - Phi((k - 1/2 - mean) / std).

    Mean and std of each class are those of the numbers k of its cells; the mean is `mean + mean_low`, as in Gaussian.
    The cells from `first` to `last` were seen, and have their terms in a table; others are worked out where asked for.
    """

    rounding: Rounding
    first: float
    last: float
    mean: Doubles
    mean_low: Doubles
    std: Doubles

    def parameters(self) -> dict[str, Doubles]:
        return {"mean": self.mean, "std": self.std}

    def describe(self) -> str:
        return "gaussian:rounded"

    def log_density(self, values: Doubles) -> Doubles:
        return self._terms(self.rounding.numbers(values))

    def _terms(self, numbers: Doubles) -> Doubles:
        """Cells x classes; zeros for a cell so far away from every class that no double tells how far."""
        terms = _core.log_normal_cells(np.ascontiguousarray(numbers), self.mean, self.mean_low, self.std)
        terms[np.isneginf(terms).all(axis=1)] = 0.0
        return terms

    @property
    def cells(self) -> int:
        """How many cells there are from the first to the last."""
        return int(self.last - self.first) + 1

    @property
    def edges(self) -> Doubles:
        """Where one of these cells ends and the next begins."""
        return self.rounding.place(self.first + np.arange(self.cells - 1, dtype=np.float64) + 0.5)

    @cached_property
    def _known(self) -> Doubles:
        """The terms of the cells from the first to the last."""
        return self._terms(self.first + np.arange(self.cells, dtype=np.float64))

    def enter(self, plan: Plan, values: Doubles) -> None:
        plan.tables.append(self.coded(values))

    def coded(self, values: Doubles) -> tuple[NDArray[np.int32], Doubles]:
        """The row of each value in a table of terms: the known cells, then others that occur; -1, the last, is missing."""
        numbers = self.rounding.numbers(values)
        inside = (numbers >= self.first) & (numbers <= self.last)
        missing = np.isnan(values)
        codes = np.full(len(values), -1, dtype=np.int32)
        codes[inside] = numbers[inside] - self.first
        terms = self._known
        beyond = ~inside & ~missing
        if beyond.any():
            others, place = np.unique(numbers[beyond], return_inverse=True)
            codes[beyond] = place + len(terms)
            terms = np.vstack([terms, self._terms(others)])
        return codes, np.vstack([terms + self.log_observed, self.log_missing[None, :]])
