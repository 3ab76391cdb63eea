"""One-way sensitivity, exact: how much an answer depends on each entry of the tables.

As a cell t of a table changes, the others of its row keep their proportions. Then both P(y, e) and
P(e) are linear in t (Castillo, Gutierrez and Hadi 1997; Coupe and van der Gaag 2002), so

    P(y | e)(t) = (a t + b) / (c t + d)

The coefficients of every cell follow from the joint probabilities of the families: dP(e)/dt = P(e, cell) / t, and two
propagations give all of them, one with the evidence and one with the target added. A table with zeros, where this would
be 0 / 0, needs two more: its derivatives do not depend on the table itself, which is replaced by ones.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbox._core import expected_counts
from bayesbox.display.blocks import Bar, Block, PictureBlock, TableBlock
from bayesbox.display.picture import Picture
from bayesbox.display.result import Result
from bayesbox.errors import BadOption, ImpossibleEvidence
from bayesbox.network.exact.compiled import CompiledModel
from bayesbox.network.exact.eliminate import ObservedStates
from bayesbox.network.exact.junction import Propagation
from bayesbox.network.factor_graph import FactorModel, FactorTable
from bayesbox.network.graph import Graph, Node
from bayesbox.network.query.dsep import relevant

if TYPE_CHECKING:
    from bayesbox.network.network import BayesianNetwork
    from bayesbox.network.query.notation import Query

Doubles = NDArray[np.float64]

SHOWN = 20  # cells printed and drawn


@dataclass(frozen=True)
class CellSensitivity:
    """One cell of a table: P(node=state | given) is `value`; with t in its place the answer is (a t + b) / (c t + d).

    `derivative` is that of the answer at the value; `low` and `high` are the answers with the cell decreased and
    increased by the spread. `alone` marks the contribution of a single parent in a compact table.
    """

    node: str
    state: str
    given: tuple[tuple[str, str], ...]
    value: float
    derivative: float
    low: float
    high: float
    coefficients: tuple[float, float, float, float]
    alone: bool = False

    @property
    def swing(self) -> float:
        """The range of the answer over the spread."""
        return abs(self.high - self.low)

    def at(self, value: float) -> float:
        """The answer if the cell has this value, from 0 to 1."""
        if not 0 <= value <= 1:
            raise BadOption("a probability is a number from 0 to 1", found=value)
        return float(_answer(np.array(value), np.array(self.coefficients)[:, None])[0])

    def __str__(self) -> str:
        listed = ", ".join(f"{parent}={state}" for parent, state in self.given)
        condition = (f"{listed} alone" if listed else "leak") if self.alone else listed
        return f"P({self.node}={self.state}{f' | {condition}' if condition else ''})"

    def to_dict(self) -> dict[str, Any]:
        """A plain dict, for JSON."""
        names = ("node", "state", "value", "derivative", "low", "high", "alone")
        facts = {name: getattr(self, name) for name in names}
        return facts | {"given": dict(self.given), "coefficients": list(self.coefficients)}


@dataclass(frozen=True, repr=False)
class Sensitivity(Result):
    """The cells that an answer depends on, the most influential first."""

    question: str
    value: float
    spread: float
    cells: tuple[CellSensitivity, ...] = field(default=())

    def __iter__(self) -> Iterator[CellSensitivity]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)

    def of(self, node: str, state: str, given: Mapping[str, str] | None = None) -> CellSensitivity:
        """One cell; KeyError if the answer does not depend on its node."""
        wanted = {name: str(value) for name, value in (given or {}).items()}
        for cell in self.cells:
            if (cell.node, cell.state) == (node, state) and dict(cell.given) == wanted:
                return cell
        raise KeyError((node, state, wanted))

    def svg(self) -> Picture:
        """The tornado chart: for each cell the range of answers over the spread."""
        from bayesbox.network.analyse.tornado import tornado_picture

        return Picture(tornado_picture(self), f"tornado of {self.question}")

    def to_dict(self) -> dict[str, Any]:
        """A plain dict, for JSON."""
        return {
            "question": self.question,
            "value": self.value,
            "spread": self.spread,
            "cells": [cell.to_dict() for cell in self.cells],
        }

    def _headline(self) -> str:
        first = f", {self.cells[0]} first" if self.cells else ""
        return f"Sensitivity({self.question} = {self.value:.4g}, {len(self):,} cells{first})"

    def _title(self) -> str:
        return f"{self.question} = {self.value:.6g}, each cell less and more by {100 * self.spread:g} %"

    def _blocks(self) -> Sequence[Block]:
        most = max((cell.swing for cell in self), default=0.0) or 1.0
        rows = [
            [str(cell), cell.value, f"{cell.derivative:+.4g}", cell.low, cell.high, Bar(cell.swing / most)]
            for cell in self
        ]
        names = ["cell", "value", "derivative", "answer below", "answer above", ""]
        table = TableBlock(names, rows, right=(1, 2, 3, 4), most=SHOWN)
        return [table, PictureBlock(self.svg())] if self.cells else [table]

    def _frame(self) -> Mapping[str, Sequence[Any]]:
        names = ("node", "state", "value", "derivative", "low", "high")
        given = [", ".join(f"{parent}={state}" for parent, state in cell.given) for cell in self]
        columns = {name: [getattr(cell, name) for cell in self] for name in names}
        return {"node": columns["node"], "state": columns["state"], "given": given, **columns}


def sensitivity_of(network: BayesianNetwork, query: Query, *, spread: float) -> Sensitivity:
    """The sensitivity of an event's probability to all cells that matter."""
    if not query.is_event:
        raise BadOption("sensitivity is of an event: every target has a value", found=str(query))
    if not isinstance(spread, (int, float)) or not 0 < spread <= 1:
        raise BadOption("spread must be a number above 0, at most 1", found=spread)
    network = network.acted(query)
    findings = network.findings(network.evidence_of(query))
    target = network.findings({term.name: term.value for term in query.targets}).states
    for term in query.targets:
        place = network._place(term.name)
        code = network._code(place, term.value)
        if findings.states.get(place, code) != code or target[place] != code:
            raise BadOption(f"`{term}` contradicts the rest of the question, so its probability is 0", found=str(query))
    compact = any(node.compact is not None for node in network.graph.nodes.values())
    graph, parts = network.graph.taken_apart(explicit=True) if compact else (network.graph, {})
    work = _Derivatives(graph, findings, target, network.max_bytes)
    named = [network.model.names[place] for place in (*findings.states, *findings.likelihoods, *target)]
    owner = {cause: name for name, part in parts.items() for cause in part.causes}
    certain = {step.name for part in parts.values() for step in part.steps} | set(parts)
    kept = set(relevant(graph, named, ()))
    cells: list[CellSensitivity] = []
    for place, (name, node) in enumerate(graph.nodes.items()):
        steps = name in certain and name not in owner
        if place in kept and not steps and len(node.states) > 1 and name not in {term.name for term in query.actions}:
            cells += _cells(graph, node, work.of(place), work.value, spread, owner.get(name))
    cells.sort(key=lambda cell: (-cell.swing, -abs(cell.derivative)))
    return Sensitivity(str(query), work.value, float(spread), tuple(cells))


