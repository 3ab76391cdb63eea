"""Edits of a graph, each returning a new graph; tables are kept as far as they fit.

A new arc a -> b repeats the table of b for every state of a. When an arc is removed, the table is averaged over the
parent with the network's own probabilities:

    P'(b | others) = sum over a of P(a | others) P(b | a, others)

so P(b, others) does not change; rows of parents that never occur are averaged evenly. A compact table stays compact: a
new parent causes nothing yet, and the average contribution of a removed one is added to the leak, which is the same
average if the parents are independent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayesbox.described import Remedy
from bayesbox.errors import BadOption, BadTable
from bayesbox.network.exact.eliminate import ObservedStates, eliminate
from bayesbox.network.graph import Doubles, Graph, Node
from bayesbox.network.query.dsep import relevant
from bayesbox.network.tables import TWO_STATES, table_from
from bayesbox.schema.levels import level_text


def graph_with(graph: Graph, changed: Mapping[str, Node], *, without: str = "") -> Graph:
    """The graph with some nodes changed, one removed, and new ones at the end."""
    kept = [changed.get(name, node) for name, node in graph.nodes.items() if name != without]
    new = [node for name, node in changed.items() if name not in graph.nodes]
    return Graph([*kept, *new], name=graph.name)


def node_added(
    graph: Graph, name: object, states: Sequence[Any] | None, parents: Iterable[Any], cpt: Any, *, has_tables: bool
) -> Graph:
    """The graph with a new node; without a table it is uniform if the other nodes have tables."""
    text = level_text(name)
    if text in graph.nodes:
        raise BadOption(
            f"there is a node `{text}` already",
            remedy=Remedy("with_cpt changes its table, renamed its name", "--set-table changes its table"),
        )
    listed = (parents,) if isinstance(parents, str) else parents
    above = tuple(graph.node(parent).name for parent in listed)
    own = tuple(level_text(state) for state in (states if states is not None else TWO_STATES))
    new = Node(text, own, above)
    if cpt is None and not has_tables:
        return graph_with(graph, {text: new})
    return graph_with(graph, {text: _given(graph, new, cpt if cpt is not None else _uniform(graph, new))})


def _uniform(graph: Graph, node: Node) -> Doubles:
    shape = (*(len(graph.nodes[parent].states) for parent in node.parents), len(node.states))
    return np.full(shape, 1 / len(node.states))


def table_changed(graph: Graph, name: object, cpt: Any) -> Graph:
    """The graph with another table of a node."""
    node = graph.node(name)
    return graph_with(graph, {node.name: _given(graph, node, cpt)})


def _given(graph: Graph, node: Node, cpt: Any) -> Node:
    """The node with a table given in any form that `cpts` accepts."""
    states = {each.name: each.states for each in graph.nodes.values()} | {node.name: node.states}
    return table_from(node.name, cpt, node.parents, states)


def arc_added(graph: Graph, parent: object, child: object, cpt: Any = None) -> Graph:
    """The graph with one more arc; without a table the child does not depend on its new parent yet."""
    above, node = graph.node(parent), graph.node(child)
    if above.name in node.parents:
        raise BadOption("the network has this arc already", found=f"{above.name} -> {node.name}")
    if above.name == node.name:
        raise BadTable(f"a cycle: {node.name} -> {node.name}", node=node.name, remedy="A network has none")
    if cpt is None and node.compact is not None:
        return graph_with(graph, {node.name: _one_cause_more(node, above)})
    table = None
    if cpt is None and node.table is not None:
        wide = np.expand_dims(node.table, len(node.parents))
        shape = (*node.table.shape[:-1], len(above.states), len(node.states))
        table = np.ascontiguousarray(np.broadcast_to(wide, shape))
    made = Node(node.name, node.states, (*node.parents, above.name), table)
    return graph_with(graph, {node.name: made if cpt is None else _given(graph, made, cpt)})


def arc_removed(graph: Graph, parent: object, child: object, cpt: Any = None) -> Graph:
    """The graph without an arc; without a table the child's is averaged over the parent."""
    above, node = graph.node(parent), graph.node(child)
    if above.name not in node.parents:
        raise BadOption("the network has no such arc", found=f"{above.name} -> {node.name}")
    return graph_with(graph, {node.name: _less(graph, node, above.name, cpt)})


