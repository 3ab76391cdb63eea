"""An upper bound on the score of any structure, from the scores of parent sets.

If cycles were allowed, every column would take its best parent set. This relaxation is tighter: within groups of
columns cycles stay forbidden, and each group is solved by dynamic programming over its subsets (Yuan and Malone 2013).
Between groups both directions of an arc may still be chosen, so each such pair has a price (a Lagrange multiplier),
paid for either arc and refunded once:

    bound(prices) = sum over the groups of the best of (score - prices of its arcs to other groups) + sum of the prices

which is a bound for any non-negative prices, since a structure has at most one of the two arcs. Subgradient steps
tighten it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayesbox.network.learn.scores import columns_of

Doubles = NDArray[np.float64]
Codes = NDArray[np.int64]
Candidates = list[list[tuple[float, int]]]  # the parent sets of each column with their scores, the best first

GROUP = 12  # columns per group
STEPS = 400
PATIENCE = 10  # steps without improvement, after which the step size shrinks


def upper_bound(candidates: Candidates, reached: float = -math.inf) -> float:
    """The lowest bound found; `reached` is the score of a known structure, which no bound can be below."""
    groups = _groups(candidates)
    sets = [_GroupOfColumns(candidates, group) for group in groups]
    count = len(candidates)
    group_of = np.empty(count, dtype=np.int64)
    for at, group in enumerate(groups):
        group_of[group] = at
    across = np.triu(group_of[:, None] != group_of[None, :])
    prices = np.zeros((count, count))
    best, share, idle = math.inf, 1.0, 0
    for _ in range(STEPS if len(groups) > 1 else 1):
        used = np.zeros((count, count))
        found = float(np.triu(prices).sum())
        for each in sets:
            found += each.solved(prices, used)
        idle = 0 if found < best - 1e-6 * abs(best) else idle + 1
        best = min(best, found)
        if idle == PATIENCE:
            share, idle = share / 2, 0
        over = np.where(across, used + used.T - 1, 0.0)
        over[(over < 0) & (prices <= 0)] = 0
        length = float((over**2).sum())
        room = best - reached if math.isfinite(reached) else 0.05 * abs(best)
        if not length or room <= 1e-6 or share < 1e-3:
            break
        upper = np.maximum(np.triu(prices) + share * room / length * over, 0.0)
        prices = upper + upper.T
    return best


class _GroupOfColumns:
    """The parent sets of a group of columns, and the best acyclic choice within the group."""

    def __init__(self, candidates: Candidates, group: Sequence[int]) -> None:
        self.group = group
        place = {column: at for at, column in enumerate(group)}
        self.scores: list[Doubles] = []
        self.within: list[Codes] = []
        self.members: list[NDArray[np.bool_]] = []  # sets x columns
        for column in group:
            sets = candidates[column]
            members = np.zeros((len(sets), len(candidates)), dtype=bool)
            for row, (_, mask) in enumerate(sets):
                members[row, columns_of(mask)] = True
            self.scores.append(np.array([score for score, _ in sets]))
            self.members.append(members)
            bits = np.array([1 << place[each] if each in place else 0 for each in range(len(candidates))])
            self.within.append(members @ bits)
        subsets = np.arange(1 << len(group))
        sizes = np.array([int(each).bit_count() for each in subsets])
        self.levels = [subsets[sizes == size] for size in range(len(group) + 1)]
        inner = np.zeros(len(candidates))
        inner[list(group)] = 1
        self.outside = inner == 0

    def solved(self, prices: Doubles, used: Doubles) -> float:
        """The best sum of scores minus prices; the chosen arcs are counted in `used`, parent x child."""
        size = len(self.group)
        priced, inside = [], []
        for column, scores, within, members in zip(self.group, self.scores, self.within, self.members, strict=True):
            own = scores - members @ np.where(self.outside, prices[:, column], 0.0)
            priced.append(own)
            best = np.full(1 << size, -np.inf)
            np.maximum.at(best, within, own)
            shaped = best.reshape([2] * size)
            for axis in range(size):  # the best over all subsets
                upper = tuple(slice(None) if at != axis else 1 for at in range(size))
                lower = tuple(slice(None) if at != axis else 0 for at in range(size))
                shaped[upper] = np.maximum(shaped[upper], shaped[lower])
            inside.append(shaped.reshape(-1))
        table, last = np.full(1 << size, -np.inf), np.zeros(1 << size, dtype=np.int64)
        table[0] = 0.0
        for chosen in self.levels[1:]:
            for at in range(size):
                some = chosen[(chosen >> at & 1).astype(bool)]
                rest = some & ~(1 << at)
                value = table[rest] + inside[at][rest]
                better = value > table[some]
                table[some[better]] = value[better]
                last[some[better]] = at
        left = (1 << size) - 1
        while left:
            at = int(last[left])
            left &= ~(1 << at)
            fits = (self.within[at] & ~left) == 0
            taken = int(np.where(fits, priced[at], -np.inf).argmax())
            used[self.members[at][taken], self.group[at]] += 1
        return float(table[-1])


def _groups(candidates: Candidates) -> list[list[int]]:
    """Groups of columns that prefer each other as parents."""
    count = len(candidates)
    wish = np.zeros((count, count))
    for child, sets in enumerate(candidates):
        best = sets[0][0] if sets else 0.0
        for score, mask in sets[:50]:
            for parent in columns_of(mask):
                wish[child, parent] = max(wish[child, parent], 1 / (1 + best - score))
    both = wish * wish.T + 1e-6 * (wish + wish.T)
    left = set(range(count))
    groups: list[list[int]] = []
    while left:
        first = max(left, key=lambda each: float(both[each, list(left)].sum()))
        group = [first]
        left.remove(first)
        while left and len(group) < GROUP:
            near = max(left, key=lambda each: float(both[each, group].sum()))
            group.append(near)
            left.remove(near)
        groups.append(group)
    return groups
