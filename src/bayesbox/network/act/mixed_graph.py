"""Causal graphs with latent nodes: arcs, and pairs of nodes with a hidden common cause.

The latent projection (Verma and Pearl 1990): X -> Y if a directed path leads from X to Y through latent nodes only; X
<-> Y if directed paths through latent nodes only lead from one latent node to both.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bayesbox.network.graph import Graph


@dataclass(frozen=True)
class MixedGraph:
    """The observed nodes in topological order, the parents of each, and the pairs with a hidden common cause."""

    order: tuple[str, ...]
    parents: Mapping[str, frozenset[str]]
    confounded: frozenset[frozenset[str]]

    @classmethod
    def of(cls, graph: Graph, latent: Iterable[str]) -> MixedGraph:
        """The latent projection of a graph on its observed nodes."""
        hidden = set(latent)
        order = tuple(name for name in graph.order if name not in hidden)
        reached = {name: _through(graph, name, hidden) for name in graph.nodes}
        parents: dict[str, set[str]] = {name: set() for name in order}
        for name in order:
            for child in reached[name]:
                parents[child].add(name)
        pairs: set[frozenset[str]] = set()
        for name in hidden:
            pairs.update(frozenset(pair) for pair in itertools.combinations(sorted(reached[name]), 2))
        return cls(order, {name: frozenset(above) for name, above in parents.items()}, frozenset(pairs))

    def within(self, names: Iterable[str]) -> MixedGraph:
        """The subgraph on some nodes."""
        kept = frozenset(names)
        return MixedGraph(
            tuple(name for name in self.order if name in kept),
            {name: self.parents[name] & kept for name in self.order if name in kept},
            frozenset(pair for pair in self.confounded if pair <= kept),
        )

    def without_arcs_into(self, names: Iterable[str]) -> MixedGraph:
        """The graph without the arcs into these nodes."""
        cut = frozenset(names)
        return MixedGraph(
            self.order,
            {name: frozenset() if name in cut else above for name, above in self.parents.items()},
            frozenset(pair for pair in self.confounded if not pair & cut),
        )

    def without_arcs_from(self, names: Iterable[str]) -> MixedGraph:
        """The graph without the arcs out of these nodes."""
        cut = frozenset(names)
        return MixedGraph(self.order, {name: above - cut for name, above in self.parents.items()}, self.confounded)

    def ancestors(self, names: Iterable[str]) -> frozenset[str]:
        """These nodes and all their ancestors."""
        found, waiting = set(names), list(names)
        while waiting:
            new = self.parents[waiting.pop()] - found
            found |= new
            waiting.extend(new)
        return frozenset(found)

    def components(self) -> list[frozenset[str]]:
        """The confounded components (c-components): nodes connected by hidden common causes, in topological order."""
        component = {name: {name} for name in self.order}
        for one, other in (sorted(pair) for pair in self.confounded):
            if component[one] is not component[other]:
                joined = component[one] | component[other]
                component.update(dict.fromkeys(joined, joined))
        found: list[frozenset[str]] = []
        for name in self.order:
            each = frozenset(component[name])
            if each not in found:
                found.append(each)
        return found

    def separated(self, left: Iterable[str], right: Iterable[str], given: Iterable[str]) -> bool:
        """Whether two sets are m-separated given a third."""
        known, targets = set(given), set(right)
        above_known = self.ancestors(known)
        children = {name: [each for each in self.order if name in self.parents[each]] for name in self.order}
        spouses: dict[str, list[str]] = {name: [] for name in self.order}
        for pair in self.confounded:
            one, other = sorted(pair)
            spouses[one].append(other)
            spouses[other].append(one)
        start = [(name, False) for name in left if name not in known]  # whether it was reached by an arrow into it
        seen, waiting = set(start), list(start)
        while waiting:
            name, by_head = waiting.pop()
            if name in targets and name not in known:
                return False
            following: list[tuple[str, bool]] = []
            if name not in known:
                following += [(child, True) for child in children[name]]
            if (name in above_known) if by_head else (name not in known):
                following += [(parent, False) for parent in self.parents[name]]
                following += [(spouse, True) for spouse in spouses[name]]
            for state in following:
                if state not in seen:
                    seen.add(state)
                    waiting.append(state)
        return True


def _through(graph: Graph, name: str, hidden: set[str]) -> set[str]:
    """The observed nodes reached by a path through latent nodes only."""
    found: set[str] = set()
    seen, waiting = {name}, [name]
    while waiting:
        for child in graph.children_of[waiting.pop()]:
            if child not in hidden:
                found.add(child)
            elif child not in seen:
                seen.add(child)
                waiting.append(child)
    return found
