"""Naive Bayes as a Bayesian network: the class is the only parent of every column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayesbox.described import Remedy, ignoring, parameter
from bayesbox.dist.base import Doubles, LevelTable
from bayesbox.errors import BadOption
from bayesbox.network.graph import TOLERANCE, Graph, Node
from bayesbox.network.network import BayesianNetwork
from bayesbox.table.naive.classifier import NaiveClassifier

MISSING_STATE = "(missing)"


def network_of(classifier: NaiveClassifier, target: str | None = None) -> BayesianNetwork:
    """The network of a fitted classifier; the class node has the name of the target, or `class`.

    A column that counts missing as a level has the state `(missing)`. The states of a binned number are its bins; a
    number with a density is an error.
    """
    model = classifier.model
    root = class_node(classifier.target, target, model.columns, model.classes, model.log_prior)
    if model.is_weighted:
        raise BadOption(
            "a model with column weights is not a Bayesian network", remedy="Train it without column_weights"
        )
    nodes = [root]
    for conditional in model.conditionals:
        found = conditional.level_table()
        if found is None:
            raise BadOption(
                f"a network question needs states, but column `{conditional.columns[0]}` is a number or a text",
                remedy="Bin the numbers and train again: "
                + parameter("numeric", "mdl")
                + "; or ignore the column: "
                + ignoring(conditional.columns[0])
                + Remedy("; or call predict_proba", "; or predict one case: bayes explain MODEL --set COLUMN=VALUE"),
            )
        nodes.append(_node(conditional.columns[0], found, root.name))
    return BayesianNetwork.of(Graph(nodes))


def class_node(
    learned: str | None, asked: str | None, columns: Sequence[str], classes: tuple[str, ...], log_prior: Doubles
) -> Node:
    """The class node, named as requested, or like the target, or `class`."""
    name = asked or learned or "class"
    while asked is None and name in columns:
        name += "_"
    if name in columns:
        raise BadOption("the class node needs a name that no column has", found=name)
    return Node(name, classes, (), np.exp(log_prior))


def require_sums(column: str, rows: Doubles) -> None:
    """Raise an error unless every row of a table (one per combination of parents) sums to 1."""
    sums = rows.sum(axis=1)
    if np.abs(sums - 1).max() > TOLERANCE:
        raise BadOption(
            f"the smoothing rule gives column `{column}` numbers that do not sum to 1",
            found=float(sums[np.abs(sums - 1).argmax()]),
            remedy="A network needs probabilities: use laplace, lidstone, m or mle",
        )


def _node(column: str, found: LevelTable, parent: str) -> Node:
    states, rows = list(found.levels), list(found.log_p)
    if np.any(found.log_missing != 0):
        states.append(MISSING_STATE)
        rows.append(found.log_missing)
    spoken = [place for place, row in enumerate(rows) if np.any(row != 0)]  # an ignored level has zeros as logs
    kept = spoken if len(spoken) < len(rows) and len(spoken) > 0 else list(range(len(rows)))
    table = np.exp(np.array([rows[place] for place in kept])).T
    require_sums(column, table)
    return Node(column, tuple(states[place] for place in kept), (parent,), table)
