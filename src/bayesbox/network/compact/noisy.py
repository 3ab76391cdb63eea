"""Noisy-OR, noisy-AND and noisy-MAX tables, as entries of `cpts`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesbox.errors import BadTable, UnknownNode
from bayesbox.network.compact.table import CompactTable, Doubles
from bayesbox.schema.levels import level_text

POSITIVE = ("true", "yes", "1")
TOLERANCE = 1e-9

States = Sequence[str]


class NoisyTable:
    """The base of noisy tables: a contribution for each parent by name, and a leak."""

    causes: Mapping[str, Any]

    def own_states(self) -> tuple[str, ...] | None:
        """The states of the node, if the contributions name them."""
        return None

    def resolved(self, node: str, states: States, parents: Mapping[str, States]) -> CompactTable:
        """The compact table for a node with these states and parents."""
        raise NotImplementedError

    def _by_parent(self, node: str, parents: Mapping[str, States]) -> list[tuple[str, States, Any]]:
        """(parent, its states, its contribution), in the order of the parents."""
        if not isinstance(self.causes, Mapping):
            raise BadTable(f"the causes of `{node}` are a dict from parent to numbers", node=node, found=self.causes)
        given = {level_text(name): value for name, value in self.causes.items()}
        for name in given:
            if name not in parents:
                raise UnknownNode("node", name, parents, where=f"the causes of `{node}`")
        for name in parents:
            if name not in given:
                raise BadTable(f"the causes of `{node}` lack its parent `{name}`", node=node)
        return [(name, states, given[name]) for name, states in parents.items()]


@dataclass(frozen=True)
class NoisyOr(NoisyTable):
    """A noisy-OR table: each cause that is present produces the effect independently, with its own probability.

    P(no effect | causes) = (1 - leak) x product of (1 - p) over the causes that are present. Use it as an entry of
    `cpts`, for a node of two states; a cause is present in its state true, yes or 1, or else in its first state.

    Parameters
    ----------
    causes : mapping from parent to probability
        P(effect | this cause alone); for a parent of several states a mapping from state to probability, 0 for states
        that are not named.
    leak : float
        P(effect | no cause).

    See Also
    --------
    NoisyAnd, NoisyMax

    Examples
    --------
    >>> import bayesbox as bb
    >>> net = bb.BayesianNetwork({"fever": ["cold", "flu"]}, {
    ...     "cold": 0.1, "flu": 0.05, "fever": bb.NoisyOr({"cold": 0.4, "flu": 0.8}, leak=0.01)})
    >>> net.fraction("P(fever=true | cold=true, flu=true)")  # 1 - 0.99 x 0.6 x 0.2
    Fraction(2203, 2500)
    """

    causes: Mapping[str, Any] = field(default_factory=dict)
    leak: float = 0.0

    def resolved(self, node: str, states: States, parents: Mapping[str, States]) -> CompactTable:
        """The compact table for a node of two states."""
        present = _two_states(node, states, "noisy-OR")
        made = [_rows(node, parent, each, own, present) for parent, own, each in self._by_parent(node, parents)]
        leak = _pair(node, "the leak", self.leak, present)
        return CompactTable("or", (1 - present, present), tuple(made), leak)


@dataclass(frozen=True)
class NoisyAnd(NoisyTable):
    """A noisy-AND table: the effect needs every condition, and each is met with its own probability.

    P(effect | conditions) = leak x product of P(condition is met | its parent). Use it as an entry of `cpts`, for a
    node of two states.

    Parameters
    ----------
    causes : mapping from parent to probability
        P(met | parent is present), and 0 if it is absent; a mapping from state to probability gives each of them.
    leak : float
        The probability that all conditions outside the network are met.

    See Also
    --------
    NoisyOr, NoisyMax

    Examples
    --------
    >>> import bayesbox as bb
    >>> net = bb.BayesianNetwork({"starts": ["fuel", "battery"]}, {
    ...     "fuel": 0.9, "battery": 0.95,
    ...     "starts": bb.NoisyAnd({"fuel": 1.0, "battery": {"true": 0.99, "false": 0.1}}, leak=0.9)})
    >>> net.fraction("P(starts=true | fuel=true, battery=false)")  # 0.9 x 1 x 0.1
    Fraction(9, 100)
    """

    causes: Mapping[str, Any] = field(default_factory=dict)
    leak: float = 1.0

    def resolved(self, node: str, states: States, parents: Mapping[str, States]) -> CompactTable:
        """The compact table for a node of two states, with the state without the effect as the higher one."""
        present = _two_states(node, states, "noisy-AND")
        made = [_rows(node, parent, each, own, present) for parent, own, each in self._by_parent(node, parents)]
        leak = _pair(node, "the leak", self.leak, present)
        return CompactTable("and", (present, 1 - present), tuple(made), leak)


@dataclass(frozen=True)
class NoisyMax(NoisyTable):
    """A noisy-MAX table: each parent causes some level of the effect, and the effect is the highest of them.

    Use it as an entry of `cpts`. The levels are the states of the node from lowest to highest, as given by `order`; by
    default the order of the states, but of two states true, yes or 1 is the higher.

    Parameters
    ----------
    causes : mapping from parent to rows
        P(level | this parent alone) for each state of a parent, as dicts or in the order of the node's states; a state
        that is not named causes the lowest level.
    leak : a row, or None
        P(level) with no cause; by default the lowest level.
    order : list of states, or None
        From the lowest level to the highest.

    See Also
    --------
    NoisyOr, NoisyAnd

    Examples
    --------
    >>> import bayesbox as bb
    >>> pain = bb.NoisyMax({"sprain": {"true": {"none": 0.1, "mild": 0.6, "severe": 0.3}},
    ...                     "fracture": {"true": {"none": 0, "mild": 0.2, "severe": 0.8}}})
    >>> net = bb.BayesianNetwork({"pain": ["sprain", "fracture"]}, {"sprain": 0.3, "fracture": 0.1, "pain": pain})
    >>> net.fraction("P(pain=mild | sprain=true, fracture=true)")  # 0.7 x 0.2 - 0.1 x 0
    Fraction(7, 50)
    """

    causes: Mapping[str, Any] = field(default_factory=dict)
    leak: Any = None
    order: Sequence[Any] | None = None

    def own_states(self) -> tuple[str, ...] | None:
        """The states named by the first row given as a dict, or by `order`."""
        for rows in self.causes.values() if isinstance(self.causes, Mapping) else ():
            for row in rows.values() if isinstance(rows, Mapping) else ():
                if isinstance(row, Mapping):
                    return tuple(level_text(state) for state in row)
        return None if self.order is None else tuple(dict.fromkeys(level_text(state) for state in self.order))

    def resolved(self, node: str, states: States, parents: Mapping[str, States]) -> CompactTable:
        """The compact table for a node with any number of states."""
        levels = self._levels(node, states)
        lowest = np.zeros(len(states))
        lowest[levels[0]] = 1
        made = []
        for parent, own, rows in self._by_parent(node, parents):
            if not isinstance(rows, Mapping):
                raise BadTable(f"the rows of `{parent}` are a dict from state to numbers", node=node, found=rows)
            cause = np.tile(lowest, (len(own), 1))
            for state, row in rows.items():
                cause[_place(parent, own, state)] = _row(node, states, row, parent)
            made.append(cause)
        leak = lowest if self.leak is None else _row(node, states, self.leak, "the leak")
        return CompactTable("max", levels, tuple(made), leak)

    def _levels(self, node: str, states: States) -> tuple[int, ...]:
        if self.order is None:
            present = positive_place(states)
            return (1 - present, present) if len(states) == 2 and present is not None else tuple(range(len(states)))
        levels = tuple(_place(node, states, state) for state in self.order)
        if sorted(levels) != list(range(len(states))):
            raise BadTable(f"the order of `{node}` must name each of its states once", node=node, found=self.order)
        return levels


def positive_place(states: States) -> int | None:
    """The position of the state true, yes or 1, if there is one."""
    return next((place for place, state in enumerate(states) if state.lower() in POSITIVE), None)


def _two_states(node: str, states: States, kind: str) -> int:
    """The position of the state in which the effect is present."""
    if len(states) != 2:
        raise BadTable(
            f"a {kind} is for a node of two states", node=node, found=", ".join(states), remedy="NoisyMax takes more"
        )
    return positive_place(states) or 0


def _place(node: str, states: States, state: object) -> int:
    text = level_text(state)
    alike = [place for place, known in enumerate(states) if known == text] or [
        place for place, known in enumerate(states) if known.lower() == text.lower()
    ]
    if len(alike) != 1:
        raise UnknownNode("state", text, states, where=f"node `{node}`")
    return alike[0]


def _rows(node: str, parent: str, given: Any, states: States, present: int) -> Doubles:
    """A contribution of two levels for each state of a parent."""
    if isinstance(given, Mapping):
        numbers = {_place(parent, states, state): value for state, value in given.items()}
    else:
        numbers = {positive_place(states) or 0: given}
    rows = [_pair(node, f"`{parent}`", numbers.get(place, 0.0), present) for place in range(len(states))]
    return np.array(rows)


def _pair(node: str, what: str, given: Any, present: int) -> Doubles:
    number = _probability(node, what, given)
    row = np.empty(2)
    row[present] = number
    row[1 - present] = float(1 - _decimal(number))
    return row


def _row(node: str, states: States, given: Any, what: str) -> Doubles:
    """A distribution over the states of the node."""
    if isinstance(given, Mapping):
        row = np.full(len(states), np.nan)
        for state, value in given.items():
            row[_place(node, states, state)] = _probability(node, what, value)
    else:
        row = np.array([_probability(node, what, value) for value in given], dtype=np.float64)
    if len(row) != len(states) or np.isnan(row).any() or abs(float(row.sum()) - 1) > TOLERANCE:
        raise BadTable(
            f"a row of `{node}` must have a probability for each state, and sum to 1",
            node=node,
            where=what,
            found=given,
        )
    return row


def _probability(node: str, what: str, given: Any) -> float:
    try:
        number = float(given)
    except (TypeError, ValueError):
        number = float("nan")
    if not 0 <= number <= 1:
        raise BadTable("a probability is a number from 0 to 1", node=node, where=f"`{node}`, {what}", found=given)
    return number


def _decimal(number: float) -> Any:
    from fractions import Fraction

    return Fraction(repr(number))
