"""The forward algorithm as a table: P(steps so far, state), and scaled to P(state | steps so far)."""

from __future__ import annotations

from bayesbox.dist.factor import Number, log_of
from bayesbox.explain.arithmetic import product_of, quotient, sum_of
from bayesbox.explain.short_cell import ShortCell, in_formula
from bayesbox.explain.steps import Cell, Row, Step, Work, line
from bayesbox.sequence.work.numbers import ChainNumbers

MOST_STATES = 4  # sums over more states are not printed in full

Table = list[list[Number]]


def forward(chain: ChainNumbers) -> Work:
    """alpha_t(j) = P(steps up to t, state j at t), step by step."""
    alpha = alphas(chain)
    size = range(len(chain.states))
    rows = [Row(chain.names[t], tuple(_cell(chain, alpha, t, state) for state in size)) for t in range(len(alpha))]
    rules = (
        line("alpha_1(j) = P(j) x P(x_1 | j)"),
        line("alpha_t(j) = (sum over i of alpha_t-1(i) x P(j | i)) x P(x_t | j)"),
    )
    total = sum_of(alpha[-1])
    added = " + ".join(map(in_formula, alpha[-1]))
    likelihood = Row("P(sequence)", (Cell(added, total),))
    logarithm = line("log P(sequence)", f"ln {Cell(value=total).decimal()}", log_of(total))
    return Work(
        f"forward: P(sequence) of {len(alpha)} steps",
        (
            Step("rule", rules),
            Step("alpha", tuple(rows), tuple(f"alpha({state})" for state in chain.states)),
            scaled(chain, alpha),
            Step("likelihood", (likelihood, logarithm)),
        ),
    )


def alphas(chain: ChainNumbers) -> Table:
    """P(steps up to t, state j at t), steps x states."""
    follows, size = chain.follows, len(chain.states)
    alpha: Table = [[product_of(pair) for pair in zip(chain.first, chain.seen[0], strict=True)]]
    for seen in chain.seen[1:]:
        before = alpha[-1]
        sums = [sum_of(product_of((before[i], follows[i][j])) for i in range(size)) for j in range(size)]
        alpha.append([product_of(pair) for pair in zip(sums, seen, strict=True)])
    return alpha


def betas(chain: ChainNumbers) -> Table:
    """P(steps after t | state i at t), steps x states."""
    follows, size = chain.follows, len(chain.states)
    one = product_of(())
    beta: Table = [[one] * size]
    for seen in reversed(chain.seen[1:]):
        after = beta[0]
        sums = [sum_of(product_of((follows[i][j], seen[j], after[j])) for j in range(size)) for i in range(size)]
        beta.insert(0, sums)
    return beta


def _cell(chain: ChainNumbers, alpha: Table, t: int, state: int) -> Cell:
    if t == 0:
        return ShortCell(f"{in_formula(chain.first[state])} x {in_formula(chain.seen[0][state])}", alpha[0][state])
    if len(chain.states) > MOST_STATES:
        return ShortCell("", alpha[t][state])
    follows = chain.follows
    terms = [f"{in_formula(alpha[t - 1][i])} x {in_formula(follows[i][state])}" for i in range(len(chain.states))]
    return ShortCell(f"({' + '.join(terms)}) x {in_formula(chain.seen[t][state])}", alpha[t][state])


def scaled(chain: ChainNumbers, alpha: Table) -> Step:
    """The scaling factor of a step, P(x_t | previous steps), and P(state | steps so far)."""
    rows = []
    before: Number = product_of(())
    for name, values in zip(chain.names, alpha, strict=True):
        total = sum_of(values)
        rows.append(Row(name, (_share(total, before), *(_share(value, total) for value in values))))
        before = total
    return Step("scaled", tuple(rows), ("P(x_t | before)", *(f"P({state} | so far)" for state in chain.states)))


def _share(value: Number, total: Number) -> Cell:
    return ShortCell(value=quotient(value, total)) if total else Cell("impossible")
