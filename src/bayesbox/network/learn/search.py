"""Search for the structure with the best score by adding, deleting and reversing one arc at a time.

A step changes the parents of one or two nodes, so the gain of every move is kept and only those at these nodes are
computed again: one pass over the rows for each step. With patience the search goes on beyond a summit, by the best
move to a structure where it has not been (tabu search), and comes back with the best it has seen.

A greedy climb ends where chance put its first arcs: an arc that could have either direction takes one, and what follows
is built on it. So a restart climbs again from the beginning and, before each move, turns some such arcs round by chance
(Castelo and Kocka 2003). Scores are kept between climbs, so that most of what a restart asks for is known.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bayesbox.network.learn.arcs import ArcRules, Matrix, packed, reachable, unpacked
from bayesbox.network.learn.scores import Scorer, columns_of

Doubles = NDArray[np.float64]
Generator = np.random.Generator

ADD, DELETE, REVERSE = 0, 1, 2
TURNED = (1, 8)  # arcs that are turned round at most between two moves: of one restart, of the next, ...


@dataclass(frozen=True)
class SearchStep:
    """How a search stands after a move: the score, the best so far, the moves and the seconds that went by."""

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
    bound: float | None = None  # what no structure exceeds
    bound_parents: int | None = None  # among those of at most this many parents per node; None for all


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
    """Climb from a structure, by default the required arcs alone; the best of all climbs."""
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
    """What the rounding of a score may hide."""
    return 1e-9 + 1e-12 * abs(score)


class _Stand:
    """A structure, the score of each family, and what each change of one parent would bring."""

    def __init__(self, walk: _Walk, parents: Sequence[int]) -> None:
        self.walk = walk
        self.parents = list(parents)
        self.arcs: Matrix = unpacked(self.parents).T.copy()
        self.scores = [0.0] * walk.count
        self.gain = np.full((walk.count, walk.count), -np.inf)
        self.refresh(range(walk.count))

    @property
    def total(self) -> float:
        return float(np.sum(self.scores))

    def toggle(self, parent: int, child: int) -> None:
        self.parents[child] ^= 1 << parent
        self.arcs[parent, child] = not self.arcs[parent, child]

    def refresh(self, nodes: Sequence[int]) -> None:
        """Work out again what it would bring to add or to take away each parent of these nodes."""
        walk = self.walk
        families = [(node, self.parents[node]) for node in nodes]
        found = walk.scorer.changes(families, walk.candidates, walk.rules.max_parents)
        for node, change in zip(nodes, found, strict=True):
            self.scores[node] = change.score
            self.gain[:, node] = change.gain

    def moves(self) -> Doubles:
        """The gain of each legal move: kinds x parents x children, -inf where it is not legal."""
        return legal_moves(self.parents, self.arcs, self.gain, self.walk.rules)


def legal_moves(parents: Sequence[int], arcs: Matrix, gain: Doubles, rules: ArcRules) -> Doubles:
    """What adding, deleting and reversing would bring, from what each change of one parent brings."""
    count = len(parents)
    reach, _ = reachable(parents)
    free = arcs & ~rules.required
    found = np.full((3, count, count), -np.inf)
    np.copyto(found[ADD], gain, where=~(arcs | arcs.T | reach.T))
    np.copyto(found[DELETE], gain, where=free)
    # an arc is turned round where no other path leads from its parent to its child
    other = arcs.astype(np.float32) @ reach.astype(np.float32) > 0
    turned = np.nonzero(free & np.isfinite(gain.T) & ~other)
    found[REVERSE][turned] = gain[turned] + gain.T[turned]
    return found


class _Walk:
    """What all climbs of one search share."""

    def __init__(self, scorer: Scorer, rules: ArcRules, progress: Progress | None) -> None:
        self.scorer = scorer
        self.rules = rules
        self.progress = progress
        self.count = len(scorer.counter.cards)
        self.candidates = [np.flatnonzero(column).tolist() for column in rules.allowed.T]
        self.turnable = packed(rules.allowed & ~rules.required & rules.allowed.T)
        self.moves = 0
        self.best = -np.inf
        self.history: list[float] = []
        self.begun = time.perf_counter()
        marks = np.random.default_rng(0).integers(1, 1 << 63, size=(self.count, self.count))
        self.marks: list[list[int]] = marks.tolist()

    def climb(self, parents: Sequence[int], patience: int) -> Found:
        """To a summit, and with patience beyond it."""
        stand = _Stand(self, parents)
        mark = 0
        for child, above in enumerate(stand.parents):
            for parent in columns_of(above):
                mark ^= self.marks[parent][child]
        seen = {mark}
        best = Found(list(stand.parents), stand.total)
        self._report(best.score)
        idle = 0
        while True:
            found = stand.moves()
            move = self._best_move(found, mark, seen if patience else None)
            if move is None:
                return best
            kind, parent, child = move
            if found[move] <= tolerance(best.score) and idle >= patience:
                return best
            mark = self._apply(stand, kind, parent, child, mark)
            seen.add(mark)
            total = stand.total
            if total > best.score + tolerance(best.score):
                best, idle = Found(list(stand.parents), total), 0
            else:
                idle += 1
                if idle > patience:
                    return best
            self._report(total)

    def drift(self, parents: Sequence[int], turned: int, generator: Generator) -> list[int]:
        """To a summit by another way: before each move some arcs are turned round that may have either direction."""
        stand = _Stand(self, parents)
        equivalent = self.scorer.score.equivalent
        for _ in range(2 * self.count * self.count):
            if equivalent:
                self._turn(stand, int(generator.integers(turned + 1)), generator)
            else:
                stand.gain[:, int(generator.integers(self.count))] -= 1.0  # another order of the first moves
            found = stand.moves()
            move = self._best_move(found, 0, None)
            if move is None or found[move] <= tolerance(stand.total):
                break
            self._apply(stand, *move, 0)
            self._report(stand.total)
        return stand.parents

    def _apply(self, stand: _Stand, kind: int, parent: int, child: int, mark: int) -> int:
        stand.toggle(parent, child)
        changed = [child]
        if kind == REVERSE:
            stand.toggle(child, parent)
            changed.append(parent)
        stand.refresh(changed)
        self.moves += 1
        return self._after(kind, parent, child, mark)

    def _after(self, kind: int, parent: int, child: int, mark: int) -> int:
        """The mark of the structure that a move leads to."""
        mark ^= self.marks[parent][child]
        return mark ^ self.marks[child][parent] if kind == REVERSE else mark

    def _best_move(self, found: Doubles, mark: int, seen: set[int] | None) -> tuple[int, int, int] | None:
        """The best move, the first of equally good ones; with `seen`, to a structure that is none of these."""
        while True:
            best = float(found.max(initial=-np.inf))
            if best == -np.inf:
                return None
            near = found >= best - 1e-9 * max(1.0, abs(best))
            for place in np.flatnonzero(near).tolist():
                kind, rest = divmod(place, self.count * self.count)
                parent, child = divmod(rest, self.count)
                if seen is None or self._after(kind, parent, child, mark) not in seen:
                    return kind, parent, child
                found[kind, parent, child] = -np.inf

    def _turn(self, stand: _Stand, count: int, generator: Generator) -> None:
        """Turn covered arcs round, by chance.

        An arc a -> b is covered where b has the parents of a and a itself; turned round, it leaves every independence
        and the score as they were (Chickering 1995), but other moves begin there.
        """
        changed: set[int] = set()
        for _ in range(count):
            covered = [
                (parent, child)
                for child, above in enumerate(stand.parents)
                for parent in columns_of(above & self.turnable[child])
                if above == stand.parents[parent] | 1 << parent
            ]
            if not covered:
                break
            parent, child = covered[int(generator.integers(len(covered)))]
            stand.toggle(parent, child)
            stand.toggle(child, parent)
            changed |= {parent, child}
        stand.refresh(sorted(changed))

    def _report(self, score: float) -> None:
        self.best = max(self.best, score)
        self.history.append(score)
        if self.progress is not None:
            self.progress(SearchStep(score, self.best, self.moves, time.perf_counter() - self.begun))
