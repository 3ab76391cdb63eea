"""The tables of a network in textbook form, and the number of their parameters."""

from __future__ import annotations

import itertools
import math
import operator
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayesbox.classifier.report.size import Parameters
from bayesbox.described import Remedy
from bayesbox.dist.cells import Cells, ratio
from bayesbox.dist.factor import divided, formula
from bayesbox.errors import BadOption
from bayesbox.explain.printed_tables import PrintedTables
from bayesbox.explain.short_cell import ShortCell
from bayesbox.explain.steps import Cell, Row, Step
from bayesbox.network.exact.eliminate import as_fractions
from bayesbox.network.graph import Graph, Node
from bayesbox.network.learn.rows import counts_of, variables_of
from bayesbox.network.tables import require_tables

if TYPE_CHECKING:
    from bayesbox.dist.dirichlet import SharePosterior
    from bayesbox.network.network import BayesianNetwork

Doubles = NDArray[np.float64]

MOST_NUMBERS = 50_000  # of all tables


def parameters_of(graph: Graph) -> Parameters:
    """The number of parameters of all tables: all, and the free ones (one in each row follows from the others).

    A compact table has those of its causes and of the leak; a row in which nothing is caused has no free parameter.
    """
    nodes = graph.nodes.values()
    rows = [_rows(node, graph) for node in nodes]
    states = [len(node.states) for node in nodes]
    free = sum((row - _idle(node)) * (count - 1) for node, row, count in zip(nodes, rows, states, strict=True))
    return Parameters(free, sum(map(operator.mul, rows, states)), None, math.prod(states))


def _rows(node: Node, graph: Graph) -> int:
    if node.compact is not None:
        return sum(len(cause) for cause in node.compact.causes) + 1
    return math.prod(graph.shape(node)[:-1])


def _idle(node: Node) -> int:
    """Which rows of a compact table are deterministic."""
    if node.compact is None:
        return 0
    return sum(int(node.compact.idle(at).sum()) for at in range(len(node.parents))) + (not node.compact.has_leak)


def tables_of(network: BayesianNetwork, interval: float | None = None) -> PrintedTables:
    """Every table, one row per combination of the parents' states; counts over counts if rows were counted.

    With an `interval` level, the row below has the credible interval of each number.
    """
    require_tables(network.graph)
    nodes = network.graph.nodes
    free, whole, _, joint = parameters_of(network.graph)
    if whole > MOST_NUMBERS:
        remedy = Remedy(
            "net.cpt(node) is the table of one node", "bayes network convert FILE net.json writes all of them"
        )
        raise BadOption(f"at most {MOST_NUMBERS:,} numbers are printed", found=f"{whole:,}", remedy=remedy)
    counts = counts_by_node(network)
    tables = {name: _table(network, node, counts.get(name)) for name, node in nodes.items()}
    priors: list[str] = []
    if interval is not None:
        from bayesbox.explain.credible import prior_notes, require_level

        sure = _posteriors(network)
        tables = {name: _with_intervals(step, sure[name], require_level(interval)) for name, step in tables.items()}
        priors = prior_notes([cell for rows in sure.values() for row in rows for cell in row])
    assert joint is not None
    notes = (
        f"the tables have {whole:,} numbers, {free:,} of them free",
        f"the full joint table would have {_count(joint)}, {_count(joint - 1)} of them free",
        *priors,
    )
    counted = {"numbers": whole, "free": free, "joint_numbers": joint, "joint_free": joint - 1}
    return PrintedTables(network.factorisation(), tables, notes, counted)


def _count(number: int) -> str:
    """An integer of any size as text.

    >>> _count(1023), _count(2**200)
    ('1,023', '1.60e+60')
    """
    digits = str(number)
    return f"{number:,}" if len(digits) < 16 else f"{digits[0]}.{digits[1:3]}e+{len(digits) - 1}"