class _Derivatives:
    """P(e) and P(y, e) over P(e), and their derivatives with respect to each cell of a table."""

    def __init__(
        self, graph: Graph, findings: ObservedStates, target: Mapping[int, int], max_bytes: int | None
    ) -> None:
        model = graph.model
        likelihoods = tuple(
            FactorTable((place,), np.asarray(values, dtype=np.float64))
            for place, values in findings.likelihoods.items()
        )
        self.model = FactorModel(model.names, model.states, (*model.factors, *likelihoods))
        self.known = [dict(findings.states), {**findings.states, **target}]
        self.max_bytes = max_bytes
        below, above = (self._families(self.model, known) for known in self.known)
        if np.isneginf(below[1]):
            raise ImpossibleEvidence("the evidence has probability 0, so nothing follows from it")
        self.log_evidence = below[1]
        self.value = min(float(np.exp(above[1] - below[1])), 1.0)
        self.joint = [below[0], [self.value * cells for cells in above[0]]]

    def of(self, place: int) -> tuple[Doubles, Doubles, Doubles]:
        """The table of a node, and the derivatives of P(e) and of P(y, e), both over P(e): combinations x states."""
        factor = self.model.factors[place]
        table = factor.table.reshape(-1, factor.table.shape[-1])
        if (table > 0).all():
            found = [joint[place].reshape(table.shape) / table for joint in self.joint]
            return table, found[0], found[1]
        factors = list(self.model.factors)
        factors[place] = FactorTable(factor.scope, np.ones_like(factor.table))
        ones = FactorModel(self.model.names, self.model.states, tuple(factors))
        made = []
        for known in self.known:
            cells, log_total = self._families(ones, known)
            scale = np.exp(log_total - self.log_evidence)  # 0 if the evidence is impossible even so
            made.append(cells[place].reshape(table.shape) * scale)
        return table, made[0], made[1]

    def _families(self, model: FactorModel, known: Mapping[int, int]) -> tuple[list[Doubles], float]:
        """P(family | known) of every factor, and log P(known)."""
        compiled = CompiledModel(model)
        states = compiled.case(ObservedStates(known)).states
        nothing = np.zeros(len(states), dtype=np.uint8)
        tree = Propagation(compiled).plan((states >= 0).astype(np.uint8), nothing, self.max_bytes)
        cells, log_evidence = expected_counts(tree, states[None], np.ones(1))
        log_total = float(log_evidence[0])
        cells = np.zeros_like(cells) if np.isneginf(log_total) else cells
        return np.split(cells, np.cumsum([factor.table.size for factor in model.factors])[:-1]), log_total


