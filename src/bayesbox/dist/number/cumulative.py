"""The cumulative distribution of a density known only pointwise, by numerical integration, and its inverse."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist import functions
from bayesbox.dist.base import Doubles
from bayesbox.errors import CannotSample

NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
TOLERANCE = 1e-13  # error of a panel above which it is halved
MOST_ROUNDS = 80
MOST_PANELS = 200_000
ZOOM = 33  # points between the neighbours of the highest one
HALVINGS = 48
ONE = 1e-6  # tolerance of the integral of a density

LogDensity = Callable[[Doubles], Doubles]


class Cumulative:
    """P(X <= x | class) from the log-density at any points, points x classes.

    The line is cut at powers of two and, progressively finer, around the mode of each class; a panel is halved as long
    as the eight-point Gauss rule differs from the same rule on its halves. `places` are numbers near which the values
    may be, such as the parameters, so that a density concentrated on a small interval is found.
    """

    def __init__(self, log_density: LogDensity, family: str, places: Iterable[Doubles] = ()) -> None:
        self.log_density = log_density
        edges = self._edges(places)
        low, high, shares = self._panels(edges[:-1], edges[1:])
        order = np.argsort(low)
        self.low, self.high = low[order], high[order]
        self.sums = np.vstack([np.zeros(shares.shape[1]), np.cumsum(shares[order], axis=0)])
        total = self.sums[-1]
        if not (np.abs(total - 1) < ONE).all():
            raise CannotSample(
                family,
                "its log-probabilities are not those of a density: they must integrate to 1",
                found=float(total[np.argmax(np.abs(np.nan_to_num(total, nan=np.inf) - 1))]),
                remedy="Define `quantile` and `sample` for the family",
            )

    def _heights(self, x: Doubles) -> Doubles:
        return functions.exp(self._logs(x))

    def _logs(self, x: Doubles) -> Doubles:
        with np.errstate(all="ignore"):
            return np.nan_to_num(self.log_density(x), nan=-np.inf, posinf=-np.inf, neginf=-np.inf)

    def _edges(self, places: Iterable[Doubles]) -> Doubles:
        """The edges: powers of two, zero, the places and their midpoints, and progressively finer points around the
        mode."""
        powers = np.ldexp(1.0, np.arange(-1022, 1024))
        own = np.unique(np.concatenate([np.empty(0), *(np.ravel(each) for each in places)]))
        own = own[np.isfinite(own)]
        grid = np.unique(np.concatenate([-powers, [0.0], powers, own, own[:-1] / 2 + own[1:] / 2]))
        found = [grid]
        for label in range(self._logs(grid[:1]).shape[1]):
            points = grid
            for _ in range(MOST_ROUNDS):
                logs = self._logs(points)[:, label]
                top = int(np.argmax(logs))
                around = slice(max(top - 1, 0), top + 2)
                if np.isneginf(logs[top]) or logs[top] - logs[around].min() < 1:
                    break
                points = np.unique(np.linspace(points[around][0], points[around][-1], ZOOM))
                found.append(points)
        return np.unique(np.concatenate(found))

    def _panels(self, low: Doubles, high: Doubles) -> tuple[Doubles, Doubles, Doubles]:
        """Panels (from, to, the probability of each class) on which the Gauss rule is accurate."""
        done: list[tuple[Doubles, Doubles, Doubles]] = []
        whole = self._integral(low, high)
        for _ in range(MOST_ROUNDS):
            middle = low / 2 + high / 2
            left, right = self._integral(low, middle), self._integral(middle, high)
            rough = (np.abs(whole - left - right) > TOLERANCE).any(axis=1) & (low < middle) & (middle < high)
            if rough.sum() > MOST_PANELS:
                break
            done.append((low[~rough], high[~rough], (left + right)[~rough]))
            if not rough.any():
                break
            whole = np.concatenate([left[rough], right[rough]])
            low, high = np.concatenate([low[rough], middle[rough]]), np.concatenate([middle[rough], high[rough]])
        parts = list(zip(*done, strict=True))
        return np.concatenate(parts[0]), np.concatenate(parts[1]), np.concatenate(parts[2])

    def _integral(self, low: Doubles, high: Doubles) -> Doubles:
        """The integral over each panel, panels x classes."""
        half = high / 2 - low / 2
        x = (low / 2 + high / 2)[:, None] + half[:, None] * NODES
        heights = self._heights(x.ravel()).reshape(*x.shape, -1)
        with np.errstate(over="ignore", invalid="ignore"):
            found: Doubles = np.einsum("pnc,n->pc", heights, WEIGHTS) * half[:, None]
        return np.nan_to_num(found, nan=np.inf)

    def quantile(self, shares: Doubles, classes: NDArray[np.int64]) -> Doubles:
        """The quantiles, one for each probability and class."""
        wanted = shares * self.sums[-1][classes]
        place = np.empty(len(wanted), dtype=np.int64)
        for label in np.unique(classes):
            here = classes == label
            place[here] = np.searchsorted(self.sums[1:, label], wanted[here])
        place = np.minimum(place, len(self.low) - 1)
        start = self.low[place]
        rest = wanted - self.sums[place, classes]
        low, high = start.copy(), self.high[place]
        rows: Any = np.arange(len(wanted))
        for _ in range(HALVINGS):
            middle = low / 2 + high / 2
            below = self._integral(start, middle)[rows, classes] < rest
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return low / 2 + high / 2
