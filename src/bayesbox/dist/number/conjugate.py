"""A normal with unknown mean and variance: its posterior predictive t, and the marginal likelihood.

The prior is normal-inverse-gamma at the mean m of the column and the variance w within its classes, with a weight of k
rows for the mean and of ten for the variance:

    mean ~ N(m, variance / k)        variance ~ inverse gamma(10 / 2, 10 w / 2)

A class of n values with the mean a and the variance s then predicts by Student's t with n + 10 degrees of freedom, and

    b = 10 w + n s + k n (a - m)**2 / (n + k)
    loc = (k m + n a) / (n + k)        scale**2 = b (n + k + 1) / ((n + k) (n + 10))

so a class with one value does not get a spike. w is the pooled variance of the classes, with the variance v of the
column as one degree of freedom more: (v + sum of n s) / (1 + sum of n - 1). The marginal likelihood of the values is

    G((n + 10) / 2) / G(10 / 2) * (10 w)**(10 / 2) / b**((n + 10) / 2) * pi**(-n / 2) * (n / k + 1)**(-1 / 2)

(Murphy, Conjugate Bayesian analysis of the Gaussian distribution, 2007, sections 3.3 and 3.4).

k is learned (empirical Bayes): k is .01, .1, 1, 10, 100 or 1000, all equally probable at first. The product of the
marginal likelihoods of all classes gives their posterior, and the k of the formulas is the exponential of the posterior
mean of log k. If the means of the classes differ by no more than chance, k is large and the classes share one mean. The
marginal likelihood of the column is the mean of the six products.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bayesbox.dist.base import Doubles
from bayesbox.dist.functions import exp, log, log1p, log_gamma
from bayesbox.dist.number.special import GREATEST, apart
from bayesbox.tally.spread_table import SpreadTable

MEAN_ROWS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)  # the weight of the prior of the mean: k
VARIANCE_ROWS = 10.0  # that of the variance
NO_DEGREES = 3.0  # the degrees of freedom of a class without rows
MOST_DEGREES = 2.0**53
MOST_ROWS = 1e300  # beyond which the log of a gamma function overflows


class ClassSpreads(NamedTuple):
    """Of each class n, the distance of its mean from that of the column and its deviation; and that of the column.

    They are arrays of classes, or of rows x classes with a unit of rows x 1.
    """

    n: Doubles
    distance: Doubles
    std: Doubles
    unit: float | Doubles

    def mean_rows(self) -> Doubles:
        """k, the weight of the shared mean: 1, or rows x 1."""
        evidence = self.squares().log_evidence()
        shares = exp(evidence - evidence.max(axis=0))
        logs = log(MEAN_ROWS).reshape(-1, *[1] * (evidence.ndim - 1))
        return exp((shares * logs).sum(axis=0) / shares.sum(axis=0))[..., None]

    def students(self, mean_rows: Doubles) -> tuple[Doubles, Doubles, Doubles]:
        """The location, relative to the mean of the column, the scale and the degrees of freedom of each t.

        The last is that of a class without rows: at the mean of the column, with twice its variance and 3 degrees.
        """
        k = self.n + mean_rows
        variance = self.squares().within(mean_rows) / (self.n + VARIANCE_ROWS) * ((k + 1) / k)
        loc, df = self.distance * (self.n / k), np.minimum(self.n + VARIANCE_ROWS, MOST_DEGREES)
        variance, loc, df = _with(variance, 2.0), _with(loc, 0.0), _with(df, NO_DEGREES)
        with np.errstate(over="ignore"):
            scale: Doubles = np.minimum(self.unit * np.sqrt(variance), GREATEST)
        return loc, scale, df

    def log_evidence(self) -> Doubles:
        """The log marginal likelihood of all values; one number, or one per row."""
        n = np.minimum(self.n, MOST_ROWS)
        terms = (
            log_gamma((n + VARIANCE_ROWS) / 2)
            - log_gamma(VARIANCE_ROWS / 2)
            - n / 2 * math.log(math.pi)
            - n * log(self.unit)
        )
        evidence = self.squares().log_evidence()
        most = evidence.max(axis=0)
        total: Doubles = terms.sum(axis=-1) + most + log(exp(evidence - most).mean(axis=0))
        return total

    def squares(self) -> ClassSquares:
        """In units of the column's variance, so that none over- or underflows."""
        n, away, own = np.minimum(self.n, MOST_ROWS), self.distance / self.unit, self.std / self.unit
        inside = n * own * own
        pooled = (1 + inside.sum(axis=-1, keepdims=True)) / (1 + np.maximum(n - 1, 0.0).sum(axis=-1, keepdims=True))
        return ClassSquares(n, away * away, inside, VARIANCE_ROWS * pooled)


class ClassSquares(NamedTuple):
    """The terms of b."""

    n: Doubles
    away: Doubles  # (a - m)**2
    inside: Doubles  # n s
    before: Doubles  # 10 w; 1, or rows x 1

    def within(self, mean_rows: Doubles | float) -> Doubles:
        """b, with this weight of the shared mean."""
        return self.before + self.inside + mean_rows * (self.n / (self.n + mean_rows)) * self.away

    def log_evidence(self) -> Doubles:
        """The part that depends on the squares, for each k: 6, or 6 x rows."""
        before = VARIANCE_ROWS / 2 * log(self.before)
        half = (self.n + VARIANCE_ROWS) / 2
        each = [before - half * log(self.within(k)) - log1p(self.n / k) / 2 for k in MEAN_ROWS]
        found: Doubles = np.stack(each).sum(axis=-1)
        return found


def _with(each: Doubles, last: float) -> Doubles:
    """The same with an additional class."""
    return np.concatenate([each, np.full((*each.shape[:-1], 1), last)], axis=-1)


def spreads_of_table(table: SpreadTable) -> ClassSpreads:
    """The spreads from the exact moments of some columns, columns x classes; valid if a column's values differ."""
    n = table.n[:, :-1]
    mean, low = (each[:, :-1] for each in (table.mean, table.mean_low))
    away = apart(mean, table.mean[:, -1:]) + (low - table.mean_low[:, -1:])
    return ClassSpreads(n, np.where(n > 0, away, 0.0), table.unit[:, :-1], table.unit[:, -1:])
