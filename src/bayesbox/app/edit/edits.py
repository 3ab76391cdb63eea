"""The edits of a network as sent by the page, and the edited network.

    {"do": "add-node", "node": "rain", "states": ["yes", "no"]}     {"do": "remove-node", "node": "rain"}
    {"do": "add-arc", "from": "rain", "to": "grass"}                {"do": "remove-arc", "from": "rain", "to": "grass"}
    {"do": "rename", "node": "rain", "name": "wet"}
    {"do": "rename-state", "node": "rain", "state": "yes", "name": "much"}
    {"do": "set-row", "node": "grass", "row": 2, "values": [0.9, 0.1]}

A row of a table is a combination of the parents' states, the last parent fastest. They use the methods of the network:
`with_node`, `with_edge`, `with_cpt` and the others.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from bayesbox.errors import BadOption, BayesboxError
from bayesbox.file.reader import Json
from bayesbox.network.graph import Doubles
from bayesbox.network.network import BayesianNetwork

MOST_KEPT = 64  # edited networks kept in the cache
MOST_EDITS = 2000


class Edit(msgspec.Struct, frozen=True, tag_field="do", forbid_unknown_fields=True):
    """One edit of a network."""

    def apply(self, network: BayesianNetwork) -> BayesianNetwork:
        """The network after this edit."""
        raise NotImplementedError


class AddNode(Edit, frozen=True, tag="add-node"):
    """A new node without parents, uniform until its table is set."""

    node: str
    states: list[str]

    def apply(self, network: BayesianNetwork) -> BayesianNetwork:
        _require_name(self.node)
        for state in self.states:
            _require_name(state)
        return network.with_node(self.node, self.states)


class RemoveNode(Edit, frozen=True, tag="remove-node"):
    """Remove a node; the tables of its children are averaged over it."""

    node: str

    def apply(self, network: BayesianNetwork) -> BayesianNetwork:
        return network.without_node(self.node)


class _Arc(Edit, frozen=True):
    parent: str = msgspec.field(name="from")
    child: str = msgspec.field(name="to")


class AddArc(_Arc, frozen=True, tag="add-arc"):
    """A new arc; the table of the child is repeated for each state of the parent."""

    def apply(self, network: BayesianNetwork) -> BayesianNetwork:
        return network.with_edge(self.parent, self.child)


class RemoveArc(_Arc, frozen=True, tag="remove-arc"):
    """Remove an arc; the table of the child is averaged over the parent."""

    def apply(self, network: BayesianNetwork) -> BayesianNetwork:
        return network.without_edge(self.parent, self.child)


class Rename(Edit, frozen=True, tag="rename"):
    """Another name for a node."""

    node: str
    name: str

    def apply(self, network: BayesianNetwork) -> BayesianNetwork:
        _require_name(self.name)
        return network.renamed({self.node: self.name})


class RenameState(Edit, frozen=True, tag="rename-state"):
    """Another name for a state of a node."""

    node: str
    state: str
    name: str

    def apply(self, network: BayesianNetwork) -> BayesianNetwork:
        _require_name(self.name)
        return network.renamed(states={self.node: {self.state: self.name}})


class SetRow(Edit, frozen=True, tag="set-row"):
    """Another distribution for one combination of the parents' states."""

    node: str
    row: int
    values: list[float]

    def apply(self, network: BayesianNetwork) -> BayesianNetwork:
        rows = table_rows(network, self.node)
        if not 0 <= self.row < len(rows) or len(self.values) != rows.shape[1]:
            raise BadOption(f"the table of `{self.node}` has no such row", found=f"row {self.row}: {self.values}")
        rows[self.row] = self.values
        return network.with_cpt(self.node, rows if network.parents(self.node) else rows[0])


AnyEdit = AddNode | RemoveNode | AddArc | RemoveArc | Rename | RenameState | SetRow


def _require_name(text: str) -> None:
    if not text.strip() or text != text.strip():
        raise BadOption("a name must not be empty, nor begin or end with a space", found=text)


def table_rows(network: BayesianNetwork, node: str) -> Doubles:
    """The table of a node, one row per combination of its parents' states."""
    table = network.cpt(node)
    assert table is not None
    return table.reshape(-1, table.shape[-1])


def edits_of(given: object) -> list[AnyEdit]:
    """Edits from JSON; BadOption if invalid."""
    try:
        found: list[AnyEdit] = msgspec.convert(given or [], list[AnyEdit])
    except msgspec.ValidationError as error:
        raise BadOption(f"not a list of edits: {error}") from None
    if len(found) > MOST_EDITS:
        raise BadOption(f"at most {MOST_EDITS:,} edits are kept", found=len(found), remedy="Save the network first")
    return found


class Edited(NamedTuple):
    """A network after some edits, and the error of the next one, if any."""

    network: BayesianNetwork
    edits: Sequence[AnyEdit]
    refused: str | None = None


class Editing:
    """Applies edits to a network; the latest results are cached, so that one more edit is one step."""

    def __init__(self, network: BayesianNetwork) -> None:
        self.network = network
        self._kept: dict[str, BayesianNetwork] = {}
        self._making = threading.Lock()

    def after(self, edits: Sequence[AnyEdit]) -> Edited:
        """The network after these edits, or after those before the first invalid one.

        >>> net = BayesianNetwork({"rain": []}, {"rain": 0.2})
        >>> found = Editing(net).after([AddNode("grass", ["wet", "dry"]), AddArc("grass", "grass")])
        >>> found.network.nodes, found.refused
        (['rain', 'grass'], 'a cycle: grass -> grass. A network has none')
        """
        with self._making:
            network, done = self._longest(edits)
            for place in range(done, len(edits)):
                try:
                    network = edits[place].apply(network)
                except BayesboxError as error:
                    return Edited(network, edits[:place], str(error))
                self._keep(edits[: place + 1], network)
        return Edited(network, edits)

    def _longest(self, edits: Sequence[AnyEdit]) -> tuple[BayesianNetwork, int]:
        for count in range(len(edits), 0, -1):
            found = self._kept.get(_key(edits[:count]))
            if found is not None:
                return found, count
        return self.network, 0

    def _keep(self, edits: Sequence[AnyEdit], network: BayesianNetwork) -> None:
        if len(self._kept) >= MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[_key(edits)] = network

    def unchanged_counts(self, network: BayesianNetwork, counts: Mapping[str, Doubles]) -> dict[str, Doubles]:
        """The counts by node of the nodes that no edit has changed."""
        return {name: each for name, each in counts.items() if _is_same(self.network, network, name)}


def _is_same(before: BayesianNetwork, after: BayesianNetwork, name: str) -> bool:
    """Whether a node has the same states, parents and table as before."""
    old, new = before.graph.nodes[name], after.graph.nodes.get(name)
    if new is None or (old.states, old.parents) != (new.states, new.parents):
        return False
    parents = [(before.graph.nodes[each].states, after.graph.nodes[each].states) for each in old.parents]
    return all(one == other for one, other in parents) and np.array_equal(
        before.graph.full_table(name), after.graph.full_table(name)
    )


def _key(edits: Sequence[AnyEdit]) -> str:
    return json.dumps([msgspec.to_builtins(each) for each in edits])


def edits_json(edits: Sequence[AnyEdit]) -> list[Json]:
    """Edits as JSON."""
    found: list[Any] = [msgspec.to_builtins(each) for each in edits]
    return found
