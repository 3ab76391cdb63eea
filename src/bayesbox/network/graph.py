"""A Bayesian network as data: nodes with named states, the parents of each, and P(node | parents) as a table.

    P(x_1, ..., x_n) = product over the nodes of P(x_i | parents of x_i)

A graph without tables answers structural queries only.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbox.described import Remedy
from bayesbox.errors import BadData, BadTable, RoundedRows, UnknownNode
from bayesbox.network.compact.expand import SmallTable, TakenApart, taken_apart
from bayesbox.network.compact.table import CompactTable
from bayesbox.network.factor_graph import CompactSteps, FactorModel, FactorTable
from bayesbox.network.rounding import is_rounding
from bayesbox.schema.levels import level_text

Doubles = NDArray[np.float64]

MOST_NODES = 10_000
MOST_CELLS = 10**8
SMALL_CELLS = 256  # of a compact table; up to this it is expanded in full
ALONE_CELLS = 32  # of several compact tables; larger ones are decomposed anyway, since they may share parents
TOLERANCE = 1e-6  # the largest deviation of a row's sum from 1


@dataclass(frozen=True)
class Node:
    """A variable: its states, its parents, and a table with one axis per parent and its states on the last.

    A node with a compact table has its full table only if that is small.
    """

    name: str
    states: tuple[str, ...]
    parents: tuple[str, ...] = ()
    table: Doubles | None = None
    compact: CompactTable | None = None

    @cached_property
    def place(self) -> dict[str, int]:
        """The position of each state."""
        return {state: index for index, state in enumerate(self.states)}

    def code(self, state: object) -> int:
        """The position of a state, which may be given as a value of its own type: True for "true", 1 for "1"."""
        text = level_text(state)
        found = self.place.get(text)
        if found is None:
            alike = [place for place, known in enumerate(self.states) if known.lower() == text.lower()]
            found = alike[0] if len(alike) == 1 else None
        if found is None:
            raise UnknownNode("state", text, self.states, where=f"node `{self.name}`")
        return found

    def sums_to_one(self) -> bool:
        """Whether every row sums to 1 up to the rounding error of the sum."""
        assert self.table is not None
        return bool((np.abs(self.table.sum(axis=-1) - 1) <= 2e-16 * (len(self.states) + 1)).all())


class Graph:
    """Nodes by name, in the order they were given; validated and acyclic.

    >>> rain = Node("rain", ("yes", "no"), (), np.array([0.2, 0.8]))
    >>> grass = Node("grass", ("wet", "dry"), ("rain",), np.array([[0.9, 0.1], [0.1, 0.9]]))
    >>> Graph([rain, grass]).order
    ['rain', 'grass']
    """

    learned: Any = None
    """The "learned" part of a document, unchanged: how the tables were learned."""

    def __init__(
        self,
        nodes: Iterable[Node],
        *,
        name: str = "",
        normalize: bool = False,
        rounded: bool = False,
        checked: bool = False,
    ) -> None:
        """With `rounded`, rows whose sum is off by the rounding of their digits are normalised, with a warning."""
        self.name = name
        self._make: Callable[[], Iterable[Node]] | None = None
        self.nodes = {}
        for node in nodes:
            if node.name in self.nodes:
                raise BadTable(f"node `{node.name}` is given twice", node=node.name)
            self.nodes[node.name] = node
        if len(self.nodes) > MOST_NODES:
            raise BadData(f"a network may have at most {MOST_NODES:,} nodes", found=len(self.nodes))
        if not checked:
            sums: dict[str, float] = {}
            for each in list(self.nodes.values()):
                self.nodes[each.name] = self._checked(each, normalize=normalize, rounded=sums if rounded else None)
            if sums:
                warnings.warn(RoundedRows(sums), stacklevel=4)
        self.order = self._topological()

    @classmethod
    def later(cls, make: Callable[[], Iterable[Node]], *, name: str) -> Graph:
        """A graph whose nodes were already validated and are created on first use."""
        graph = cls.__new__(cls)
        graph.name, graph._make = name, make
        return graph

    @cached_property
    def nodes(self) -> dict[str, Node]:
        """The nodes by name, in the order they were given."""
        assert self._make is not None
        return {node.name: node for node in self._make()}

    @cached_property
    def order(self) -> list[str]:
        """The names in topological order."""
        return self._topological()

    def __getstate__(self) -> dict[str, Any]:
        assert self.nodes is not None  # created now, since the factory cannot be pickled
        kept = {name: value for name, value in self.__dict__.items() if name in ("name", "nodes", "learned")}
        return {**kept, "_make": None}  # the rest is derived

    def _checked(self, node: Node, *, normalize: bool, rounded: dict[str, float] | None) -> Node:
        if not node.states:
            raise BadTable(f"node `{node.name}` has no states", node=node.name)
        if len(node.place) < len(node.states):
            twice = next(state for state in node.states if node.states.count(state) > 1)
            raise BadTable(f"node `{node.name}` has a state twice", node=node.name, found=twice)
        for index, parent in enumerate(node.parents):
            if parent not in self.nodes:
                raise UnknownNode("node", parent, self.nodes, where=f"the parents of `{node.name}`")
            if parent in node.parents[:index]:
                raise BadTable(f"node `{node.name}` has a parent twice", node=node.name, found=parent)
        if node.table is None and node.compact is None:
            return node
        shape = self.shape(node)
        if node.compact is not None:
            return replace(node, table=_small_table(node, node.compact, shape))
        assert node.table is not None
        table = np.ascontiguousarray(node.table, dtype=np.float64)
        if table.shape != shape:
            raise BadTable(
                f"the shape of the table of `{node.name}` does not match its parents' states and its own",
                node=node.name,
                found=table.shape,
                remedy=f"It must be {shape}",
            )
        found = checked_table(table, node.name, self.row_text, normalize=normalize, rounded=rounded)
        return replace(node, table=found)

    def shape(self, node: Node) -> tuple[int, ...]:
        """The shape of a node's table."""
        return (*(len(self.nodes[parent].states) for parent in node.parents), len(node.states))

    def row_text(self, name: str, row: int) -> str:
        """The states of the parents in one row of a table, for a message."""
        node = self.nodes[name]
        shape = self.shape(node)[:-1]
        places = np.unravel_index(row, shape) if shape else ()
        parts = [
            f"{parent}={self.nodes[parent].states[int(place)]}"
            for parent, place in zip(node.parents, places, strict=True)
        ]
        return f"P({name} | {', '.join(parts)})" if parts else f"P({name})"

    def _topological(self) -> list[str]:
        """A topological order, otherwise as given; an error names a cycle."""
        waiting = {name: len(node.parents) for name, node in self.nodes.items()}
        ready = [name for name, count in waiting.items() if not count]
        for name in ready:
            for child in self.children_of[name]:
                waiting[child] -= 1
                if not waiting[child]:
                    ready.append(child)
        if len(ready) < len(self.nodes):
            path = self._cycle({name for name, count in waiting.items() if count})
            raise BadTable("a cycle: " + " -> ".join(path), node=path[0], remedy="A network must be acyclic")
        return ready

    def _cycle(self, among: set[str]) -> list[str]:
        """Some cycle within these nodes, each of which has a parent among them."""
        path = [min(among)]
        while True:
            before = next(parent for parent in self.nodes[path[-1]].parents if parent in among)
            if before in path:
                return [before, *reversed(path[path.index(before) :])]
            path.append(before)

    # -- structure -----------------------------------------------------------------------------------------------

    @cached_property
    def children_of(self) -> dict[str, list[str]]:
        """The children of each node, in the order of the nodes."""
        children: dict[str, list[str]] = {name: [] for name in self.nodes}
        for node in self.nodes.values():
            for parent in node.parents:
                children[parent].append(node.name)
        return children

    @property
    def edges(self) -> list[tuple[str, str]]:
        """The arcs (parent, child), ordered by child."""
        return [(parent, node.name) for node in self.nodes.values() for parent in node.parents]

    def node(self, name: object) -> Node:
        """A node by its name; UnknownNode if there is none."""
        found = self.nodes.get(level_text(name))
        if found is None:
            raise UnknownNode("node", name, self.nodes)
        return found

    def ancestors(self, names: Iterable[str]) -> set[str]:
        """The ancestors of these nodes, excluding themselves unless they are ancestors of another."""
        return _reached(names, lambda name: self.nodes[name].parents)

    def descendants(self, names: Iterable[str]) -> set[str]:
        """The descendants of these nodes."""
        return _reached(names, lambda name: self.children_of[name])

    def markov_blanket(self, name: str) -> set[str]:
        """The parents, children and the children's other parents: given these, the node is independent of all
        others."""
        children = self.children_of[name]
        blanket = {*self.nodes[name].parents, *children, *(p for child in children for p in self.nodes[child].parents)}
        return blanket - {name}

    def local_markov(self) -> Iterator[tuple[str, list[str], list[str]]]:
        """Triples (node, nodes it is independent of given its parents, its parents), if there are such nodes."""
        for name, node in self.nodes.items():
            excluded = {name, *node.parents, *self.descendants([name])}
            others = [other for other in self.nodes if other not in excluded]
            if others:
                yield name, others, list(node.parents)

    def factorisation(self) -> str:
        """The chain rule for this graph, parents first."""
        factors = [
            f"P({name} | {', '.join(self.nodes[name].parents)})" if self.nodes[name].parents else f"P({name})"
            for name in self.order
        ]
        return f"P({', '.join(self.order)}) = {' '.join(factors)}"

    # -- tables --------------------------------------------------------------------------------------------------

    @cached_property
    def has_tables(self) -> bool:
        """Whether every node has its table."""
        return all(node.table is not None or node.compact is not None for node in self.nodes.values())

    @cached_property
    def compact_nodes(self) -> list[str]:
        """The nodes whose compact tables are decomposed: large ones, and if there are several all but small ones."""
        compact = [node for node in self.nodes.values() if node.compact is not None]
        most = SMALL_CELLS if len(compact) < 2 else ALONE_CELLS
        return [node.name for node in compact if node.table is None or node.table.size > most]

    @cached_property
    def expanded(self) -> Graph:
        """The graph with these nodes decomposed into small tables; new nodes are at the end."""
        return self._apart[0] if self.compact_nodes else self

    @cached_property
    def _apart(self) -> tuple[Graph, dict[str, TakenApart]]:
        return self.taken_apart()

    def taken_apart(self, *, explicit: bool = False) -> tuple[Graph, dict[str, TakenApart]]:
        """The graph of small tables, and the decomposition of each compact node; `explicit` decomposes all of them."""
        wanted = [name for name, node in self.nodes.items() if node.compact is not None]
        parts: dict[str, TakenApart] = {}
        names = list(self.nodes)
        for name in wanted if explicit else self.compact_nodes:
            node = self.nodes[name]
            assert node.compact is not None
            parts[name] = taken_apart(name, node.parents, node.compact, names, explicit=explicit)
            names += [step.name for step in parts[name].steps]
        kept = [self._small(node, parts[name].last) if name in parts else node for name, node in self.nodes.items()]
        new = [self._small(self.nodes[name], step) for name, part in parts.items() for step in part.steps]
        return Graph([*kept, *new], name=self.name, checked=True), parts

    def _compact_steps(self) -> tuple[CompactSteps, ...]:
        """The positions of the parts of each compact table in the model."""
        expanded, parts = self._apart
        place = {name: index for index, name in enumerate(expanded.nodes)}
        found = []
        for name, part in parts.items():
            node, steps = self.nodes[name], tuple(place[step.name] for step in part.steps)
            assert node.compact is not None
            parents = tuple(place[parent] for parent in node.parents)
            found.append(CompactSteps(place[name], parents, steps, (*steps, place[name]), node.compact))
        return tuple(found)

    @staticmethod
    def _small(node: Node, step: SmallTable) -> Node:
        return Node(step.name, node.states, step.parents, np.ascontiguousarray(step.table))

    def full_table(self, name: str) -> Doubles:
        """The full table of a node, expanded if it is compact; an error if it is too large or missing."""
        node = self.nodes[name]
        if node.table is not None:
            return node.table
        if node.compact is None:
            raise BadTable(f"node `{name}` has no table", node=name, remedy="Give one: cpts={...}, or fit the network")
        require_cells(node.compact.shape, name)
        return node.compact.table()

    @cached_property
    def tabular(self) -> Graph:
        """The graph with full tables only."""
        if not self.compact_nodes:
            return self
        nodes = [replace(node, table=self.full_table(name), compact=None) for name, node in self.nodes.items()]
        return Graph(nodes, name=self.name, checked=True)

    @cached_property
    def model(self) -> FactorModel:
        """The tables as factors of the joint distribution, one per node in the order of the nodes.

        The auxiliary variables of compact tables are at the end.
        """
        if self.compact_nodes:
            steps = self._compact_steps()
            count = sum(len(each.variables) for each in steps)
            return replace(self.expanded.model, auxiliary=count, compact=steps)
        place = {name: index for index, name in enumerate(self.nodes)}
        factors = []
        for node in self.nodes.values():
            if node.table is None:
                raise BadTable(
                    f"node `{node.name}` has no table",
                    node=node.name,
                    remedy="Pass one: cpts={...}, or fit the network",
                )
            factors.append(FactorTable((*(place[parent] for parent in node.parents), place[node.name]), node.table))
        return FactorModel(tuple(self.nodes), tuple(node.states for node in self.nodes.values()), tuple(factors))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return self.nodes.keys() == other.nodes.keys() and all(
            mine.states == other.nodes[name].states
            and mine.parents == other.nodes[name].parents
            and _same(mine.table, other.nodes[name].table)
            and mine.compact == other.nodes[name].compact
            for name, mine in self.nodes.items()
        )

    __hash__ = None  # type: ignore[assignment]


