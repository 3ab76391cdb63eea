"""The kernel density of a number: one normal kernel at every value seen, one bandwidth per class."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist.base import Doubles
from bayesbox.dist.factor import decimal
from bayesbox.dist.fit import FitOptions, ValuesTally, register
from bayesbox.dist.number.density import NumberDensity
from bayesbox.dist.number.spaced import mean_gap
from bayesbox.dist.number.special import normal_quantile
from bayesbox.tally.moments import LEAST

DIRECT = 1024  # distinct values of a class; up to this every kernel is summed at every x
STEPS = 16  # grid points per bandwidth
MARGIN = 9  # bandwidths beyond the smallest and largest value
MOST_POINTS = 1 << 20


class Curves(NamedTuple):
    """The kernels of one class: their positions, their weights in rows, and their bandwidth."""

    values: Doubles
    weights: Doubles
    width: float

    def log_density(self, x: Doubles) -> Doubles:
        """The log-density at each x, summed over all kernels."""
        return _core.kernel_log_density(np.ascontiguousarray(x), self.values, self.weights, self.width)

    def cumulative(self, x: float) -> float:
        """P(X <= x): the mean of Phi((x - value) / width); a kernel more than 9 bandwidths away counts as 0 or 1."""
        first, last = np.searchsorted(self.values, [x - MARGIN * self.width, x + MARGIN * self.width])
        z = (self.values[first:last] - x) / (self.width * math.sqrt(2))
        near = [math.erfc(each) / 2 for each in z.tolist()]
        return float(self.weights[:first].sum() + np.dot(self.weights[first:last], near)) / float(self.weights.sum())

    def quantile(self, share: float) -> float:
        """The quantile, by bisection of the cumulative distribution."""
        away = (MARGIN + abs(float(normal_quantile(share)))) * self.width
        low, high = float(self.values[0] - away), float(self.values[-1] + away)
        while True:
            middle = low / 2 + high / 2
            if not low < middle < high:
                return middle
            low, high = (middle, high) if self.cumulative(middle) < share else (low, middle)


class PointGrid(NamedTuple):
    """The log-density of a class at equidistant points, for interpolation."""

    start: float
    step: float
    log_density: Doubles


@register("kernel")
@dataclass(frozen=True)
class Kernel(NumberDensity):
    """The kernels of each class.

    For a class with more than 1,024 distinct values the kernels are summed once on a grid of 16 points per bandwidth,
    and the log-density at x is interpolated from four points by a cubic. Near rows of the class the error is about
    1e-6; in a gap much wider than the kernels, where the density is negligible, a few hundredths. Beyond the grid all
    kernels are summed.
    """

    curves: tuple[Curves, ...]

    def parameters(self) -> dict[str, Doubles]:
        return {"width": np.array([each.width for each in self.curves])}

    @property
    def free_parameters(self) -> int:
        return sum(len(each.values) + 1 for each in self.curves)  # every value seen, and the bandwidth

    def describe(self) -> str:
        return "kernel"

    @classmethod
    def fit(cls, column: str, tally: ValuesTally, options: FitOptions) -> Self:
        """One normal kernel at every value of a class. The square of its bandwidth is

            (greatest - least value of the class)**2 / n  +  gap**2 / 12

        with n rows in the class. The first term is Weka's bandwidth, after John and Langley (1995); the second is the
        variance of rounding to `gap`, the mean distance between neighbouring values of the whole column, which limits
        the precision of the values.
        """
        values, counts = tally.table
        gap = mean_gap(values)
        whole = counts.sum(axis=1)
        columns = [each if each.any() else whole for each in counts.T]
        curves = tuple(_curves(values, np.asarray(each), gap) for each in columns)
        return cls(column, *options.presence(tally), curves)

    def log_density(self, values: Doubles) -> Doubles:
        distinct, place = np.unique(values, return_inverse=True)
        columns = [
            curves.log_density(distinct) if grid is None else _interpolated(curves, grid, distinct)
            for curves, grid in zip(self.curves, self._grids, strict=True)
        ]
        return _left_out_where_too_far(np.column_stack(columns))[place]

    def compiled_density(self) -> tuple[object, ...]:
        classes = []
        for curves, grid in zip(self.curves, self._grids, strict=True):
            start, step, log_density = PointGrid(0.0, 1.0, np.empty(0)) if grid is None else grid
            classes.append((curves.values, curves.weights, curves.width, start, step, log_density))
        return "kernel", tuple(classes)

    def exact_log_density(self, values: Doubles) -> Doubles:
        """The log-density without a grid: all kernels summed at every value."""
        return _left_out_where_too_far(np.column_stack([curves.log_density(values) for curves in self.curves]))

    def formulas(self, value: float) -> list[str]:
        return [
            f"kernel({decimal(value)} | {len(each.values)} values, width {decimal(each.width)})" for each in self.curves
        ]

    def quantile(self, share: float) -> Doubles:
        return np.array([each.quantile(share) for each in self.curves])

    def sample(self, random: np.random.Generator, classes: NDArray[np.int64]) -> list[object]:
        """A value drawn by weight, plus a normal step of the bandwidth."""
        draws, steps = random.random(len(classes)), random.standard_normal(len(classes))
        found = np.empty(len(classes))
        for label, curves in enumerate(self.curves):
            here = classes == label
            sums = np.cumsum(curves.weights)
            place = np.searchsorted(sums, draws[here] * sums[-1], side="right")
            found[here] = curves.values[np.minimum(place, len(sums) - 1)] + curves.width * steps[here]
        drawn: list[Any] = found.tolist()
        return drawn

    @cached_property
    def _grids(self) -> list[PointGrid | None]:
        return [_grid(curves) for curves in self.curves]


def _curves(values: Doubles, weights: Doubles, gap: float) -> Curves:
    seen = weights > 0
    own, weights = values[seen], weights[seen]
    spread = (own[-1] / 2 - own[0] / 2) / np.sqrt(weights.sum()) * 2
    width = max(_diagonal(float(spread), float(gap / np.sqrt(12))), LEAST)
    return Curves(np.ascontiguousarray(own), np.ascontiguousarray(weights), width)


def _diagonal(one: float, other: float) -> float:
    """The root of the sum of two squares; that of the C library is rounded differently on some platforms."""
    unit = max(abs(one), abs(other))
    if not 0 < unit < math.inf:
        return unit
    a, b = one / unit, other / unit
    return unit * math.sqrt(a * a + b * b)


def _left_out_where_too_far(terms: Doubles) -> Doubles:
    """Zeros for a value so far from all kernels that its density underflows."""
    terms[np.isneginf(terms).all(axis=1)] = 0.0
    return terms


def _grid(curves: Curves) -> PointGrid | None:
    if len(curves.values) <= DIRECT:
        return None
    start = curves.values[0] - MARGIN * curves.width
    step = curves.width / STEPS
    with np.errstate(over="ignore"):
        points = (curves.values[-1] + MARGIN * curves.width - start) / step
    if not points < MOST_POINTS:
        return None
    x = start + step * np.arange(int(points) + 2)
    return PointGrid(float(start), float(step), curves.log_density(x))


def _interpolated(curves: Curves, grid: PointGrid, x: Doubles) -> Doubles:
    """Cubic Lagrange interpolation through the two points on either side."""
    with np.errstate(over="ignore", invalid="ignore"):
        place = (x - grid.start) / grid.step
    inside = (place >= 1) & (place < len(grid.log_density) - 2)
    first = np.where(inside, place, 1.0).astype(np.int64)
    t = np.where(inside, place, 1.0) - first
    before, here, next_, after = (grid.log_density[first + shift] for shift in (-1, 0, 1, 2))
    answer: Doubles = (
        -t * (t - 1) * (t - 2) / 6 * before
        + (t + 1) * (t - 1) * (t - 2) / 2 * here
        - (t + 1) * t * (t - 2) / 2 * next_
        + (t + 1) * t * (t - 1) / 6 * after
    )
    if not inside.all():
        answer[~inside] = curves.log_density(x[~inside])
    return answer
