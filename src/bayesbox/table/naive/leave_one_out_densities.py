"""Leave-one-out terms of the densities of numbers: cuts, widths and parameters derived anew without the row's value.

What a density is without one row depends only on the value and the class of that row, so each distinct pair of them is
worked out once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist.base import Distribution, Doubles, Plan
from bayesbox.dist.bins import Bins
from bayesbox.dist.gaussian import Gaussian
from bayesbox.dist.kernel import Kernel
from bayesbox.dist.numbers import NumberDensity
from bayesbox.dist.posterior import refuse_infinite
from bayesbox.dist.rounded import Rounded
from bayesbox.dist.student import GREATEST, Student, apart, log_student
from bayesbox.errors import CannotForget
from bayesbox.rule.densities import DensityOptions, of_values
from bayesbox.rule.normal import student_parameters
from bayesbox.schema.kinds import ROUNDED, SPACED, Kind
from bayesbox.table.naive.leave_one_out_numbers import leaves_only_flags
from bayesbox.tally.moments import Moments, Spread
from bayesbox.tally.values import Values

Codes = NDArray[np.int32]
Flags = NDArray[np.bool_]

Finish = Callable[[Any, Doubles, Doubles], Distribution]

LOST_DIGITS = 1e-6  # the share of the column's variance that must be left, for doubles to tell it


def add_density(
    plan: Plan,
    density: NumberDensity | Gaussian,
    kind: Kind,
    tally: Moments,
    options: DensityOptions,
    values: Doubles,
    target: Codes,
    finished: Finish | None = None,
) -> Flags:
    """Enter the terms of one column; which rows a refit must answer. A gaussian is one whose floor is the spacing.

    What is made of a density and of the counts of distinct values that it is from is said by `finished`.
    """
    refuse_infinite({density.column: values}, ~np.isnan(values), 0)
    doubtful = np.zeros(plan.rows, dtype=bool)
    doubtful[leaves_only_flags(kind, tally, tally.pooled(), values)] = True
    if isinstance(density, Student):
        terms, unsure = _student_terms(tally, values, target)
        plan.add_terms(terms)
        return doubtful | unsure
    assert isinstance(tally, Values)
    observed = ~np.isnan(values)
    pairs, place = np.unique(np.column_stack([values[observed], target[observed]]), axis=0, return_inverse=True)
    terms = np.zeros((plan.rows, plan.classes))
    if len(pairs):
        of_pairs, gone = _terms_of_pairs(_method(density), tally, options, pairs, finished)
        terms[observed] = of_pairs[place.ravel()]
        doubtful[observed] |= gone[place.ravel()]
    plan.add_terms(terms)
    return doubtful


def _method(density: NumberDensity | Gaussian) -> str:
    if isinstance(density, Gaussian):
        return SPACED
    if isinstance(density, Rounded):
        return ROUNDED
    return density.method if isinstance(density, Bins) else "kernel" if isinstance(density, Kernel) else "lognormal"


def _terms_of_pairs(
    method: str, tally: Values, options: DensityOptions, pairs: Doubles, finished: Finish | None
) -> tuple[Doubles, Flags]:
    """The log-densities in all classes of each value, one row of its class taken out; and whether there is none then,
    so that the column takes no part."""
    values, counts = tally.table
    places = tally.places(pairs[:, 0])
    terms, gone = np.zeros((len(pairs), counts.shape[1])), np.zeros(len(pairs), dtype=bool)
    for index, (place, (value, label)) in enumerate(zip(places.tolist(), pairs.tolist(), strict=True)):
        label = int(label)
        if place < 0 or counts[place, label] < 1:
            raise CannotForget(
                "some of these rows were never learned: a value has no count in its class",
                found=value,
                remedy="Leave-one-out is for the rows a model was trained on",
            )
        counts[place, label] -= 1
        without = of_values(method, "", values, counts, options)
        if finished is not None and without is not None:
            without = finished(without, values, counts)
        counts[place, label] += 1
        if isinstance(without, Kernel):
            terms[index] = without.summed_log_density(np.array([value]))[0]
        elif isinstance(without, (NumberDensity, Gaussian)):
            terms[index] = without.log_density(np.array([value]))[0]
        gone[index] = without is None
    return terms, gone


def _student_terms(tally: Moments, values: Doubles, target: Codes) -> tuple[Doubles, Flags]:
    """Student's t of each row's value in all classes, the row's own value taken out of class and column."""
    others = others_of(tally, values, target)
    offset, scale = student_parameters(others.n, others.distance, others.deviation, others.whole_deviation)
    terms = log_student(others.x, offset, scale, others.n + 1) - np.log(others.unit)
    terms[~others.present] = 0.0
    return terms, others.doubtful


