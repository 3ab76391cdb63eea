"""XDSL, the format of GeNIe and SMILE: nodes with a table, a noisy-MAX, or a state determined by their parents.

    <cpt id="grass"><state id="wet"/><state id="dry"/><parents>rain</parents>
      <probabilities>0.9 0.1 0.1 0.9</probabilities></cpt>

    <noisymax id="fever"><state id="yes"/><state id="no"/><parents>cold flu</parents>
      <strengths>0 1 0 1</strengths><parameters>0.4 0.6 0 1 0.8 0.2 0 1 0.01 0.99</parameters></noisymax>

In a table the states of the node vary fastest, then those of the last parent. GeNIe's drawing data are ignored;
decisions, utilities and equations are errors.
"""

from __future__ import annotations

import math
import re
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from bayesbox.errors import BadModelFile
from bayesbox.network.formats.markup import Element, graph_of, numbers, parse, refuse, sizes_of, table_of
from bayesbox.network.formats.noisy_forms import BadForm, from_xdsl, highest_first, to_xdsl
from bayesbox.network.formats.parsing import number_text, require_plain
from bayesbox.network.graph import MOST_NODES, Doubles, Graph, Node

UNWRITABLE = re.compile(r"\s|[\x00-\x1f\ufffe\uffff\ud800-\udfff]")


def read(data: bytes, *, where: str, normalize: bool = False) -> Graph:
    """The network in a document."""
    root = parse(data, where)
    inside = root.first("nodes") if root.tag.lower() == "smile" else None
    if inside is None:
        refuse("expected <smile> with <nodes> in it", root, where, root.tag)
    if not inside.children:
        refuse("the file has no nodes", inside, where)
    if len(inside.children) > MOST_NODES:
        refuse(f"a network may have at most {MOST_NODES:,} nodes", inside, where, len(inside.children))
    states: dict[str, tuple[str, ...]] = {}
    for element in inside.children:
        if element.tag not in ("cpt", "deterministic", "noisymax"):
            refuse(
                "only nodes with a table (<cpt>, <deterministic>, <noisymax>) are supported",
                element,
                where,
                element.tag,
            )
        name = _id(element, where)
        if name in states:
            refuse(f"node `{name}` is given twice", element, where)
        states[name] = tuple(_id(state, where) for state in element.all("state"))
    nodes = {}
    for element in inside.children:
        name = element.attributes["id"]
        above = element.first("parents")
        parents = tuple(above.text.split()) if above else ()
        if element.tag == "noisymax":
            nodes[name] = (_noisy(name, parents, states, element, where), element)
            continue
        make = _given if element.tag == "cpt" else _following
        nodes[name] = (Node(name, states[name], parents, make(name, parents, states, element, where)), element)
    return graph_of(nodes, where, name=root.attributes.get("id", ""), normalize=normalize)


def _id(element: Element, where: str) -> str:
    found = element.attributes.get("id", "")
    if not found:
        refuse(f"<{element.tag}> has no id", element, where)
    return found


def _given(
    name: str, parents: tuple[str, ...], states: dict[str, tuple[str, ...]], element: Element, where: str
) -> Doubles:
    found = element.first("probabilities")
    if found is None:
        refuse(f"`{name}` has no <probabilities>", element, where)
    return table_of(name, parents, states, found, where)


def _noisy(
    name: str, parents: tuple[str, ...], states: dict[str, tuple[str, ...]], element: Element, where: str
) -> Node:
    """A noisy-MAX: its states from the highest level down, the contribution of each parent, and the leak."""
    found, strengths = element.first("parameters"), element.first("strengths")
    if found is None:
        refuse(f"`{name}` has no <parameters>", element, where)
    for parent in parents:
        if parent not in states:
            refuse("no variable of this name", element, where, parent)
    above = [states[parent] for parent in parents]
    if not states[name] or not all(above):
        refuse(f"`{name}` or a parent of it has no states", element, where)
    most = (sum(map(len, above)) + 1) * len(states[name])
    values = numbers(found, where, most=most).tolist()
    try:
        compact = from_xdsl(strengths.text.split() if strengths else [], values, states[name], above)
    except BadForm as error:
        refuse(f"`{name}`: {error}", found, where)
    return Node(name, states[name], parents, compact=compact)


def _following(
    name: str, parents: tuple[str, ...], states: dict[str, tuple[str, ...]], element: Element, where: str
) -> Doubles:
    """A deterministic node: the state is listed for each combination of its parents' states."""
    found = element.first("resultingstates")
    if found is None:
        refuse(f"`{name}` has no <resultingstates>", element, where)
    sizes = sizes_of(name, parents, states, found, where)
    own, words = states[name], found.text.split()
    rows = math.prod(sizes[:-1])
    if len(words) != rows:
        refuse(f"expected {rows} states", found, where, len(words))
    table = np.zeros((rows, len(own)))
    for row, word in enumerate(words):
        if word not in own:
            refuse(f"node `{name}` has no such state", found, where, word)
        table[row, own.index(word)] = 1
    return table.reshape(sizes)


def write(graph: Graph) -> str:
    """A network as a document, parents before children as SMILE requires; the order of the nodes may change."""
    require_plain(graph.nodes, UNWRITABLE, "XDSL")
    graph = highest_first(graph)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines += [f'<smile version="1.0" id={quoteattr(graph.name or "network")} numsamples="1000">', "\t<nodes>"]
    for name in _ordered(graph):
        node = graph.nodes[name]
        if node.table is None and node.compact is None:
            raise BadModelFile(f"node `{name}` has no table, so it cannot be written")
        tag = "cpt" if node.compact is None else "noisymax"
        lines.append(f"\t\t<{tag} id={quoteattr(name)}>")
        lines += [f"\t\t\t<state id={quoteattr(state)} />" for state in node.states]
        if node.parents:
            lines.append(f"\t\t\t<parents>{escape(' '.join(node.parents))}</parents>")
        if node.compact is not None:
            strengths, parameters = to_xdsl(node.compact)
            lines.append(f"\t\t\t<strengths>{strengths}</strengths>")
            lines.append(f"\t\t\t<parameters>{parameters}</parameters>")
        else:
            cells = " ".join(map(number_text, graph.full_table(name).reshape(-1)))
            lines.append(f"\t\t\t<probabilities>{cells}</probabilities>")
        lines.append(f"\t\t</{tag}>")
    return "\n".join([*lines, "\t</nodes>", "</smile>"]) + "\n"


def _ordered(graph: Graph) -> list[str]:
    """The given order of the nodes if parents come first in it, else a topological order."""
    names = list(graph.nodes)
    place = {name: at for at, name in enumerate(names)}
    fits = all(place[parent] < place[child] for parent, child in graph.edges)
    return names if fits else graph.order