def coefficients_of(table: Doubles, gain: Doubles, total: float) -> tuple[Doubles, Doubles]:
    """Slope and intercept of a probability as a function of each cell, from its partial derivatives."""
    count = table.shape[1]
    rest = 1 - table
    shares = table[:, None, :] * (1 - np.eye(count))  # rows x the changed cell x the other cells of its row
    sums = shares.sum(axis=2, keepdims=True)
    even = (1 - np.eye(count)) / (count - 1)
    spread = np.divide(shares, sums, out=np.broadcast_to(even, shares.shape).copy(), where=sums > 0)
    others = (spread * gain[:, None, :]).sum(axis=2)
    # rows that sum to 1 up to rounding keep their sum
    scale = np.where(sums[..., 0] > 0, np.divide(sums[..., 0], rest, out=np.ones_like(rest), where=rest > 0), 1.0)
    others = others * scale
    row = (table * gain).sum(axis=1, keepdims=True)
    return gain - others, total - row + others


def _answer(value: Doubles, coefficients: Doubles) -> Doubles:
    a, b, c, d = coefficients
    above, below = a * value + b, c * value + d
    limit = np.divide(a, c, out=np.zeros_like(a), where=c != 0)
    tiny = below <= 1e-15
    found: Doubles = np.clip(np.where(tiny, limit, above / np.where(tiny, 1.0, below)), 0.0, 1.0)
    return found


def _cells(
    graph: Graph,
    node: Node,
    derivatives: tuple[Doubles, Doubles, Doubles],
    value: float,
    spread: float,
    owner: str | None,
) -> Iterator[CellSensitivity]:
    table, below, above = derivatives
    slopes = [coefficients_of(table, above, value), coefficients_of(table, below, 1.0)]
    (a, b), (c, d) = slopes
    derivative = a - value * c
    every = np.stack([a, b, c, d])
    low = _answer(table * (1 - spread), every)
    high = _answer(np.minimum(table * (1 + spread), 1.0), every)
    columns = [each.tolist() for each in (table, derivative, low, high, a, b, c, d)]
    cases = itertools.product(*(graph.nodes[parent].states for parent in node.parents))
    for row, case in enumerate(cases):
        given = tuple(zip(node.parents, case, strict=True))
        for place, state in enumerate(node.states):
            own, slope, least, most, *numbers = (column[row][place] for column in columns)
            yield CellSensitivity(
                owner or node.name, state, given, own, slope, least, most, tuple(numbers), alone=owner is not None
            )
