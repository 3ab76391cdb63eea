"""Structure search by score: hill climbing that adds, deletes or reverses one arc at a time.

A step changes the parents of one or two nodes, so the gains of all moves are cached and only those at these nodes are
recomputed: one pass over the rows per step. With patience the search continues past a local optimum, by the best move
to a structure not yet visited (tabu search), and returns the best structure found.

The result of a greedy climb depends on arbitrary choices: an arc that could have either direction takes one, and later
moves build on it. So a restart climbs again from the start and, before each move, reverses some such arcs at random
(Castelo and Kocka 2003). Scores are cached between climbs, so a restart computes few new ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from bayesbox._core import ArcMoves
from bayesbox.network.learn.arcs import ArcRules, packed
from bayesbox.network.learn.scores import Scorer, columns_of

Generator = np.random.Generator

REVERSE = 2  # the kind of move of the core that changes two nodes
TURNED = (1, 8)  # the maximum number of arcs reversed between two moves, alternating between restarts


@dataclass(frozen=True)
class SearchStep:
    """The progress of a search after a move: the score, the best so far, the number of moves and the elapsed
    seconds."""

    score: float
    best: float
    moves: int
    seconds: float


Progress = Callable[[SearchStep], None]


@dataclass
class Found:
    """A structure (the parents of each node as bits), its score, and how it was found."""

    parents: list[int]
    score: float
    moves: int = 0
    seconds: float = 0.0
    history: list[float] = field(default_factory=list)
    bound: float | None = None  # a score that no structure exceeds
    bound_parents: int | None = None  # valid for structures with at most this many parents per node; None for all


def search(
    scorer: Scorer,
    rules: ArcRules,
    *,
    start: Sequence[int] | None = None,
    patience: int = 0,
    restarts: int = 0,
    seed: int = 0,
    progress: Progress | None = None,
) -> Found:
    """The best result of all climbs from a structure, by default the required arcs only."""
    walk = _Walk(scorer, rules, progress)
    begin = packed(rules.required) if start is None else list(start)
    best = walk.climb(begin, patience)
    for restart in range(restarts):
        generator = np.random.default_rng([seed, restart])
        found = walk.climb(walk.drift(begin, TURNED[restart % len(TURNED)], generator), patience)
        if found.score > best.score + tolerance(best.score):
            best = found
    best.moves, best.seconds, best.history = walk.moves, time.perf_counter() - walk.begun, walk.history
    return best


def tolerance(score: float) -> float:
    """The rounding error of a score."""
    return 1e-9 + 1e-12 * abs(score)


class _Stand:
    """The current structure, and in the core the score of each family and the gain of each change of one parent."""

    def __init__(self, walk: _Walk, parents: Sequence[int]) -> None:
        self.walk = walk
        self.parents = [0] * walk.count
        self.moves = ArcMoves(walk.count, walk.required, walk.turnable, walk.marks)
        for child, above in enumerate(parents):
            for parent in columns_of(above):
                self.toggle(parent, child)
        self.refresh(range(walk.count))

    @property
    def total(self) -> float:
        return self.moves.total

    def toggle(self, parent: int, child: int) -> None:
        self.parents[child] ^= 1 << parent
        self.moves.toggle(parent, child)

    def refresh(self, nodes: Sequence[int]) -> None:
        """Recompute the gains of adding or removing each parent of these nodes."""
        walk = self.walk
        families = [(node, self.parents[node]) for node in nodes]
        found = walk.scorer.changes(families, walk.candidates, walk.rules.max_parents)
        for node, change in zip(nodes, found, strict=True):
            self.moves.set_changes(node, change.score, change.gain)


class _Walk:
    """The state shared by all climbs of one search."""

    def __init__(self, scorer: Scorer, rules: ArcRules, progress: Progress | None) -> None:
        self.scorer = scorer
        self.rules = rules
        self.progress = progress
        self.count = len(scorer.counter.cards)
        self.candidates = [np.flatnonzero(column).tolist() for column in rules.allowed.T]
        self.required = rules.required.astype(np.uint8).reshape(-1)
        self.turnable = (rules.allowed & ~rules.required & rules.allowed.T).astype(np.uint8).reshape(-1)
        self.marks = np.random.default_rng(0).integers(1, 1 << 63, size=self.count * self.count)
        self.moves = 0
        self.best = -np.inf
        self.history: list[float] = []
        self.begun = time.perf_counter()

    def climb(self, parents: Sequence[int], patience: int) -> Found:
        """Climb to a local optimum, and with patience past it."""
        stand = _Stand(self, parents)
        stand.moves.remember()
        best = Found(list(stand.parents), stand.total)
        self._report(best.score)
        idle = 0
        while True:
            kind, parent, child, gain = stand.moves.best(fresh=patience > 0)
            if gain == -np.inf or (gain <= tolerance(best.score) and idle >= patience):
                return best
            self._apply(stand, kind, parent, child)
            stand.moves.remember()
            total = stand.total
            if total > best.score + tolerance(best.score):
                best, idle = Found(list(stand.parents), total), 0
            else:
                idle += 1
                if idle > patience:
                    return best
            self._report(total)

    def drift(self, parents: Sequence[int], turned: int, generator: Generator) -> list[int]:
        """Climb to a local optimum, randomly reversing some arcs that may have either direction before each move."""
        stand = _Stand(self, parents)
        equivalent = self.scorer.score.equivalent
        for _ in range(2 * self.count * self.count):
            if equivalent:
                self._turn(stand, int(generator.integers(turned + 1)), generator)
            else:
                stand.moves.lower(int(generator.integers(self.count)), 1.0)  # vary the order of the first moves
            kind, parent, child, gain = stand.moves.best(fresh=False)
            if gain <= tolerance(stand.total):
                break
            self._apply(stand, kind, parent, child)
            self._report(stand.total)
        return stand.parents

    def _apply(self, stand: _Stand, kind: int, parent: int, child: int) -> None:
        stand.toggle(parent, child)
        changed = [child]
        if kind == REVERSE:
            stand.toggle(child, parent)
            changed.append(parent)
        stand.refresh(changed)
        self.moves += 1

    def _turn(self, stand: _Stand, count: int, generator: Generator) -> None:
        """Reverse covered arcs at random.

        An arc a -> b is covered if the parents of b are those of a and a itself; reversing it changes neither the
        independences nor the score (Chickering 1995), but it opens other moves.
        """
        changed: set[int] = set()
        for _ in range(count):
            covered = stand.moves.covered()
            if not covered:
                break
            parent, child = covered[int(generator.integers(len(covered)))]
            stand.toggle(parent, child)
            stand.toggle(child, parent)
            changed |= {parent, child}
        if changed:
            stand.refresh(sorted(changed))

    def _report(self, score: float) -> None:
        self.best = max(self.best, score)
        self.history.append(score)
        if self.progress is not None:
            self.progress(SearchStep(score, self.best, self.moves, time.perf_counter() - self.begun))