def node_removed(graph: Graph, name: object) -> Graph:
    """The graph without a node; the tables of its children are averaged over it."""
    node = graph.node(name)
    children = graph.children_of[node.name]
    changed = {child: _less(graph, graph.nodes[child], node.name, None) for child in children}
    return graph_with(graph, changed, without=node.name)


def _less(graph: Graph, node: Node, parent: str, cpt: Any) -> Node:
    others = tuple(each for each in node.parents if each != parent)
    made = Node(node.name, node.states, others)
    if cpt is not None:
        return _given(graph, made, cpt)
    if node.compact is not None:
        return _one_cause_less(graph, node, parent, made)
    if node.table is None:
        return made
    axis = node.parents.index(parent)
    weights = _share(graph, parent, others)  # one axis per other parent, the removed parent on the last
    aligned = np.moveaxis(weights, -1, axis)[..., None]
    table = np.ascontiguousarray((node.table * aligned).sum(axis=axis))
    return replace(made, table=table / table.sum(axis=-1, keepdims=True))


def _one_cause_more(node: Node, parent: Node) -> Node:
    """A compact table with one more parent, which causes nothing yet."""
    assert node.compact is not None
    cause = np.zeros((len(parent.states), len(node.states)))
    cause[:, node.compact.levels[0]] = 1
    compact = replace(node.compact, causes=(*node.compact.causes, cause))
    return Node(node.name, node.states, (*node.parents, parent.name), compact=compact)


def _one_cause_less(graph: Graph, node: Node, parent: str, made: Node) -> Node:
    """A compact table without one of its parents, whose average contribution is added to the leak."""
    compact, axis = node.compact, node.parents.index(parent)
    assert compact is not None
    average = _share(graph, parent, ()) @ compact.causes[axis]
    leak = (compact.leak[:, None, None] * compact.step(average[None])).sum(axis=(0, 1))
    causes = tuple(cause for at, cause in enumerate(compact.causes) if at != axis)
    return replace(made, compact=replace(compact, causes=causes, leak=leak / leak.sum()))


def _share(graph: Graph, parent: str, others: tuple[str, ...]) -> Doubles:
    """P(parent | others) by the network; uniform if the others never occur or there are no tables."""
    count = len(graph.nodes[parent].states)
    if not graph.has_tables:
        return np.full((*(len(graph.nodes[name].states) for name in others), count), 1 / count)
    model = graph.model
    wanted = [model.place[name] for name in (*others, parent)]
    kept = relevant(graph.expanded, [*others, parent], ())
    joint = np.asarray(eliminate(model, ObservedStates(), wanted, factors=kept).table, dtype=np.float64)
    below = np.broadcast_to(joint.sum(axis=-1, keepdims=True), joint.shape)
    shares: Doubles = np.divide(joint, below, out=np.full_like(joint, 1 / count), where=below > 0)
    return shares


def renamed_graph(graph: Graph, names: Mapping[Any, Any], states: Mapping[Any, Mapping[Any, Any]]) -> Graph:
    """The graph with nodes and states renamed; states by the old name of their node."""
    new = {graph.node(old).name: level_text(name) for old, name in names.items()}
    texts: dict[str, dict[str, str]] = {}
    for name, mapping in states.items():
        node = graph.node(name)
        if not isinstance(mapping, Mapping):
            raise BadOption(f"the states of `{node.name}` are renamed by a dict", found=mapping)
        texts[node.name] = {node.states[node.code(old)]: level_text(text) for old, text in mapping.items()}
    nodes = []
    for node in graph.nodes.values():
        listed = tuple(texts.get(node.name, {}).get(state, state) for state in node.states)
        parents = tuple(new.get(parent, parent) for parent in node.parents)
        nodes.append(replace(node, name=new.get(node.name, node.name), states=listed, parents=parents))
    return Graph(nodes, name=graph.name)
