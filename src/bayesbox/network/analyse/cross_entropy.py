"""The distance of one network from another: exact cross-entropy and Kullback-Leibler divergence.

    H(P, Q) = - sum over x of P(x) log2 Q(x)
            = - sum over the nodes of the sum of P(node, parents in Q) log2 q(node | parents in Q)

One propagation in P gives the probabilities of all families of Q: each family is added to P as a factor of ones. The
divergence is D(P || Q) = H(P, Q) - H(P), 0 if the two are the same distribution, infinite if Q gives probability 0 to
something that P does not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbox._core import expected_counts
from bayesbox.display.result import Result
from bayesbox.errors import BadData
from bayesbox.network.exact.compiled import CompiledModel
from bayesbox.network.exact.junction import Propagation
from bayesbox.network.factor_graph import FactorModel, FactorTable
from bayesbox.network.tables import require_tables

if TYPE_CHECKING:
    from bayesbox.network.graph import Graph
    from bayesbox.network.network import BayesianNetwork

Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class NodeEntropy:
    """A node's contribution in bits to the cross-entropy, and to the entropy of the first network."""

    node: str
    cross_entropy: float
    entropy: float


class CrossEntropy(Result, float):
    """H(P, Q) in bits, a number; `entropy` is H(P), `divergence` D(P || Q), `nodes` the contribution of each node."""

    nodes: tuple[NodeEntropy, ...]

    def __new__(cls, nodes: Sequence[NodeEntropy]) -> CrossEntropy:
        found = super().__new__(cls, math.fsum(each.cross_entropy for each in nodes))
        found.nodes = tuple(nodes)
        return found

    def __getnewargs__(self) -> tuple[tuple[NodeEntropy, ...]]:  # type: ignore[override]  # float takes a number
        return (self.nodes,)

    @property
    def entropy(self) -> float:
        """The entropy of the first network."""
        return math.fsum(each.entropy for each in self.nodes)

    @property
    def divergence(self) -> float:
        """The Kullback-Leibler divergence from the second network, 0 or more."""
        return max(float(self) - self.entropy, 0.0)

    def to_dict(self) -> dict[str, Any]:
        """A plain dict, for JSON; None for infinite values."""
        facts = {"cross_entropy": float(self), "entropy": self.entropy, "divergence": self.divergence}
        return {name: value if math.isfinite(value) else None for name, value in facts.items()}

    def _headline(self) -> str:
        return f"CrossEntropy({float(self):.6g} bits, divergence {self.divergence:.4g})"

    def _title(self) -> str:
        text = f"cross-entropy {float(self):.6g} bits, entropy {self.entropy:.6g}"
        return f"{text}, divergence {self.divergence:.4g}"

    def _frame(self) -> Mapping[str, Sequence[Any]]:
        names = ("node", "cross_entropy", "entropy")
        return {name: [getattr(each, name) for each in self.nodes] for name in names}


def cross_entropy_of(network: BayesianNetwork, other: BayesianNetwork) -> CrossEntropy:
    """The cross-entropy of two networks over the same nodes and states."""
    require_tables(network.graph)
    require_tables(other.graph)
    first, second = network.graph.tabular, other.graph.tabular
    _require_same(first, second)
    model = first.model
    place = model.place
    asked: list[FactorTable] = []
    tables: list[Doubles] = []
    for name in first.nodes:
        node = second.nodes[name]
        scope = tuple(place[each] for each in (*node.parents, name))
        table = second.full_table(name)
        for axis, each in enumerate((*node.parents, name)):  # in the order of the first network's states
            order = [second.nodes[each].states.index(state) for state in first.nodes[each].states]
            table = np.take(table, order, axis=axis)
        asked.append(FactorTable(scope, np.ones_like(table)))
        tables.append(table)
    compiled = CompiledModel(FactorModel(model.names, model.states, (*model.factors, *asked)))
    count = len(model.names)
    nothing = np.zeros(count, dtype=np.uint8)
    tree = Propagation(compiled).plan(nothing, nothing, network.max_bytes)
    cells, _ = expected_counts(tree, np.full((1, count), -1, dtype=np.int32), np.ones(1))
    sizes = [factor.table.size for factor in compiled.model.factors]
    joint = np.split(cells, np.cumsum(sizes)[:-1])
    own = [factor.table for factor in model.factors]
    return CrossEntropy(
        [
            NodeEntropy(name, _bits(joint[count + at], tables[at]), _bits(joint[at], own[at]))
            for at, name in enumerate(model.names)
        ]
    )


def _bits(joint: Doubles, table: Doubles) -> float:
    """- sum of P log2 q; infinite if q is 0 and P is not."""
    flat = table.reshape(-1)
    there = joint > 0
    if (flat[there] <= 0).any():
        return math.inf
    return abs(float(-(joint[there] * np.log2(flat[there])).sum()))


def _require_same(first: Graph, second: Graph) -> None:
    differ = sorted(set(first.nodes) ^ set(second.nodes))
    if differ:
        raise BadData("the two networks have different nodes", found=", ".join(differ[:8]))
    for name, node in first.nodes.items():
        if set(node.states) != set(second.nodes[name].states):
            raise BadData(
                f"the two networks have different states of `{name}`",
                found=f"{', '.join(node.states)} and {', '.join(second.nodes[name].states)}",
            )
