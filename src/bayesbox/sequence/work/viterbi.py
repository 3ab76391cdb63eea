"""The Viterbi trellis: the best way into each state, its predecessor, and the backtracked path."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bayesbox.dist.factor import Number, log_of
from bayesbox.errors import BadData
from bayesbox.explain.arithmetic import product_of
from bayesbox.explain.short_cell import ShortCell, in_formula
from bayesbox.explain.steps import Cell, Row, Step, Work, line
from bayesbox.sequence.work.numbers import ChainNumbers

NEAR = 1e-12  # relative difference below which two paths are tied


@dataclass(frozen=True, repr=False)
class Trellis(Work):
    """The calculation by Viterbi, with a drawing: `delta` and `back` are steps x states, `path` the states'
    positions."""

    states: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    delta: tuple[tuple[float, ...], ...] = ()
    back: tuple[tuple[int, ...], ...] = ()
    path: tuple[int, ...] = ()

    def svg(self) -> str:
        """The trellis as SVG, the best path in colour."""
        from bayesbox.sequence.work.trellis_picture import trellis_svg

        return trellis_svg(self)

    def _repr_html_(self) -> str:
        return f"{super()._repr_html_()}\n{self.svg()}"


def viterbi(chain: ChainNumbers, known_path: Sequence[int]) -> Trellis:
    """delta_t(j) = P(best path to state j at t, steps up to t); ties follow `known_path`."""
    size, follows = len(chain.states), chain.follows
    delta: list[list[Number]] = [[product_of(pair) for pair in zip(chain.first, chain.seen[0], strict=True)]]
    back: list[list[int]] = [[-1] * size]
    first = [f"{in_formula(p)} x {in_formula(seen)}" for p, seen in zip(chain.first, chain.seen[0], strict=True)]
    cells = [[ShortCell(text, value) for text, value in zip(first, delta[0], strict=True)]]
    for t, seen in enumerate(chain.seen[1:], start=1):
        delta.append([])
        back.append([])
        cells.append([])
        for state in range(size):
            ways = [product_of((delta[t - 1][i], follows[i][state])) for i in range(size)]
            liked = known_path[t - 1] if known_path[t] == state else -1
            come = _best(ways, liked)
            value = product_of((ways[come], seen[state]))
            numbers = (delta[t - 1][come], follows[come][state], seen[state])
            delta[t].append(value)
            back[t].append(come)
            cells[t].append(ShortCell(" x ".join(map(in_formula, numbers)), value))
    last = _best(delta[-1], known_path[-1])
    path = [last]
    for t in range(len(delta) - 1, 0, -1):
        path.insert(0, back[t][path[0]])
    rows = []
    for t, name in enumerate(chain.names):
        rows.append(Row(name, tuple(cells[t])))
        if t:
            rows.append(Row("   from", tuple(Cell(chain.states[come]) for come in back[t])))
    names = [chain.states[state] for state in path]
    best = delta[-1][last]
    if not best:
        raise BadData("the sequence is impossible, so no path is more probable than another")
    read = " <- ".join(reversed(names))
    steps = (
        Step(
            "rule",
            (
                line("delta_1(j) = P(j) x P(x_1 | j)"),
                line("delta_t(j) = (largest over i of delta_t-1(i) x P(j | i)) x P(x_t | j), from that i"),
            ),
        ),
        Step("trellis", tuple(rows), tuple(f"delta({state})" for state in chain.states)),
        Step(
            "path",
            (
                Row("P(best path, sequence)", (Cell(f"delta({names[-1]})", best),)),
                line("log P(best path, sequence)", f"ln {Cell(value=best).decimal()}", log_of(best)),
                line(f"read back from the end: {read}"),
                line(f"so the path is {', '.join(names)}"),
            ),
        ),
    )
    return Trellis(
        f"Viterbi: the most probable path of {len(delta)} steps",
        steps,
        chain.states,
        tuple(chain.names),
        tuple(tuple(float(value) for value in row) for row in delta),
        tuple(map(tuple, back)),
        tuple(path),
    )


def _best(ways: Sequence[Number], liked: int) -> int:
    """The position of the maximum; in case of a tie the preferred one, else the first."""
    logs = [log_of(way) for way in ways]
    most = max(logs)
    near = [place for place, value in enumerate(logs) if value == most or (math.isfinite(most) and most - value < NEAR)]
    return liked if liked in near else near[0]
