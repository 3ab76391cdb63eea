"""The tables of a chain in textbook form: P(first), P(next | state), P(seen | state)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from bayesbox.dist.base import Distribution
from bayesbox.dist.factor import Logged
from bayesbox.explain.printed_tables import PrintedTables
from bayesbox.explain.short_cell import ShortCell
from bayesbox.explain.steps import Cell, Row, Step
from bayesbox.sequence.work.numbers import COUNTED, GIVEN, emission_factors, start_cells, transition_cells, written

if TYPE_CHECKING:
    from bayesbox.sequence.hmm import HiddenMarkovModel


def tables_of(hmm: HiddenMarkovModel) -> PrintedTables:
    """All tables; as counts over counts if states were known."""
    states = hmm.model_.states
    follows = [
        Row(f"P(next | {state})", tuple(cells)) for state, cells in zip(states, transition_cells(hmm), strict=True)
    ]
    tables = {
        "start": Step("start", (Row("P(first)", tuple(start_cells(hmm))),), states),
        "transition": Step("transition", tuple(follows), states),
    }
    for conditional in hmm.model_.conditionals:
        tables[conditional.columns[0]] = _emission(hmm, conditional)
    made = {"given": "from given tables", "counted": "counted from known states", "learned": "trained by Baum-Welch"}
    note = f"{hmm.n_parameters:,} of these numbers are free"
    title = f"hidden Markov model {made[hmm.origin_]}, states {', '.join(states)}"
    return PrintedTables(title, tables, (note,), {"free": hmm.n_parameters})


def _emission(hmm: HiddenMarkovModel, conditional: Distribution) -> Step:
    """P(level | state), or the parameters of a density."""
    states, name = hmm.model_.states, conditional.columns[0]
    table, moments = conditional.level_table(), conditional.mean_and_std()
    seen = "seen" if name.isdecimal() else name
    if table is not None:
        columns = [
            _level_cells(hmm, name, level, row) for level, row in zip(table.levels, table.log_p.tolist(), strict=True)
        ]
        rows = [Row(f"P({seen} | {state})", tuple(cells[at] for cells in columns)) for at, state in enumerate(states)]
        return Step(name, tuple(rows), tuple(table.levels))
    parameters = (
        conditional.parameters() if moments is None else dict(zip(("mean", "standard deviation"), moments, strict=True))
    )
    rows = [
        Row(f"{seen} in {state}", tuple(Cell(value=float(values[at])) for values in parameters.values()))
        for at, state in enumerate(states)
    ]
    return Step(name, tuple(rows), tuple(parameters))


def _level_cells(hmm: HiddenMarkovModel, name: str, level: str, logs: list[float]) -> list[Cell]:
    """P(level | state), state by state."""
    if hmm.origin_ == COUNTED:
        for factor in emission_factors(hmm, {name: pa.array([level], pa.string())}):
            if factor.name.startswith(f"P({name}="):
                return [Cell(text, value) for text, value in zip(factor.formulas, factor.values, strict=True)]
    given = hmm.origin_ == GIVEN
    return [ShortCell(value=written(log_p)) if given else Cell(value=Logged(log_p)) for log_p in logs]
