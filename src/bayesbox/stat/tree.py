"""Trees: the maximum spanning tree, Chow and Liu's network, and the tree-augmented arcs of a class (TAN)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayesbox.stat.family_counter import Counter

Doubles = NDArray[np.float64]


def maximum_spanning_tree(weights: Doubles, root: int = 0) -> list[int]:
    """The parent of each node in the spanning tree of the largest weight, -1 for the root (Prim 1957).

    Of equal weights the first node wins, so the tree is the same every time.

    >>> maximum_spanning_tree(np.array([[0, 3, 1], [3, 0, 2], [1, 2, 0]]))
    [-1, 0, 1]
    """
    count = len(weights)
    parents = [-1] * count
    if not count:
        return parents
    best = np.array(weights[root], dtype=np.float64)
    nearest = np.full(count, root)
    left = np.ones(count, dtype=bool)
    left[root] = False
    for _ in range(count - 1):
        node = int(np.argmax(np.where(left, best, -np.inf)))
        parents[node] = int(nearest[node])
        left[node] = False
        closer = left & (weights[node] > best)
        best[closer] = weights[node][closer]
        nearest[closer] = node
    return parents


def mutual_information(counter: Counter, nodes: Sequence[int], given: Sequence[int] = ()) -> Doubles:
    """I(X; Y | given) in nats of every two nodes, from one pass over the rows: G / 2n."""
    found = np.zeros((len(nodes), len(nodes)))
    pairs = list(itertools.combinations(range(len(nodes)), 2))
    if pairs and counter.rows:
        statistic, _ = counter.g_tests([(nodes[one], nodes[other], *given) for one, other in pairs])
        places = np.array(pairs)
        found[places[:, 0], places[:, 1]] = found[places[:, 1], places[:, 0]] = statistic / (2 * counter.rows)
    return found


def chow_liu(counter: Counter, root: int = 0) -> list[list[int]]:
    """The parents of each node in the tree of the largest likelihood (Chow and Liu 1968)."""
    nodes = range(len(counter.cards))
    tree = maximum_spanning_tree(mutual_information(counter, nodes), root)
    return [[parent] if parent >= 0 else [] for parent in tree]


def tree_augmented(counter: Counter, target: int, root: int | None = None) -> list[list[int]]:
    """The parents of each node where the target is a parent of all, and a tree joins the others (Friedman 1997)."""
    others = [node for node in range(len(counter.cards)) if node != target]
    parents: list[list[int]] = [[target] if node != target else [] for node in range(len(counter.cards))]
    first = 0 if root is None else others.index(root)
    tree = maximum_spanning_tree(mutual_information(counter, others, [target]), first)
    for node, parent in zip(others, tree, strict=True):
        if parent >= 0:
            parents[node].append(others[parent])
    return parents
