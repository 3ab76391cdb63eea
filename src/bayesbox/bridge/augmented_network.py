"""Augmented naive Bayes (TAN, KDB) as a Bayesian network."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesbox.bridge.naive_network import class_node, require_sums
from bayesbox.dist.base import Doubles
from bayesbox.dist.joint.family_table import FamilyTable
from bayesbox.network.graph import Graph, Node
from bayesbox.network.network import BayesianNetwork
from bayesbox.schema.intervals import interval_states
from bayesbox.table.augmented.arcs import ArcsClassifier


def network_of(classifier: ArcsClassifier[Any, Any], target: str | None = None) -> BayesianNetwork:
    """The network of a fitted TAN or KDB; the class node has the name of the target, or `class`.

    The first parent of every column is the class, followed by those of the model. The states of a number are its bins,
    such as `<=2`; as evidence, a number is replaced by its bin. If a parent is missing, the classifier uses the table
    without it, while the network marginalises it: both agree on complete rows.
    """
    model = classifier.model
    root = class_node(classifier.target, target, model.columns, model.classes, model.log_prior)
    nodes = [root]
    for table in model.conditionals:
        cuts = classifier.cuts.get(table.column)
        states = table.levels if cuts is None else interval_states(cuts)
        nodes.append(Node(table.column, states, (root.name, *table.parents), _cells(table)))
    return BayesianNetwork.of(Graph(nodes))


def _cells(table: FamilyTable) -> Doubles:
    """P(level | class, parents), class first, without the codes for missing and unseen levels."""
    shape = (*(size + 1 for size in table.sizes), len(table.levels) + 1, table.classes)
    known = tuple(slice(0, size) for size in (*table.sizes, len(table.levels)))
    cells = np.moveaxis(np.exp(table.log_p.reshape(shape)[known]), -1, 0)
    require_sums(table.column, cells.reshape(-1, len(table.levels)))
    return np.ascontiguousarray(cells)