class Others(NamedTuple):
    """The moments of all other rows than each one, rows x classes or x 1, in units of the whole column's deviation.

    `x`: the row's own value, from the mean of the others; `distance`: that of the mean of each class from it.
    """

    unit: float
    present: Flags  # the rows that have a value
    doubtful: Flags  # the rows that doubles cannot tell of
    x: Doubles
    n: Doubles
    distance: Doubles
    deviation: Doubles
    whole_deviation: Doubles


def others_of(tally: Moments, values: Doubles, target: Codes) -> Others:
    """The moments without each row's own value.

    With d = x - mean: mean' = mean - d / (n - 1) and n' variance' = n variance - d**2 n / (n - 1), in units of the
    column's deviation. Where hardly anything of the column's variance is left, the row is doubtful.
    """
    whole, spreads = tally.pooled(), tally.spreads()
    unit, centre = whole.unit, whole.mean
    n, mean, squares = np.array([_scaled(each, whole) for each in (*spreads, whole)]).T
    present = ~np.isnan(values)
    away = apart(np.where(present, values, centre), centre)
    x = np.where(present, (away - whole.rest_of_mean) / unit, 0.0)
    rows = len(values)
    all_n, all_mean, all_squares = _without(n[-1], mean[-1], squares[-1], x)
    own = np.zeros((rows, len(spreads)), dtype=bool)
    own[np.arange(rows), target] = True
    class_n, class_mean, class_squares = (np.tile(each[:-1], (rows, 1)) for each in (n, mean, squares))
    class_n[own], class_mean[own], class_squares[own] = _without(n[target], mean[target], squares[target], x)
    doubtful = present & ((all_squares < LOST_DIGITS * squares[-1]) | (all_n < 1) | (np.abs(away) == GREATEST))
    deviation = np.sqrt(np.where(doubtful | (all_n < 1), 1.0, all_squares) / np.maximum(all_n, 1))[:, None]
    class_deviation = np.sqrt(class_squares / np.maximum(class_n, 1))
    distance = np.where(class_n > 0, class_mean - all_mean[:, None], 0.0)
    x = (x - all_mean)[:, None]
    return Others(unit, present, doubtful, x, class_n, distance, class_deviation, deviation)


def _scaled(spread: Spread, whole: Spread) -> tuple[float, float, float]:
    """(n, mean, n times the variance) in units of the column's deviation around its mean."""
    if spread.n.m == 0:
        return 0.0, 0.0, 0.0
    n = float(spread.n.fraction)
    distance = float(apart(spread.mean, whole.mean)) + (spread.rest_of_mean - whole.rest_of_mean)
    return n, distance / whole.unit, n * (spread.unit / whole.unit) ** 2


def _without(n: Doubles, mean: Doubles, squares: Doubles, x: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    left = np.maximum(n - 1, 0.0)
    distance = x - mean
    some = left > 0
    divisor = np.where(some, left, 1.0)
    return (
        left,
        np.where(some, mean - distance / divisor, 0.0),
        np.where(some, np.maximum(squares - distance**2 * n / divisor, 0.0), 0.0),
    )
