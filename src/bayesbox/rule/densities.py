"""From the counts of distinct values to a density: kernel, log-normal and bins, from the same two arrays.

`values` ascend and are distinct, `counts` are values x classes. A column without spread says nothing and gets None.
A class without a value takes the density of the whole column.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesbox._core import ExactArray
from bayesbox._core import Moments as Sums
from bayesbox._core import moments as exact_moments
from bayesbox.dist.base import Distribution, Doubles, left_out_where_impossible, log
from bayesbox.dist.bins import Bins
from bayesbox.dist.gaussian import Gaussian
from bayesbox.dist.kernel import Curves, Kernel
from bayesbox.dist.lognormal import LogNormal
from bayesbox.dist.rounded import Rounded, Rounding
from bayesbox.rule.bins import bin_names, binned, binning, codes_of
from bayesbox.rule.normal import gaussian, student
from bayesbox.rule.smoothing import Cells, Smoothing, ratio
from bayesbox.schema.kinds import OF_MOMENTS, ROUNDED, SPACED
from bayesbox.tally.counts import Counts
from bayesbox.tally.moments import LEAST, Moments
from bayesbox.tally.values import Values


@dataclass(frozen=True)
class DensityOptions:
    """What a density takes besides the counts: its floor, the smoothing of bins, and the terms of presence."""

    floor: float
    smoothing: Smoothing
    log_observed: Doubles
    log_missing: Doubles

    @property
    def presence(self) -> dict[str, Doubles]:
        return {"log_observed": self.log_observed, "log_missing": self.log_missing}


def of_moments(method: str, column: str, moments: Moments, options: DensityOptions) -> Distribution | None:
    """The densities that need mean and variance only."""
    if method == "student":
        return student(column, moments, **options.presence)
    return gaussian(
        column, moments, floor=options.floor, log_observed=options.log_observed, log_missing=options.log_missing
    )


def of_values(
    method: str, column: str, values: Doubles, counts: Doubles, options: DensityOptions
) -> Distribution | None:
    """Any density from the counts of distinct values."""
    if method in OF_MOMENTS:
        return of_moments(method, column, Moments(_classes(counts), _sums(values, counts)), options)
    present = counts.any(axis=1)
    values, counts = values[present], counts[present]
    if len(values) < 2:
        return None
    if method == SPACED:
        return spaced_gaussian(column, values, counts, options)
    if method == ROUNDED:
        return rounded_gaussian(column, values, counts, options)
    if method == "kernel":
        return kernel(column, values, counts, options)
    if method == "lognormal":
        return lognormal(column, values, counts, options)
    return bins(method, column, values, counts, options)


def _classes(counts: Doubles) -> tuple[str, ...]:
    return tuple(f"{index:06}" for index in range(counts.shape[1]))


def _sums(values: Doubles, counts: Doubles) -> Sums:
    classes = counts.shape[1]
    target = np.tile(np.arange(classes, dtype=np.int32), len(values))
    return exact_moments([np.repeat(values, classes)], target, classes, np.ascontiguousarray(counts.ravel()))[0]


def spaced_gaussian(column: str, values: Doubles, counts: Doubles, options: DensityOptions) -> Gaussian | None:
    """The normal density of each class, its deviation at least a sixth of the mean distance between neighbouring values
    of the whole column. That is Weka's floor: a class with one value is known no better than the values are fine."""
    moments = Moments(_classes(counts), _sums(values, counts))
    gap = _mean_gap(values) / moments.pooled().unit
    floor = float(gap / 6) ** 2
    return gaussian(column, moments, floor=floor, log_observed=options.log_observed, log_missing=options.log_missing)


LEAST_OF_A_CELL = 1 / 6  # of a cell, the least deviation: three of them are within half a cell


def rounded_gaussian(column: str, values: Doubles, counts: Doubles, options: DensityOptions) -> Rounded:
    """A normal number recorded to the mean distance between neighbouring values of the whole column: each value stands
    for a cell of that width around a whole multiple of it, and has the probability of the cell.

    Mean and deviation of a class are those of its rounded values, the deviation at least a sixth of a cell. That is
    Weka's estimator: a probability is never above 1, where the density of a narrow class grows without limit. If the
    column has two values and both are rounded to the same, the cells are around these values instead.
    """
    exponent = int(np.frexp(np.abs(values).max())[1])
    scaled = np.ldexp(values, -exponent)
    rounding = Rounding(0.0, _mean_gap(scaled), exponent)
    numbers = rounding.numbers(values)
    if numbers[0] == numbers[-1]:
        rounding = replace(rounding, origin=float(scaled[0]))
        numbers = rounding.numbers(values)
    moments = Moments(_classes(counts), _sums(numbers, counts))
    spreads = [spread if spread.n.m else moments.pooled() for spread in moments.spreads()]
    return Rounded(
        column,
        options.log_observed,
        options.log_missing,
        rounding,
        float(numbers[0]),
        float(numbers[-1]),
        np.array([spread.mean for spread in spreads]),
        np.array([spread.rest_of_mean for spread in spreads]),
        np.array([max(spread.deviation, LEAST_OF_A_CELL) for spread in spreads]),
    )