def _same(mine: Doubles | None, theirs: Doubles | None) -> bool:
    if mine is None or theirs is None:
        return mine is theirs
    return bool(np.array_equal(mine, theirs))


def _small_table(node: Node, compact: CompactTable, shape: tuple[int, ...]) -> Doubles | None:
    """The full table of a compact one if it is small; its shape follows from the parents' states."""
    if compact.shape != shape:
        raise BadTable(
            f"the compact table of `{node.name}` does not fit its parents' states and its own",
            node=node.name,
            found=compact.shape,
            remedy=f"It is {shape}",
        )
    return compact.rounded_table() if math.prod(shape) <= SMALL_CELLS else None


def _reached(names: Iterable[str], further: Any) -> set[str]:
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        for name in further(waiting.pop()):
            if name not in found:
                found.add(name)
                waiting.append(name)
    return found


def checked_table(
    table: Doubles, name: str, row_text: Any, *, normalize: bool, rounded: dict[str, float] | None = None
) -> Doubles:
    """A table whose numbers are probabilities and whose rows sum to 1, normalised if allowed.

    `rounded` collects the sums of rows that are off by the rounding of their digits; without it such a row is an error.
    """
    rows = table.reshape(-1, table.shape[-1])
    with np.errstate(over="ignore"):
        sums = rows.sum(axis=1)
    within = (rows >= 0) & (np.isfinite(rows) if normalize else rows <= 1)
    if not within.all():
        row, column = (int(place) for place in np.argwhere(~within)[0])
        raise BadTable(
            "a probability must be a number between 0 and 1",
            node=name,
            row=row,
            where=row_text(name, row),
            found=float(rows[row, column]),
        )
    off = np.abs(sums - 1) > TOLERANCE
    if not off.any():
        return table
    hopeless = off if not normalize else ~((sums > 0) & np.isfinite(sums))
    if rounded is not None and not normalize:
        hopeless = np.zeros(len(rows), dtype=bool)
        hopeless[off] = [not is_rounding(row) for row in rows[off]]
        rounded |= {} if hopeless.any() else {name: float(sums[off][np.abs(sums[off] - 1).argmax()])}
    if hopeless.any():
        row = int(np.flatnonzero(hopeless)[0])
        raise BadTable(
            "the probabilities do not sum to 1",
            node=name,
            row=row,
            where=row_text(name, row),
            found=float(sums[row]),
            remedy="Correct them, or pass " + Remedy("normalize=True", "--normalize"),
        )
    made = rows.copy()
    made[off] = rows[off] / sums[off, None]
    return made.reshape(table.shape)


def require_cells(sizes: Sequence[int], name: str) -> int:
    """The number of cells of a table, before it is built; an error if there are too many."""
    cells = 1
    for size in sizes:
        cells *= size
    if cells > MOST_CELLS:
        raise BadTable(
            f"the table of `{name}` would have {cells:,} cells; the limit is {MOST_CELLS:,}",
            node=name,
            remedy="Give it fewer parents (in learning: max_parents), or parents of fewer states",
        )
    return cells
