"""The data of the network view: the layout of its nodes, and the answer to evidence.

`network_answer` gives the same as `networkAnswer` in answers.js, computed in Python.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from bayesbox.errors import BayesboxError
from bayesbox.file.reader import Json
from bayesbox.network.graph import Doubles
from bayesbox.network.network import BayesianNetwork
from bayesbox.network.printed_tables import counts_by_node
from bayesbox.network.tables import require_tables

MOST_TABLES = 60_000  # numbers of all tables; larger ones are not sent to the page
MOST_CELLS = 2**22  # of all tables; beyond it the strengths of arcs are not computed
MOST_STRENGTHS = 200  # nodes; beyond it the strengths of arcs are not computed


def network_spec(network: BayesianNetwork, counts: Mapping[str, Doubles] | None = None) -> Json:
    """Nodes with positions, states, parents and tables, and the paths of the arcs with their strengths in bits.

    `counts` are those behind the tables, by node; by default those of the network.
    """
    require_tables(network.graph)
    layout = network.layout(probabilities=True)
    graph = network.graph
    size = sum(math.prod(graph.shape(node)) for node in graph.nodes.values())
    bits = {}
    if len(network.nodes) <= MOST_STRENGTHS and size <= MOST_CELLS:
        bits = {(each.parent, each.child): each.conditional for each in network.strengths()}
    counts = counts_by_node(network) if counts is None else counts
    nodes = []
    for box in layout.nodes:
        node = network.graph.nodes[box.name]
        own: Json = {"name": box.name, "states": list(node.states), "parents": list(node.parents)}
        own |= {"x": box.x, "y": box.y, "width": box.width, "height": box.height}
        if size <= MOST_TABLES:
            own["table"] = graph.full_table(box.name).ravel().tolist()
            if box.name in counts:
                own["counts"] = counts[box.name].ravel().tolist()
        if node.compact is not None:
            own["compact"] = True
        nodes.append(own)
    edges = [{"from": arc.parent, "to": arc.child, "path": arc.path, **_strength(bits, arc)} for arc in layout.arcs]
    return {"name": network.graph.name, "nodes": nodes, "edges": edges, "width": layout.width, "height": layout.height}


def _strength(bits: Mapping[tuple[str, str], float], arc: Any) -> Json:
    found = bits.get((arc.parent, arc.child))
    return {} if found is None else {"bits": found}


def evidence_of(given: Mapping[str, Any]) -> Json:
    """Evidence for the network: states, and likelihoods of partially known nodes."""
    return {**given.get("soft", {}), **given.get("hard", {})}


def network_answer(network: BayesianNetwork, given: Mapping[str, Any], target: str | None) -> Json:
    """The posteriors of every node, P(evidence), what to ask next, the most probable explanation; or the error."""
    evidence = evidence_of(given)
    try:
        posteriors = network.posteriors(evidence)
        hard = given.get("hard", {})
        asked = () if target is None or target in hard else tuple(network.ask_next(evidence, target))
        conflict = float(network.conflict(evidence)) if len(hard) > 1 and not given.get("soft") else None
        return {
            "given": {"hard": hard, "soft": given.get("soft", {})},
            "posteriors": {node: dict(posteriors[node]) for node in network.nodes},
            "logEvidence": network.log_probability(evidence),
            "ask": [{"name": each.node, "bits": each.information} for each in asked],
            "mpe": network.mpe(evidence),
            "conflict": conflict,
        }
    except BayesboxError as error:
        return {"error": str(error)}
