"""BIF, the Bayesian Interchange Format: parsed in the core, which reports line and column of every error.

    variable rain { type discrete [ 2 ] { yes, no }; }
    probability ( grass | rain ) { (yes) 0.9, 0.1; (no) 0.1, 0.9; }

A name is a run of characters other than space and `{ } ( ) [ ] , ; | "`, ended by a comment (`// ...`, `/* ... */`)
too, or is quoted. In a `table` with parents the states of the node vary slowest and those of the last parent fastest.
Properties are ignored.
"""

from __future__ import annotations

import re

from bayesbox._core import BifFile, read_bif
from bayesbox.errors import BadModelFile, BadTable
from bayesbox.network.formats.parsing import decoded, number_text, position, require_plain
from bayesbox.network.graph import MOST_CELLS, MOST_NODES, TOLERANCE, Graph, Node
from bayesbox.network.rounding import MOST as MOST_ROUNDING
from bayesbox.network.tables import combinations

OFF = "do not sum to 1"  # the core's message for a row
UNWRITABLE = re.compile(r'["\r\n]')
BARE = re.compile(r'(?:(?!//|/\*)[^\s{}()\[\],;|"])+')


def read(data: bytes, *, where: str, normalize: bool = False) -> Graph:
    """The network in a text."""
    if not data.isascii():
        decoded(data, where)  # an error if the data are not text
    raw = data.removeprefix(b"\xef\xbb\xbf")
    file, fault = read_bif(raw, MOST_NODES, MOST_CELLS, TOLERANCE, normalize)
    if file is None and fault is not None and fault[0].endswith(OFF) and not normalize:
        file, other = read_bif(raw, MOST_NODES, MOST_CELLS, float(MOST_ROUNDING) * (1 + 1e-9), False)
        if file is not None:  # every row sums to 1 up to rounding
            return _rounded(file, data, where)
        fault = other
    if file is None:
        assert fault is not None
        raise _refused(fault, data, where)
    if not file.has_cycle:
        return Graph.later(lambda: _nodes(file), name=file.name)
    try:
        return Graph(_nodes(file), checked=True)
    except BadTable as error:
        raise _at_its_table(error, data, where) from error


def _rounded(file: BifFile, data: bytes, where: str) -> Graph:
    """The network in a file with rows that do not sum to 1 exactly, by rounding of their digits or otherwise."""
    try:
        return Graph(_nodes(file), name=file.name, rounded=True)
    except BadTable as error:
        raise _at_its_table(error, data, where) from error


def _refused(fault: tuple[str, int, bytes, str], data: bytes, where: str) -> BadModelFile:
    """The error that the core found, with its line and column."""
    what, offset, found, remedy = fault
    raw = data.removeprefix(b"\xef\xbb\xbf")
    line, column = position(decoded(data, where), len(raw[:offset].decode("utf-8", errors="replace")))
    return BadModelFile(
        what,
        where=f"{where}, line {line}, column {column}",
        found=found.decode("utf-8", errors="replace"),
        remedy=remedy or None,
    )


def _at_its_table(error: BadTable, data: bytes, where: str) -> BadModelFile:
    """An error in a node, with the line and column of its table."""
    text = decoded(data, where)
    block = re.search(rf"\bprobability\s*\(\s*\"?{re.escape(error.node)}\"?[\s|,)]", text)
    line, column = position(text, block.start() if block else 0)
    what = f"{error.where}: {error.what}" if error.where else error.what
    place = f"{where}, line {line}, column {column}"
    return BadModelFile(what, where=place, found=error.found, remedy=error.advice)


def _nodes(file: BifFile) -> list[Node]:
    """The nodes of a file that the core has checked."""
    nodes, start = [], 0
    variables, cells = file.variables()
    for name, states, parents, shape, end in variables:
        nodes.append(Node(name, states, parents, cells[start:end].reshape(shape)))
        start = end
    return nodes


def write(graph: Graph) -> str:
    """A network as text; numbers are written as their shortest decimals."""
    title = graph.name or "unknown"
    require_plain([title, *graph.nodes, *(s for node in graph.nodes.values() for s in node.states)], UNWRITABLE, "BIF")
    lines = [f"network {_word(title)} {{", "}"]
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
