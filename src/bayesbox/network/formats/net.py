"""Hugin NET.

    net { }
    node rain { states = ("yes" "no"); }
    potential (grass | rain) { data = ((0.9 0.1) (0.1 0.9)); }

    potential (fever | cold flu) { model_data = (NoisyOR (cold == "yes", 0.6, flu == "yes", 0.2, true, 0.99)); }

The states of the node vary fastest in the data, then those of the last parent; inner brackets are optional. The only
expression supported is the noisy-OR: each condition with the probability that it does not produce the effect. Other
attributes are ignored; decisions, utilities and continuous nodes are errors.
"""

from __future__ import annotations

import math
import re

import numpy as np

from bayesbox.errors import BadTable
from bayesbox.network.compact.table import CompactTable
from bayesbox.network.formats.noisy_forms import BadForm, from_net, to_net
from bayesbox.network.formats.parsing import TokenStream, decoded, graph_from, number_text, require_plain
from bayesbox.network.graph import MOST_CELLS, MOST_NODES, Graph, Node

TOKEN = re.compile(r'\s+|%[^\n]*|(?P<token>"(?:[^"\\]|\\.)*"|[{}()|=;]|[^\s{}()|=;"%]+)')
COMMENT = re.compile(r"%[^\n]*")
UNWRITABLE = re.compile(r'[\s{}()|=;"%]')
UNWRITABLE_STATE = re.compile(r"[\r\n]")


def read(data: bytes, *, where: str, normalize: bool = False) -> Graph:
    """The network in a text."""
    tokens = TokenStream(decoded(data, where), where, TOKEN)
    reader = _Reader(tokens)
    while tokens.token:
        reader.block()
    nodes = []
    for name, states in reader.states.items():
        if name not in reader.tables:
            tokens.place.fail(f"node `{name}` has no potential", reader.offsets[name])
        parents, table = reader.tables[name]
        compact = reader.compact.get(name)
        nodes.append(Node(name, states, parents, table if compact is None else None, compact))
    if not nodes:
        tokens.place.fail("the file has no nodes", 0)
    return graph_from(nodes, tokens.place, reader.offset_of, name=reader.name, normalize=normalize)


