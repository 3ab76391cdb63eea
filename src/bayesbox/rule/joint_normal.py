"""Multivariate normal distributions from exact co-moments.

Without missing values, mean, std and correlation are those of the rows (divided by n), each rounded once. With missing
values, expectation maximisation (rule/joint_em.py) finds the maximum likelihood from the sums of each pattern. A std is
kept above its floor as in naive Bayes; then singular correlation matrices are shrunk, with a `note`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from bayesbox.described import Remedy
from bayesbox.dist.base import Doubles
from bayesbox.dist.number.gaussian import floored_std
from bayesbox.errors import BadData
from bayesbox.rule.joint_em import MissingPattern, UnitScale, maximised
from bayesbox.schema.arrays import IntegerArray
from bayesbox.tally.base import dyadic
from bayesbox.tally.comoment_cells import pair_place
from bayesbox.tally.comoments import CoMoments
from bayesbox.tally.exact import rounded_root
from bayesbox.tally.moments import NO_SPREAD, Spread

SINGULAR = 1e-10  # a correlation matrix with a smaller eigenvalue is numerically singular
INDEPENDENT = 1e-4  # the share of independence added to a singular matrix: a std of 1 %, like the variance floor


@dataclass(frozen=True)
class Normal:
    """One normal: the mean as two doubles, stds kept above their floors, correlations; from `n` rows."""

    n: float
    mean: Doubles
    mean_low: Doubles
    std: Doubles
    correlation: Doubles
    plain: Doubles = field(repr=False)  # the stds before the floor
    note: str = ""


@dataclass(frozen=True)
class Columns:
    """The numeric columns in use: names, moments over all rows, and variance floors."""

    names: tuple[str, ...]
    wholes: tuple[Spread, ...]
    floors: tuple[float, ...]

    @property
    def deviations(self) -> Doubles:
        return np.array([whole.unit for whole in self.wholes])


def _distinct_columns(flags: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """(the distinct columns in order, one per row; the index of each column).

    Like `np.unique` by rows, which turns an interrupt into a TypeError.
    """
    order = np.lexsort(flags[::-1]) if len(flags) else np.arange(flags.shape[1])
    ordered = flags[:, order]
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    group = np.empty(len(order), dtype=np.int64)
    group[order] = np.cumsum(is_new) - 1
    return ordered[:, is_new].T, group


def patterns_of(tally: CoMoments, cells: IntegerArray) -> list[MissingPattern]:
    """The sums over some cells by pattern of observed numbers, in a fixed order; rows without numbers are ignored."""
    p, pairs = len(tally.frame.numbers), tally.frame.pairs
    observed = tally.cells.observed[:, cells]
    kinds, group = _distinct_columns(observed)
    n, totals, products = (
        array.take((cells[:, None] * width + np.arange(width)).ravel()).sum_groups(
            (group[:, None] * width + np.arange(width)).ravel(), len(kinds) * width
        )
        for array, width in zip(tally.cells.sums, (1, p, pairs), strict=True)
    )
    found = []
    for kind, flags in enumerate(kinds):
        there = np.flatnonzero(flags).tolist()
        if there:
            total = {i: dyadic(totals, kind * p + i) for i in there}
            product = {
                (i, j): dyadic(products, kind * pairs + pair_place(i, j, p)) for i in there for j in there if i <= j
            }
            found.append(MissingPattern(tuple(there), dyadic(n, kind), total, product))
    return found


def fitted(patterns: Sequence[MissingPattern], columns: Columns, *, diagonal: bool = False) -> Normal:
    """The normal of these rows. A number that is always missing has its distribution over all rows."""
    spreads = [_spread(patterns, i) for i in range(len(columns.names))]
    there = [i for i, spread in enumerate(spreads) if spread.n.m]
    known = [spread if spread.n.m else whole for spread, whole in zip(spreads, columns.wholes, strict=True)]
    n = max((float(spread.n.fraction) for spread in spreads), default=0.0)
    mean = np.array([spread.mean for spread in known])
    rest = np.array([spread.rest_of_mean for spread in known])
    plain = np.array([spread.std for spread in known])
    triples = zip(known, columns.wholes, columns.floors, strict=True)
    deviation = np.array([floored_std(spread, whole, floor) for spread, whole, floor in triples])
    correlation = np.eye(len(known))
    if not diagonal and len(patterns) == 1 and len(there) > 1:
        correlation = _correlation(patterns[0], spreads)
    elif not diagonal and len(patterns) > 1 and len(there) > 1:
        n = float(sum((pattern.n.fraction for pattern in patterns), start=0))
        scale = UnitScale.of([known[i] for i in there], columns.deviations[there])
        shift, covariance = maximised(patterns, there, scale)
        rest[there] += shift * scale.units
        plain[there] = np.sqrt(np.diag(covariance)) * scale.units
        floor = np.sqrt(np.array(columns.floors)) * columns.deviations
        deviation[there] = np.maximum(plain, floor)[there]
        correlation[np.ix_(there, there)] = correlation_of(covariance)
    return _floored(Normal(n, mean, rest, deviation, correlation, plain))


def _spread(patterns: Sequence[MissingPattern], i: int) -> Spread:
    """The moments of one number over the patterns that have it."""
    whole = NO_SPREAD
    for pattern in patterns:
        if i in pattern.totals:
            whole = whole + Spread(pattern.n, pattern.totals[i], pattern.products[i, i])
    return whole


def _correlation(pattern: MissingPattern, spreads: Sequence[Spread]) -> Doubles:
    """Each correlation as the root of an exact ratio, rounded once; 0 if a number is constant."""
    correlation = np.eye(len(spreads))
    for (i, j), product in pattern.products.items():
        if i != j:
            excess = pattern.n * product - pattern.totals[i] * pattern.totals[j]
            under = spreads[i].excess * spreads[j].excess
            size = rounded_root(excess * excess, under) if under.m else 0.0
            correlation[i, j] = correlation[j, i] = size if excess.m > 0 else -size
    return correlation


def correlation_of(covariance: Doubles) -> Doubles:
    """The correlations of a covariance; 0 for a variance of 0."""
    root = np.sqrt(np.diag(covariance))
    under = np.outer(root, root)
    correlation = np.divide(covariance, under, out=np.zeros_like(covariance), where=under > 0)
    np.fill_diagonal(correlation, 1.0)
    clipped: Doubles = np.clip(correlation, -1.0, 1.0)
    return clipped


def _floored(normal: Normal) -> Normal:
    """The normal with floored stds; the covariances do not change, so the correlations shrink."""
    share = np.divide(normal.plain, normal.std, out=np.ones_like(normal.plain), where=normal.std > 0)
    if (share == 1).all():
        return normal
    correlation = normal.correlation * np.outer(share, share)
    np.fill_diagonal(correlation, 1.0)
    return replace(normal, correlation=correlation)


def pooled(normals: Sequence[Normal], columns: Columns) -> Normal | None:
    """The pooled covariance: the mean of the class covariances, weighted by rows; None if there are no classes."""
    total = sum(normal.n for normal in normals)
    if not total:
        return None
    whole = columns.deviations
    covariance = np.zeros((len(whole), len(whole)))
    for normal in normals:
        share = normal.plain / whole  # in units of the std over all rows, so near 1
        with np.errstate(divide="ignore", invalid="ignore"):
            raw = normal.correlation * np.outer(normal.std / whole, normal.std / whole)
        np.fill_diagonal(raw, share * share)
        covariance += normal.n / total * raw
    plain = np.sqrt(np.diag(covariance)) * whole
    deviation = np.maximum(plain, np.sqrt(np.array(columns.floors)) * whole)
    nothing = np.zeros(len(whole))
    return _floored(Normal(total, nothing, nothing, deviation, correlation_of(covariance), plain))


def toward_independence(normal: Normal, rows: float) -> Normal:
    """The normal with correlations (n R + m I) / (n + m): m pseudo-rows without correlation."""
    if not rows or not normal.n:
        return normal
    correlation = normal.correlation * (0.0 if np.isinf(rows) else normal.n / (normal.n + rows))
    np.fill_diagonal(correlation, 1.0)
    return replace(normal, correlation=correlation)


def is_singular(correlation: Doubles) -> bool:
    """Whether a correlation matrix is numerically singular."""
    return len(correlation) > 1 and float(np.linalg.eigvalsh(correlation)[0]) < SINGULAR


def shrunk(normal: Normal, toward: Doubles | None, shrink: str | float, what: str) -> Normal:
    """The rule `shrink`: correlations become (n R + m R0) / (n + m), with R0 the pooled correlations.

    "auto" shrinks only singular matrices, with m = columns + 1; a number m always applies. A matrix that remains
    singular, as with a repeated column, gets a share of 1e-4 of independence; with m = 0 it is an error. Without R0, as
    for R0 itself, only that share is added.
    """
    if (normal.std == 0).any():
        raise BadData(
            f"{what} has no variance in a column with floor 0, so it has no density",
            remedy="Set a positive floor for the column",
        )
    width, correlation = len(normal.mean), normal.correlation
    singular = is_singular(correlation)
    weight = (width + 1 if singular else 0) if shrink == "auto" else float(shrink)
    if singular and not weight:
        raise BadData(
            f"the covariance of {what} is singular: {normal.n:g} rows for {width} columns, or linearly dependent "
            "columns",
            remedy="Shrink it: "
            + Remedy("shrink='auto' or a number of rows", "--model full:shrink=auto")
            + "; or ignore columns",
        )
    steps = []
    if weight and toward is not None:
        correlation = (normal.n * correlation + weight * toward) / (normal.n + weight)
        steps.append(f"by {weight:g} rows towards those within all classes")
    if is_singular(correlation):
        correlation = (1 - INDEPENDENT) * correlation + INDEPENDENT * np.eye(width)
        steps.append(f"by a share of {INDEPENDENT:g} towards zero")
    if not steps:
        return normal
    why = f", since it has {normal.n:g} rows for {width} columns" if normal.n <= width else ""
    why = why or (", since some columns are linearly dependent" if singular else "")
    return replace(normal, correlation=correlation, note=f"{what}: correlations shrunk {' and '.join(steps)}{why}")
