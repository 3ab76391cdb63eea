"""XMLBIF 0.3, the interchange format in XML.

    <VARIABLE TYPE="nature"><NAME>rain</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
    <DEFINITION><FOR>grass</FOR><GIVEN>rain</GIVEN><TABLE>0.9 0.1 0.1 0.9</TABLE></DEFINITION>

In a table the states of the node vary fastest, then those of the last parent. Older files have VALUE for OUTCOME and
PROBABILITY for DEFINITION; properties are ignored, decisions and utilities are errors.
"""

from __future__ import annotations

import re
from xml.sax.saxutils import escape

from bayesbox.network.formats.markup import Element, graph_of, parse, refuse, table_of
from bayesbox.network.formats.parsing import number_text, require_plain
from bayesbox.network.graph import MOST_NODES, Graph, Node

UNWRITABLE = re.compile(r"^\s|\s$|[\x00-\x08\x0b\x0c\x0d\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


def read(data: bytes, *, where: str, normalize: bool = False) -> Graph:
    """The network in a document."""
    root = parse(data, where)
    network = root.first("network") if root.tag.lower() == "bif" else None
    if network is None:
        refuse("expected <BIF> with a <NETWORK> in it", root, where, root.tag)
    variables = network.all("variable")
    if not variables:
        refuse("the file has no <VARIABLE>", network, where)
    if len(variables) > MOST_NODES:
        refuse(f"a network may have at most {MOST_NODES:,} nodes", network, where, len(variables))
    states: dict[str, tuple[str, ...]] = {}
    for variable in variables:
        name = _text(variable, "name", where)
        if name in states:
            refuse(f"variable `{name}` is declared twice", variable, where)
        kind = next((text for key, text in variable.attributes.items() if key.lower() == "type"), "nature")
        if kind.lower() != "nature":
            refuse("only variables of the type nature are supported", variable, where, kind)
        states[name] = tuple(outcome.text for outcome in variable.all("outcome", "value"))
    nodes: dict[str, tuple[Node, Element]] = {}
    for definition in network.all("definition", "probability"):
        name = _text(definition, "for", where)
        if name in nodes:
            refuse(f"a second table of `{name}`", definition, where)
        table = definition.first("table")
        if table is None:
            refuse(f"`{name}` has no <TABLE>", definition, where)
        parents = tuple(given.text for given in definition.all("given"))
        cells = table_of(name, parents, states, table, where)
        nodes[name] = (Node(name, states[name], parents, cells), definition)
    for variable, name in zip(variables, states, strict=True):
        if name not in nodes:
            refuse(f"variable `{name}` has no <DEFINITION>", variable, where)
    title = network.first("name")
    ordered = {name: nodes[name] for name in states}
    return graph_of(ordered, where, name=title.text if title else "", normalize=normalize)


def _text(element: Element, tag: str, where: str) -> str:
    found = element.first(tag)
    if found is None or not found.text:
        refuse(f"<{element.tag}> has no <{tag.upper()}>", element, where)
    return found.text


def write(graph: Graph) -> str:
    """A network as a document; numbers are written as their shortest decimals."""
    title = graph.name or "unknown"
    names = [title, *graph.nodes, *(state for node in graph.nodes.values() for state in node.states)]
    require_plain(names, UNWRITABLE, "XMLBIF")
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<BIF VERSION="0.3">', "<NETWORK>"]
    lines.append(f"<NAME>{escape(title)}</NAME>")
    for node in graph.nodes.values():
        outcomes = "".join(f"<OUTCOME>{escape(state)}</OUTCOME>" for state in node.states)
        lines.append(f'<VARIABLE TYPE="nature"><NAME>{escape(node.name)}</NAME>{outcomes}</VARIABLE>')
    for node, factor in zip(graph.nodes.values(), graph.model.factors, strict=True):
        given = "".join(f"<GIVEN>{escape(parent)}</GIVEN>" for parent in node.parents)
        cells = " ".join(map(number_text, factor.table.reshape(-1)))
        lines.append(f"<DEFINITION><FOR>{escape(node.name)}</FOR>{given}<TABLE>{cells}</TABLE></DEFINITION>")
    return "\n".join([*lines, "</NETWORK>", "</BIF>"]) + "\n"
