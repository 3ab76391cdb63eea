"""Nodes with compact tables decomposed into small tables: the maximum is computed step by step.

    Y | X_1 ... X_n      becomes      A_1 | X_1,   A_2 | A_1, X_2,   ...,   Y | A_{n-1}, X_n

so that no table has more than two parents, and the largest has states(Y)^2 x states(X) cells. The steps are not
queried; they are summed out like any hidden node. The parents come in the order of the network, so that the chains of
nodes with the same parents run in parallel, with one step of each between two parents. With `explicit`, the
contribution of each parent is a node of its own, Z_i | X_i, whose table has the parameters themselves: for learning and
for sensitivity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from bayesbox.network.compact.table import CompactTable, Doubles


@dataclass(frozen=True)
class SmallTable:
    """P(name | parents) of one step."""

    name: str
    parents: tuple[str, ...]
    table: Doubles


@dataclass(frozen=True)
class TakenApart:
    """A decomposed node: the last step is the node itself, the others are `steps`; `causes` are the contribution
    nodes."""

    last: SmallTable
    steps: tuple[SmallTable, ...]
    causes: tuple[str, ...] = field(default=())  # leak first, if there is one; only if they are explicit


def taken_apart(
    name: str, parents: tuple[str, ...], compact: CompactTable, taken: Sequence[str], *, explicit: bool = False
) -> TakenApart:
    """The decomposition of one node; new nodes get names that are not in `taken`, which begins with the nodes in
    order."""
    used = set(taken)
    pairs = list(zip(parents, compact.causes, strict=True))
    if not explicit:
        pairs.sort(key=lambda pair: taken.index(pair[0]))

    def fresh(text: str) -> str:
        while text in used:
            text += "'"
        used.add(text)
        return text

    steps: list[SmallTable] = []
    causes: list[str] = []
    current: str | None = None
    if compact.has_leak or not parents:
        if not parents:
            return TakenApart(SmallTable(name, (), compact.leak), ())
        current = fresh(f"{name} by its leak")
        steps.append(SmallTable(current, (), compact.leak))
        causes.append(current)
    for place, (parent, cause) in enumerate(pairs):
        last = place + 1 == len(parents)
        if explicit:
            alone = fresh(f"{name} by {parent}")
            steps.append(SmallTable(alone, (parent,), cause))
            causes.append(alone)
            source, table = alone, compact.maximum()
            first = np.eye(len(compact.levels))
        else:
            source, table, first = parent, compact.step(cause), cause
        made = name if last else fresh(f"{name} by {pairs[0][0]} to {parent}" if place else f"{name} by {parent}")
        if current is None:
            steps.append(SmallTable(made, (source,), first))
        else:
            steps.append(SmallTable(made, (current, source), table))
        current = made
    *before, end = steps
    return TakenApart(end, tuple(before), tuple(causes))
