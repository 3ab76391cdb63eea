"""Variable elimination: any joint marginal of a product of tables, by summing out one variable after another.

Each table is divided by its largest entry, whose logarithm is kept separately, so nothing underflows with any number of
factors. Tables of fractions are summed exactly, with no scaling.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from bayesbox.network.exact.conditioning import cases_of, conditioned, log2_work, plan_of, require_time, sum_of_cases
from bayesbox.network.exact.orders import KEPT, best_order, most_bytes, require_affordable
from bayesbox.network.factor_graph import FactorModel
from bayesbox.schema.arrays import AnyArray

Table = AnyArray
BYTES_A_CELL = 16
SECONDS_A_CELL, SECONDS_A_FRACTION = 1e-8, 2e-6  # to compute and sum a table once, on a slow core


@dataclass(frozen=True)
class ObservedStates:
    """Evidence: the states of observed variables, and likelihoods if the evidence is virtual."""

    states: Mapping[int, int] = field(default_factory=dict)
    likelihoods: Mapping[int, AnyArray] = field(default_factory=dict)


class Scoped(NamedTuple):
    """A table and the variable of each axis."""

    scope: tuple[int, ...]
    table: Table


class Marginal(NamedTuple):
    """exp(log_scale) * table is the product summed over all variables except the targets."""

    table: Table
    log_scale: float

    @property
    def log_total(self) -> float:
        """The log of the total, the probability of the evidence."""
        total = self.table.sum()
        return math.log(total) + self.log_scale if total > 0 else -math.inf


def eliminate(
    model: FactorModel,
    findings: ObservedStates,
    wanted: Sequence[int] = (),
    *,
    factors: Sequence[int] | None = None,
    exact: bool = False,
    max_bytes: int | None = None,
    max_seconds: float | None = None,
) -> Marginal:
    """The unnormalised joint of the target variables and the evidence, one axis per target in that order.

    `factors` are the relevant tables (all by default). `exact` treats each number as its shortest decimal and sums
    fractions. If the tables would exceed the limit, the sum is computed case by case.
    """
    findings = with_certain(model, findings)
    tables = cut_tables(model, findings, factors, exact=exact)
    scopes = [each.scope for each in tables]
    stage = _stages(model, scopes, wanted)
    scopes = [*scopes, tuple(v for v in wanted if v not in findings.states)]
    order = best_order(model.cards, scopes, stage)
    kept_cells = sum(math.log2(model.cards[v]) for v in wanted if v not in findings.states)
    require_affordable(kept_cells, BYTES_A_CELL, max_bytes)
    log2_limit = math.log2(most_bytes(max_bytes) / BYTES_A_CELL)
    if order.log2_cells <= log2_limit:
        return _summed(model, findings, tables, order.variables, wanted)
    speed = SECONDS_A_FRACTION if exact else SECONDS_A_CELL
    allowed = [each != KEPT for each in stage]
    cut = conditioned(model.cards, scopes, stage, allowed, log2_limit, log2_work(max_seconds, speed))
    plan = plan_of(model, cut, BYTES_A_CELL, speed)
    at_once = order.log2_cells + math.log2(BYTES_A_CELL)
    require_time(plan, max_bytes, max_seconds, at_once=at_once, fits=cut.log2_cells <= log2_limit)

    def case_of(states: Mapping[int, int]) -> Marginal:
        known = ObservedStates({**findings.states, **states}, findings.likelihoods)
        return _summed(model, known, cut_tables(model, known, factors, exact=exact), cut.order, wanted)

    return Marginal(*sum_of_cases(map(case_of, cases_of(model.cards, cut.variables))))


def _summed(
    model: FactorModel,
    findings: ObservedStates,
    tables: Sequence[Scoped],
    order: Sequence[int],
    wanted: Sequence[int],
) -> Marginal:
    """The tables after summing out the variables in order."""
    pool, log_scale = FactorPool(tables), 0.0
    for variable in order:
        product, log_scale = joined(pool.taken(variable), log_scale)
        axis = product.scope.index(variable)
        summed = np.asarray(product.table.sum(axis=axis), dtype=product.table.dtype)
        pool.put(Scoped((*product.scope[:axis], *product.scope[axis + 1 :]), summed))
    result, log_scale = joined(pool.rest(), log_scale)
    return Marginal(_spread(result, model, findings, wanted), log_scale)


class FactorPool:
    """A pool of tables, indexed by their variables."""

    def __init__(self, tables: Sequence[Scoped]) -> None:
        self._tables: dict[int, Scoped] = {}
        self._having: dict[int, dict[int, None]] = {}
        self._next = 0
        for each in tables:
            self.put(each)

    def put(self, each: Scoped) -> None:
        """Add a table."""
        self._tables[self._next] = each
        for variable in each.scope:
            self._having.setdefault(variable, {})[self._next] = None
        self._next += 1

    def taken(self, variable: int) -> list[Scoped]:
        """Remove and return the tables that have a variable, in the order they were added."""
        found = []
        for number in list(self._having.get(variable, ())):
            each = self._tables.pop(number)
            found.append(each)
            for other in each.scope:
                del self._having[other][number]
        return found

    def rest(self) -> list[Scoped]:
        """The remaining tables."""
        return list(self._tables.values())


def with_certain(model: FactorModel, findings: ObservedStates) -> ObservedStates:
    """The evidence, with every variable of a single state treated as observed: it needs no axis."""
    certain = {variable: 0 for variable, card in enumerate(model.cards) if card == 1}
    return ObservedStates({**certain, **findings.states}, findings.likelihoods) if certain else findings


def _stages(model: FactorModel, scopes: Sequence[Sequence[int]], wanted: Sequence[int]) -> list[int]:
    stage = [KEPT] * len(model.cards)
    for scope in scopes:
        for variable in scope:
            stage[variable] = 0
    for variable in wanted:
        stage[variable] = KEPT
    return stage


def cut_tables(
    model: FactorModel, findings: ObservedStates, factors: Sequence[int] | None = None, *, exact: bool = False
) -> list[Scoped]:
    """The tables sliced at the observed states, and one more for each likelihood."""
    states = findings.states
    cut = []
    for place in range(len(model.factors)) if factors is None else factors:
        scope, table = model.factors[place].scope, model.factors[place].table
        if any(variable in states for variable in scope):
            table = table[tuple(states.get(variable, slice(None)) for variable in scope)]
            scope = tuple(variable for variable in scope if variable not in states)
        cut.append(Scoped(scope, as_fractions(table) if exact else np.asarray(table)))
    for variable, likelihood in findings.likelihoods.items():
        values = as_fractions(likelihood) if exact else np.asarray(likelihood, dtype=np.float64)
        if variable in states:
            cut.append(Scoped((), np.asarray(values[states[variable]], dtype=object if exact else np.float64)))
        else:
            cut.append(Scoped((variable,), values))
    return cut


def as_fractions(table: object) -> Table:
    """Each number as the fraction of its shortest decimal.

    >>> as_fractions(np.array([0.1]))[0]
    Fraction(1, 10)
    """
    numbers = np.asarray(table)
    made = np.empty(numbers.shape, dtype=object)
    for place, value in np.ndenumerate(numbers):
        made[place] = value if isinstance(value, Fraction) else Fraction(repr(float(value)))
    return made


def joined(tables: Sequence[Scoped], log_scale: float) -> tuple[Scoped, float]:
    """The product of tables, smaller ones first, scaled so that its largest entry is 1."""
    smallest_first = sorted(tables, key=lambda each: each.table.size)
    product = smallest_first[0] if tables else Scoped((), np.ones(()))
    for place, each in enumerate(smallest_first):
        product = multiplied(product, each) if place else each
        if product.table.dtype == object:
            continue
        largest = float(product.table.max())
        if largest > 0 and not 1e-60 < largest < 1e60:
            product = Scoped(product.scope, product.table / largest)
            log_scale += math.log(largest)
    return product, log_scale


def multiplied(left: Scoped, right: Scoped) -> Scoped:
    """The product over the variables of both."""
    scope = (*left.scope, *(variable for variable in right.scope if variable not in left.scope))
    return Scoped(scope, np.asarray(aligned(left, scope) * aligned(right, scope), dtype=left.table.dtype))


def aligned(each: Scoped, scope: Sequence[int]) -> Table:
    """A table with an axis for every variable of a scope, of length 1 if the table does not have it."""
    present = [variable for variable in scope if variable in each.scope]
    table = each.table.transpose([each.scope.index(variable) for variable in present])
    sizes = iter(table.shape)
    return table.reshape([next(sizes) if variable in each.scope else 1 for variable in scope])


def _spread(result: Scoped, model: FactorModel, findings: ObservedStates, wanted: Sequence[int]) -> Table:
    """The table over the target variables: observed ones have zeros at other states."""
    exact = result.table.dtype == object
    hidden = [variable for variable in wanted if variable not in findings.states]
    inner = np.broadcast_to(aligned(result, hidden), [model.cards[variable] for variable in hidden])
    full = np.zeros([model.cards[variable] for variable in wanted], dtype=object if exact else np.float64)
    full[tuple(findings.states.get(variable, slice(None)) for variable in wanted)] = inner
    return full