def _table(network: BayesianNetwork, node: Node, counts: Doubles | None) -> Step:
    states = [network.graph.nodes[parent].states for parent in node.parents]
    if node.compact is not None:
        return _compact_table(node, states)
    assert node.table is not None
    shares = node.table.reshape(-1, len(node.states))
    cells = _given_cells(shares) if counts is None else _counted_cells(network, node, counts, shares)
    rows = []
    for case, row in zip(itertools.product(*states), cells, strict=True):
        event = ", ".join(f"{parent}={state}" for parent, state in zip(node.parents, case, strict=True))
        rows.append(Row(f"P({node.name} | {event})" if event else f"P({node.name})", tuple(row)))
    return Step(node.name, tuple(rows), node.states)


def _compact_table(node: Node, states: list[tuple[str, ...]]) -> Step:
    """The contribution of each parent alone, if it causes something, and the leak."""
    assert node.compact is not None
    kind = f"noisy-{node.compact.kind.upper()}"
    names: list[str] = []
    shares: list[Doubles] = []
    for at, (parent, own, cause) in enumerate(zip(node.parents, states, node.compact.causes, strict=True)):
        for place in np.flatnonzero(~node.compact.idle(at)).tolist():
            names.append(f"P({node.name} | {parent}={own[place]} alone), {kind}")
            shares.append(cause[place])
    if node.compact.has_leak or not names:
        names.append(f"P({node.name} | leak), {kind}")
        shares.append(node.compact.leak)
    cells = _given_cells(np.array(shares))
    return Step(node.name, tuple(Row(name, tuple(row)) for name, row in zip(names, cells, strict=True)), node.states)


def _given_cells(shares: Doubles) -> list[list[Cell]]:
    """The numbers as text."""
    return [[ShortCell(value=value) for value in row] for row in as_fractions(shares)]


def _posteriors(network: BayesianNetwork) -> dict[str, list[list[SharePosterior]]]:
    """The posterior of each number; an error if the tables were not counted."""
    from bayesbox.network.analyse.interval import cell_posteriors, require_counts

    counts = require_counts(network)
    return {name: cell_posteriors(network, node, counts[name]) for name, node in network.graph.nodes.items()}


def _with_intervals(step: Step, posteriors: list[list[SharePosterior]], level: float) -> Step:
    from bayesbox.explain.credible import interval_row

    rows: list[Row] = []
    for row, sure in zip(step.rows, posteriors, strict=True):
        values = [0.0 if cell.value is None else float(cell.value) for cell in row.cells]
        rows += [row, interval_row(sure, values, level)]
    return Step(step.name, tuple(rows), step.columns)


def counts_by_node(network: BayesianNetwork) -> dict[str, Doubles]:
    """The counts of each node, if its table follows from them by a smoothing rule alone."""
    if network.book_ is None or network._rules is None or network._experts is not None:
        return {}
    families = network._families(variables_of(network.graph))
    return dict(zip(families.names, counts_of(network.book_, families), strict=True))


def _counted_cells(network: BayesianNetwork, node: Node, counts: Doubles, shares: Doubles) -> list[list[Cell]]:
    """Each cell as (count + 1)/(total + 2); the plain number if the row was normalised afterwards."""
    assert network._rules is not None
    rule = network._rules.of_node(node.name, counts.size)
    exact = np.empty(counts.shape, dtype=object)
    for place, number in np.ndenumerate(counts):
        exact[place] = Fraction(float(number))
    totals = exact.sum(axis=1)
    over, under = ratio(rule, Cells(exact, totals, len(node.states), list(node.states)))
    over, under = (np.broadcast_to(part, counts.shape) for part in (over, under))
    made: list[list[Cell]] = [[] for _ in counts]
    for (row, state), share in np.ndenumerate(shares):
        above, below = over[row, state], under[row, state]
        value = divided(above, below)
        same = math.isclose(float(value), share, rel_tol=1e-9, abs_tol=1e-15)
        text = formula(exact[row, state], totals[row], above, below, rule)
        made[row].append(Cell(text, value) if same else Cell(value=float(share)))
    return made
