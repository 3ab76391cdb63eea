"""A Bayesian network as a document: nodes with their states, parents and tables."""

from __future__ import annotations

import math

from bayesbox.errors import CannotExport
from bayesbox.file.reader import Json
from bayesbox.network.network import BayesianNetwork
from bayesbox.network.tables import require_tables

FORMAT = 1
MOST_NUMBERS = 2_000_000


def network_document(network: BayesianNetwork) -> Json:
    """The document of `Network` in engine.js, which gives the same answers as `posteriors`."""
    require_tables(network.graph)
    graph = network.graph
    size = sum(math.prod(graph.shape(node)) for node in graph.nodes.values())
    if size > MOST_NUMBERS:
        raise CannotExport(f"the tables have {size:,} numbers, too many for a page", found=size)
    nodes = []
    for name, node in graph.nodes.items():
        nodes.append(
            {
                "name": name,
                "states": list(node.states),
                "parents": list(node.parents),
                "table": graph.full_table(name).ravel().tolist(),
            }
        )
    return {"format": FORMAT, "kind": "network", "name": network.graph.name, "nodes": nodes}
