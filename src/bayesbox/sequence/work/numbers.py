"""The numbers of a chain in a calculation: fractions if tables were given or counted, else floats."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbox.dist.base import Doubles
from bayesbox.dist.cells import LevelCounts, Smoothing, spread
from bayesbox.dist.factor import Factor, Logged, Number, divided, formula
from bayesbox.errors import BadData
from bayesbox.explain.arithmetic import product_of
from bayesbox.explain.short_cell import ShortCell
from bayesbox.explain.steps import Cell
from bayesbox.rule.naive import fit_options
from bayesbox.sequence.forward_backward import log_terms
from bayesbox.sequence.model import Steps

if TYPE_CHECKING:
    from bayesbox.sequence.hmm import HiddenMarkovModel
    from bayesbox.sequence.steps import Sequences

MOST_STEPS = 100  # of a sequence; longer ones are refused
GIVEN, COUNTED = "given", "counted"

Cells = list[Cell]


@dataclass(frozen=True)
class ChainNumbers:
    """P(first state), P(next | state), and for one sequence the name of each step and P(step | state)."""

    states: tuple[str, ...]
    start: Cells
    transition: list[Cells]  # from row to column
    names: list[str]  # of the steps
    seen: list[list[Number]]  # steps x states

    @property
    def first(self) -> list[Number]:
        """P(first state)."""
        return [number_of(cell) for cell in self.start]

    @property
    def follows(self) -> list[list[Number]]:
        """P(next | state)."""
        return [[number_of(cell) for cell in row] for row in self.transition]


def number_of(cell: Cell) -> Number:
    """The value of a cell."""
    assert cell.value is not None
    assert not isinstance(cell.value, float)
    return cell.value


def numbers_of(hmm: HiddenMarkovModel, found: Sequences, steps: Steps) -> ChainNumbers:
    """The numbers of one sequence."""
    if steps.sequences != 1:
        raise BadData("the calculation shows one sequence", found=steps.sequences, remedy="Pass one of them")
    if not 0 < steps.size <= MOST_STEPS:
        raise BadData(
            f"the calculation shows 1 to {MOST_STEPS} steps",
            found=steps.size,
            remedy="Pass a part of the sequence",
        )
    codes = range(steps.size) if steps.codes is None else steps.codes.tolist()
    terms = log_terms(hmm.model_, steps)
    distinct = {code: _seen(hmm, steps.columns, code, terms[code]) for code in dict.fromkeys(codes)}
    columns = [
        column.to_pylist() if hasattr(column, "to_pylist") else list(column) for column in found.columns.values()
    ]
    used = [values for name, values in zip(found.columns, columns, strict=True) if _is_used(hmm, name, len(columns))]
    names = [f"{t + 1}: {', '.join(_shown(values[t]) for values in used)}" for t in range(steps.size)]
    start, transition = start_cells(hmm), transition_cells(hmm)
    return ChainNumbers(hmm.model_.states, start, transition, names, [distinct[code] for code in codes])


def _is_used(hmm: HiddenMarkovModel, name: str, columns: int) -> bool:
    return name in hmm.model_.columns or (columns == 1 and len(hmm.model_.columns) == 1)


def _shown(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "missing"
    return f"{value:.7g}" if isinstance(value, float) else str(value)


def start_cells(hmm: HiddenMarkovModel) -> Cells:
    """P(first state)."""
    counts = None
    if hmm.origin_ == COUNTED:
        book, states = hmm.book_.start, hmm.model_.states
        counts = LevelCounts(states, spread(book.cells, 1, book.levels, states), 1)
    return table_cells(hmm, hmm.model_.log_start[None, :], counts, hmm.rules.start)[0]


def transition_cells(hmm: HiddenMarkovModel) -> list[Cells]:
    """P(next | state), from row to column."""
    counts = None
    if hmm.origin_ == COUNTED:
        states = hmm.model_.states
        book = hmm.book_.transition.with_classes(states)
        counts = LevelCounts(states, spread(book.cells, len(states), book.levels, states), len(states))
    return table_cells(hmm, hmm.model_.log_transition, counts, hmm.rules.transition)


def table_cells(hmm: HiddenMarkovModel, logs: Doubles, counts: LevelCounts | None, rule: Smoothing) -> list[Cells]:
    """A table of probabilities: as counts over counts, as given fractions, or as floats."""
    if counts is None:
        given = hmm.origin_ == GIVEN
        return [[ShortCell(value=written(p)) if given else Cell(value=Logged(p)) for p in row] for row in logs.tolist()]
    cells, (over, under) = counts.as_cells(exact=True), counts.ratio(rule, exact=True)
    found: list[Cells] = []
    for row, values in enumerate(logs.tolist()):
        found.append([])
        for column, log_p in enumerate(values):
            above, below = over[row, column], under[row, column]
            value = divided(above, below)
            if math.isclose(float(value), math.exp(log_p), rel_tol=1e-9):
                text = formula(cells.counts[row, column], cells.totals[row], above, below, rule)
                found[-1].append(Cell(text, value))
            else:  # the row was normalised afterwards
                found[-1].append(Cell(value=Logged(log_p)))
    return found


def written(log_p: float) -> Fraction:
    """The given fraction or decimal, recovered from its logarithm.

    >>> written(math.log(0.3)), written(math.log(1 / 3)), written(-math.inf), written(0.0)
    (Fraction(3, 10), Fraction(1, 3), Fraction(0, 1), Fraction(1, 1))
    """
    p = math.exp(log_p)
    for largest in (100, 1000, 10_000, 1_000_000):
        found = Fraction(p).limit_denominator(largest)
        if found and math.isclose(float(found), p, rel_tol=2e-15):
            return found
    return Fraction(f"{p:.15g}")


def _seen(hmm: HiddenMarkovModel, columns: Mapping[str, Any], code: int, terms: Doubles) -> list[Number]:
    """P(step | state) of one distinct step, state by state."""
    logs = terms.tolist()
    if hmm.origin_ == GIVEN:
        return [written(value) for value in logs]
    if hmm.origin_ != COUNTED:
        return [Logged(value) for value in logs]
    factors = emission_factors(hmm, {name: column[code : code + 1] for name, column in columns.items()})
    found: list[Number] = [product_of(factor.values[state] for factor in factors) for state in range(len(logs))]
    same = all(math.isclose(float(p), math.exp(log_p), rel_tol=1e-9) for p, log_p in zip(found, logs, strict=True))
    return found if same else [Logged(value) for value in logs]


def emission_factors(hmm: HiddenMarkovModel, row: Mapping[str, Any]) -> list[Factor]:
    """The factor of each column of one step, as counts over counts or densities."""
    model, schema = hmm.model_, hmm._schema
    assert schema is not None
    book = hmm.book_.emission.with_classes(model.states)
    declared = schema.with_classes(model.states)
    factors = []
    for conditional in model.conditionals:
        options = fit_options(declared, book, hmm.rules.emission, conditional.columns[0])
        factors += [each for each in conditional.work(row, book, options) if isinstance(each, Factor)]
    return factors


def doubles(rows: list[list[Number]]) -> Doubles:
    """Numbers as an array."""
    return np.array([[float(number) for number in row] for row in rows])
