"""Edits of a network as equivalent lines of Python and commands.

Consecutive edits of rows of one table become one table. `bayes network edit` applies its options in a fixed order, so
edits in another order become several commands.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from bayesbox.app.edit.edits import (
    AddArc,
    AddNode,
    AnyEdit,
    RemoveArc,
    RemoveNode,
    Rename,
    RenameState,
    SetRow,
    table_rows,
)
from bayesbox.network.graph import Doubles
from bayesbox.network.network import BayesianNetwork

ORDER = ("--remove-arc", "--remove-node", "--rename-state", "--rename", "--add-node", "--add-arc", "--set-table")
"""The options of `bayes network edit` in the order it applies them."""

Step = AnyEdit | tuple[str, Doubles]
"""An edit, or a node with its whole table."""


def steps(network: BayesianNetwork, edits: Sequence[AnyEdit]) -> Iterator[Step]:
    """The edits, with rows of one table combined."""
    for place, each in enumerate(edits):
        network = each.apply(network)
        following = edits[place + 1] if place + 1 < len(edits) else None
        if not isinstance(each, SetRow):
            yield each
        elif not (isinstance(following, SetRow) and following.node == each.node):
            yield each.node, table_rows(network, each.node)


def python_lines(network: BayesianNetwork, edits: Sequence[AnyEdit]) -> list[str]:
    """Lines of Python that apply the edits to a network `net`.

    >>> net = BayesianNetwork({"rain": []}, {"rain": 0.2})
    >>> python_lines(net, [AddNode("grass", ["wet", "dry"]), SetRow("rain", 0, [0.3, 0.7])])
    ["net = net.with_node('grass', ['wet', 'dry'])", "net = net.with_cpt('rain', [0.3, 0.7])"]
    """
    return [f"net = net.{_call(each)}" for each in steps(network, edits)]


def _call(step: Step) -> str:
    match step:
        case AddNode(node, states):
            return f"with_node({node!r}, {states!r})"
        case RemoveNode(node):
            return f"without_node({node!r})"
        case AddArc(parent, child):
            return f"with_edge({parent!r}, {child!r})"
        case RemoveArc(parent, child):
            return f"without_edge({parent!r}, {child!r})"
        case Rename(node, name):
            return f"renamed({{{node!r}: {name!r}}})"
        case RenameState(node, state, name):
            return f"renamed(states={{{node!r}: {{{state!r}: {name!r}}}}})"
        case (node, table):
            return f"with_cpt({node!r}, {(table if len(table) > 1 else table[0]).tolist()!r})"
    raise AssertionError(step)


def command_line(network: BayesianNetwork, edits: Sequence[AnyEdit], path: str, output: str) -> str | None:
    """The commands that edit a file and write another; None if a name cannot be written in an option.

    >>> net = BayesianNetwork({"rain": []}, {"rain": 0.2})
    >>> command_line(net, [AddNode("grass", ["wet", "dry"]), AddArc("rain", "grass")], "a.bif", "b.bif")
    "bayes network edit a.bif --add-node grass=wet,dry --add-arc 'rain->grass' -o b.bif"
    """
    commands: list[list[str]] = []
    last = len(ORDER)
    for each in steps(network, edits):
        found = _option(each)
        if found is None:
            return None
        place = ORDER.index(found[0])
        if place < last or (place == last and found[0] == "--rename"):  # all names are changed at once
            commands.append([])
        commands[-1] += found
        last = place
    sources = [path, *[output] * len(commands)]
    whole = [
        shlex.join(["bayes", "network", "edit", source, *words, "-o", output])
        for source, words in zip(sources, commands, strict=False)
    ]
    return " && ".join(whole)


def _option(step: Step) -> tuple[str, str] | None:
    match step:
        case AddNode(node, states):
            return _if_plain("--add-node", f"{node}={','.join(states)}", node, *states)
        case RemoveNode(node):
            return "--remove-node", node
        case AddArc(parent, child):
            return _if_plain("--add-arc", f"{parent}->{child}", parent, child)
        case RemoveArc(parent, child):
            return _if_plain("--remove-arc", f"{parent}->{child}", parent, child)
        case Rename(node, name):
            return _if_plain("--rename", f"{node}={name}", node)
        case RenameState(node, state, name):
            return _if_plain("--rename-state", f"{node}={state}:{name}", node, state)
        case (node, table):
            rows = ";".join(",".join(map(repr, row)) for row in table.tolist())
            return _if_plain("--set-table", f"{node}={rows}", node)
    raise AssertionError(step)


def _if_plain(option: str, value: str, *names: str) -> tuple[str, str] | None:
    """An option, if its names contain none of its separators."""
    return None if any(sign in name for name in names for sign in ("=", ",", ":", "->")) else (option, value)
