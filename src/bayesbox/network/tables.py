"""Conditional tables given as dicts, lists or arrays, converted to arrays.

    0.001                                           P(true) of a node without parents that has two states
    {"true": 0.001, "false": 0.999}                 its distribution by state
    [0.001, 0.999]                                  the same in the order of the states
    {"true": 0.9, "false": 0.05}                    with one parent of two states: P(true) for each state of the parent
    {("true", "false"): 0.94, ...}                  with several: keys are tuples of the parents' states,
    {"true": {"true": 0.95, "false": 0.94}, ...}    or nested dicts, one level per parent
    an array                                        with one axis per parent and the states on the last, or one row per
    combination (the last parent fastest), or flat

If a distribution is one number, it is the probability of the state true, yes or 1, else of the first state. If the
states of a node are not given, they are the keys of its distributions, else those in its children's tables, else (true,
false) if there are two, else 0, 1, 2 ...
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from bayesbox.errors import BadData, BadTable, UnknownNode
from bayesbox.network.compact.noisy import NoisyTable
from bayesbox.network.graph import Doubles, Graph, Node, require_cells
from bayesbox.schema.levels import level_text

POSITIVE = ("true", "yes", "1")
TWO_STATES = ("true", "false")


def graph_of(
    structure: Mapping[str, Iterable[str]],
    tables: Mapping[str, Any] | None,
    states: Mapping[str, Sequence[object]] | None = None,
    *,
    name: str = "",
    normalize: bool = False,
) -> Graph:
    """A graph from the parents of each node and tables in any of these forms.

    >>> graph = graph_of({"alarm": ["burglary"]}, {"burglary": 0.001, "alarm": {True: 0.95, False: 0.01}})
    >>> graph.nodes["alarm"].table.tolist()
    [[0.95, 0.05], [0.01, 0.99]]
    """
    given_tables = _by_node(tables or {}, "cpts", "its table")
    given_states = _by_node(states or {}, "states", "a list of its states")
    parents = _parents(_by_node(structure, "structure", "a list of its parents"), given_tables, given_states)
    known = _states(parents, given_tables, given_states)
    nodes = []
    for node, above in parents.items():
        if tables is None:
            nodes.append(Node(node, known[node], above))
            continue
        if node not in given_tables:
            raise BadTable(f"node `{node}` has no table", node=node, remedy="Pass one in cpts")
        nodes.append(table_from(node, given_tables[node], above, known))
    return Graph(nodes, name=name, normalize=normalize)


def table_from(name: str, given: object, above: tuple[str, ...], states: Mapping[str, tuple[str, ...]]) -> Node:
    """A node with its given table, full or compact."""
    if isinstance(given, NoisyTable):
        compact = given.resolved(name, states[name], {parent: states[parent] for parent in above})
        return Node(name, states[name], above, compact=compact)
    return Node(name, states[name], above, _table(name, given, above, states))


def _by_node(given: object, what: str, each: str) -> dict[str, Any]:
    """The values of a dict by the text of the node's name."""
    if not isinstance(given, Mapping):
        raise BadData(
            f"{what} must be a dict from each node to {each}",
            found=given,
            remedy='The arcs a->c and b->c are {"c": ["a", "b"]}' if what == "structure" else None,
        )
    return {level_text(name): value for name, value in given.items()}


def _parents(
    structure: Mapping[str, Any], tables: Mapping[str, Any], states: Mapping[str, Any]
) -> dict[str, tuple[str, ...]]:
    """The parents of every node; a node that only occurs as a parent has none, and comes before its first child."""
    given_parents = {
        name: (above,) if isinstance(above, str) else tuple(level_text(each) for each in above or ())
        for name, above in structure.items()
    }
    parents: dict[str, tuple[str, ...]] = {}
    for name, above in given_parents.items():
        parents.update({each: () for each in above if each not in given_parents})
        parents[name] = above
    for what, given in (("table", tables), ("list of states", states)):
        for name in given:
            if name not in parents:
                raise UnknownNode("node", name, parents, where=f"a {what}")
    return parents


def _states(
    parents: Mapping[str, tuple[str, ...]], tables: Mapping[str, Any], given: Mapping[str, Sequence[object]]
) -> dict[str, tuple[str, ...]]:
    known = {name: tuple(level_text(state) for state in states) for name, states in given.items()}
    for name, above in parents.items():  # the keys of its own distributions
        table = tables.get(name)
        leaf = _leaf(table, len(above))
        own = table.own_states() if isinstance(table, NoisyTable) else None
        if name not in known and own is not None:
            known[name] = own
        if name not in known and isinstance(leaf, Mapping):
            known[name] = tuple(level_text(state) for state in leaf)
    for name, above in parents.items():  # the keys in its children's tables
        for place, parent in enumerate(above):
            keys = _keys(tables.get(name), place, len(above))
            if parent not in known and keys and _count(tables.get(parent), ()) in (None, len(keys)):
                known[parent] = keys
    waiting = [name for name in parents if name not in known]
    while waiting:  # by the shape of the table, given the parents' states
        ready = [name for name in waiting if all(parent in known for parent in parents[name])] or waiting[:1]
        for name in ready:
            table = tables.get(name)
            sizes = [len(known.get(parent, TWO_STATES)) for parent in parents[name]]
            by_keys = isinstance(table, Mapping)
            leaf = _leaf(table, len(sizes)) if by_keys else table
            known[name] = _counted_states(name, _count(leaf, [] if by_keys else sizes))
        waiting = [name for name in waiting if name not in known]
    return known


