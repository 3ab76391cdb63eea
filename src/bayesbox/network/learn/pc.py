"""Structure by independence tests: the order-independent PC algorithm (PC-stable).

Two columns stay neighbours unless some set of their other neighbours makes them independent (Wilks' G). All tests with
sets of one size use the same neighbours (Colombo and Maathuis 2014). Then a - c - b becomes a -> c <- b if c is not in
the set that separates a and b, and Meek's rules direct what follows from that. Arcs that the data cannot direct are
directed at the end without creating a collider or a cycle.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesbox.network.learn.arcs import ArcRules, Matrix, packed, reachable
from bayesbox.stat.chi_square import upper_tail
from bayesbox.stat.family_counter import Counter, Doubles, most_cells

Progress = Callable[[int, int, int], None]  # size of the sets, tests so far, remaining pairs

CHUNK, MOST_CHUNK = 4, 256  # tests of a pair in one call: few at first, since most pairs are separated early


@dataclass(frozen=True)
class PartialGraph:
    """What the tests found: directed arcs, neighbours without a direction, and the number of tests."""

    directed: Matrix
    undirected: Matrix  # symmetric
    tests: int


def pc(
    counter: Counter,
    rules: ArcRules,
    *,
    alpha: float = 0.05,
    max_given: int | None = None,
    progress: Progress | None = None,
) -> PartialGraph:
    """The pattern (CPDAG) found in the rows at a significance level."""
    near, separators, tests = _skeleton(counter, rules, alpha, max_given, progress)
    directed = rules.required.copy()
    one_way = near & rules.allowed & ~rules.allowed.T
    directed |= one_way
    open_ = near & ~directed & ~directed.T
    _colliders(near, directed, open_, separators, rules)
    meek(directed, open_)
    return PartialGraph(directed, open_, tests)


def _skeleton(
    counter: Counter, rules: ArcRules, alpha: float, max_given: int | None, progress: Progress | None
) -> tuple[Matrix, dict[tuple[int, int], tuple[int, ...]], int]:
    count = len(counter.cards)
    fixed = rules.required | rules.required.T
    near = (rules.allowed | rules.allowed.T) & ~np.eye(count, dtype=bool)
    separators: dict[tuple[int, int], tuple[int, ...]] = {}
    tests = 0
    for size in range(count - 1 if max_given is None else max_given + 1):
        before = near.copy()
        waiting = {
            (one, other): _sets(before, one, other, size)
            for one, other in itertools.combinations(range(count), 2)
            if near[one, other] and not fixed[one, other]
        }
        if size and not any(before[one].sum() > size or before[other].sum() > size for one, other in waiting):
            break
        chunk = CHUNK
        while waiting:
            asked: list[tuple[int, ...]] = []
            for pair, sets in list(waiting.items()):
                some = [(*pair, *given) for given in itertools.islice(sets, chunk)]
                if not some:
                    del waiting[pair]
                asked += [each for each in some if math.prod(counter.cards[node] for node in each) <= most_cells()]
            if asked:
                tests += len(asked)
                for members, p in zip(asked, _p_values(*counter.g_tests(asked)).tolist(), strict=True):
                    pair = members[0], members[1]
                    if p > alpha and pair in waiting:
                        near[pair], near[pair[::-1]] = False, False
                        separators[pair] = members[2:]
                        del waiting[pair]
            if progress is not None:
                progress(size, tests, len(waiting))
            chunk = min(4 * chunk, MOST_CHUNK)
    return near, separators, tests


def _sets(near: Matrix, one: int, other: int, size: int) -> Iterator[tuple[int, ...]]:
    """The conditioning sets of a pair: distinct sets of neighbours of either, without the pair."""
    mine = [int(node) for node in np.flatnonzero(near[one]) if node != other]
    theirs = [int(node) for node in np.flatnonzero(near[other]) if node != one]
    yield from itertools.combinations(mine, size)
    known = set(mine)
    yield from (each for each in itertools.combinations(theirs, size) if not known.issuperset(each))


def _p_values(statistic: Doubles, df: Doubles) -> Doubles:
    p: NDArray[np.float64] = np.ones(len(statistic))
    tested = df > 0
    p[tested] = upper_tail(statistic[tested], df[tested])
    return p


def _colliders(
    near: Matrix, directed: Matrix, open_: Matrix, separators: dict[tuple[int, int], tuple[int, ...]], rules: ArcRules
) -> None:
    """Direct a -> c <- b for non-adjacent neighbours a, b of c that were separated without c.

    If two colliders contradict each other, the first is kept.
    """
    for (one, other), given in separators.items():
        for middle in np.flatnonzero(near[one] & near[other]).tolist():
            if middle in given:
                continue
            arcs = [(one, middle), (other, middle)]
            if all((directed[arc] or open_[arc]) and rules.allowed[arc] for arc in arcs):
                for arc in arcs:
                    if open_[arc]:
                        _direct(directed, open_, *arc)


def _direct(directed: Matrix, open_: Matrix, parent: int, child: int) -> None:
    directed[parent, child] = True
    open_[parent, child] = open_[child, parent] = False


def meek(directed: Matrix, open_: Matrix) -> None:
    """Direct the edges that would otherwise form a new collider or a cycle (Meek 1995), in place.

    1. a -> b - c, a and c not adjacent: b -> c.          2. a -> b -> c, a - c: a -> c.
    3. a - b -> d, a - c -> d, a - d, b and c not adjacent: a -> d.
    4. a - b -> c -> d, a - d, a and c adjacent, b and d not: a -> d.
    """
    changed = True
    while changed:
        changed = False
        near = directed | directed.T | open_
        for one, other in np.argwhere(open_).tolist():
            if not open_[one, other]:
                continue
            into = directed[:, one] & ~near[:, other]
            into[other] = False
            through = directed[one] & directed[:, other]
            if into.any() or through.any() or _third(directed, open_, near, one, other):
                _direct(directed, open_, one, other)
                changed = True


def _third(directed: Matrix, open_: Matrix, near: Matrix, one: int, other: int) -> bool:
    """Meek's third and fourth rule."""
    above = np.flatnonzero(open_[one] & directed[:, other])
    if any(not near[b, c] for b, c in itertools.combinations(above.tolist(), 2)):
        return True
    for c in np.flatnonzero(near[one] & directed[:, other]).tolist():
        for b in np.flatnonzero(open_[one] & directed[:, c]).tolist():
            if b != other and not near[b, other]:
                return True
    return False