class _Reader:
    def __init__(self, tokens: TokenStream) -> None:
        self.tokens = tokens
        self.name = ""
        self.states: dict[str, tuple[str, ...]] = {}
        self.tables: dict[str, tuple[tuple[str, ...], np.ndarray | None]] = {}
        self.compact: dict[str, CompactTable] = {}
        self.offsets: dict[str, int] = {}
        self.data_offsets: dict[str, int] = {}
        self.cells = 0
        self.sizes: dict[str, list[int]] = {}

    def offset_of(self, fault: BadTable) -> int:
        """The position of a node's numbers, for an error in them; else that of the node."""
        return self.data_offsets[fault.node] if fault.row is not None else self.offsets[fault.node]

    def block(self) -> None:
        tokens = self.tokens
        tokens.took("discrete")
        if tokens.took("net"):
            found = self.attributes(())
            self.name = found.get("name", "")
        elif tokens.took("node"):
            self.node()
        elif tokens.took("potential"):
            self.potential()
        else:
            tokens.fail(
                "expected `net`, `node` or `potential`", "Decisions, utilities and continuous nodes are not supported"
            )

    def node(self) -> None:
        tokens = self.tokens
        offset, name = tokens.offset, self.word("the name of a node")
        if name in self.states:
            tokens.place.fail(f"node `{name}` is declared twice", offset)
        if len(self.states) == MOST_NODES:
            tokens.place.fail(f"a network may have at most {MOST_NODES:,} nodes", offset)
        self.offsets[name] = offset
        self.states[name] = ()
        self.attributes(("states",), node=name)
        if not self.states[name]:
            tokens.place.fail(f"node `{name}` has no states", offset)

    def attributes(self, wanted: tuple[str, ...], *, node: str = "") -> dict[str, str]:
        """The attributes of a block; requested ones are parsed, the others returned as text."""
        tokens = self.tokens
        tokens.take("{")
        texts: dict[str, str] = {}
        while not tokens.took("}"):
            key = self.word("an attribute")
            tokens.take("=")
            if key in wanted and key == "states":
                self.states[node] = self.listed_states()
            elif key in wanted:
                self.data(node)
            else:
                if key == "model_data":
                    self.expression(node)
                    continue
                while tokens.token != ";":
                    texts[key] = _unquoted(tokens.take())
            tokens.take(";")
        return texts

    def expression(self, node: str) -> None:
        """Parse a noisy-OR expression in place of a table."""
        tokens = self.tokens
        offset = tokens.offset
        while tokens.token and tokens.token != ";":
            tokens.take()
        text = COMMENT.sub("", tokens.place.text[offset : tokens.offset])
        parents = {name: self.states[name] for name in self.tables[node][0]} if node in self.tables else {}
        try:
            self.compact[node] = from_net(text, self.states[node], parents, _unquoted)
        except (BadForm, KeyError) as error:
            tokens.place.fail(str(error), offset)
        self.data_offsets[node] = offset
        tokens.take(";")

    def listed_states(self) -> tuple[str, ...]:
        tokens = self.tokens
        tokens.take("(")
        states = []
        while not tokens.took(")"):
            if tokens.token in ("(", "|", "{", "}", "=", ";", ""):
                tokens.fail("expected a state")
            states.append(_unquoted(tokens.take()))
        return tuple(states)

    def potential(self) -> None:
        tokens = self.tokens
        offset = tokens.offset
        tokens.take("(")
        name = self.known()
        parents = []
        if tokens.took("|"):
            while tokens.token != ")":
                parents.append(self.known())
        tokens.take(")")
        if name in self.tables:
            tokens.place.fail(f"a second potential of `{name}`", offset)
        sizes = [len(self.states[each]) for each in (*parents, name)]
        self.tables[name] = (tuple(parents), None)
        self.sizes[name] = sizes
        self.attributes(("data",), node=name)
        if self.tables[name][1] is None and name not in self.compact:
            tokens.place.fail(f"the potential of `{name}` has no data", offset)

    def data(self, node: str) -> None:
        """Parse the numbers of a table, with any brackets."""
        tokens = self.tokens
        offset = tokens.offset
        self.cells += math.prod(self.sizes[node])
        if self.cells > MOST_CELLS:
            tokens.place.fail(f"the tables have {self.cells:,} cells or more; the limit is {MOST_CELLS:,}", offset)
        table = np.empty(self.sizes[node])
        values = tokens.numbers(table.size, between="()").tolist()
        while tokens.token != ";":
            if tokens.token in ("(", ")"):
                tokens.take()
            else:
                values.append(tokens.number())
        if len(values) != table.size:
            tokens.place.fail(f"expected {table.size:,} numbers in the table of `{node}`", offset, len(values))
        text = COMMENT.sub("", tokens.place.text[offset : tokens.offset])
        brackets = re.sub(r"[^()]", "", text)
        depth = np.cumsum(np.where(np.frombuffer(brackets.encode(), dtype=np.uint8) == ord("("), 1, -1))
        if len(depth) and (depth[-1] != 0 or depth.min() < 0 or depth.max() > table.ndim + 1):
            tokens.place.fail(f"the brackets in the table of `{node}` do not match its {table.ndim} axes", offset)
        self.data_offsets[node] = offset
        self.tables[node] = (self.tables[node][0], np.array(values).reshape(table.shape))

    def word(self, what: str) -> str:
        if self.tokens.token in ("{", "}", "(", ")", "|", "=", ";", ""):
            self.tokens.fail(f"expected {what}")
        return _unquoted(self.tokens.take())

    def known(self) -> str:
        if self.tokens.token not in self.states:
            self.tokens.fail("the node was not declared before")
        return self.tokens.take()


def _unquoted(token: str) -> str:
    if not token.startswith('"'):
        return token
    return re.sub(r"\\(.)", r"\1", token[1:-1])


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def write(graph: Graph) -> str:
    """A network as text; numbers are written as their shortest decimals."""
    require_plain(graph.nodes, UNWRITABLE, "NET")
    require_plain([s for node in graph.nodes.values() for s in node.states], UNWRITABLE_STATE, "NET")
    lines = ["net", "{", f"  name = {_quoted(graph.name)};" if graph.name else "", "}"]
    for node in graph.nodes.values():
        lines += [f"node {node.name}", "{", f"  states = ({' '.join(map(_quoted, node.states))});", "}"]
    states = {node.name: node.states for node in graph.nodes.values()}
    for node in graph.nodes.values():
        given = f" | {' '.join(node.parents)}" if node.parents else ""
        lines += [f"potential ({node.name}{given})", "{"]
        if node.compact is not None and node.compact.kind == "or":
            lines += ["  model_nodes = ();", f"  model_data = {to_net(node, states, _quoted)};"]
        if node.table is not None or node.compact is None or node.compact.kind != "or":
            lines.append(f"  data = {_nested(graph.full_table(node.name))};")
        lines.append("}")
    return "\n".join(line for line in lines if line) + "\n"


def _nested(table: np.ndarray) -> str:
    if table.ndim == 1:
        return f"({' '.join(map(number_text, table))})"
    return f"({' '.join(_nested(row) for row in table)})"
