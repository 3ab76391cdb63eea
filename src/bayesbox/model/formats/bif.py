"""BIF, the Bayesian Interchange Format: read in the core, which knows line and column of every fault.

    variable rain { type discrete [ 2 ] { yes, no }; }
    probability ( grass | rain ) { (yes) 0.9, 0.1; (no) 0.1, 0.9; }

A name is anything but space and `{ } ( ) [ ] , ; | "`, or stands in quotes. A `table` with parents lists the states of
the node slowest and those of the last parent fastest. Properties are passed over.
"""

from __future__ import annotations

import re

from bayesbox._core import read_bif
from bayesbox.errors import BadModelFile, BadTable
from bayesbox.model.conditional_tables import combinations
from bayesbox.model.formats.text import decoded, number_text, position, require_plain
from bayesbox.model.graph import MOST_CELLS, MOST_NODES, TOLERANCE, Graph, Node

UNWRITABLE = re.compile(r'["\r\n]')
BARE = re.compile(r'(?!//|/\*)[^\s{}()\[\],;|"]+')


def read(data: bytes, *, where: str, normalize: bool = False) -> Graph:
    """The network of a text."""
    text = decoded(data, where)
    raw = data.removeprefix(b"\xef\xbb\xbf")
    name, variables, fault = read_bif(raw, MOST_NODES, MOST_CELLS, TOLERANCE, normalize)
    if fault is not None:
        what, offset, found, remedy = fault
        line, column = position(text, len(raw[:offset].decode("utf-8", errors="replace")))
        raise BadModelFile(
            what,
            where=f"{where}, line {line}, column {column}",
            found=found.decode("utf-8", errors="replace"),
            remedy=remedy or None,
        )
    assert name is not None
    assert variables is not None
    names = [variable[0] for variable in variables]
    sizes = [len(variable[1]) for variable in variables]
    nodes = [
        Node(
            each,
            states,
            tuple(names[parent] for parent in parents),
            table.reshape(*(sizes[parent] for parent in parents), len(states)),
        )
        for each, states, parents, table in variables
    ]
    try:
        return Graph(nodes, name=name, checked=True)
    except BadTable as error:
        block = re.search(rf"\bprobability\s*\(\s*\"?{re.escape(error.node)}\"?[\s|,)]", text)
        line, column = position(text, block.start() if block else 0)
        raise BadModelFile(error.what, where=f"{where}, line {line}, column {column}", remedy=error.remedy) from error


def write(graph: Graph) -> str:
    """A network as text; numbers by the shortest decimal that names them."""
    require_plain([*graph.nodes, *(s for node in graph.nodes.values() for s in node.states)], UNWRITABLE, "BIF")
    lines = [f"network {_word(graph.name or 'unknown')} {{", "}"]
    for node in graph.nodes.values():
        states = ", ".join(_word(state) for state in node.states)
        lines += [f"variable {_word(node.name)} {{", f"  type discrete [ {len(node.states)} ] {{ {states} }};", "}"]
    for node, table in ((each, graph.model.factors[place].table) for place, each in enumerate(graph.nodes.values())):
        given = f" | {', '.join(_word(parent) for parent in node.parents)}" if node.parents else ""
        lines.append(f"probability ( {_word(node.name)}{given} ) {{")
        rows = [", ".join(map(number_text, row)) for row in table.reshape(-1, len(node.states))]
        if node.parents:
            keys = combinations([graph.nodes[parent] for parent in node.parents])
            lines += [
                f"  ({', '.join(_word(state) for state in key)}) {row};" for key, row in zip(keys, rows, strict=True)
            ]
        else:
            lines.append(f"  table {rows[0]};")
        lines.append("}")
    return "\n".join(lines) + "\n"


def _word(text: str) -> str:
    return text if BARE.fullmatch(text) else f'"{text}"'
