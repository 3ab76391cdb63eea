"""What to ask next: the unknown nodes by their expected information about a target.

The expected information of a node X about the target T, given the evidence e, is their mutual information in bits:

    I(X; T | e) = sum over t of P(t | e) sum over x of P(x | t, e) log2( P(x | t, e) / P(x | e) )

The junction tree with T observed gives P(x | t, e) for all nodes at once, and P(t | e): one propagation per state of
the target covers every node.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbox.display.blocks import Bar, Block, TableBlock
from bayesbox.display.result import Result
from bayesbox.errors import BadOption, UnknownNode
from bayesbox.file.reader import Json
from bayesbox.schema.levels import level_text

if TYPE_CHECKING:
    from bayesbox.network.exact.junction import Posteriors
    from bayesbox.network.factor_graph import FactorModel

Doubles = NDArray[np.float64]
Costs = Mapping[Any, float]

MOST_SHOWN = 20


@dataclass(frozen=True)
class NodeQuestion:
    """A node that could be asked about: its expected information about the target in bits, and its cost."""

    node: str
    information: float
    cost: float = 1.0

    @property
    def worth(self) -> float:
        """Bits per unit of cost."""
        return self.information / self.cost

    def to_dict(self) -> dict[str, str | float]:
        """A plain dict, for JSON."""
        return {"node": self.node, "information": self.information, "cost": self.cost, "worth": self.worth}


@dataclass(frozen=True, repr=False)
class NodeQuestions(Result):
    """The unknown nodes of a network, ordered by information per cost.

    `entropy` is the remaining uncertainty about the target in bits, an upper limit for any question. `posterior` is
    P(target) given the evidence so far.
    """

    target: str
    posterior: Mapping[str, float]
    entropy: float
    questions: tuple[NodeQuestion, ...]
    has_costs: bool = False

    @property
    def best(self) -> NodeQuestion | None:
        """The question most worth asking; None if no node is unknown."""
        return self.questions[0] if self.questions else None

    def __iter__(self) -> Iterator[NodeQuestion]:
        return iter(self.questions)

    def __len__(self) -> int:
        return len(self.questions)

    def __getitem__(self, place: int) -> NodeQuestion:
        return self.questions[place]

    def to_dict(self) -> Json:
        """A plain dict, for JSON."""
        return {
            "target": self.target,
            "posterior": dict(self.posterior),
            "entropy": self.entropy,
            "questions": [each.to_dict() for each in self.questions],
        }

    def _headline(self) -> str:
        first = f", {self.questions[0].node} first" if self.questions else ""
        return f"NodeQuestions({len(self)} about {self.target}{first})"

    def _title(self) -> str:
        return f"{self.target}: remaining uncertainty {self.entropy:.4f} bits"

    def _blocks(self) -> Sequence[Block]:
        most = max((each.worth for each in self), default=0.0) or 1.0
        names = ["ask for", "information in bits", *(["cost", "bits per cost"] if self.has_costs else []), ""]
        rows = [
            [
                each.node,
                f"{each.information:.4f}",
                *([f"{each.cost:g}", f"{each.worth:.4f}"] if self.has_costs else []),
                Bar(each.worth / most),
            ]
            for each in self
        ]
        return [TableBlock(names, rows, right=range(1, len(names) - 1), most=MOST_SHOWN)]

    def _frame(self) -> Mapping[str, Sequence[object]]:
        return {
            "node": [each.node for each in self],
            "information": [each.information for each in self],
            "cost": [each.cost for each in self],
            "worth": [each.worth for each in self],
        }


def node_questions(
    model: FactorModel, found: Posteriors, known: set[int], target: int, costs: Costs | None
) -> NodeQuestions | None:
    """The questions, from the posteriors given each state of the target; None if the evidence is impossible."""
    highest = found.log_evidence.max()
    if np.isneginf(highest):
        return None
    shares = np.exp(found.log_evidence - highest)
    shares /= shares.sum()
    information = mutual_information(shares, np.where(shares[:, None] > 0, found.table, 0.0), model.offsets)
    worth = _costs(model, costs)
    asked = [
        NodeQuestion(name, float(information[place]), worth.get(name, 1.0))
        for place, name in enumerate(model.names[: model.visible])
        if place != target and place not in known
    ]
    asked.sort(key=lambda each: -each.worth)
    logs = np.log2(np.where(shares > 0, shares, 1.0))
    return NodeQuestions(
        model.names[target],
        dict(zip(model.states[target], shares.tolist(), strict=True)),
        max(float(-(shares * logs).sum()), 0.0),
        tuple(asked),
        has_costs=costs is not None,
    )


def mutual_information(shares: Doubles, tables: Doubles, offsets: NDArray[np.int64]) -> Doubles:
    """The mutual information of each variable with the target, in bits; `offsets` has where variables begin.

    >>> mutual_information(np.array([0.5, 0.5]), np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0, 2])).tolist()
    [1.0]
    """
    mean = shares @ tables
    there = tables > 0
    ratio = np.divide(tables, mean, out=np.ones_like(tables), where=there)
    cells = shares @ (tables * np.log2(ratio))
    summed: Doubles = np.add.reduceat(cells, offsets[:-1])
    return np.maximum(summed, 0.0)


def _costs(model: FactorModel, costs: Costs | None) -> dict[str, float]:
    """The cost of each node; BadOption if one is not a positive number."""
    if costs is not None and not isinstance(costs, Mapping):
        raise BadOption("costs must be a mapping from node to cost", found=costs, remedy='Write {"xray": 10}')
    found: dict[str, float] = {}
    for name, cost in (costs or {}).items():
        if level_text(name) not in model.place:
            raise UnknownNode("node", level_text(name), model.names, where="costs")
        if isinstance(cost, bool) or not isinstance(cost, Real) or not 0 < cost < math.inf:
            raise BadOption(f"the cost of `{level_text(name)}` must be a positive number", found=cost)
        found[level_text(name)] = float(cost)
    return found
