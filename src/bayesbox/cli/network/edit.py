"""`bayes network edit`: nodes, arcs, tables and names of the network in a file."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bayesbox.cli.print.output import emit_json, note, plural
from bayesbox.errors import BadOption

if TYPE_CHECKING:
    from bayesbox.file.reader import Json
    from bayesbox.network.network import BayesianNetwork

F = TypeVar("F", bound=Callable[..., Any])

EDIT = ("remove_arc", "remove_node", "rename", "rename_state", "add_node", "add_arc", "set_table")
"""The options of edit by parameter name, in the order of their application."""

NOISY = re.compile(r"noisy-(or|and)\s*\((.*)\)", re.DOTALL)


def editing_options(verb: F) -> F:
    """The options for editing a network."""
    for option in reversed(
        (
            _several("--remove-arc", "A->B", "take the arc away; the table of B is averaged over A."),
            _several("--remove-node", "NODE", "take the node away; the tables of its children are averaged over it."),
            _several("--rename", "NODE=NAME", "another name for a node."),
            _several("--rename-state", "NODE=STATE:NAME", "another name for a state of a node."),
            _several("--add-node", "NODE=STATE,...", "a new node, uniform until it has a table."),
            _several("--add-arc", "A->B", "a new arc; the table of B is repeated for each state of A."),
            _several(
                "--set-table",
                "NODE=ROWS",
                "another table: 0.2,0.8 or one row per combination of the parents' states, the last parent fastest, as "
                "in 0.9,0.1;0.1,0.9; or noisy-or(CAUSE:P, ..., leak:P), noisy-and(...).",
            ),
        )
    ):
        verb = option(verb)
    return verb


def _several(name: str, metavar: str, what: str) -> Callable[[F], F]:
    return click.option(name, multiple=True, metavar=metavar, help=f"edit: {what} Repeat it.")


def edit(network: BayesianNetwork, given: Json, *, as_json: bool) -> None:
    """Apply the changes in order, and write the network."""
    from bayesbox.network.formats import require_format

    if not given["output"]:
        raise click.UsageError("edit writes a network: -o FILE")
    require_format(given["output"])
    if not any(given[name] for name in EDIT):
        listed = ", ".join(f"--{name.replace('_', '-')}" for name in EDIT)
        raise click.UsageError(f"nothing to change: give one of {listed}")
    changed = edited(network, given)
    changed.write(given["output"])
    if as_json:
        emit_json(
            {"written": given["output"], "nodes": len(changed.nodes), "edges": [list(arc) for arc in changed.edges]}
        )
    else:
        arcs = plural(len(changed.edges), "arc")
        note(f"{given['output']}: {plural(len(changed.nodes), 'node')} and {arcs} written")


def edited(network: BayesianNetwork, given: Json) -> BayesianNetwork:
    """The network after all changes."""
    from bayesbox.network.learn.arcs import arc_of

    for text in given["remove_arc"]:
        network = network.without_edge(*arc_of(text))
    for text in given["remove_node"]:
        network = network.without_node(text)
    names = dict(_pair(text, "NODE=NAME") for text in given["rename"])
    for text in given["rename_state"]:
        node, states = _pair(text, "NODE=STATE:NAME")
        old, colon, new = states.partition(":")
        if not colon:
            raise BadOption("a state is renamed by NODE=STATE:NAME", found=text)
        network = network.renamed(states={node: {old.strip(): new.strip()}})
    if names:
        network = network.renamed(names)
    for text in given["add_node"]:
        node, states = _pair(text, "NODE=STATE,...")
        network = network.with_node(node, [state.strip() for state in states.split(",")])
    for text in given["add_arc"]:
        network = network.with_edge(*arc_of(text))
    for text in given["set_table"]:
        node, rows = _pair(text, "NODE=ROWS")
        network = network.with_cpt(node, table_of(rows))
    return network


def _pair(text: str, form: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise BadOption(f"expected {form}", found=text)
    return name.strip(), value.strip()


def table_of(text: str) -> Any:
    """A table from command-line text.

    >>> table_of("0.9,0.1; 1/4,3/4")
    [[0.9, 0.1], [0.25, 0.75]]
    >>> table_of("noisy-or(cold:0.4, flu:0.8, leak:0.01)")
    NoisyOr(causes={'cold': 0.4, 'flu': 0.8}, leak=0.01)
    """
    from bayesbox.cli.options.shared import number

    noisy = NOISY.fullmatch(text.strip())
    if noisy is None:
        rows = [[float(number(cell)) for cell in row.split(",")] for row in text.split(";")]
        return rows[0] if len(rows) == 1 else rows
    from bayesbox.network.compact.noisy import NoisyAnd, NoisyOr

    causes: dict[str, float] = {}
    for part in noisy.group(2).split(","):
        name, colon, value = part.rpartition(":")
        if not colon:
            raise BadOption("a cause is written NODE:PROBABILITY", found=part.strip())
        causes[name.strip()] = float(number(value))
    leak = causes.pop("leak", None)
    kind = NoisyOr if noisy.group(1) == "or" else NoisyAnd
    return kind(causes) if leak is None else kind(causes, leak=leak)
