"""The package's own JSON format: any name is allowed, one line per node.

    {"format": "bayesbox network", "version": 1, "name": "",
     "nodes": [{"name": "rain", "states": ["yes", "no"], "parents": [], "table": [[0.2, 0.8]]}, ...]}

A table has a row for each combination of the parents' states, the last parent fastest. "learned" has the counts behind
the tables and is passed on unchanged. A noisy-OR, noisy-AND or noisy-MAX has "compact" in place of "table".
"""

from __future__ import annotations

import difflib
import json
import re
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesbox.described import parameter
from bayesbox.errors import BadModelFile
from bayesbox.file import strict_json
from bayesbox.file.known_file import SEEN, known_file
from bayesbox.network.formats.noisy_forms import BadForm, from_json, to_json
from bayesbox.network.formats.parsing import TextPosition, decoded, graph_from
from bayesbox.network.graph import MOST_CELLS, MOST_NODES, Doubles, Graph, Node

FORMAT = "bayesbox network"
KEYS = ("format", "version", "name", "nodes", "learned")
NODE_KEYS = ("name", "states", "parents", "table", "compact")
VERSION = 1


def read(data: bytes, *, where: str, normalize: bool = False) -> Graph:
    """The network of a document."""
    text = decoded(data, where)
    place = TextPosition(text, where)
    try:
        document = strict_json.parse(text.encode())
    except json.JSONDecodeError as error:
        place.fail(f"not valid JSON: {error.msg}", error.pos)
    except ValueError as error:
        raise BadModelFile(f"not valid JSON: {error}", where=where) from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        known = known_file(data[:SEEN], where)
        if known is not None:
            raise BadModelFile(f"this is not a network, but {known.what}", where=where, remedy=known.remedy)
        remedy = str("If these are rows, one object per line: " + parameter("format", "jsonl"))
        place.fail(f'expected an object with "format": "{FORMAT}"', 0, remedy=remedy)
    if document.get("version") != VERSION:
        place.fail("unsupported version of the format", 0, document.get("version"), f"Version {VERSION} is supported")
    _refuse_unknown(document, KEYS, place)
    listed = document.get("nodes")
    if not isinstance(listed, list) or len(listed) > MOST_NODES:
        place.fail(f"expected a list of at most {MOST_NODES:,} nodes", 0)

    def offset(name: str) -> int:
        return max(text.find(f'"name": {json.dumps(name)}'), 0)

    for each in listed:
        _refuse_unknown(each, NODE_KEYS, place)
    states = {each["name"]: each["states"] for each in listed if _is_node(each)}
    cells = 0
    nodes = []
    for each in listed:
        if not _is_node(each):
            place.fail("a node must have a name, states, parents and a table", 0, each)
        sizes = []
        for parent in each["parents"]:
            if parent not in states:
                place.fail(f"`{each['name']}` has a parent that is not a node", offset(each["name"]), parent)
            sizes.append(len(states[parent]))
        if each.get("compact") is not None:
            nodes.append(_compact(each, states, place, offset(each["name"])))
            continue
        size = len(each["states"])
        for count in sizes:
            size *= count
        cells += size
        if cells > MOST_CELLS:
            place.fail(f"the tables have at least {cells:,} cells; the limit is {MOST_CELLS:,}", offset(each["name"]))
        table = _table(each, [*sizes, len(each["states"])], size, place, offset(each["name"]))
        nodes.append(Node(each["name"], tuple(each["states"]), tuple(each["parents"]), table))
    name = document.get("name", "")
    graph = graph_from(
        nodes, place, lambda error: offset(error.node), name=name if isinstance(name, str) else "", normalize=normalize
    )
    graph.learned = document.get("learned")
    return graph


def _refuse_unknown(mapping: object, keys: Sequence[str], place: TextPosition) -> None:
    """Refuse unknown keys: they are most likely misspelled."""
    for key in mapping if isinstance(mapping, dict) else ():
        if key not in keys:
            near = difflib.get_close_matches(key, keys, n=1)
            found = re.search(re.escape(json.dumps(key)) + r"\s*:", place.text)
            place.fail(
                "unknown key",
                found.start() if found else 0,
                key,
                f'Did you mean "{near[0]}"?' if near else f"The keys here are {', '.join(keys)}",
            )


def _is_node(each: object) -> bool:
    if not isinstance(each, dict) or not isinstance(each.get("name"), str):
        return False
    lists = (each.get("states"), each.get("parents"))
    return all(isinstance(texts, list) and all(isinstance(text, str) for text in texts) for texts in lists)


def _compact(each: dict[str, Any], states: dict[str, list[str]], place: TextPosition, offset: int) -> Node:
    """A node with a compact table instead of a full one."""
    own = tuple(each["states"])
    try:
        if each.get("table") is not None:
            raise BadForm("a node has a table or a compact one, not both")
        compact = from_json(each["compact"], own, [tuple(states[parent]) for parent in each["parents"]])
    except BadForm as error:
        place.fail(f"`{each['name']}`: {error}", offset)
    return Node(each["name"], own, tuple(each["parents"]), compact=compact)


def _table(each: dict[str, Any], sizes: list[int], size: int, place: TextPosition, offset: int) -> Doubles | None:
    rows = each.get("table")
    if rows is None:
        return None
    flat = [value for row in rows if isinstance(row, list) for value in row] if isinstance(rows, list) else []
    if len(flat) != size:
        place.fail(f"the table of `{each['name']}` must have {size:,} numbers, in rows", offset, len(flat))
    for value in flat:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or abs(value) > sys.float_info.max:
            place.fail(f"P({each['name']}): a probability must be a number between 0 and 1", offset, value)
    return np.array(flat, dtype=np.float64).reshape(sizes)


def _written_table(node: Node) -> dict[str, Any]:
    if node.compact is not None:
        return {"compact": to_json(node)}
    return {"table": None if node.table is None else node.table.reshape(-1, len(node.states)).tolist()}


def write(graph: Graph, learned: object = None) -> str:
    """A network as a JSON document; numbers are written as their shortest decimals. `learned` is written unchanged."""
    nodes = [
        {
            "name": node.name,
            "states": list(node.states),
            "parents": list(node.parents),
            **_written_table(node),
        }
        for node in graph.nodes.values()
    ]
    written = {"format": FORMAT, "version": VERSION, "name": graph.name, "nodes": nodes}
    return strict_json.document(written if learned is None else {**written, "learned": learned}).decode()
