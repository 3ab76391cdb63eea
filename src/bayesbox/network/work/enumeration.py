"""A product, or a sum of products, term by term."""

from __future__ import annotations

from fractions import Fraction

from bayesbox.explain.short_cell import ShortCell, in_formula
from bayesbox.explain.steps import Cell, Row, Step, line
from bayesbox.network.work.asked import NamedFactor, QuestionSum, States

Joint = dict[States, Fraction]


def one_product(asked: QuestionSum, states: States) -> tuple[list[Step], Joint]:
    """The single product of a question that gives every node a state."""
    case = dict(zip(asked.targets, states, strict=True))
    numbers = [factor.at(case) for factor in asked.factors]
    value = _product(numbers)
    names = [asked.factor_name(place, case) for place in asked.places]
    names += [f"L({asked.text([(v, case.get(v, asked.known.get(v)))])})" for v in asked.likelihoods]
    cells = (Cell(" x ".join(names)), Cell(" x ".join(map(in_formula, numbers)), value))
    return [Step("joint", (Row(asked.joint(states), cells),))], {states: value}


def terms(asked: QuestionSum) -> tuple[list[Step], Joint]:
    """The sums behind the requested states."""
    factors, hidden = asked.factors, asked.hidden
    over = f"sum over {asked.text([(v, None) for v in hidden])} of " if hidden else ""
    steps = [Step("chain rule", (line(asked.joint(None), over + " x ".join(each.name for each in factors)),))]
    joint: Joint = {}
    for states in asked.shown():
        fixed = dict(zip(asked.targets, states, strict=True))
        rows, values = [], []
        for case in asked.cases(hidden):
            whole = {**fixed, **dict(zip(hidden, case, strict=True))}
            cell = _term(factors, whole)
            rows.append(Row(asked.text(list(zip(hidden, case, strict=True))), (cell,)))
            assert isinstance(cell.value, Fraction)
            values.append(cell.value)
        joint[states] = sum(values, Fraction(0))
        if not hidden:
            steps.append(Step("joint", (Row(asked.joint(states), rows[0].cells),)))
            continue
        steps.append(Step("terms", tuple(rows), (f"terms of {asked.joint(states)}",)))
        added = ShortCell(" + ".join(map(in_formula, values)), joint[states])
        steps.append(Step("joint", (Row(asked.joint(states), (added,)),)))
    return steps, joint


def _term(factors: list[NamedFactor], case: dict[int, int]) -> ShortCell:
    numbers = [factor.at(case) for factor in factors]
    return ShortCell(" x ".join(map(in_formula, numbers)), _product(numbers))


def _product(numbers: list[Fraction]) -> Fraction:
    product = Fraction(1)
    for each in numbers:
        product *= each
    return product
