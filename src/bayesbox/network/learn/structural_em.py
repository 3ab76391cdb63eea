"""Structural EM: fill in missing values with the current network, search again, until nothing changes.

Friedman (1998), with expected counts estimated from a few completions of every row, drawn from the exact distribution
of its missing values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bayesbox.network.learn.em import Doubles, Families, completed, maximise_expectation
from bayesbox.network.learn.scores import columns_of, mask_of
from bayesbox.network.learn.search import Found
from bayesbox.network.learn.tables import TableRules, prior_counts, table_of
from bayesbox.network.learn.tree import chow_liu
from bayesbox.schema.coded import CodedRows
from bayesbox.stat.family_counter import MemoryCounter

Find = Callable[[CodedRows, float, Sequence[int] | None], Found]  # rows, the weight of each, the initial structure

ROUNDS = 10
EM_ROUNDS = 10
LAPLACE = TableRules.of("laplace")


def structural_em(coded: CodedRows, find: Find, *, copies: int, seed: int) -> Found:
    """The structure found in completed rows, once it no longer changes."""
    parents = [mask_of(above) for above in chow_liu(MemoryCounter(coded), complete=False)]
    seen: set[tuple[int, ...]] = set()
    found = Found(parents, -np.inf)
    for turn in range(ROUNDS):
        families = Families(
            tuple(coded.names),
            tuple(variable.levels for variable in coded.variables),
            tuple((*columns_of(mask), node) for node, mask in enumerate(parents)),
        )
        tables = _tables(families, coded)
        filled = completed(families, tables, coded, copies=copies, seed=seed + turn)
        found = find(filled, 1 / copies, parents if turn else None)
        if tuple(found.parents) in seen:
            break
        seen.add(tuple(found.parents))
        parents = found.parents
    return found


def _tables(families: Families, coded: CodedRows) -> list[Doubles]:
    """The tables by EM, starting from what can be counted."""

    def maximise(counts: list[Doubles]) -> list[Doubles]:
        return [
            table_of(each, states, LAPLACE.of_node(name, each.size))
            for name, states, each in zip(families.names, families.states, counts, strict=True)
        ]

    counted = MemoryCounter(coded).counts(list(families.scopes))
    start = maximise(
        [
            table.reshape(-1, len(states)).astype(np.float64)
            for states, table in zip(families.states, counted, strict=True)
        ]
    )
    prior = [
        prior_counts(each.shape, states, LAPLACE.of_node(name, each.size))
        for name, states, each in zip(families.names, families.states, start, strict=True)
    ]
    return maximise_expectation(families, coded, maximise, start, prior=prior, iterations=EM_ROUNDS).tables