def _mean_gap(values: Doubles) -> float:
    """The mean distance between neighbouring values; their difference may be too large for a double."""
    return max(float((values[-1] / 2 - values[0] / 2) / (len(values) - 1) * 2), LEAST)


def kernel(column: str, values: Doubles, counts: Doubles, options: DensityOptions) -> Kernel:
    """One normal curve at every value of a class. The square of its width is

        (greatest - least value of the class)**2 / n  +  gap**2 / 12

    with n rows in the class. The first is the width that Weka takes, after John and Langley (1995); the second is the
    variance of rounding to `gap`, the mean distance between neighbouring values of the whole column: a value that is
    one of few is known no better than that.
    """
    gap = _mean_gap(values)
    whole = counts.sum(axis=1)
    columns = [each if each.any() else whole for each in counts.T]
    curves = tuple(_curves(values, np.asarray(each), gap) for each in columns)
    return Kernel(column, options.log_observed, options.log_missing, curves)


def _curves(values: Doubles, weights: Doubles, gap: float) -> Curves:
    seen = weights > 0
    own, weights = values[seen], weights[seen]
    spread = (own[-1] / 2 - own[0] / 2) / np.sqrt(weights.sum()) * 2
    width = max(float(np.hypot(spread, gap / np.sqrt(12))), LEAST)
    return Curves(np.ascontiguousarray(own), np.ascontiguousarray(weights), width)


def lognormal(column: str, values: Doubles, counts: Doubles, options: DensityOptions) -> LogNormal | None:
    """The normal density of log x for x > 0; a share of the rows, smoothed as one of two levels, has x <= 0.

    The variance of log x is at least `floor` times that over all classes.
    """
    positive = values > 0
    above = counts[positive]
    if positive.sum() < 2:
        return None
    logs = np.log(values[positive])
    whole_mean, whole_variance = _moments_of(logs, above.sum(axis=1))
    n = above.sum(axis=0)
    mean, variance = np.full(len(n), whole_mean), np.full(len(n), whole_variance)
    for index in np.flatnonzero(n):
        mean[index], variance[index] = _moments_of(logs, above[:, index])
    floor = max(options.floor, np.finfo(float).eps) * whole_variance
    shares = np.column_stack([counts[~positive].sum(axis=0), n])
    if shares[:, 0].any():
        log_share = _log_levels(shares, ("0 or below", "above 0"), options.smoothing)
    else:
        log_share = np.vstack([np.full(len(n), -np.inf), np.zeros(len(n))])
    deviation = np.sqrt(np.maximum(variance, floor))
    return LogNormal(column, options.log_observed, options.log_missing, mean, deviation, log_share[1], log_share[0])


def _moments_of(values: Doubles, weights: Doubles) -> tuple[float, float]:
    """Mean and population variance of weighted values."""
    mean = float(np.average(values, weights=weights))
    return mean, float(np.average((values - mean) ** 2, weights=weights))


def bins(method: str, column: str, values: Doubles, counts: Doubles, options: DensityOptions) -> Bins:
    """P(bin | class) by the smoothing rule. Where there is no cut every value is in the one bin, which says nothing."""
    cuts = binning(method)(values, counts)
    names = bin_names(cuts)
    if len(cuts) == 0:
        log_bins = np.zeros((1, counts.shape[1]))
    else:
        log_bins = _log_levels(binned(values, counts, cuts).T, names, options.smoothing)
    return Bins(column, options.log_observed, options.log_missing, cuts, names, log_bins, method)


def bin_counts(tally: Values, conditional: Bins) -> Counts:
    """How often each bin occurred in each class, exactly; the levels in the order of the bins."""
    classes, width, number = len(tally.classes), len(tally.values), len(conditional.levels)
    codes = codes_of(tally.table[0], conditional.cuts).astype(np.int64)
    index = (np.arange(classes)[:, None] * number + codes[None, :]).ravel()
    cells = tally.cells.sum_groups(index, classes * number) if width else ExactArray(classes * number)
    return Counts(tally.classes, conditional.levels, cells)


def _log_levels(counts: Doubles, names: tuple[str, ...], rule: Smoothing) -> Doubles:
    """log P(level | class), levels x classes, from counts of classes x levels."""
    cells: Any = Cells(np.asarray(counts, dtype=np.float64), counts.sum(axis=1), len(names), list(names))
    over, under = ratio(rule, cells)
    return np.ascontiguousarray(left_out_where_impossible((log(over) - log(under)).T))
