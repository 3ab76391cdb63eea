"""A normal with unknown mean and variance: its posterior predictive t, and the marginal likelihood.

The prior is normal-inverse-gamma at the mean m and the variance v of the whole column, worth one row for the mean and
three for the variance:

    mean ~ N(m, variance / 1)        variance ~ inverse gamma(3 / 2, 3 v / 2)

A class of n values with the mean a and the variance s then predicts by Student's t with n + 3 degrees of freedom, and

    b = 3 v + n s + n (a - m)**2 / (n + 1)
    loc = (m + n a) / (n + 1)        scale**2 = b (n + 2) / ((n + 1) (n + 3))

so a class with one value does not get a spike. The marginal likelihood of the n values is

    G((n + 3) / 2) / G(3 / 2) * (3 v)**(3 / 2) / b**((n + 3) / 2) * pi**(-n / 2) * (n + 1)**(-1 / 2)

(Murphy, Conjugate Bayesian analysis of the Gaussian distribution, 2007, sections 3.3 and 3.4).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bayesbox.dist.base import Doubles
from bayesbox.dist.functions import log, log1p, log_gamma
from bayesbox.dist.number.special import GREATEST, apart
from bayesbox.tally.spread_table import SpreadTable

MEAN_ROWS = 1.0  # the weight of the prior: k0
VARIANCE_ROWS = 3.0  # nu0
MOST_DEGREES = 2.0**53
MOST_ROWS = 1e300  # beyond which the log of a gamma function overflows


class ClassSpreads(NamedTuple):
    """For each class n, the distance of its mean from that of the column, and its std; and the std of the column.

    They are arrays of classes, or of rows x classes with a unit of rows x 1.
    """

    n: Doubles
    distance: Doubles
    std: Doubles
    unit: float | Doubles

    @property
    def df(self) -> Doubles:
        """The degrees of freedom, up to where one more makes no difference."""
        return np.minimum(self.n + VARIANCE_ROWS, MOST_DEGREES)

    @property
    def _squares(self) -> Doubles:
        """b, in units of the column's variance, so that no square over- or underflows."""
        away, spread = self.distance / self.unit, self.std / self.unit
        between = MEAN_ROWS * self.n * away * away / (self.n + MEAN_ROWS)
        squares: Doubles = VARIANCE_ROWS + self.n * spread * spread + between
        return squares

    @property
    def loc(self) -> Doubles:
        """The location of each t, relative to the mean of the column."""
        return self.distance * (self.n / (self.n + MEAN_ROWS))

    @property
    def scale(self) -> Doubles:
        k = self.n + MEAN_ROWS
        variance = self._squares / (self.n + VARIANCE_ROWS) * ((k + 1) / k)
        with np.errstate(over="ignore"):
            scale: Doubles = np.minimum(self.unit * np.sqrt(variance), GREATEST)
        return scale

    def with_no_rows(self) -> ClassSpreads:
        """The same with an additional class without rows: its t is that of the prior."""
        nothing = np.zeros((*self.n.shape[:-1], 1))
        n, distance, std = (np.concatenate([each, nothing], axis=-1) for each in (self.n, self.distance, self.std))
        return ClassSpreads(n, distance, std, self.unit)

    def log_evidence(self) -> Doubles:
        """The log marginal likelihood, with separate classes; one number, or one per row."""
        n = np.minimum(self.n, MOST_ROWS)
        df = n + VARIANCE_ROWS
        terms = (
            log_gamma(df / 2)
            - log_gamma(VARIANCE_ROWS / 2)
            + VARIANCE_ROWS / 2 * math.log(VARIANCE_ROWS)
            - df / 2 * log(self._squares)
            - n / 2 * math.log(math.pi)
            - log1p(n / MEAN_ROWS) / 2
            - n * log(self.unit)
        )
        total: Doubles = terms.sum(axis=-1)
        return total


def spreads_of_table(table: SpreadTable) -> ClassSpreads:
    """The spreads from the exact moments of some columns, columns x classes; valid if a column's values differ."""
    n = table.n[:, :-1]
    mean, low = (each[:, :-1] for each in (table.mean, table.mean_low))
    away = apart(mean, table.mean[:, -1:]) + (low - table.mean_low[:, -1:])
    return ClassSpreads(n, np.where(n > 0, away, 0.0), table.unit[:, :-1], table.unit[:, -1:])
