"""Variable elimination step by step: the factors multiplied, the variable summed out, and the new factor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from bayesbox.dist.factor import Logged, Number
from bayesbox.explain.short_cell import ShortCell, in_formula
from bayesbox.explain.steps import Cell, Row, Step, line
from bayesbox.network.exact.eliminate import ObservedStates, Scoped, cut_tables, joined, multiplied
from bayesbox.network.exact.orders import KEPT, best_order, require_affordable
from bayesbox.network.work.asked import NamedFactor, QuestionSum, States

MOST_ENTRIES = 16  # of a factor; larger ones are not printed
MOST_SUMMANDS = 4  # of a sum; longer ones are not printed
MOST_EXACT = 13.0  # log2 of the cells of all tables, up to which they are fractions


def elimination(asked: QuestionSum, max_bytes: int | None) -> tuple[list[Step], dict[States, Number]]:
    """The steps of the calculation, and the joint of the targets with the evidence."""
    named = [asked.factor_name(place) for place in asked.places]
    named += [f"L({asked.model.names[variable]})" for variable in asked.likelihoods]
    scopes = [tuple(v for v in asked.model.factors[place].scope if v not in asked.known) for place in asked.places]
    scopes += [() if variable in asked.known else (variable,) for variable in asked.likelihoods]
    stage = [0 if variable in asked.hidden else KEPT for variable in range(len(asked.model.cards))]
    order = best_order(asked.model.cards, [*scopes, asked.targets], stage)
    require_affordable(max(order.log2_cells, math.log2(asked.count(asked.targets))), 16, max_bytes)
    exact = order.log2_cells <= MOST_EXACT
    findings = ObservedStates(asked.known, asked.likelihoods)
    cut = cut_tables(asked.model, findings, asked.places, exact=exact)
    pool = [NamedFactor(name, *each) for name, each in zip(named, cut, strict=True)]
    over = asked.text([(v, None) for v in asked.hidden])
    product = " x ".join(named)
    first = f"sum over {over} of {product}" if over else product
    shown_order = ", ".join(asked.model.names[variable] for variable in order.variables)
    lines = [line(asked.joint(None), first)] + ([line(f"summed out in the order {shown_order}")] if over else [])
    steps, log_scale = [Step("chain rule", tuple(lines))], 0.0
    for count, variable in enumerate(order.variables, start=1):
        taken = [each for each in pool if variable in each.scope]
        pool = [each for each in pool if variable not in each.scope]
        made, log_scale, step = _summed(asked, taken, variable, f"f{count}", log_scale)
        pool.append(made)
        steps.extend(step)
    table, log_scale, step = _last(asked, pool, log_scale)
    steps.extend(step)
    at = {variable: axis for axis, variable in enumerate(table.scope)}
    joint: dict[States, Number] = {}
    for states in asked.cases(asked.targets):
        place = dict(zip(asked.targets, states, strict=True))
        value = table.table[tuple(place[variable] for variable in sorted(at, key=lambda v: at[v]))]
        joint[states] = value if isinstance(value, Fraction) else _logged(float(value), log_scale)
    return steps, joint


def _summed(
    asked: QuestionSum, taken: Sequence[NamedFactor], variable: int, name: str, log_scale: float
) -> tuple[NamedFactor, float, list[Step]]:
    """The factor after summing out a variable, and the step as text."""
    product, log_scale = joined([Scoped(each.scope, each.table) for each in taken], log_scale)
    axis = product.scope.index(variable)
    scope = (*product.scope[:axis], *product.scope[axis + 1 :])
    summed = np.asarray(product.table.sum(axis=axis), dtype=product.table.dtype)
    named = NamedFactor(f"{name}({asked.text([(v, None) for v in scope])})" if scope else name, scope, summed)
    what = f"sum over {asked.model.names[variable]} of {' x '.join(each.name for each in taken)}"
    cells = f"{product.table.size:,} products, {summed.size:,} {'number' if summed.size == 1 else 'numbers'}"
    steps = [Step(f"sum out {asked.model.names[variable]}", (line(f"{named.name} = {what}: {cells}"),))]
    if summed.dtype == object and summed.size <= MOST_ENTRIES:
        rows = tuple(_entry(asked, taken, variable, named, states) for states in asked.cases(scope))
        steps.append(Step(name, rows, (named.name,)) if scope else Step(name, (Row(name, rows[0].cells),)))
    return named, log_scale, steps


def _entry(asked: QuestionSum, taken: Sequence[NamedFactor], variable: int, made: NamedFactor, states: States) -> Row:
    case = dict(zip(made.scope, states, strict=True))
    summands = [
        " x ".join(in_formula(each.at({**case, variable: state})) for each in taken)
        for state in range(asked.model.cards[variable])
    ]
    text = " + ".join(summands) if len(summands) <= MOST_SUMMANDS else ""
    return Row(asked.text(list(case.items())), (ShortCell(text, made.at(case)),))


def _last(asked: QuestionSum, pool: Sequence[NamedFactor], log_scale: float) -> tuple[Scoped, float, list[Step]]:
    """The product of the remaining factors, over the targets."""
    if not pool:
        return Scoped((), np.array(Fraction(1), dtype=object)), log_scale, []
    product, log_scale = joined([Scoped(each.scope, each.table) for each in pool], log_scale)
    absent = [variable for variable in asked.targets if variable not in product.scope]
    for variable in absent:  # no relevant factor has it: it has one state
        product = multiplied(product, Scoped((variable,), np.ones(asked.model.cards[variable], product.table.dtype)))
    rows = []
    for states in asked.shown():
        case = dict(zip(asked.targets, states, strict=True))
        value = product.table[tuple(case[variable] for variable in product.scope)]
        exact = isinstance(value, Fraction)
        text = " x ".join(in_formula(each.at(case)) for each in pool) if exact and len(pool) > 1 else ""
        rows.append(Row(asked.joint(states), (cell_of(value if exact else _logged(float(value), log_scale), text),)))
    what = line(asked.joint(None), " x ".join(each.name for each in pool))
    return product, log_scale, [Step("joint", (what, *rows))]


def _logged(value: float, log_scale: float) -> Logged:
    return Logged(math.log(value) + log_scale if value > 0 else -math.inf)


def cell_of(value: Number, formula: str = "") -> Cell:
    """A number of a network, exact or by its logarithm."""
    return ShortCell(formula, value) if isinstance(value, Fraction) else Cell(formula, value)
