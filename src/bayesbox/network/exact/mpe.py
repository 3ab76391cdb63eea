"""The most probable explanation: the states of all or some unobserved variables with the highest probability.

all of them (MPE)       argmax over x of P(x, evidence)
some (MAP)              argmax over x of the sum over the others of P(x, others, evidence)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bayesbox.errors import ImpossibleEvidence
from bayesbox.network.exact.conditioning import cases_of, conditioned, log2_work, plan_of, require_time
from bayesbox.network.exact.eliminate import FactorPool, ObservedStates, Scoped, cut_tables, joined, with_certain
from bayesbox.network.exact.orders import KEPT, best_order, most_bytes
from bayesbox.network.factor_graph import FactorModel

MAXIMISED = 1  # the stage of variables that are maximised over
BYTES_A_CELL, SECONDS_A_CELL = 24, 2e-8


class MostProbableStates(NamedTuple):
    """The state of each target variable, and the log of their joint probability with the evidence."""

    states: dict[int, int]
    log_probability: float


def most_probable(
    model: FactorModel,
    findings: ObservedStates,
    wanted: Sequence[int] | None = None,
    *,
    factors: Sequence[int] | None = None,
    max_bytes: int | None = None,
    max_seconds: float | None = None,
) -> MostProbableStates:
    """The most probable states of the target variables (all by default); in case of a tie, the first states."""
    targets = list(range(len(model.cards))) if wanted is None else list(wanted)
    findings = with_certain(model, findings)
    tables = cut_tables(model, findings, factors)
    stage = _stages(model, findings, tables, targets)
    scopes = [each.scope for each in tables]
    order = best_order(model.cards, scopes, stage)
    log2_limit = math.log2(most_bytes(max_bytes) / BYTES_A_CELL)
    if order.log2_cells <= log2_limit:
        return possible(_best(findings, tables, order.variables, targets))
    allowed = [each == MAXIMISED for each in stage]
    cut = conditioned(model.cards, scopes, stage, allowed, log2_limit, log2_work(max_seconds, SECONDS_A_CELL))
    plan = plan_of(model, cut, BYTES_A_CELL, SECONDS_A_CELL)
    at_once = order.log2_cells + math.log2(BYTES_A_CELL)
    require_time(plan, max_bytes, max_seconds, at_once=at_once, fits=cut.log2_cells <= log2_limit)
    found = [
        best
        for case in cases_of(model.cards, cut.variables)
        if (best := _best_of_case(model, findings, case, factors, cut.order, targets)) is not None
    ]
    return possible(max(found, key=lambda each: each.log_probability, default=None))


def _stages(
    model: FactorModel, findings: ObservedStates, tables: Sequence[Scoped], targets: Sequence[int]
) -> list[int]:
    stage = [KEPT] * len(model.cards)
    for each in tables:
        for variable in each.scope:
            stage[variable] = 0  # summed out first
    for variable in targets:
        if variable not in findings.states:
            stage[variable] = MAXIMISED  # after them
    return stage


def log2_cells(model: FactorModel, findings: ObservedStates, targets: Sequence[int]) -> float:
    """log2 of the cells of all tables that `most_probable` would compute."""
    tables = cut_tables(model, findings)
    stage = _stages(model, findings, tables, targets)
    return best_order(model.cards, [each.scope for each in tables], stage).log2_cells


def _best_of_case(
    model: FactorModel,
    findings: ObservedStates,
    case: Mapping[int, int],
    factors: Sequence[int] | None,
    order: Sequence[int],
    targets: Sequence[int],
) -> MostProbableStates | None:
    known = ObservedStates({**findings.states, **case}, findings.likelihoods)
    return _best(known, cut_tables(model, known, factors), order, targets)


def possible(found: MostProbableStates | None) -> MostProbableStates:
    """The result; an error if the evidence is impossible."""
    if found is None:
        raise ImpossibleEvidence("the evidence has probability 0, so nothing explains it")
    return found


def _best(
    findings: ObservedStates, tables: Sequence[Scoped], order: Sequence[int], targets: Sequence[int]
) -> MostProbableStates | None:
    """The result of summing or maximising over the variables in this order; None if nothing is possible."""
    maximised = set(targets)
    choices: list[tuple[int, Scoped]] = []
    pool, log_scale = FactorPool(tables), 0.0
    for variable in order:
        product, log_scale = joined(pool.taken(variable), log_scale)
        if not product.scope:  # a variable that is in no table
            choices.append((variable, Scoped((), np.zeros((), dtype=np.int64))))
            continue
        axis = product.scope.index(variable)
        rest = (*product.scope[:axis], *product.scope[axis + 1 :])
        if variable in maximised:
            choices.append((variable, Scoped(rest, np.asarray(product.table.argmax(axis=axis)))))
            pool.put(Scoped(rest, np.asarray(product.table.max(axis=axis))))
        else:
            pool.put(Scoped(rest, np.asarray(product.table.sum(axis=axis))))
    result, log_scale = joined(pool.rest(), log_scale)
    best = float(result.table.max())
    if not best > 0:
        return None
    states = {variable: findings.states[variable] for variable in targets if variable in findings.states}
    for variable, choice in reversed(choices):
        states[variable] = int(choice.table[tuple(states[each] for each in choice.scope)])
    return MostProbableStates({variable: states[variable] for variable in targets}, math.log(best) + log_scale)
