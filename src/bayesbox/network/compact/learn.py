"""Learning the parameters of compact tables from rows, by expectation-maximisation.

The contribution of each parent, Z_i, is never observed: it is a hidden node with the table P(Z_i | X_i), and the
maximum is deterministic given all of them. Each iteration distributes every row over the possible contributions and
rebuilds the tables from these expected counts. States of a parent that cause nothing stay so, and so does a leak of 0.
EM starts from the current parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bayesbox.display.progress import Reporter
from bayesbox.dist.cells import Smoothing
from bayesbox.errors import BadOption
from bayesbox.network.compact.expand import TakenApart
from bayesbox.network.graph import Graph, Node
from bayesbox.network.learn.em import Families, LearnedTables, maximise_expectation
from bayesbox.network.learn.options import TableOptions
from bayesbox.network.learn.rows import NetworkRows
from bayesbox.network.learn.tables import TableRules, prior_counts, table_of
from bayesbox.schema.coded import CodedRows, Variable

Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class RowsWithSteps:
    """Rows in which the auxiliary nodes of compact tables are missing."""

    rows: NetworkRows
    graph: Graph  # with these nodes
    drop: bool = False

    def parts(self) -> Iterator[CodedRows]:
        """The rows, in the order of the graph."""
        for part in self.rows.parts():
            kept = part.take(~part.incomplete()) if self.drop else part
            known = set(kept.names)
            steps = [Variable.known(name, node.states) for name, node in self.graph.nodes.items() if name not in known]
            yield kept.with_hidden(tuple(steps)).arranged(list(self.graph.nodes))


def families_of(graph: Graph) -> Families:
    """The structure of a graph."""
    place = {name: at for at, name in enumerate(graph.nodes)}
    scopes = tuple((*(place[parent] for parent in node.parents), place[name]) for name, node in graph.nodes.items())
    return Families(tuple(place), tuple(node.states for node in graph.nodes.values()), scopes)


@dataclass(frozen=True)
class _Maximiser:
    """The M-step: from expected counts to tables by the rule of each node; deterministic rows stay."""

    graph: Graph
    rules: TableRules
    fixed: Mapping[str, NDArray[np.bool_]]  # the rows of each table that stay as they are
    owner: Mapping[str, str]  # from each contribution node to the node with the compact table

    def __call__(self, counts: list[Doubles]) -> list[Doubles]:
        return [self._table(node, each) for node, each in zip(self.graph.nodes.values(), counts, strict=True)]

    def _table(self, node: Node, counts: Doubles) -> Doubles:
        kept = self.fixed[node.name]
        before = matrix(node)
        if kept.all():
            return before
        made = table_of(counts[~kept], node.states, self._rule(node, counts))
        table = before.copy()
        table[~kept] = made
        return table

    def _rule(self, node: Node, counts: Doubles) -> Smoothing:
        return self.rules.of_node(self.owner.get(node.name, node.name), counts.size)

    def prior(self) -> list[Doubles | None]:
        """The pseudo-counts of each row; none if the row is fixed."""
        found: list[Doubles | None] = []
        for node in self.graph.nodes.values():
            kept = self.fixed[node.name]
            shape = (len(kept), len(node.states))
            beforehand = prior_counts(shape, node.states, self._rule(node, np.zeros(shape)))
            found.append(None if beforehand is None else np.where(kept[:, None], 0.0, beforehand))
        return found


def matrix(node: Node) -> Doubles:
    """The table of a node as combinations x states."""
    assert node.table is not None
    return node.table.reshape(-1, len(node.states))


def learn_compact(graph: Graph, rows: NetworkRows, options: TableOptions) -> tuple[Graph, LearnedTables]:
    """The graph with all tables learned, and a report of the fit."""
    if options.prior_cases:
        raise BadOption("prior_cases is for networks without compact tables", found=options.prior_cases)
    if rows.holes and options.missing not in ("em", "drop"):
        raise BadOption("compact tables are learned by EM: missing must be em or drop", found=options.missing)
    explicit, parts = graph.taken_apart(explicit=True)
    owner = {cause: name for name, part in parts.items() for cause in part.causes}
    fixed = {name: _fixed(graph, explicit.nodes[name], parts, owner) for name in explicit.nodes}
    final = _Maximiser(explicit, options.rules, fixed, owner)
    begun, prior = final, final.prior()
    if any(each is None for each in prior):  # a rule without a prior is applied once, at the end
        begun = replace(final, rules=TableRules.of("mle"))
        prior = begun.prior()
    report = Reporter(options.progress)
    on_round = report.rounds(options.iterations * options.restarts)
    shown = RowsWithSteps(rows, explicit, drop=options.missing == "drop")
    families = families_of(explicit)

    def rounds(start: list[Doubles]) -> LearnedTables:
        return maximise_expectation(
            families,
            shown,
            begun,
            start,
            prior=prior,
            iterations=options.iterations,
            tolerance=options.tolerance,
            progress=on_round,
        )

    random = np.random.default_rng(options.seed)
    best = rounds([_start(node, fixed[name], owner) for name, node in explicit.nodes.items()])
    for _ in range(options.restarts - 1):
        found = rounds([_at_random(node, fixed[name], random) for name, node in explicit.nodes.items()])
        best = found if found.history[-1] > best.history[-1] else best
    if final is not begun:
        best.tables = final(best.counts)
    report.done()
    tables = dict(zip(explicit.nodes, best.tables, strict=True))
    return Graph([_learned(node, parts, tables, graph) for node in graph.nodes.values()], name=graph.name), best


def _fixed(graph: Graph, node: Node, parts: Mapping[str, TakenApart], owner: Mapping[str, str]) -> NDArray[np.bool_]:
    """Which rows of a table are fixed: all of a maximum, and those of a parent's states that cause nothing."""
    rows = len(matrix(node))
    if node.name in owner:
        compact = graph.nodes[owner[node.name]].compact
        assert compact is not None
        return np.asarray(matrix(node)[:, compact.levels[0]] == 1)
    certain = (node.name in parts and bool(node.parents)) or node.name not in graph.nodes
    return np.full(rows, certain)


def _start(node: Node, fixed: NDArray[np.bool_], owner: Mapping[str, str]) -> Doubles:
    """The initial tables: compact ones as they are, the others uniform, since one iteration finds what can be
    counted."""
    if node.name in owner or fixed.all():
        return matrix(node)
    return np.full_like(matrix(node), 1 / len(node.states))


def _at_random(node: Node, fixed: NDArray[np.bool_], random: np.random.Generator) -> Doubles:
    table = matrix(node).copy()
    table[~fixed] = random.dirichlet(np.ones(len(node.states)), size=int((~fixed).sum()))
    return table


def _learned(node: Node, parts: Mapping[str, TakenApart], tables: Mapping[str, Doubles], graph: Graph) -> Node:
    part = parts.get(node.name)
    if part is None or node.compact is None or not node.parents:
        return replace(node, table=tables[node.name].reshape(graph.shape(node)), compact=None)
    causes = [tables[name] for name in part.causes]
    leak = causes.pop(0)[0] if node.compact.has_leak else node.compact.leak
    return replace(node, compact=replace(node.compact, causes=tuple(causes), leak=leak), table=None)