def _counted_states(name: str, count: int | None) -> tuple[str, ...]:
    if count is None or count == 2:
        return TWO_STATES
    if count < 1:
        raise BadTable(f"the table of `{name}` is empty", node=name)
    return tuple(str(state) for state in range(count))


def _count(table: Any, sizes: Sequence[int]) -> int | None:
    """The number of states of a node by its table; None if the table does not determine it."""
    if table is None or isinstance(table, (Mapping, str, NoisyTable)):
        return None
    shape = np.shape(table)
    rows = math.prod(sizes)
    if shape in ((), (rows,) if sizes else (), tuple(sizes)):
        return 2
    return math.prod(shape) // rows if len(shape) == 1 and rows else int(shape[-1])


def _leaf(table: object, depth: int) -> Any:
    """The first distribution of a table given as dicts."""
    if not depth or not isinstance(table, Mapping) or not table:
        return table
    key, inside = next(iter(table.items()))
    return _leaf(inside, depth - (len(key) if isinstance(key, tuple) else 1))


def _keys(table: object, place: int, depth: int) -> tuple[str, ...]:
    """The states of a parent, from the keys of a table."""
    if not isinstance(table, Mapping) or not table:
        return ()
    first = next(iter(table))
    if isinstance(first, tuple):
        found = [key[place] for key in table if isinstance(key, tuple) and len(key) == depth]
    elif place == 0:
        found = list(table)
    else:
        return _keys(table[first], place - 1, depth - 1)
    return tuple(dict.fromkeys(level_text(key) for key in found))


def _table(name: str, given: object, above: tuple[str, ...], states: Mapping[str, tuple[str, ...]]) -> Doubles:
    sizes = [len(states[parent]) for parent in above]
    own = Node(name, states[name])
    cells = require_cells([*sizes, len(own.states)], name)
    if not isinstance(given, Mapping) or not above:
        return _from_array(own, given, sizes) if above else distribution_of(own, given)
    table = np.full((*sizes, len(own.states)), np.nan)
    axes = [Node(parent, states[parent]) for parent in above]
    _fill(table, own, given, axes)
    missing = np.argwhere(np.isnan(table[..., 0]))
    if cells and len(missing):
        row = ", ".join(f"{axis.name}={axis.states[place]}" for axis, place in zip(axes, missing[0], strict=True))
        raise BadTable(f"the table of `{name}` has no row for {row}", node=name)
    return table


def _fill(table: Doubles, own: Node, given: object, axes: list[Node]) -> None:
    """Fill in a table from dicts, one parent after another."""
    if not axes:
        table[...] = distribution_of(own, given)
        return
    if not isinstance(given, Mapping):
        table[...] = _from_array(own, given, [len(axis.states) for axis in axes])
        return
    for key, inside in given.items():
        keys = key if isinstance(key, tuple) else (key,)
        if len(keys) > len(axes):
            raise BadTable(f"the table of `{own.name}` has a key of too many states", node=own.name, found=key)
        place = tuple(axis.code(state) for axis, state in zip(axes, keys, strict=False))
        _fill(table[place], own, inside, axes[len(keys) :])


def distribution_of(own: Node, given: object) -> Doubles:
    """One row of a table."""
    if isinstance(given, Mapping):
        row = np.full(len(own.states), np.nan)
        for state, value in given.items():
            number = _numbers(own, value)
            if number.ndim:
                raise BadTable(
                    f"the probability of `{own.name}={state}` must be one number", node=own.name, found=value
                )
            row[own.code(state)] = number
        if np.isnan(row).any():
            state = own.states[int(np.flatnonzero(np.isnan(row))[0])]
            raise BadTable(f"a distribution of `{own.name}` lacks the state `{state}`", node=own.name)
        return row
    return _from_array(own, given, [])


def _from_array(own: Node, given: object, sizes: list[int]) -> Doubles:
    """A table from an array in any unambiguous shape."""
    array = _numbers(own, given)
    count, rows = len(own.states), int(np.prod(sizes, dtype=np.int64))
    if array.shape in {(*sizes, count), (rows, count), (rows * count,)}:
        return array.reshape(*sizes, count)
    if count == 2 and array.shape in {(rows,), tuple(sizes)}:
        first = next((place for place, state in enumerate(own.states) if state.lower() in POSITIVE), 0)
        rest = np.array([_complement(value) for value in array.reshape(-1).tolist()]).reshape(array.shape)
        both = [array, rest] if first == 0 else [rest, array]
        return np.stack(both, axis=-1).reshape(*sizes, count)
    raise BadTable(
        f"the shape of the table of `{own.name}` does not match its parents' states and its own",
        node=own.name,
        found=array.shape,
        remedy=f"It must be {(*sizes, count)}",
    )


def _numbers(own: Node, given: object) -> Doubles:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadTable(f"the table of `{own.name}` is not a table of numbers", node=own.name, found=given) from None


def _complement(value: float) -> float:
    """1 - value in decimal arithmetic: 0.05 for 0.95, where floats would give 0.050000000000000044."""
    return float(1 - Fraction(repr(value))) if 0 <= value <= 1 else math.nan


def combinations(nodes: Sequence[Node]) -> Iterable[tuple[str, ...]]:
    """The states of some nodes, the last fastest: the order of the rows of a table."""
    return itertools.product(*(node.states for node in nodes))


def require_tables(graph: Graph) -> None:
    """Raise an error if a graph has no tables."""
    if not graph.has_tables:
        raise BadData("this network has no tables, so it has no probabilities", remedy="Pass them: cpts={...}")
