"""Adjustment sets by the back-door and the front-door criterion.

Back door: the set has no descendant of X and blocks every path between X and Y that begins with an arrow into X:

    P(y | do(x)) = sum over z of P(y | x, z) P(z)

Front door: the set intercepts every directed path from X to Y, no back-door path from X to the set is open, and X
blocks every back-door path from the set to Y:

    P(y | do(x)) = sum over z of P(z | x) sum over x' of P(y | x', z) P(x')

(Pearl, Causality, 2009, definitions 3.3.1 and 3.3.3.) A set is minimal if no proper subset meets the criterion.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bayesbox.network.act.mixed_graph import MixedGraph

MOST_TRIED = 20_000  # candidate sets tried for each criterion

Set = tuple[str, ...]


@dataclass(frozen=True)
class FoundSets:
    """The minimal sets found, smallest first; `complete` if there are no others."""

    sets: list[Set] = field(default_factory=list)
    complete: bool = True


def back_door(graph: MixedGraph, cause: str, effect: str) -> FoundSets:
    """The minimal sets that block every back-door path from the cause to the effect."""
    cut = graph.without_arcs_from([cause])
    below = {name for name in graph.order if cause in graph.ancestors([name])}
    above = cut.ancestors([cause, effect])
    candidates = [name for name in graph.order if name in above and name not in below and name != effect]

    def blocks(some: Sequence[str]) -> bool:
        return cut.separated([cause], [effect], some)

    if not blocks(candidates):  # if any set blocks all paths, the set of all ancestors does
        return FoundSets()
    found = _minimal(candidates, blocks)
    if not found.sets:  # too many to try: find one by dropping nodes that are not needed
        some = list(candidates)
        for name in candidates:
            fewer = [each for each in some if each != name]
            some = fewer if blocks(fewer) else some
        return FoundSets([tuple(some)], complete=False)
    return found


def front_door(graph: MixedGraph, cause: str, effect: str) -> FoundSets:
    """The minimal sets that meet the front-door criterion."""
    above = graph.ancestors([effect])
    candidates = [name for name in graph.order if name in above and name not in (cause, effect)]
    from_cause = graph.without_arcs_from([cause])

    def serves(some: Sequence[str]) -> bool:
        rest = graph.within(name for name in graph.order if name not in some)
        if cause in rest.ancestors([effect]):
            return False
        if not from_cause.separated([cause], some, []):
            return False
        return graph.without_arcs_from(some).separated(some, [effect], [cause])

    if not candidates or cause not in above:
        return FoundSets()
    return _minimal(candidates, serves, empty=False)


def _minimal(candidates: Sequence[str], serves: Callable[[Sequence[str]], bool], *, empty: bool = True) -> FoundSets:
    """The sets that meet the criterion and have no proper subset that does, smallest first."""
    found: list[Set] = []
    sizes = range(0 if empty else 1, len(candidates) + 1)
    every = itertools.chain.from_iterable(itertools.combinations(candidates, size) for size in sizes)
    for tried, some in enumerate(every):
        if tried >= MOST_TRIED:
            return FoundSets(found, complete=False)
        if not any(set(smaller) <= set(some) for smaller in found) and serves(some):
            found.append(some)
            if not some:  # the empty set is a subset of every other
                break
    return FoundSets(found)
