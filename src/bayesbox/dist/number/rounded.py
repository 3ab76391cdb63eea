"""A normal number recorded with limited precision: the probability of the cell that a value is rounded to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist import functions
from bayesbox.dist.base import Doubles, Plan
from bayesbox.dist.factor import decimal
from bayesbox.dist.fit import FitOptions, ValuesTally, ValueTable, register
from bayesbox.dist.number.density import NumberDensity
from bayesbox.dist.number.spaced import mean_gap
from bayesbox.dist.number.special import normal_quantile

TAIL = 1e-14  # the tail probability omitted at each end
LEAST_OF_A_CELL = 1 / 6  # the smallest std, in cells: three of them are half a cell


@dataclass(frozen=True)
class Rounding:
    """How values are rounded: cell k is centred at origin + k * step, both in units of 2**exponent.

    The units keep the step a normal double for any column, from 5e-324 to 1.8e308.
    """

    origin: float
    step: float
    exponent: int

    def numbers(self, values: Doubles) -> Doubles:
        """The cell number of each value; a value halfway between two belongs to the even one.

        >>> Rounding(origin=0.0, step=0.75, exponent=1).numbers(np.array([-1.6, 0.75, 2.2, 3.1]))
        array([-1.,  0.,  1.,  2.])
        """
        with np.errstate(over="ignore", under="ignore"):
            return np.rint((np.ldexp(values, -self.exponent) - self.origin) / self.step)

    def place(self, number: float | Doubles) -> Doubles:
        """The centre of a cell on the column's scale; its edges are half a cell away."""
        with np.errstate(over="ignore"):
            return np.ldexp(self.origin + number * self.step, self.exponent)

    @property
    def width(self) -> float:
        """The step on the column's scale."""
        with np.errstate(over="ignore"):
            return float(np.ldexp(self.step, self.exponent))


@register("gaussian:rounded")
@dataclass(frozen=True)
class Rounded(NumberDensity):
    """P(cell of x | class) = Phi((k + 1/2 - mean) / std) - Phi((k - 1/2 - mean) / std).

    Mean and std of each class are those of the numbers k of its cells; the mean is `mean + mean_low`, as in Gaussian.
    The cells from `first` to `last` were seen and have precomputed terms; others are computed on request.
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
        """The terms, cells x classes; zeros for a cell so far from every class that they underflow."""
        terms = _core.log_normal_cells(np.ascontiguousarray(numbers), self.mean, self.mean_low, self.std)
        terms[np.isneginf(terms).all(axis=1)] = 0.0
        return terms

    def quantile(self, share: float) -> Doubles:
        """The quantile: the centre of the first cell with at least this cumulative probability."""
        return self.rounding.place(np.ceil(self.mean + (self.mean_low + self.std * normal_quantile(share)) - 0.5))

    def support(self) -> Doubles:
        """The centres of the cells, up to a negligible tail."""
        low, high = (self.rounding.numbers(self.quantile(share)) for share in (TAIL, 1 - TAIL))
        return self.rounding.place(np.arange(low.min(), high.max() + 1))

    def sample(self, random: np.random.Generator, classes: NDArray[np.int64]) -> list[object]:
        """Samples: the centre of the cell of a normal number."""
        numbers = random.normal(self.mean[classes] + self.mean_low[classes], self.std[classes])
        found: list[Any] = self.rounding.place(np.rint(numbers)).tolist()
        return found

    @property
    def cells(self) -> int:
        """The number of cells from the first to the last."""
        return int(self.last - self.first) + 1

    @property
    def edges(self) -> Doubles:
        """The edges between these cells."""
        return self.rounding.place(self.first + np.arange(self.cells - 1, dtype=np.float64) + 0.5)

    @cached_property
    def _known(self) -> Doubles:
        """The terms of the cells from the first to the last."""
        return self._terms(self.first + np.arange(self.cells, dtype=np.float64))

    def enter(self, plan: Plan, values: Doubles) -> None:
        plan.tables.append(self.coded(values))

    def coded(self, values: Doubles) -> tuple[NDArray[np.int32], Doubles]:
        """The row of each value in a table of terms: the known cells, then others that occur; -1 is missing."""
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

    @classmethod
    def fit(cls, column: str, tally: ValuesTally, options: FitOptions) -> Self:
        """A normal number recorded to the mean distance between neighbouring values of the whole column: each value
        represents a cell of that width around a multiple of it, and has the probability of the cell.

        Mean and std of a class are those of its rounded values, the std at least a sixth of a cell. This is Weka's
        estimator: a probability is never above 1, while the density of a narrow class grows without limit. If the
        column has two values that are rounded to the same, the cells are centred at these values instead.
        """
        values, counts = tally.table
        exponent = int(np.frexp(np.abs(values).max())[1])
        scaled = np.ldexp(values, -exponent)
        rounding = Rounding(0.0, mean_gap(scaled), exponent)
        numbers = rounding.numbers(values)
        if numbers[0] == numbers[-1]:
            rounding = replace(rounding, origin=float(scaled[0]))
            numbers = rounding.numbers(values)
        moments = ValueTable(numbers, counts).moments()
        spreads = [spread if spread.n.m else moments.pooled() for spread in moments.spreads()]
        return cls(
            column,
            *options.presence(tally),
            rounding,
            float(numbers[0]),
            float(numbers[-1]),
            np.array([spread.mean for spread in spreads]),
            np.array([spread.rest_of_mean for spread in spreads]),
            np.array([max(spread.std, LEAST_OF_A_CELL) for spread in spreads]),
        )

    def curve(self, low: float, high: float, points: int) -> tuple[Doubles, Doubles]:
        """Each cell as a step, if there are not too many."""
        if self.cells > points:
            return super().curve(low, high, points)
        edges = self.edges
        edges = np.concatenate([[low], edges[(edges > low) & (edges < high)], [high]])
        terms = self.log_density(edges[:-1] / 2 + edges[1:] / 2)
        return np.repeat(edges, 2)[1:-1], np.repeat(functions.exp(terms), 2, axis=0)

    def formulas(self, value: float) -> list[str]:
        """The formula: a normal number between the edges of the cell."""
        number = float(self.rounding.numbers(np.array([value]))[0])
        places = np.array([number - 0.5, number + 0.5, *(self.mean + self.mean_low)])
        low, high, *means = self.rounding.place(places).tolist()
        stds = [self.rounding.width * each for each in self.std.tolist()]
        edges = f"{decimal(low)} to {decimal(high)}"
        return [f"N({edges} | {decimal(m)}, {decimal(s)})" for m, s in zip(means, stds, strict=True)]
