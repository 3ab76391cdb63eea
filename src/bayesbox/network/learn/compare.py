"""Comparing two structures: arcs missing, extra or reversed, and the structural Hamming distance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from bayesbox.network.learn.arcs import Matrix
from bayesbox.network.learn.pc import meek

Arc = tuple[str, str]


@dataclass(frozen=True)
class Comparison:
    """Arcs by name. `shd` counts the pairs of nodes that differ in the patterns of the two structures.

    The pattern (CPDAG) of a structure leaves open the directions that no data can determine: Markov-equivalent
    structures have the same pattern, so an arc may be reversed without counting as a difference.
    """

    shd: int
    same: int
    missing: tuple[Arc, ...]
    extra: tuple[Arc, ...]
    reversed: tuple[Arc, ...]


def compare(names: Sequence[str], found: Iterable[Arc], known: Iterable[Arc]) -> Comparison:
    """The comparison of a found structure with a known one.

    >>> compare(["rain", "grass", "slip"], [("grass", "rain")], [("rain", "grass"), ("grass", "slip")])
    Comparison(shd=1, same=0, missing=(('grass', 'slip'),), extra=(), reversed=(('grass', 'rain'),))
    """
    ours, theirs = list(found), list(known)
    place = {name: index for index, name in enumerate(names)}
    have, want = set(ours), set(theirs)
    patterns = []
    for arcs in (ours, theirs):
        matrix = np.zeros((len(names), len(names)), dtype=bool)
        for parent, child in arcs:
            matrix[place[parent], place[child]] = True
        patterns.append(pattern_of(matrix))
    (directed, open_), (others, undirected) = patterns
    differ = (directed != others) | (open_ != undirected)
    return Comparison(
        int(np.triu(differ | differ.T).sum()),
        len(have & want),
        tuple(arc for arc in theirs if arc not in have and arc[::-1] not in have),
        tuple(arc for arc in ours if arc not in want and arc[::-1] not in want),
        tuple(arc for arc in ours if arc not in want and arc[::-1] in want),
    )


def pattern_of(arcs: Matrix, allowed: Matrix | None = None) -> tuple[Matrix, Matrix]:
    """The pattern of a structure, (directed, undirected): arcs are directed if all equivalent structures agree.

    If only some arcs are `allowed`, only equivalent structures that use these count.
    """
    near = arcs | arcs.T
    directed = np.zeros_like(arcs) if allowed is None else arcs & ~allowed.T
    for child in range(len(arcs)):
        above = np.flatnonzero(arcs[:, child])
        for parent in above.tolist():
            if any(not near[parent, other] for other in above.tolist() if other != parent):
                directed[parent, child] = True
    open_ = near & ~directed & ~directed.T
    meek(directed, open_)
    return directed, open_
