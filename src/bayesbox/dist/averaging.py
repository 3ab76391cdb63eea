"""A column that may depend on the class: the model average of its class-conditional and its pooled distribution.

    w P(x | class) + (1 - w) P(x)

w is the probability that the column depends on the class, given the rows. It follows from the marginal likelihood of
both: with a Dirichlet prior for levels and bins, a normal-inverse-gamma prior for numbers.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist import functions
from bayesbox.dist.base import Doubles
from bayesbox.dist.cells import Smoothing, added_counts
from bayesbox.dist.functions import log, log_gamma
from bayesbox.errors import BadOption
from bayesbox.tally.moments import Moments


class Shares(NamedTuple):
    """w and 1 - w, each to full precision: a tiny weight may multiply a very large density."""

    inside: Any  # a number, or one per row
    outside: Any


def shares_of(log_odds: float | Doubles, inclusion: float) -> Shares:
    """w and 1 - w from the log Bayes factor that the class matters, and the prior."""
    exponent = log_odds + (log(inclusion) - log(1 - inclusion))
    return Shares(functions.exp(-functions.log_sum(0.0, -exponent)), functions.exp(-functions.log_sum(0.0, exponent)))


def level_shares(counts: Doubles, rule: Smoothing, size: int, inclusion: float) -> Shares:
    """w and 1 - w of a column of levels, from counts of classes x levels."""
    return shares_of(level_evidence(counts, rule, size), inclusion)


def level_evidence(counts: Doubles, rule: Smoothing, size: int) -> float:
    """The log Bayes factor P(levels | class matters) / P(levels | it does not), from counts of classes x levels.

    Both are Dirichlet-multinomials over `size` levels: of each class separately, or of all rows together.
    """
    a, b = added_counts(rule, size)
    if not a:
        raise BadOption(
            "maximum likelihood is not a prior, so there is no evidence to average by", remedy="Use laplace"
        )
    by_class = math.fsum(_dirichlet(row, a, b) for row in counts.tolist())  # sum() rounds otherwise before Python 3.12
    return float(by_class - _dirichlet(counts.sum(axis=0).tolist(), a, b))


def _dirichlet(counts: list[float], a: float, b: float) -> float:
    terms = (functions.log_gamma(count + a) - functions.log_gamma(a) for count in counts if count)
    return math.fsum([functions.log_gamma(b), -functions.log_gamma(sum(counts) + b), *terms])


def mixed_levels(counts: Doubles, rule: Smoothing, size: int, shares: Shares) -> Doubles:
    """w P(level | class) + (1 - w) P(level), classes x levels."""
    a, b = added_counts(rule, size)
    by_class = (counts + a) / (counts.sum(axis=1, keepdims=True) + b)
    whole = counts.sum(axis=0)
    mixed: Doubles = shares.inside * by_class + shares.outside * ((whole + a) / (whole.sum() + b))[None, :]
    return mixed


def mixed_densities(by_class: Doubles, whole: Doubles, shares: Shares) -> Doubles:
    """The same for densities, in logs."""
    mixed: Doubles = functions.log_sum(by_class + log(shares.inside), whole + log(shares.outside))
    return mixed


def class_units(moments: Moments) -> tuple[Doubles, Doubles, Doubles]:
    """By class: n, the distance of the mean from the column's, and the std, in units of the column's std."""
    whole = moments.pooled()
    n, distance, std = np.zeros((3, len(moments.classes)))
    for index, each in enumerate(moments.spreads()):
        if each.n.m:
            n[index], std[index] = float(each.n.fraction), each.unit / whole.unit
            distance[index] = ((each.mean - whole.mean) + (each.rest_of_mean - whole.rest_of_mean)) / whole.unit
    return n, distance, std


def number_evidence(n: Doubles, distance: Doubles, std: Doubles, rows: float) -> Any:
    """The log Bayes factor for numbers, under a prior worth this many rows with the mean and variance of the column:

    mean ~ N(column's mean, variance / rows), variance ~ inverse gamma(rows / 2, rows / 2 times the column's variance).
    The unit of the column cancels. Classes are on the last axis.
    """
    by_class = _normal(n, posterior_squares(n, distance, std, rows), rows).sum(axis=-1)
    whole = n.sum(axis=-1)
    return by_class - _normal(whole, rows + whole, rows)


def posterior_squares(n: Doubles, distance: Doubles, std: Doubles, rows: float) -> Doubles:
    """r + n s**2 + r n d**2 / (n + r), with the distance d of the mean, the std s and a prior of r rows."""
    return rows + n * std**2 + rows * n * distance**2 / (n + rows)


def _normal(n: Doubles, squares: Doubles, rows: float) -> Doubles:
    """The log marginal likelihood of n values with these squares q under a prior of r rows:

    log G((n + r) / 2) - log G(r / 2) + log(r / (n + r)) / 2 + r/2 log r - (n + r) / 2 log q - n/2 log pi
    """
    return (
        log_gamma((n + rows) / 2)
        - functions.log_gamma(rows / 2)
        + 0.5 * functions.log(rows / (n + rows))
        + rows / 2 * math.log(rows)
        - (n + rows) / 2 * functions.log(squares)
        - n / 2 * math.log(math.pi)
    )


def terms_without(cells: Doubles, there: NDArray[np.bool_], rule: Smoothing, inclusion: float, size: int) -> Doubles:
    """The logs of the averaged probabilities of some levels, out of `size` levels without the row."""
    a, b = added_counts(rule, size)
    n, own = cells[:, there], np.eye(len(cells))
    left = np.maximum(n.T[None] - own[:, None], 0.0)  # class of the removed row x level x class
    total = np.maximum(cells.sum(axis=1)[None] - own, 0.0)[:, None]
    by_class = (left + a) / (total + b)
    whole = (np.maximum(n.sum(axis=0) - 1, 0.0) + a) / (max(cells.sum() - 1, 0.0) + b)
    last = np.diagonal(by_class, axis1=0, axis2=2).T  # the row's own class
    odds = level_evidence(cells, rule, size) - log(last) + log(whole)
    inside, outside = shares_of(odds, inclusion)
    return log(inside[:, :, None] * by_class + (outside * whole)[:, :, None])
