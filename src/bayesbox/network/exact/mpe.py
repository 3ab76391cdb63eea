"""The most probable explanation: the states of all unobserved variables, or of some, that go best with the evidence.

all of them (MPE)       argmax over x of P(x, evidence)
some (MAP)              argmax over x of the sum over the others of P(x, others, evidence)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayesbox.errors import ImpossibleEvidence
from bayesbox.network.exact.eliminate import FactorPool, ObservedStates, Scoped, cut_tables, joined, with_certain
from bayesbox.network.exact.orders import KEPT, best_order, require_affordable
from bayesbox.network.factor_graph import FactorModel


class MostProbableStates(NamedTuple):
    """A state for each wanted variable, and the log of its probability together with the evidence."""

    states: dict[int, int]
    log_probability: float


def most_probable(
    model: FactorModel,
    findings: ObservedStates,
    wanted: Sequence[int] | None = None,
    *,
    factors: Sequence[int] | None = None,
    max_bytes: int | None = None,
) -> MostProbableStates:
    """The best states of the wanted variables (all by default); of equally good ones, the first states."""
    targets = list(range(len(model.cards))) if wanted is None else list(wanted)
    findings = with_certain(model, findings)
    tables = cut_tables(model, findings, factors)
    stage = [KEPT] * len(model.cards)
    for each in tables:
        for variable in each.scope:
            stage[variable] = 0  # summed out first
    for variable in targets:
        if variable not in findings.states:
            stage[variable] = 1  # then maximised over
    order = best_order(model.cards, [each.scope for each in tables], stage)
    require_affordable(order.log2_cells, 24, max_bytes)
    choices: list[tuple[int, Scoped]] = []
    pool, log_scale = FactorPool(tables), 0.0
    for variable in order.variables:
        product, log_scale = joined(pool.taken(variable), log_scale)
        if not product.scope:  # a variable that no table speaks of
            choices.append((variable, Scoped((), np.zeros((), dtype=np.int64))))
            continue
        axis = product.scope.index(variable)
        rest = (*product.scope[:axis], *product.scope[axis + 1 :])
        if stage[variable] == 1:
            choices.append((variable, Scoped(rest, np.asarray(product.table.argmax(axis=axis)))))
            pool.put(Scoped(rest, np.asarray(product.table.max(axis=axis))))
        else:
            pool.put(Scoped(rest, np.asarray(product.table.sum(axis=axis))))
    result, log_scale = joined(pool.rest(), log_scale)
    best = float(result.table.max())
    if not best > 0:
        raise ImpossibleEvidence("the evidence has probability 0")
    states = {variable: findings.states[variable] for variable in targets if variable in findings.states}
    for variable, choice in reversed(choices):
        states[variable] = int(choice.table[tuple(states[each] for each in choice.scope)])
    return MostProbableStates({variable: states[variable] for variable in targets}, math.log(best) + log_scale)