def directed_extension(pattern: PartialGraph) -> list[int]:
    """A DAG that extends the pattern: the parents of each node as bits (Dor and Tarsi 1992).

    If the tests contradict each other there may be none; then arcs that would close a cycle are reversed.
    """
    directed, open_ = pattern.directed.copy(), pattern.undirected.copy()
    count = len(directed)
    near = directed | directed.T | open_
    left = np.ones(count, dtype=bool)
    order: list[int] = []  # sinks first
    while left.any():
        nodes = np.flatnonzero(left).tolist()
        free = [node for node in nodes if not (directed[node] & left).any()]
        fit = [node for node in free if _simplicial(node, open_, near, left)]
        node = (fit or free or nodes)[0]
        order.append(node)
        left[node] = False
    turn = np.empty(count, dtype=np.int64)
    turn[order] = np.arange(count)
    arcs = near & (turn[:, None] > turn[None, :])
    parents = packed(arcs)
    assert reachable(parents)[1]
    return parents


def _simplicial(node: int, open_: Matrix, near: Matrix, left: Matrix) -> bool:
    """Whether every undirected neighbour is adjacent to all other neighbours of the node."""
    around = near[node] & left
    for other in np.flatnonzero(open_[node] & left).tolist():
        lacking = around & ~near[other]
        lacking[other] = False
        if lacking.any():
            return False
    return True
