"""The causal methods of a network: `do`, `adjustment_sets` and `identify`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, cast

from bayesbox.errors import BadOption
from bayesbox.network.graph import Graph
from bayesbox.network.query.notation import Query, Term, parse_query

if TYPE_CHECKING:
    from bayesbox.network.act.results import AdjustmentSets, Identification
    from bayesbox.network.network import BayesianNetwork


class NetworkActing:
    """Interventions, adjustment sets and identifiability."""

    graph: Graph
    _done: frozenset[tuple[str, str]] = frozenset()  # the interventions, as (node, state)

    def do(self, actions: Mapping[Any, Any]) -> BayesianNetwork:
        """The network after an intervention that sets some nodes, regardless of their parents.

        Arcs into these nodes are removed, and each table gives the chosen state probability 1, or is the given
        distribution. `query("P(B | do(A=true))")` asks such a network.

        Parameters
        ----------
        actions : mapping from node to state
            The state of each node; a mapping from state to probability sets the node at random.

        Returns
        -------
        BayesianNetwork
            A new network.

        See Also
        --------
        adjustment_sets, identify

        Examples
        --------
        >>> import bayesbox as bb
        >>> net = bb.BayesianNetwork({"ill": ["age"], "drug": ["age"], "well": ["ill", "drug"]}, {
        ...     "age": 0.5, "ill": {True: 0.8, False: 0.2}, "drug": {True: 0.9, False: 0.3},
        ...     "well": {(True, True): 0.5, (True, False): 0.2, (False, True): 0.9, (False, False): 0.8}})
        >>> round(net.query("P(well=true | drug=true)"), 6), round(net.query("P(well=true | do(drug=true))"), 6)
        (0.64, 0.7)
        >>> net.do({"drug": True}).edges
        [('age', 'ill'), ('ill', 'well'), ('drug', 'well')]
        """
        from bayesbox.network.act.do import cut_graph

        return type(cast("BayesianNetwork", self)).of(cut_graph(self.graph, actions))

    def acted(self, query: Query) -> Self:
        """The network that a query is about: this one, or the intervened one if the query has do(...)."""
        wanted = frozenset((term.name, term.value or "") for term in query.actions)
        if wanted <= self._done:
            return self
        changed = self.do({term.name: term.value for term in query.actions})
        changed._done = wanted
        changed.max_bytes = cast("BayesianNetwork", self).max_bytes
        return cast("Self", changed)

    def adjustment_sets(self, cause: str, effect: str, *, latent: Iterable[str] = ()) -> AdjustmentSets:
        """The minimal sets of observed nodes to adjust for, by the back-door and the front-door criterion.

        Parameters
        ----------
        cause, effect : str
            Two nodes; the quantity of interest is P(effect | do(cause)).
        latent : names of nodes
            The unobserved nodes.

        Returns
        -------
        AdjustmentSets
            `.back_door` and `.front_door`, lists of sets of nodes; prints, has `.to_frame()` and `.to_dict()`.

        See Also
        --------
        identify, do

        Examples
        --------
        >>> import bayesbox as bb
        >>> net = bb.BayesianNetwork({"tar": ["smoke"], "smoke": ["gene"], "cancer": ["tar", "gene"]})
        >>> print(net.adjustment_sets("smoke", "cancer", latent=["gene"]))
        P(cancer | do(smoke))
        <BLANKLINE>
        back door: none
        front door: adjust for tar
        """
        from bayesbox.network.act.adjustment import back_door, front_door
        from bayesbox.network.act.mixed_graph import MixedGraph
        from bayesbox.network.act.results import AdjustmentSets

        one, other = self.graph.node(cause).name, self.graph.node(effect).name
        if one == other:
            raise BadOption("cause and effect are the same node", found=one)
        hidden = self._latent(latent, [one, other])
        graph = MixedGraph.of(self.graph, hidden)
        return AdjustmentSets.of(one, other, hidden, back_door(graph, one, other), front_door(graph, one, other))

    def identify(self, text: str, *, latent: Iterable[str] = ()) -> Identification:
        """Whether an effect is identifiable from the observed nodes: the formula, or the hedge that rules it out.

        By the ID algorithm of Shpitser and Pearl, which finds a formula whenever one exists.

        Parameters
        ----------
        text : str
            P(targets | do(actions), evidence); states are needed for `.answer()` only.
        latent : names of nodes
            The unobserved nodes.

        Returns
        -------
        Identification
            `.identifiable`, `.formula`, `.hedge`, and `.answer()`, the effect by the formula.

        See Also
        --------
        adjustment_sets, do

        Examples
        --------
        >>> import bayesbox as bb
        >>> net = bb.BayesianNetwork({"tar": ["smoke"], "smoke": ["gene"], "cancer": ["tar", "gene"]})
        >>> net.identify("P(cancer | do(smoke))", latent=["gene"]).formula
        "sum over tar of P(tar | smoke) sum over smoke' of P(smoke') P(cancer | smoke', tar)"
        >>> print(net.identify("P(cancer | do(smoke))", latent=["gene", "tar"]).hedge)
        {smoke, cancer} around {cancer}
        """
        from bayesbox.network.act.identify import Hedge, identified
        from bayesbox.network.act.mixed_graph import MixedGraph
        from bayesbox.network.act.results import Identification

        query = parse_query(text)
        soft = [str(term) for term in query.evidence if not isinstance(term, Term)]
        if soft:
            raise BadOption("an effect is identified given states of nodes", found=soft[0])
        targets, actions, given = (
            list(dict.fromkeys(self.graph.node(term.name).name for term in terms))
            for terms in (query.targets, query.actions, query.evidence)
        )
        _require_apart(targets, actions, given)
        hidden = self._latent(latent, [*targets, *actions, *given])
        found = identified(MixedGraph.of(self.graph, hidden), targets, actions, given)
        hedge = found if isinstance(found, Hedge) else None
        estimand = None if isinstance(found, Hedge) else found
        return Identification(query, hidden, estimand, hedge, cast("BayesianNetwork", self))

    def _latent(self, latent: Iterable[str], asked: Sequence[str]) -> tuple[str, ...]:
        listed = [latent] if isinstance(latent, str) else latent
        hidden = tuple(dict.fromkeys(self.graph.node(name).name for name in listed))
        for name in asked:
            if name in hidden:
                raise BadOption(f"`{name}` is in the question, so it cannot be latent", found=name)
        return hidden


def _require_apart(targets: Sequence[str], actions: Sequence[str], given: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in (*targets, *actions, *given):
        if name in seen:
            raise BadOption("a node must be a target, set or observed: only one of the three", found=name)
        seen.add(name)
    if not actions:
        raise BadOption("an effect needs do(...)", remedy="P(y | do(x))")
