"""The tree over the cells of a grid with numpy, level by level: a second algorithm beside that of the core."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist.base import Doubles
from bayesbox.dist.number.cell_tree import Keys, edges_of, keys_of
from bayesbox.tally.grid import Grid

LEAST_VALUES = 20  # of a node that is halved
POOLED_ROWS = 1.0  # what the t of all classes is worth in the root, against the counts of all
CLASS_ROWS = 16.0  # what the corrected t of a class is worth there, against its own counts
LEAST_MASS = 1e-7  # of each half of a node, for doubles to tell it
LEAST_SHARE = np.finfo(np.float64).tiny  # of a half without values, where weights are so great that it is no double
NARROW = 1e-3  # in scales of a t, below which a mass is that of a parabola: a difference of tails has few digits
KEYS_AT_ONCE = 4096  # two bounds on memory: this
CELLS_AT_ONCE = 1 << 15  # and keys x classes
MANY_DEGREES = 1000.0  # of freedom
TOP = 15  # the level of the nodes of all positive and of all negative numbers

Place = Callable[[Doubles, NDArray[np.int64]], Doubles]
"""From numbers, one a row, and the rows to their places on the scale of the t, rows x 1."""


class Lines(NamedTuple):
    """The t of each class and, last, that of a class of no rows: rows x classes, or 1 x classes."""

    shift: Doubles
    scale: Doubles
    df: Doubles

    def take(self, rows: NDArray[np.int64]) -> Lines:
        return Lines(*(each[rows] if len(each) > 1 else each for each in self))

    def tail(self, place: Doubles) -> Doubles:
        """P(T < z), or -P(T > z) above the middle, so that differences have all their digits."""
        with np.errstate(over="ignore"):
            z = (place - self.shift) / self.scale
        df = np.broadcast_to(self.df, z.shape)
        found = _core.student_below(-np.abs(z).ravel(), np.ascontiguousarray(df).ravel()).reshape(z.shape)
        return np.where(z > 0, -found, found)

    def between(self, low: Doubles, high: Doubles) -> Doubles:
        """The mass between two tails."""
        around = ~np.signbit(low) & np.signbit(high)
        mass: Doubles = high - low + around
        return mass

    def around(self, centre: Doubles, width: Doubles) -> Doubles:
        """The mass of pieces of at most `NARROW` scales, by the height and the curvature at their centres.

        The next term, of the fourth power of the width, is below 1e-12 of it wherever the mass counts.
        """
        with np.errstate(over="ignore", invalid="ignore"):  # of pieces that are not narrow
            z, step = (centre - self.shift) / self.scale, width / self.scale
            square = z * z
            height = np.exp(_log_constant(self.df) - (self.df + 1) / 2 * np.log1p(square / self.df))
            curvature = (self.df + 1) * ((self.df + 2) * square - self.df) / (self.df + square) ** 2
            mass: Doubles = height * step * (1 + step * step * curvature / 24)
        return mass


def _log_constant(df: Doubles) -> Doubles:
    """The log of the height of a t at its middle; where G overwhelms the ratio of two, by the series of that."""
    few = np.minimum(df, MANY_DEGREES)
    ratio = log_gamma((few + 1) / 2) - log_gamma(few / 2)
    series = np.log(df / 2) / 2 - 1 / (4 * df) + 1 / (24 * df**3)
    found: Doubles = np.where(df > MANY_DEGREES, series, ratio) - np.log(df * math.pi) / 2
    return found


def log_gamma(x: Doubles) -> Doubles:
    return np.array([math.lgamma(each) for each in np.ravel(x).tolist()]).reshape(np.shape(x))


class _Step(NamedTuple):
    """The nodes of one level above some keys."""

    parent: NDArray[np.int64]  # among those of the level before
    rows: NDArray[np.int64]  # a key of each
    members: NDArray[np.int64]  # all keys below them
    node_of_member: NDArray[np.int64]
    middle_key: Keys
    above: NDArray[np.bool_]  # whether a key is in the half above the middle
    half: Doubles  # counts of that half
    node: Doubles


class _Piece(NamedTuple):
    """Pieces of the line."""

    mass: Doubles  # of each t, as a difference of tails
    low: Doubles  # the numbers at their ends
    high: Doubles


class SlowCellTree:
    """The counts of the nodes of a grid, without the class of no rows."""

    def __init__(self, keys: Keys, label: NDArray[np.int32], counts: Doubles, classes: int) -> None:
        self.classes = classes
        self.levels: list[tuple[Keys, Doubles]] = []
        distinct, place = np.unique(keys, return_inverse=True)
        place = place.ravel()
        for level in range(TOP + 1):
            nodes = distinct >> level
            new = np.append(True, nodes[1:] != nodes[:-1])[: len(nodes)]
            nodes, at = nodes[new], (np.cumsum(new) - 1)[place]
            size = (len(nodes) + 1) * classes  # the last row for nodes without a count
            table: Doubles = np.bincount(at * classes + label, weights=counts, minlength=size).astype(np.float64)
            self.levels.append((nodes, table.reshape(-1, classes)))
        self.total = self.levels[TOP][1].sum(axis=0)

    @classmethod
    def of(cls, tally: Grid, *, zeros: bool) -> SlowCellTree:
        """The tree of a grid, with the zeros or without them."""
        kept = np.flatnonzero(tally.grid.cell != 0) if not zeros else np.arange(len(tally.grid.cell))
        counts = tally.grid.counts.take(kept).to_doubles()
        return cls(keys_of(tally.grid.cell[kept]), tally.grid.label[kept], counts, len(tally.classes))

    def counts(self, nodes: Keys, level: int) -> Doubles:
        known, table = self.levels[level]
        if not len(known):
            return np.zeros((len(nodes), self.classes))
        place = np.searchsorted(known, nodes)
        found = known[np.minimum(place, len(known) - 1)] == nodes
        return table[np.where(found, place, len(known))]

    def leaves(self) -> Keys:
        """The first key of each part of the line that is not halved, ascending: each part reaches to the next."""
        found = []
        split: Keys = np.empty(0, dtype=np.int64)
        for level in range(TOP, -1, -1):
            if level == TOP:
                nodes = np.array([-1, 0] if self.total.sum() >= LEAST_VALUES else [], dtype=np.int64)
                if not len(nodes):
                    return np.array([-(1 << TOP)], dtype=np.int64)
            else:
                nodes = np.concatenate([2 * split, 2 * split + 1])
            halved = (self.counts(nodes, level).sum(axis=1) >= LEAST_VALUES) & (level > 0)
            found.append(nodes[~halved] << level)
            split = nodes[halved]
        return np.sort(np.concatenate(found))

    def log_ratios(
        self,
        keys: Keys,
        spread: Lines,
        place: Place,
        own: NDArray[np.int32] | None = None,
        *,
        unit: float | None = 1.0,
    ) -> Doubles:
        """The log of what each density is multiplied by in the cell of each key, keys x (classes and that of no rows).

        `own` are the classes of rows whose own value, in the cell of its key, does not count. `unit` is the distance of
        two numbers whose places are 1 apart; None on the scale of logs, where no cell is narrow.
        """
        total = np.zeros((len(keys), self.classes + 1))
        step = min(KEYS_AT_ONCE, max(CELLS_AT_ONCE // (self.classes + 1), 1))
        for start in range(0, len(keys), step):
            rows = np.arange(start, min(start + step, len(keys)))
            self._add_log_ratios(total, rows, keys, spread, place, own, unit)
        return total

    def _add_log_ratios(
        self,
        total: Doubles,
        rows: NDArray[np.int64],
        keys: Keys,
        spread: Lines,
        place: Place,
        own: NDArray[np.int32] | None,
        unit: float | None,
    ) -> None:
        """The same for some of the keys: the counts level by level, the rest for all levels at once."""
        # With one t for all keys and none left out, keys of one node share what is worked out for it.
        shared = own is None and len(spread.shift) == 1
        node = self._without(np.tile(self.total, (len(rows), 1)), None if own is None else own[rows])
        members, at = rows, np.arange(len(rows))
        steps: list[_Step] = []
        for level in range(TOP, -1, -1):
            halved = (node.sum(axis=1) >= LEAST_VALUES)[at]
            members, at = members[halved], at[halved]
            if not len(members):
                break
            here = keys[members] >> level
            new = here[1:] != here[:-1] if shared else np.ones(len(here) - 1, dtype=bool)
            first = np.append(True, new)
            rows, parent, here = members[first], at[first], here[first]
            middle_key = np.zeros(len(rows), dtype=np.int64) if level == TOP else (here | 1) << level
            above = here >= 0 if level == TOP else (here & 1).astype(bool)
            half = self._without(self.counts(here, level), None if own is None else own[rows])
            at = np.cumsum(first) - 1
            steps.append(_Step(parent, rows, members, at, middle_key, above, half, node[parent]))
            node = half
        if not steps:
            return
        every = np.concatenate([step.rows for step in steps])
        edges = edges_of(np.concatenate([step.middle_key for step in steps]))
        ends = np.cumsum([len(step.rows) for step in steps])[:-1]
        middles = np.split(spread.take(every).tail(place(edges, every)), ends)
        low = np.zeros((len(steps[0].rows), self.classes + 1))
        high = -low  # -0.0: a tail above
        first_edge = np.full(len(low), -np.inf)
        last_edge = -first_edge
        halves, others = [], []  # that of each key, and the other one
        for step, middle, edge in zip(steps, middles, np.split(edges, ends), strict=True):
            if step is not steps[0]:
                low, high = low[step.parent], high[step.parent]
                first_edge, last_edge = first_edge[step.parent], last_edge[step.parent]
            above, above_edge = step.above[:, None], step.above
            other = spread.between(np.where(above, low, middle), np.where(above, middle, high))
            others.append(_Piece(other, np.where(above_edge, first_edge, edge), np.where(above_edge, edge, last_edge)))
            low, high = np.where(above, middle, low), np.where(above, high, middle)
            first_edge, last_edge = np.where(above_edge, edge, first_edge), np.where(above_edge, last_edge, edge)
            halves.append(_Piece(spread.between(low, high), first_edge, last_edge))
        part, other = (_masses(pieces, spread, place, every, unit) for pieces in (halves, others))
        first = steps[0].node
        masses, shares = [np.ones((len(first), self.classes + 1))], [first / first.sum(axis=1, keepdims=True)]
        for step, before in zip(steps[1:], np.split(part, ends)[:-1], strict=True):
            masses.append(before[step.parent])
            shares.append(shares[-1][step.parent])
        half, node = np.concatenate([step.half for step in steps]), np.concatenate([step.node for step in steps])
        logs = _log_step(half, node, part, other, np.concatenate(masses), np.concatenate(shares))
        for step, each in zip(steps, np.split(logs, ends), strict=True):
            total[step.members] += each[step.node_of_member]

    @staticmethod
    def _without(counts: Doubles, own: NDArray[np.int32] | None) -> Doubles:
        if own is not None:
            counts = counts.copy()
            counts[np.arange(len(counts)), own] -= 1
        return counts


def _masses(pieces: list[_Piece], spread: Lines, place: Place, rows: NDArray[np.int64], unit: float | None) -> Doubles:
    """The masses of pieces, worked out anew where one is narrow beside the scale of a t.

    Beside an outlier all other values are: of their masses, as differences of tails, doubles have nine digits or less.
    """
    mass, low, high = (np.concatenate(each) for each in zip(*pieces, strict=True))
    if unit is None:
        return mass
    with np.errstate(over="ignore", invalid="ignore"):
        width = ((high - low) / unit)[:, None]
        narrow = (width / spread.take(rows).scale < NARROW) & (mass > LEAST_MASS / 2)
    some = np.flatnonzero(narrow.any(axis=1))
    if len(some):
        centre = low[some] + (high[some] - low[some]) / 2
        sharp = spread.take(rows[some]).around(place(centre, rows[some]), width[some])
        mass[some] = np.where(narrow[some], sharp, mass[some])
    return mass


def _log_step(half: Doubles, node: Doubles, part: Doubles, other: Doubles, mass: Doubles, share: Doubles) -> Doubles:
    """log q'' - log q, rows x (classes and that of no rows); `share` is that of the classes among all values.

    1 - q is the mass of the other half, which has more digits than the difference.
    """
    clear = (part > LEAST_MASS) & (other > LEAST_MASS)
    q, not_q = (np.where(clear, each, 1.0) / np.where(clear, mass, 2.0) for each in (part, other))
    pooled_part, pooled_other, pooled_mass = ((each[:, :-1] * share).sum(axis=1) for each in (part, other, mass))
    pooled_clear = (pooled_part > LEAST_MASS) & (pooled_other > LEAST_MASS)
    r, not_r = (
        np.where(pooled_clear, each, 1.0) / np.where(pooled_clear, pooled_mass, 2.0)
        for each in (pooled_part, pooled_other)
    )
    worth = POOLED_ROWS * (1 - np.log2(np.where(pooled_clear, pooled_mass, 1.0))) ** 2
    corrected = (half.sum(axis=1) + worth * r) / (node.sum(axis=1) + worth)
    corrected = np.where(pooled_clear, corrected, r)
    up = q * (corrected / r)[:, None]
    tilted = up / (up + not_q * ((1 - corrected) / not_r)[:, None])
    nothing = np.zeros((len(half), 1))
    half, node = np.hstack([half, nothing]), np.hstack([node, nothing])
    worth_of_class = CLASS_ROWS * (1 - np.log2(np.where(clear, mass, 1.0))) ** 2
    share_of_class = (half + worth_of_class * tilted) / (node + worth_of_class)
    found: Doubles = np.log(np.maximum(share_of_class, LEAST_SHARE)) - np.log(q)
    return np.where(clear, found, 0.0)
