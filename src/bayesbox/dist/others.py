"""The moments of a column without each of its rows in turn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesbox.dist.base import Doubles
from bayesbox.dist.leave_one_out import Codes, Flags
from bayesbox.dist.special import GREATEST, apart
from bayesbox.tally.moments import Moments, Spread

LOST_DIGITS = 1e-6  # the share of the column's variance that must be left, for doubles to tell it


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
