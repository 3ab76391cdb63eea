"""Interventions: a node is set from outside, so its parents no longer matter.

    P(y | do(x)) = P'(y)      in the network where X has no parents and P'(X = x) = 1

(the truncated factorisation, Pearl, Causality, 2009, equation 3.10). A node may also be set to a distribution: a
stochastic policy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesbox.errors import BadOption
from bayesbox.network.graph import Graph, Node
from bayesbox.network.tables import distribution_of


def cut_graph(graph: Graph, actions: Mapping[Any, Any]) -> Graph:
    """The graph with the arcs into these nodes removed, each with the given state or distribution as its table."""
    if not isinstance(actions, Mapping):
        raise BadOption("do takes a dict from node to state", found=actions, remedy='do({"A": "true"})')
    changed: dict[str, Node] = {}
    for name, given in actions.items():
        node = graph.node(name)
        if given is None:
            raise BadOption(
                f"do({node.name}) needs the state that is set", remedy=f"Write do({node.name}={node.states[0]})"
            )
        table = distribution_of(node, given) if isinstance(given, Mapping) else _certain(node, given)
        changed[node.name] = Node(node.name, node.states, (), table)
    return Graph([changed.get(name, node) for name, node in graph.nodes.items()], name=graph.name)


def _certain(node: Node, state: object) -> Any:
    table = np.zeros(len(node.states))
    table[node.code(state)] = 1
    return table
