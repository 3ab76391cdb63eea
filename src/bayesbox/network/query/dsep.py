"""d-separation: which independences follow from the graph alone, whatever the tables.

A path between two nodes is active given Z if every collider on it (-> n <-) is in Z or has a descendant in Z, and no
other inner node is in Z. Sets without an active path between them are d-separated, so independent given Z.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable

from bayesbox.network.graph import Graph

UP, DOWN = "up", "down"  # how a node was reached: from a child, or from a parent


def active_path(graph: Graph, left: Iterable[str], right: Iterable[str], given: Iterable[str]) -> list[str] | None:
    """The nodes of a shortest active walk from one set to the other; None if the sets are d-separated.

    The walk is found by the "Bayes ball": from a node reached upwards the ball moves on to parents and children if the
    node is not given; from one reached downwards, to children if it is not given, and to parents if it or a descendant
    is.
    """
    targets, known = set(right), set(given)
    above_known = known | graph.ancestors(known)
    start = [(name, UP) for name in left if name not in known]
    before: dict[tuple[str, str], tuple[str, str] | None] = dict.fromkeys(start)
    waiting = deque(start)
    while waiting:
        state = waiting.popleft()
        name, direction = state
        if name in targets and name not in known:
            return _walk(before, state)
        following: list[tuple[str, str]] = []
        if name not in known:
            following += [(child, DOWN) for child in graph.children_of[name]]
        if (direction == UP and name not in known) or (direction == DOWN and name in above_known):
            following += [(parent, UP) for parent in graph.nodes[name].parents]
        for each in following:
            if each not in before:
                before[each] = state
                waiting.append(each)
    return None


def _walk(before: dict[tuple[str, str], tuple[str, str] | None], last: tuple[str, str]) -> list[str]:
    walk = []
    state: tuple[str, str] | None = last
    while state is not None:
        walk.append(state[0])
        state = before[state]
    return walk[::-1]


def path_text(graph: Graph, path: list[str]) -> str:
    """A path with its arrows: X1 -> X3 <- X2."""
    text = path[0]
    for one, other in itertools.pairwise(path):
        text += f" {'->' if one in graph.nodes[other].parents else '<-'} {other}"
    return text


def relevant(graph: Graph, named: Iterable[str], inexact: Iterable[str]) -> list[int]:
    """The positions of the nodes whose tables matter to the probability of the named ones.

    A node below all of them sums to 1 and drops out; an inexact one, whose rows do not sum to 1 exactly, stays with its
    ancestors.
    """
    kept = {*named, *inexact}
    kept |= graph.ancestors(kept)
    return [place for place, name in enumerate(graph.nodes) if name in kept]
