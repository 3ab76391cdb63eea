"""Compact tables in each file format.

XDSL    <noisymax>: the states from the highest level down; <strengths> has the order of each parent's states,
        <parameters> a distribution for each of them in this order, and the leak
NET     model_data = (NoisyOR (cold == "true", 0.6, true, 0.99)): each condition with the probability that it does not
produce the effect; the condition `true` is the leak JSON    {"kind": "or", "order": [...], "causes": [[[...]]], "leak":
[...]}: states from the lowest level to the
        highest, and the rows of each parent
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from bayesbox.network.compact.noisy import positive_place
from bayesbox.network.compact.table import CompactTable, Doubles
from bayesbox.network.formats.parsing import NUMBER, number_text
from bayesbox.network.graph import TOLERANCE, Graph, Node

States = Sequence[str]
KINDS = ("or", "and", "max")
CONDITION = re.compile(
    r"""\s*(?:(?P<always>true)\s*,|
        (?P<name>[^\s,()=]+)\s*(?:={1,2}\s*(?P<state>"(?:[^"\\]|\\.)*"|[^\s,()=]+))?\s*,)
        \s*(?P<number>[^\s,()]+)\s*(?:,|$)""",
    re.VERBOSE,
)
NOISY_OR = re.compile(r"\(?\s*NoisyOR\s*\((.*?)\)\s*\)?\s*", re.DOTALL)


class BadForm(ValueError):
    """An error in a compact table of a document."""


def _fail(what: str) -> NoReturn:
    raise BadForm(what)


def checked_rows(rows: Any, shape: tuple[int, int], what: str) -> Doubles:
    """Rows of probabilities that sum to 1."""
    try:
        found = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        _fail(f"{what}: expected {shape[0]} rows of {shape[1]} numbers")
    if found.shape != shape:
        _fail(f"{what}: expected {shape[0]} rows of {shape[1]} numbers")
    if not ((found >= 0) & (found <= 1)).all():
        _fail(f"{what}: a probability is a number from 0 to 1")
    if (np.abs(found.sum(axis=1) - 1) > TOLERANCE).any():
        _fail(f"{what}: the probabilities do not sum to 1")
    return found


# -- JSON ----------------------------------------------------------------------------------------------------------


def to_json(node: Node) -> dict[str, Any]:
    """A compact table as a plain dict, for JSON."""
    assert node.compact is not None
    return {
        "kind": node.compact.kind,
        "order": [node.states[level] for level in node.compact.levels],
        "causes": [cause.tolist() for cause in node.compact.causes],
        "leak": node.compact.leak.tolist(),
    }


def from_json(given: Any, states: States, parents: Sequence[States]) -> CompactTable:
    """The compact table of a node with these states and parents; BadForm says what is wrong."""
    if not isinstance(given, dict) or set(given) != {"kind", "order", "causes", "leak"}:
        _fail("a compact table has kind, order, causes and leak")
    if given["kind"] not in KINDS or (given["kind"] != "max" and len(states) != 2):
        _fail(f"the kind of a compact table is one of {', '.join(KINDS)}, and max where there are not two states")
    order = given["order"]
    if not isinstance(order, list) or sorted(map(str, order)) != sorted(states):
        _fail("the order of a compact table names each state once")
    causes = given["causes"]
    if not isinstance(causes, list) or len(causes) != len(parents):
        _fail(f"expected the causes of {len(parents)} parents")
    rows = [checked_rows(each, (len(own), len(states)), "causes") for each, own in zip(causes, parents, strict=True)]
    leak = checked_rows([given["leak"]], (1, len(states)), "leak")[0]
    return CompactTable(given["kind"], tuple(states.index(state) for state in order), tuple(rows), leak)


# -- XDSL ----------------------------------------------------------------------------------------------------------


def from_xdsl(strengths: Sequence[str], parameters: Sequence[float], states: States, parents: Any) -> CompactTable:
    """The compact table of a <noisymax>."""
    sizes = [len(own) for own in parents]
    count = len(states)
    if strengths and len(strengths) != sum(sizes):
        _fail(f"expected {sum(sizes)} strengths")
    if len(parameters) != (sum(sizes) + 1) * count:
        _fail(f"expected {(sum(sizes) + 1) * count} parameters")
    rows = checked_rows(np.reshape(parameters, (-1, count)), (sum(sizes) + 1, count), "parameters")
    causes, start = [], 0
    for size in sizes:
        order = [int(word) if word.isdecimal() else -1 for word in strengths[start : start + size]] or list(range(size))
        if sorted(order) != list(range(size)):
            _fail("the strengths of a parent are the numbers of its states, each once")
        cause = np.empty((size, count))
        cause[order] = rows[start : start + size]
        causes.append(cause)
        start += size
    return CompactTable("or" if _is_or(states) else "max", tuple(reversed(range(count))), tuple(causes), rows[-1])


def _is_or(states: States) -> bool:
    """Whether the higher of two states is the effect of a noisy-OR."""
    return len(states) == 2 and (positive_place(states) or 0) == 0


def to_xdsl(compact: CompactTable) -> tuple[str, str]:
    """The texts of <strengths> and <parameters>; the states are listed from the highest level down."""
    strengths: list[str] = []
    rows: list[Doubles] = []
    for parent, cause in enumerate(compact.causes):
        order = np.argsort(compact.idle(parent), kind="stable").tolist()  # states that cause nothing come last
        strengths += [str(place) for place in order]
        rows += [cause[place] for place in order]
    numbers = [number_text(value) for row in [*rows, compact.leak] for value in row]
    return " ".join(strengths), " ".join(numbers)


def highest_first(graph: Graph) -> Graph:
    """The network with the states of its compact nodes listed from the highest level down."""
    for name, node in list(graph.nodes.items()):
        if node.compact is not None and node.compact.levels != tuple(reversed(range(len(node.states)))):
            graph = _reordered(graph, name, list(reversed(node.compact.levels)))
    return graph


def _reordered(graph: Graph, name: str, order: list[int]) -> Graph:
    """The network with the states of one node in another order."""
    made = []
    for node in graph.nodes.values():
        if node.name == name:
            node = replace(node, states=tuple(node.states[place] for place in order))
            if node.table is not None:
                node = replace(node, table=np.ascontiguousarray(node.table[..., order]))
            if node.compact is not None:
                compact = node.compact
                levels = tuple(order.index(level) for level in compact.levels)
                causes = tuple(np.ascontiguousarray(cause[:, order]) for cause in compact.causes)
                node = replace(node, compact=CompactTable(compact.kind, levels, causes, compact.leak[order]))
        elif name in node.parents:
            at = node.parents.index(name)
            if node.table is not None:
                node = replace(node, table=np.ascontiguousarray(np.take(node.table, order, axis=at)))
            if node.compact is not None:
                rows = list(node.compact.causes)
                rows[at] = np.ascontiguousarray(rows[at][order])
                node = replace(node, compact=replace(node.compact, causes=tuple(rows)))
        made.append(node)
    return Graph(made, name=graph.name)


# -- NET -----------------------------------------------------------------------------------------------------------


def to_net(node: Node, states: Mapping[str, States], quoted: Any) -> str:
    """The expression of a noisy-OR."""
    compact = node.compact
    assert compact is not None
    lowest = compact.levels[0]
    parts = [
        f"{parent} == {quoted(states[parent][place])}, {number_text(cause[place, lowest])}"
        for number, (parent, cause) in enumerate(zip(node.parents, compact.causes, strict=True))
        for place in np.flatnonzero(~compact.idle(number)).tolist()
    ]
    if compact.has_leak:
        parts.append(f"true, {number_text(compact.leak[lowest])}")
    return f"(NoisyOR ({', '.join(parts)}))"


def from_net(text: str, states: States, parents: Mapping[str, States], unquoted: Any) -> CompactTable:
    """The compact table of an expression; BadForm if it is not a noisy-OR."""
    found = NOISY_OR.fullmatch(text.strip())
    if found is None:
        _fail("tables given by an expression are not read, but for NoisyOR")
    if len(states) != 2:
        _fail("a NoisyOR is for a node of two states")
    present = positive_place(states) or 0
    fails = {parent: [1.0] * len(own) for parent, own in parents.items()}
    leak, at, inner = 1.0, 0, found.group(1)
    while at < len(inner.rstrip()):
        part = CONDITION.match(inner, at)
        if part is None or not NUMBER.fullmatch(part["number"]) or not 0 <= float(part["number"]) <= 1:
            _fail("NoisyOR has conditions, each with a probability from 0 to 1")
        number = float(part["number"])
        if part["always"]:
            leak *= number
        else:
            own = parents.get(part["name"])
            if own is None:
                _fail(f"`{part['name']}` is not a parent")
            state = positive_place(own) or 0
            if part["state"] is not None:
                text = unquoted(part["state"])
                if text not in own:
                    _fail(f"`{part['name']}` has no state `{text}`")
                state = own.index(text)
            fails[part["name"]][state] *= number
        at = part.end()

    def pair(number: float) -> list[float]:
        rest = _complement(number)
        return [rest, number] if present == 0 else [number, rest]

    causes = tuple(np.array([pair(number) for number in fails[parent]]) for parent in parents)
    return CompactTable("or", (1 - present, present), causes, np.array(pair(leak)))


def _complement(number: float) -> float:
    from fractions import Fraction

    rest = float(1 - Fraction(repr(number)))
    return rest if math.isfinite(rest) else 0.0
