"""The maximum spanning tree, and the forest of its arcs of positive weight: the tree of TAN."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]


def maximum_spanning_tree(weights: Doubles, root: int = 0) -> list[int]:
    """The parent of each node in the spanning tree of the largest weight, -1 for the root (Prim 1957).

    In case of a tie the first node wins, so the tree is deterministic.

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


def augmenting_forest(worth: Doubles, root: int | None = None) -> list[int]:
    """The parent of each attribute in tree-augmented naive Bayes (Friedman, Geiger and Goldszmidt 1997), or -1.

    The arcs are those of the maximum spanning tree with a positive weight. The root of each tree of this forest is
    `root`, or else its first attribute.

    >>> augmenting_forest(np.array([[0, 3, -1], [3, 0, 0], [-1, 0, 0]]), root=1)
    [1, -1, -1]
    """
    count = len(worth)
    neighbours: list[list[int]] = [[] for _ in range(count)]
    for node, parent in enumerate(maximum_spanning_tree(worth)):
        if parent >= 0 and worth[node, parent] > 0:
            neighbours[node].append(parent)
            neighbours[parent].append(node)
    parents: dict[int, int] = {}
    for start in range(count) if root is None else (root, *range(count)):
        waiting = [(start, -1)]
        while waiting:
            node, above = waiting.pop()
            if node not in parents:
                parents[node] = above
                waiting += [(each, node) for each in neighbours[node]]
    return [parents[node] for node in range(count)]
