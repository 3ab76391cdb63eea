"""The shrinkage of the correlations of full Bayes towards independence, learned from the rows after counting.

A class of n rows with the correlations R uses (n R + m I) / (n + m): as if there were m more rows without correlation.
m = 0 is full Bayes, infinite m is naive Bayes. Since m counts rows, its effect decreases with more training rows.

`ledoit-wolf` (Ledoit and Wolf 2004, of columns in units of their deviation as in scikit-learn's discriminant analysis)
has one m per class. With the rows z in these units and p columns, the share m / (n + m) is

    min(b, d) / d      d = ||R - I||^2      b = sum over the rows of ||z z' - R||^2 / n^2

whose fourth moments are not tallied, so the rows are needed. Only complete rows are used; if there are none, b is that
of normal rows, (p^2 + ||R||^2) / n.

`loo` has one m for all classes: of several shares of a class of average size, the one with the lowest leave-one-out log
loss. Without a row of weight w at a distance z from the mean, a class has

    mean' = mean - z w / (n - w)      R' n' = n (R - z z' w / (n - w))      n' = n - w

(a covariance in units of the old deviations), of which the products of different columns are times n' / (n' + m).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist import functions
from bayesbox.dist.base import Doubles
from bayesbox.rule.joint_normal import Normal, is_singular, toward_independence
from bayesbox.stat.calibrate import normalised

Codes = NDArray[np.int64]

LEDOIT_WOLF, LEAVE_ONE_OUT = "ledoit-wolf", "loo"
DERIVED = (LEAVE_ONE_OUT, LEDOIT_WOLF)
SHRUNK = "correlations shrunk as if"
SHARES = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
ROWS = 20_000  # the most rows used
JUDGED = 1_000  # the most rows evaluated
WORK = 2e8  # the most multiplications per share
AT_ONCE = 2_000_000  # cells of covariances held in memory at once


@dataclass(frozen=True)
class Shrinkage:
    """The pseudo-rows of independence of each class by name; infinite if correlations are ignored."""

    rows: Mapping[str, float]

    def of(self, name: str) -> float:
        """The value of a class; 0 if it was added later."""
        return self.rows.get(name, 0.0)

    def text(self) -> str:
        """A description of the shrinkage.

        >>> Shrinkage({"a": 30.0, "b": 30.0}).text()
        'correlations shrunk as if 30 more rows of each class had none'
        >>> Shrinkage({"a": 30.0, "b": float("inf")}).text()
        'correlations shrunk as if more rows had none: 30 of `a`, all of `b`'
        """
        if len(set(self.rows.values())) == 1:
            m = next(iter(self.rows.values()))
            return (
                "correlations shrunk to zero" if np.isinf(m) else f"{SHRUNK} {m:.4g} more rows of each class had none"
            )
        each = [f"{'all' if np.isinf(m) else f'{m:.4g}'} of `{name}`" for name, m in self.rows.items()]
        return f"{SHRUNK} more rows had none: {', '.join(each)}"


class StandardRows(NamedTuple):
    """Complete rows: their numbers, class indices and weights, and the other log-probabilities of each class.

    `others` is log P(class) and log P(levels | class) without the row, rows x classes.
    """

    x: Doubles
    target: Codes
    weights: Doubles
    others: Doubles

    def take(self, rows: Codes) -> StandardRows:
        """Some of the rows."""
        return StandardRows(self.x[rows], self.target[rows], self.weights[rows], self.others[rows])


def share_of(rows: float, n: float) -> float:
    """The share of independence for n rows and this many pseudo-rows."""
    return 1.0 if np.isinf(rows) else rows / (n + rows)


def rows_of(share: float, n: float) -> float:
    """The pseudo-rows of independence that have this share for n rows."""
    return np.inf if share >= 1 else n * share / (1 - share)


# -- Ledoit and Wolf -------------------------------------------------------------------------------------------------


def ledoit_wolf(normal: Normal, x: Doubles, weights: Doubles) -> float:
    """The pseudo-rows of independence of a class, from its complete rows."""
    used = normal.plain > 0
    p = int(used.sum())
    correlation = unfloored(normal)[np.ix_(used, used)]
    off = float(((correlation - np.eye(p)) ** 2).sum())
    if off == 0 or not normal.n:
        return np.inf if off == 0 and p > 1 else 0.0
    if weights.sum() > 0:
        z = (((x - normal.mean) - normal.mean_low) / np.where(used, normal.plain, 1.0))[:, used]
        # ||z z' - R||^2 = |z|^4 - 2 z' R z + ||R||^2
        across = (functions.product(z, correlation) * z).sum(axis=1)
        squares = (z * z).sum(axis=1) ** 2 - 2 * across + (correlation**2).sum()
        spread = functions.dot(weights, squares) / float(weights.sum()) / normal.n
    else:
        spread = (p * p + float((correlation**2).sum())) / normal.n
    return rows_of(min(spread, off) / off, normal.n)


def unfloored(normal: Normal) -> Doubles:
    """The correlations before a variance floor reduced them."""
    share = np.divide(normal.plain, normal.std, out=np.ones_like(normal.plain), where=normal.plain > 0)
    found: Doubles = normal.correlation / np.outer(share, share)
    np.fill_diagonal(found, 1.0)
    return found


# -- leave one out ---------------------------------------------------------------------------------------------------


def by_leave_one_out(normals: Sequence[Normal], rows: StandardRows, *, pooled: bool) -> float:
    """The pseudo-rows of independence, the same for all classes, with the lowest leave-one-out log loss."""
    sizes = [normal.n for normal in normals if normal.n]
    losses = {}
    for share in SHARES:
        m = rows_of(share, sum(sizes) / len(sizes))
        if m or not _any_singular(normals):
            losses[m] = leave_one_out_loss(normals, rows, m, pooled=pooled)
    return min(losses, key=lambda m: (losses[m], m))


def most_rows(width: int) -> int:
    """The number of rows to evaluate for this many columns."""
    return int(min(JUDGED, max(100, WORK / width**3)))


def _any_singular(normals: Sequence[Normal]) -> bool:
    return any(normal.n <= len(normal.mean) + 1 or is_singular(normal.correlation) for normal in normals)


def leave_one_out_loss(normals: Sequence[Normal], rows: StandardRows, m: float, *, pooled: bool) -> float:
    """The mean log loss of rows, each under the normals of all other rows shrunk by m."""
    terms = _pooled_terms(normals, rows, m) if pooled else _own_terms(normals, rows, m)
    log_p = normalised(terms + rows.others)
    true = np.maximum(log_p[np.arange(len(rows.target)), rows.target], functions.log(1e-15))
    return -functions.dot(rows.weights, true) / float(rows.weights.sum())


def _own_terms(normals: Sequence[Normal], rows: StandardRows, m: float) -> Doubles:
    """log N(x | class) of all classes, without the row in its own class, and without common constants."""
    terms = np.empty((len(rows.x), len(normals)))
    for place, normal in enumerate(normals):
        shrunk = toward_independence(normal, m)
        z = ((rows.x - normal.mean) - normal.mean_low) / normal.std
        terms[:, place] = _log_density(shrunk.correlation[None], z) - functions.log(normal.std).sum()
        mine = np.flatnonzero(rows.target == place)
        for some in pieces(mine, normal):
            terms[some, place] = (
                terms_without_row(normal, z[some], rows.weights[some], m) - functions.log(normal.std).sum()
            )
    return terms


def terms_without_row(normal: Normal, z: Doubles, weights: Doubles, m: float) -> Doubles:
    """log N(x) of each row of a class without that row, in standard units, less the constant of this many columns."""
    reduced, distance = _reduced(normal, z, weights, m)
    return _log_density(reduced, distance)


def _reduced(normal: Normal, z: Doubles, weights: Doubles, m: float) -> tuple[Doubles, Doubles]:
    """The shrunk covariance without each row, and the distance of the row to the mean without it."""
    n, left = normal.n, normal.n - weights
    scale = (n / left)[:, None]
    off = np.zeros_like(left) if np.isinf(m) else left / (left + m)
    outer = z[:, :, None] * z[:, None, :] * (weights / left)[:, None, None]
    covariance = (unfloored(normal) - outer) * scale[:, :, None]
    places = np.arange(z.shape[1])
    variances = np.maximum(covariance[:, places, places], 1e-12)
    covariance *= off[:, None, None]
    covariance[:, places, places] = variances
    return covariance, z * scale


def _log_density(covariance: Doubles, z: Doubles) -> Doubles:
    """-(z' C^-1 z + log |C|) / 2 with one covariance per row, or one for all; -inf if it is not positive definite."""
    rest, away = covariance.copy(), z.copy()
    total = np.zeros(z.shape[:-1])
    with np.errstate(over="ignore", invalid="ignore"):
        for place in range(z.shape[-1]):  # eliminated column by column, for all rows at once
            pivot = np.where(rest[..., place, place] > 0, rest[..., place, place], np.nan)
            total += away[..., place] ** 2 / pivot + functions.log(pivot)
            share = rest[..., place + 1 :, place] / pivot[..., None]
            away[..., place + 1 :] -= share * away[..., place, None]
            rest[..., place + 1 :, place + 1 :] -= share[..., :, None] * rest[..., place, None, place + 1 :]
    found: Doubles = -0.5 * total
    return np.where(np.isnan(found), -np.inf, found)


def pieces(rows: Codes, normal: Normal) -> list[Codes]:
    """The rows in pieces that fit in memory; empty for a class of one row."""
    if not len(rows) or normal.n <= 1:
        return []
    return np.array_split(rows, max(1, len(rows) * len(normal.mean) ** 2 // AT_ONCE))


def _pooled_terms(normals: Sequence[Normal], rows: StandardRows, m: float) -> Doubles:
    """The same with a pooled covariance: the mean of the shrunk class covariances, weighted by rows."""
    total = sum(normal.n for normal in normals)
    unit = np.sqrt(sum(normal.n / total * normal.plain**2 for normal in normals))
    unit = np.where(unit > 0, unit, 1.0)
    shrunk = [_in_units(toward_independence(normal, m), unit) for normal in normals]
    weighted = [normal.n * covariance for normal, covariance in zip(normals, shrunk, strict=True)]
    whole = np.sum(weighted, axis=0)
    terms = np.full((len(rows.x), len(normals)), -np.inf)
    for place, normal in enumerate(normals):
        for some in pieces(np.flatnonzero(rows.target == place), normal):
            z = ((rows.x[some] - normal.mean) - normal.mean_low) / normal.std
            reduced, distance = _reduced(normal, z, rows.weights[some], m)
            scale = normal.std / unit
            left = (normal.n - rows.weights[some])[:, None, None]
            covariance = (whole - weighted[place] + left * reduced * np.outer(scale, scale)) / (total - normal.n + left)
            for other, its in enumerate(normals):
                away = distance * scale if other == place else ((rows.x[some] - its.mean) - its.mean_low) / unit
                terms[some, other] = _log_density(covariance, away)
    return terms


def _in_units(normal: Normal, unit: Doubles) -> Doubles:
    covariance: Doubles = normal.correlation * np.outer(normal.std / unit, normal.std / unit)
    np.fill_diagonal(covariance, (normal.plain / unit) ** 2)
    return covariance
