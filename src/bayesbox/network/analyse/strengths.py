"""The strength of arcs: the information of a parent about its child, in bits.

For an arc X -> Y, where Z are the other parents of Y, by the network's own probabilities:

    conditional   I(X; Y | Z) = sum of P(x, y, z) log2( P(y | x, z) / P(y | z) )     what X adds to the other parents
    mutual        I(X; Y)     = sum of P(x, y)    log2( P(y | x) / P(y) )            what X alone says about Y
    share         I(X; Y | Z) / H(Y | Z)                                            as a fraction of the entropy

An arc whose conditional information is 0 could be removed: the table does not depend on that parent. If two causes
cancel out (exclusive or), the mutual information is 0 and the conditional one is not. (For the measures see E.
Nicholson and A. Jitnah, Using mutual information to determine relevance in Bayesian networks, PRICAI 1998.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesbox._core import expected_counts
from bayesbox.display.blocks import Bar, Block, TableBlock
from bayesbox.display.result import Result
from bayesbox.file.reader import Json
from bayesbox.network.exact.compiled import CompiledModel
from bayesbox.network.exact.eliminate import ObservedStates
from bayesbox.network.exact.junction import Propagation
from bayesbox.network.factor_graph import FactorModel, FactorTable

Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class ArcStrength:
    """The information of a parent about its child, in bits: given the other parents, and alone."""

    parent: str
    child: str
    conditional: float
    mutual: float
    share: float

    def to_dict(self) -> dict[str, str | float]:
        """A plain dict, for JSON."""
        return {
            "parent": self.parent,
            "child": self.child,
            "conditional": self.conditional,
            "mutual": self.mutual,
            "share": self.share,
        }


@dataclass(frozen=True, repr=False)
class ArcStrengths(Result):
    """The arcs of a network, the strongest first; `found["rain", "grass"]` is one of them."""

    arcs: tuple[ArcStrength, ...]

    def __iter__(self) -> Iterator[ArcStrength]:
        return iter(self.arcs)

    def __len__(self) -> int:
        return len(self.arcs)

    def __getitem__(self, arc: tuple[str, str]) -> ArcStrength:
        for each in self.arcs:
            if (each.parent, each.child) == arc:
                return each
        raise KeyError(arc)

    def to_dict(self) -> Json:
        """A plain dict, for JSON."""
        return {"arcs": [each.to_dict() for each in self.arcs]}

    def _headline(self) -> str:
        first = f", {self.arcs[0].parent} -> {self.arcs[0].child} first" if self.arcs else ""
        return f"ArcStrengths({len(self)} arcs{first})"

    def _blocks(self) -> Sequence[Block]:
        most = max((each.conditional for each in self), default=0.0) or 1.0
        names = ["arc", "given other parents", "by itself", "share", ""]
        rows = [
            [
                f"{each.parent} -> {each.child}",
                f"{each.conditional:.4f}",
                f"{each.mutual:.4f}",
                f"{100 * each.share:.1f} %",
                Bar(each.conditional / most),
            ]
            for each in self
        ]
        return [TableBlock(names, rows, caption="strength of the arcs, in bits", right=(1, 2, 3))]

    def _frame(self) -> Mapping[str, Sequence[object]]:
        names = ("parent", "child", "conditional", "mutual", "share")
        return {name: [getattr(each, name) for each in self] for name in names}


def strengths_of(compiled: CompiledModel, findings: ObservedStates, max_bytes: int | None) -> ArcStrengths | None:
    """The strengths of all arcs of a Bayesian network given evidence; None if the evidence is impossible. One
    propagation gives P(parents, node) of every node."""
    model = compiled.model
    if findings.likelihoods:  # a likelihood is a factor like any other
        factors = list(model.factors)
        for place, values in findings.likelihoods.items():
            weighed = factors[place].table * np.asarray(values, dtype=np.float64)
            factors[place] = FactorTable(factors[place].scope, np.ascontiguousarray(weighed))
        compiled = CompiledModel(FactorModel(model.names, model.states, tuple(factors)))
    states = compiled.case(ObservedStates(findings.states)).states
    nothing = np.zeros(len(states), dtype=np.uint8)
    tree = Propagation(compiled).plan((states >= 0).astype(np.uint8), nothing, max_bytes)
    cells, log_evidence = expected_counts(tree, states[None], np.ones(1))
    if np.isneginf(log_evidence[0]):
        return None
    arcs: list[ArcStrength] = []
    split = np.split(cells, np.cumsum([factor.table.size for factor in model.factors])[:-1])
    for place, (factor, joint) in enumerate(zip(model.factors, split, strict=True)):
        names = [model.names[parent] for parent in factor.scope[:-1]]
        arcs += strengths_of_family(model.names[place], names, joint.reshape(factor.table.shape))
    return ArcStrengths(tuple(sorted(arcs, key=lambda each: -each.conditional)))


def strengths_of_family(child: str, parents: Sequence[str], joint: Doubles) -> Iterator[ArcStrength]:
    """The strengths of the arcs into one node, from P(parents, node): one axis per parent, the node on the last.

    >>> both = np.array([[0.5, 0.0], [0.0, 0.5]])
    >>> list(strengths_of_family("copy", ["coin"], both))
    [ArcStrength(parent='coin', child='copy', conditional=1.0, mutual=1.0, share=1.0)]
    """
    for axis, parent in enumerate(parents):
        given_others = joint.sum(axis=axis, keepdims=True)
        left = _conditional_entropy(given_others)
        conditional = max(left - _conditional_entropy(joint), 0.0)
        others = tuple(other for other in range(len(parents)) if other != axis)
        pair = joint.sum(axis=others) if others else joint
        mutual = max(_conditional_entropy(pair.sum(axis=0)) - _conditional_entropy(pair), 0.0)
        yield ArcStrength(parent, child, conditional, mutual, conditional / left if left > 0 else 0.0)


def _conditional_entropy(joint: Doubles) -> float:
    """H(last axis | the others) in bits."""
    below = np.broadcast_to(joint.sum(axis=-1, keepdims=True), joint.shape)
    there = joint > 0
    return float(-(joint[there] * np.log2(joint[there] / below[there])).sum())
