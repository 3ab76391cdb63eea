"""Trees as structures: Chow and Liu's network, and the tree under a class (TAN)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayesbox.stat.family_counter import Counter
from bayesbox.stat.mutual_information import g_test
from bayesbox.stat.spanning_tree import maximum_spanning_tree

Doubles = NDArray[np.float64]


def information_of_pairs(
    counter: Counter, nodes: Sequence[int], given: Sequence[int] = (), *, complete: bool = True
) -> Doubles:
    """I(X; Y | given) in nats for each pair of nodes, from one pass over the rows: G / 2n.

    If the rows are not `complete`, n counts those without missing values in the pair and the given nodes.
    """
    found = np.zeros((len(nodes), len(nodes)))
    pairs = list(itertools.combinations(range(len(nodes)), 2))
    if not pairs or not counter.rows:
        return found
    if complete:
        statistic, _ = counter.g_tests([(nodes[one], nodes[other], *given) for one, other in pairs])
        information = statistic / (2 * counter.rows)
    else:
        sets = [(nodes[other], nodes[one], *given) for one, other in pairs]
        information = np.array(
            [
                g_test(table.reshape(counter.cards[members[0]], counter.cards[members[1]], -1))[0]
                / (2 * max(int(table.sum()), 1))
                for members, table in zip(sets, counter.counts(sets), strict=True)
            ]
        )
    places = np.array(pairs)
    found[places[:, 0], places[:, 1]] = found[places[:, 1], places[:, 0]] = information
    return found


def chow_liu(counter: Counter, root: int = 0, *, complete: bool = True) -> list[list[int]]:
    """The parents of each node in the maximum-likelihood tree (Chow and Liu 1968)."""
    weights = information_of_pairs(counter, range(len(counter.cards)), complete=complete)
    return [[parent] if parent >= 0 else [] for parent in maximum_spanning_tree(weights, root)]


def tree_augmented(counter: Counter, target: int, root: int | None = None) -> list[list[int]]:
    """The parents of each node in a TAN: the target is a parent of all, and the others form a tree (Friedman 1997)."""
    others = [node for node in range(len(counter.cards)) if node != target]
    parents: list[list[int]] = [[target] if node != target else [] for node in range(len(counter.cards))]
    first = 0 if root is None else others.index(root)
    tree = maximum_spanning_tree(information_of_pairs(counter, others, [target]), first)
    for node, parent in zip(others, tree, strict=True):
        if parent >= 0:
            parents[node].append(others[parent])
    return parents
