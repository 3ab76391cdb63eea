"""Intervals on which a density is smooth and changes little."""

from __future__ import annotations

import numpy as np

from bayesbox.dist import functions
from bayesbox.dist.base import Distribution, Doubles
from bayesbox.dist.number.density import NumberFamily

SHARES = np.array([1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 0.01, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 0.99])
SHARES = np.concatenate([SHARES, 1 - np.array([1e-3, 1e-4, 1e-6, 1e-9, 1e-12])])
MOST = 300  # edges from quantiles: those of many classes are thinned out
WIDEST = 8.0  # the largest ratio of the ends of an interval of one sign


def panels(quantiles: Doubles, jumps: Doubles) -> Doubles:
    """The edges of intervals that cover nearly all of every class, from quantiles and discontinuities.

    >>> panels(np.array([1.0, 2.0, 20.0]), np.array([1.5]))
    array([ 1.        ,  1.5       ,  2.        ,  6.32455532, 20.        ])
    """
    own = np.unique(quantiles[np.isfinite(quantiles)])
    if len(own) > MOST:
        own = own[np.unique(np.linspace(0, len(own) - 1, MOST).astype(np.int64))]
    inside = jumps[(jumps > own[0]) & (jumps < own[-1])] if len(own) else jumps
    edges = np.unique(np.concatenate([own, inside, [0.0] if len(own) and own[0] < 0 < own[-1] else []]))
    pieces = [_graded(low, high) for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)]
    return np.unique(np.concatenate([*pieces, edges]))


def support_of(distribution: Distribution) -> Doubles | None:
    """The numbers that have a probability; None if they have a density, or are not numbers."""
    return distribution.support() if isinstance(distribution, NumberFamily) else None


def panels_of(distribution: Distribution) -> Doubles:
    """The edges of intervals on which the densities of a distribution are smooth."""
    return distribution.panels if isinstance(distribution, NumberFamily) else found_panels(distribution)


def found_panels(density: Distribution) -> Doubles:
    """The intervals of a density without discontinuities."""
    quantiles = [density.quantile(share) for share in SHARES.tolist()]
    return panels(np.ravel([each for each in quantiles if each is not None]), np.empty(0))


def _graded(low: float, high: float) -> Doubles:
    """Geometric points between two numbers of one sign that are orders of magnitude apart."""
    near, far = sorted((abs(low), abs(high)))
    if near == 0 or low * high <= 0 or far / near <= WIDEST:
        return np.empty(0)
    steps = int(np.ceil(functions.log(far / near) / functions.log(WIDEST)))
    found: Doubles = np.copysign(near * (far / near) ** (np.arange(1, steps) / steps), low)
    return found
