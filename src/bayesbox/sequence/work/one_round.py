"""One round of Baum-Welch: P(state) and P(pair of states) at each step, the expected counts, the new tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesbox.dist.base import Doubles, LevelTable
from bayesbox.dist.cells import Cells, Smoothing, ratio
from bayesbox.dist.factor import Logged, Number
from bayesbox.errors import BadData
from bayesbox.explain.arithmetic import product_of, quotient, sum_of
from bayesbox.explain.short_cell import ShortCell
from bayesbox.explain.steps import Cell, Row, Step, Work, line
from bayesbox.schema.levels import label_type_of
from bayesbox.sequence.baum_welch import Task
from bayesbox.sequence.forward_backward import expected, log_likelihood
from bayesbox.sequence.model import ChainModel, ChainRules, Steps
from bayesbox.sequence.work.forward import alphas, betas
from bayesbox.sequence.work.numbers import ChainNumbers

if TYPE_CHECKING:
    from bayesbox.sequence.hmm import HiddenMarkovModel

MOST_PAIRS = 16  # of states; with more, their probabilities at each step are not printed


def one_round(hmm: HiddenMarkovModel, chain: ChainNumbers, steps: Steps, rules: ChainRules) -> Work:
    """The calculation from the current model to the next."""
    alpha, beta = alphas(chain), betas(chain)
    total = sum_of(alpha[-1])
    if not total:
        raise BadData("the sequence is impossible, so nothing can be learned from it")
    size = range(len(chain.states))
    gamma = [
        [quotient(product_of(pair), total) for pair in zip(before, after, strict=True)]
        for before, after in zip(alpha, beta, strict=True)
    ]
    shown = [Row(name, tuple(map(_cell, row))) for name, row in zip(chain.names, gamma, strict=True)]
    found = [
        Step("rule", (line("gamma_t(i) = alpha_t(i) x beta_t(i) / P(sequence), which is P(state i at t | sequence)"),)),
        Step("gamma", tuple(shown), tuple(f"gamma({state})" for state in chain.states)),
    ]
    if len(alpha) > 1 and len(size) ** 2 <= MOST_PAIRS:
        found.extend(_pairs(chain, alpha, beta, total))
    counts = expected(hmm.model_, steps)
    schema = hmm._schema
    assert schema is not None
    task = Task(steps, schema, chain.states, label_type_of(hmm.states_.tolist()), rules)
    new = task.model(task.book(counts.start, counts.transition, counts.rows))
    place = [new.states.index(state) for state in chain.states]
    found.extend(_states(chain, counts.start, counts.transition, new, place, rules))
    for conditional in new.conditionals:
        table = conditional.level_table()
        if table is not None:
            seen = _level_counts(steps, counts.rows, conditional.columns[0], table)
            found.append(_levels(chain, seen, table, place, rules.emission.smoothing))
        moments = conditional.mean_and_std()
        if table is None and moments is not None:
            rows = [
                Row(f"{conditional.columns[0]} in {state}", tuple(Cell(value=float(part[at])) for part in moments))
                for state, at in zip(chain.states, place, strict=True)
            ]
            found.append(Step(conditional.columns[0], tuple(rows), ("new mean", "new standard deviation")))
    before, after = (float(log_likelihood(model, steps).sum()) for model in (hmm.model_, new))
    compared = (line("log P(sequence) before", value=before), line("log P(sequence) after", value=after))
    return Work("one round of Baum-Welch", (*found, Step("likelihood", compared)))


def _cell(value: Number) -> Cell:
    return ShortCell(value=value)


def _pairs(chain: ChainNumbers, alpha: list[list[Number]], beta: list[list[Number]], total: Number) -> list[Step]:
    """xi_t(i, j) = P(state i at t, state j at t + 1 | sequence)."""
    follows, size = chain.follows, range(len(chain.states))
    rows = []
    for t in range(len(alpha) - 1):
        parts = [
            product_of((alpha[t][i], follows[i][j], chain.seen[t + 1][j], beta[t + 1][j])) for i in size for j in size
        ]
        rows.append(Row(f"{t + 1} to {t + 2}", tuple(_cell(quotient(part, total)) for part in parts)))
    names = tuple(f"{one} to {other}" for one in chain.states for other in chain.states)
    rule = line("xi_t(i, j) = alpha_t(i) x P(j | i) x P(x_t+1 | j) x beta_t+1(j) / P(sequence)")
    return [Step("rule", (rule,)), Step("xi", tuple(rows), names)]


def _states(
    chain: ChainNumbers, start: Doubles, transition: Doubles, new: ChainModel, place: list[int], rules: ChainRules
) -> list[Step]:
    """The new tables of initial and transition probabilities, each cell as an expected count over a total."""
    heads = tuple(f"then {state}" for state in chain.states)
    first = _ratios(start[None, :], chain.states, rules.start, np.exp(new.log_start[place])[None, :])
    then = _ratios(transition, chain.states, rules.transition, np.exp(new.log_transition[np.ix_(place, place)]))
    rows = tuple(Row(f"after {state}", tuple(row)) for state, row in zip(chain.states, then, strict=True))
    return [
        Step("rule", (line("new probability = expected count / expected total, by the smoothing rule of the model"),)),
        Step("start", (Row("P(first)", tuple(first[0])),), chain.states),
        Step("transition", rows, heads),
    ]


def _levels(chain: ChainNumbers, counts: Doubles, table: LevelTable, place: list[int], rule: Smoothing) -> Step:
    """The new emission table: the expected count of each level in each state, and its new probability."""
    cells = _ratios(counts, table.levels, rule, np.exp(table.log_p).T[place])
    rows = [Row(f"seen in {state}", tuple(row)) for state, row in zip(chain.states, cells, strict=True)]
    return Step("emission", tuple(rows), table.levels)


def _level_counts(steps: Steps, weights: Doubles, column: str, table: LevelTable) -> Doubles:
    """The expected counts of levels, states x levels."""
    values = steps.columns[column].to_pylist() if column in steps.columns else []
    counts = np.zeros((weights.shape[1], len(table.levels)))
    for row, value in enumerate(values):
        if value is not None and str(value) in table.levels:
            counts[:, table.levels.index(str(value))] += weights[row]
    return counts


def _ratios(counts: Doubles, names: tuple[str, ...], rule: Smoothing, shares: Doubles) -> list[list[Cell]]:
    totals = counts.sum(axis=1)
    over, under = ratio(rule, Cells(counts, totals, len(names), list(names)))
    over, under = np.broadcast_to(over, counts.shape), np.broadcast_to(under, counts.shape)
    made: list[list[Cell]] = [[] for _ in counts]
    for (row, column), share in np.ndenumerate(shares):
        count, total, above, below = (
            float(each) for each in (counts[row, column], totals[row], over[row, column], under[row, column])
        )
        same = below > 0 and np.isclose(above / below, share, rtol=1e-9, atol=0)
        made[row].append(Cell(_text(count, total, above, below) if same else "", Logged(float(np.log(share)))))
    return made


def _text(count: float, total: float, above: float, below: float) -> str:
    if (above, below) == (count, total):
        return f"{count:.7g}/{total:.7g}"
    return f"({count:.7g} + {above - count:.7g})/({total:.7g} + {below - total:.7g})"
