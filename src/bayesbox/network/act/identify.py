"""Which effects are identifiable from observed nodes: the ID algorithm, complete for graphs with latent nodes.

Shpitser and Pearl, Identification of joint interventional distributions in recursive semi-Markovian causal models,
AAAI 2006 (ID), and Identification of conditional interventional distributions, UAI 2006 (IDC). If ID fails, the graph
has a hedge: two sets of nodes, F' within F, each connected by hidden common causes, with the same roots, of which only
F contains a node that is set. Two models with this graph then exist that agree on the observed distribution and differ
in the effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bayesbox.network.act.estimand import Conditional, Estimand, QuotientOf, product_of, summed
from bayesbox.network.act.mixed_graph import MixedGraph

Names = frozenset[str]


@dataclass(frozen=True)
class Hedge:
    """Why an effect is not identifiable: `outer` contains a node that is set, `inner` does not."""

    outer: tuple[str, ...]
    inner: tuple[str, ...]

    def __str__(self) -> str:
        return f"{{{', '.join(self.outer)}}} around {{{', '.join(self.inner)}}}"


class _NotIdentifiable(Exception):
    def __init__(self, hedge: Hedge) -> None:
        super().__init__(str(hedge))
        self.hedge = hedge


def identified(
    graph: MixedGraph, targets: Sequence[str], actions: Sequence[str], given: Sequence[str] = ()
) -> Estimand | Hedge:
    """A formula for P(targets | do(actions), given), or the hedge that rules one out."""
    try:
        return _conditional(graph, frozenset(targets), frozenset(actions), frozenset(given))
    except _NotIdentifiable as error:
        return error.hedge


def _conditional(graph: MixedGraph, targets: Names, actions: Names, given: Names) -> Estimand:
    """IDC: evidence that may be exchanged for an action (rule 2 of the do-calculus) is; the rest becomes a quotient."""
    cut = graph.without_arcs_into(actions)
    for name in graph.order:
        if name in given:
            rest = given - {name}
            if cut.without_arcs_from([name]).separated(targets, [name], actions | rest):
                return _conditional(graph, targets, actions | {name}, rest)
    joint = _Identify(graph).effect(targets | given, actions)
    if not given:
        return joint
    if isinstance(joint, Conditional) and given < frozenset(joint.targets):
        kept = tuple(name for name in joint.targets if name not in given)
        return Conditional(kept, (*(name for name in joint.targets if name in given), *joint.given))
    return QuotientOf(joint, summed(targets, joint, graph.order))


@dataclass(frozen=True)
class _Observed:
    """A distribution over the nodes of a graph: the observed one, or a formula derived from it."""

    formula: Estimand | None = None

    def without(self, names: Names, order: Sequence[str]) -> _Observed:
        """The distribution with these nodes summed out."""
        return self if self.formula is None else _Observed(summed(names, self.formula, order))


class _Identify:
    """The recursion of ID; `whole` is the graph of all observed nodes."""

    def __init__(self, whole: MixedGraph) -> None:
        self.whole = whole
        self.order = whole.order  # of the nodes of sums: those of a subgraph may contain nodes outside it

    def effect(self, targets: Names, actions: Names) -> Estimand:
        return self.id(targets, actions, _Observed(), self.whole)

    def id(self, y: Names, x: Names, p: _Observed, graph: MixedGraph) -> Estimand:
        """P(y | do(x)) in a graph with the distribution p; the numbered comments are the lines of the algorithm."""
        nodes = frozenset(graph.order)
        if not x:  # 1
            return self.marginal(y, p, graph)
        above = graph.ancestors(y)
        if nodes - above:  # 2: only y and its ancestors matter
            return self.id(y, x & above, p.without(nodes - above, self.order), graph.within(above))
        idle = nodes - x - graph.without_arcs_into(x).ancestors(y)
        if idle:  # 3: setting these too changes nothing
            return self.id(y, x | idle, p, graph)
        parts = graph.within(nodes - x).components()
        if len(parts) > 1:  # 4: the effect is a product over the confounded components
            product = product_of([self.id(part, nodes - part, p, graph) for part in parts])
            return summed(nodes - y - x, product, self.order)
        (part,) = parts
        components = graph.components()
        if len(components) == 1:  # 5
            raise _NotIdentifiable(Hedge(_ordered(graph, nodes), _ordered(graph, part)))
        if part in components:  # 6
            factors = product_of([self.factor(name, p, graph) for name in _ordered(graph, part)])
            return summed(part - y, factors, self.order)
        larger = next(each for each in components if part < each)  # 7
        factors = product_of([self.factor(name, p, graph) for name in _ordered(graph, larger)])
        return self.id(y, x & larger, _Observed(factors), graph.within(larger))

    def marginal(self, names: Names, p: _Observed, graph: MixedGraph) -> Estimand:
        if p.formula is None:
            return Conditional(_ordered(graph, names))
        return summed(frozenset(graph.order) - names, p.formula, self.order)

    def factor(self, name: str, p: _Observed, graph: MixedGraph) -> Estimand:
        """P(name | all nodes before it) under the distribution p."""
        before = graph.order[: graph.order.index(name)]
        if p.formula is None:
            return Conditional((name,), self.needed(name, before))
        later = frozenset(graph.order) - {*before, name}
        above = summed(later, p.formula, self.order)
        return QuotientOf(above, summed([name], above, self.order)) if name in above.free else above

    def needed(self, name: str, before: Sequence[str]) -> tuple[str, ...]:
        """The predecessors of a node that it depends on, given the rest of them."""
        kept = list(before)
        for each in reversed(before):
            rest = [other for other in kept if other != each]
            if self.whole.separated([name], [each], rest):
                kept = rest
        return tuple(kept)


def _ordered(graph: MixedGraph, names: Names) -> tuple[str, ...]:
    return tuple(name for name in graph.order if name in names)
