"""Search over orders of the columns, with a bound on how much better any structure could be.

Given an order, the best parents of a column are the best-scoring set of columns before it (Teyssier and Koller 2005).
So the search goes over orders, moving one column at a time, and starts from the result of hill climbing. The sets of
parents are scored beforehand: those of one parent, of two, ... A set that is no better than one of its subsets is
dropped, and by the penalty of BIC and AIC also all of its supersets (de Campos and Ji 2011).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayesbox.network.learn.arcs import ArcRules
from bayesbox.network.learn.score_bound import Candidates, upper_bound
from bayesbox.network.learn.scores import LIKELIHOOD, Scorer, columns_of, mask_of
from bayesbox.network.learn.search import Found, Progress, SearchStep, search, tolerance

MOST_FAMILIES = 300_000  # parent sets scored, for all columns together
AT_ONCE = 20_000
SMALLEST = 3  # parents; up to this size all sets are scored


@dataclass(frozen=True)
class ScoredSets:
    """The candidate parent sets, and the number of parents up to which they are complete."""

    candidates: Candidates
    most_parents: int
    complete: bool  # larger sets are ruled out by the score itself, or not allowed


def order_search(
    scorer: Scorer, rules: ArcRules, *, restarts: int, seed: int, progress: Progress | None = None
) -> Found:
    """The best structure found, and an upper bound on the score of any structure."""
    begun = time.perf_counter()
    climbed = search(scorer, rules, restarts=min(restarts, 5), seed=seed, progress=progress)
    scored = scored_sets(scorer, rules)
    walk = _Orders(scored.candidates)
    best = walk.improved(_order_of(climbed.parents))
    for restart in range(restarts):
        generator = np.random.default_rng([seed, restart, 2])
        found = walk.improved(_shaken(best.order, generator))
        if found.score > best.score + tolerance(best.score):
            best = found
        if progress is not None:
            step = SearchStep(found.score, max(best.score, climbed.score), walk.moves, time.perf_counter() - begun)
            progress(step)
    parents, score = walk.parents(best.order), best.score
    if climbed.score > score + tolerance(score):  # it has more parents than the scored sets
        parents, score = climbed.parents, climbed.score
    total = scorer.total([columns_of(mask) for mask in parents])
    bound = max(upper_bound(scored.candidates, total), total)
    most = None if scored.complete else scored.most_parents
    return Found(
        parents,
        total,
        climbed.moves + walk.moves,
        time.perf_counter() - begun,
        [total],
        bound=bound,
        bound_parents=most,
    )


def scored_sets(scorer: Scorer, rules: ArcRules) -> ScoredSets:
    """All parent sets, by size, except those that cannot be part of a best structure."""
    count = len(scorer.counter.cards)
    known: list[dict[int, float]] = [{} for _ in range(count)]  # the best score of a set or of any of its subsets
    candidates: Candidates = [[] for _ in range(count)]
    required = [mask_of(np.flatnonzero(rules.required[:, child]).tolist()) for child in range(count)]
    allowed = [
        [int(p) for p in np.flatnonzero(rules.allowed[:, child]) if not required[child] >> int(p) & 1]
        for child in range(count)
    ]
    front: list[list[tuple[int, ...]]] = [[()] for _ in range(count)]
    done = 0
    for size in range(count):
        asked = [
            (child, some, mask_of(some) | required[child])
            for child in range(count)
            for some in front[child]
            if (mask_of(some) | required[child]).bit_count() <= rules.max_parents
        ]
        if not asked:
            return ScoredSets(_sorted(candidates), size - 1, complete=True)
        if size > SMALLEST and done + len(asked) > MOST_FAMILIES:
            return ScoredSets(_sorted(candidates), size - 1, complete=False)
        done += len(asked)
        following: list[list[tuple[int, ...]]] = [[] for _ in range(count)]
        for begin in range(0, len(asked), AT_ONCE):
            part = asked[begin : begin + AT_ONCE]
            scores = scorer.families([(child, *columns_of(mask)) for child, _, mask in part])
            for (child, some, mask), score in zip(part, scores, strict=True):
                within = max((known[child].get(mask & ~(1 << p), -math.inf) for p in some), default=-math.inf)
                if score > within + tolerance(score):
                    candidates[child].append((score, mask))
                known[child][mask] = max(score, within)
                if not _hopeless(scorer, child, mask, known[child][mask]):
                    last = some[-1] if some else -1
                    following[child] += [(*some, p) for p in allowed[child] if p > last]
        front = [
            [some for some in sets if all(mask_of(some) & ~(1 << p) | required[child] in known[child] for p in some)]
            for child, sets in enumerate(following)
        ]
    return ScoredSets(_sorted(candidates), count - 1, complete=True)


def _hopeless(scorer: Scorer, child: int, mask: int, best: float) -> bool:
    """Whether the penalty of every superset exceeds its possible gain: the likelihood is at most 1."""
    if scorer.score.kind != LIKELIHOOD:
        return False
    cards = scorer.counter.cards
    penalty = scorer.score.of_rows(scorer.counter.rows) * (cards[child] - 1)
    larger = min((cards[p] for p in range(len(cards)) if p != child and not mask >> p & 1 and cards[p] > 1), default=1)
    return best >= -penalty * math.prod(cards[p] for p in columns_of(mask)) * larger


def _sorted(candidates: Candidates) -> Candidates:
    return [sorted(sets, key=lambda each: (-each[0], each[1].bit_count(), each[1])) for sets in candidates]


@dataclass(frozen=True)
class _Ordered:
    order: list[int]
    score: float


class _Orders:
    """Structures by the orders of their columns."""

    def __init__(self, candidates: Candidates) -> None:
        self.candidates = candidates
        self.moves = 0
        self._known: dict[tuple[int, int], tuple[float, int]] = {}

    def best(self, child: int, before: int) -> tuple[float, int]:
        """The best parent set among the columns before."""
        key = (child, before)
        found = self._known.get(key)
        if found is None:
            outside = ~before
            found = next((each for each in self.candidates[child] if not each[1] & outside), (-math.inf, 0))
            if len(self._known) > 2_000_000:
                self._known.clear()
            self._known[key] = found
        return found

    def parents(self, order: Sequence[int]) -> list[int]:
        """The parents of each column, as bits."""
        found, before = [0] * len(order), 0
        for child in order:
            found[child] = self.best(child, before)[1]
            before |= 1 << child
        return found

    def score(self, order: Sequence[int]) -> float:
        total, before = 0.0, 0
        for child in order:
            total += self.best(child, before)[0]
            before |= 1 << child
        return total

    def improved(self, order: Sequence[int]) -> _Ordered:
        """The order after moving single columns to their best positions until no move improves the score."""
        now = list(order)
        total = self.score(now)
        gained = True
        while gained:
            gained = False
            for column in list(now):
                place, gain = self._move(now, column)
                if gain > tolerance(total):
                    now.remove(column)
                    now.insert(place, column)
                    total += gain
                    self.moves += 1
                    gained = True
        return _Ordered(now, self.score(now))

    def _move(self, order: list[int], column: int) -> tuple[int, float]:
        """The best position for a column and its gain, found by successive swaps with its neighbours."""
        start = order.index(column)
        bit = 1 << column
        before = mask_of(order[:start])
        best, gain = start, 0.0
        for step in (-1, 1):
            passed, sum_of_gains, place = before, 0.0, start
            while 0 <= place + step < len(order):
                other = order[place + step]
                if step < 0:
                    passed &= ~(1 << other)
                    sum_of_gains += self.best(other, passed | bit)[0] - self.best(other, passed)[0]
                    sum_of_gains += self.best(column, passed)[0] - self.best(column, passed | 1 << other)[0]
                else:
                    sum_of_gains += self.best(other, passed)[0] - self.best(other, passed | bit)[0]
                    sum_of_gains += self.best(column, passed | 1 << other)[0] - self.best(column, passed)[0]
                    passed |= 1 << other
                place += step
                if math.isnan(sum_of_gains) or sum_of_gains == -math.inf:
                    break  # a required parent would come after its child
                if sum_of_gains > gain:
                    best, gain = place, sum_of_gains
        return best, gain


def _order_of(parents: Sequence[int]) -> list[int]:
    """A topological order."""
    order: list[int] = []
    before = 0
    while len(order) < len(parents):
        for child, above in enumerate(parents):
            if not before >> child & 1 and not above & ~before:
                order.append(child)
                before |= 1 << child
    return order


def _shaken(order: Sequence[int], generator: np.random.Generator) -> list[int]:
    """The order with a part of it shuffled."""
    size = max(2, len(order) // 3)
    begin = int(generator.integers(0, max(1, len(order) - size + 1)))
    part = generator.permutation(np.array(order[begin : begin + size])).tolist()
    return [*order[:begin], *part, *order[begin + size :]]
