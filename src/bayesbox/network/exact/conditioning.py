"""Exact answers within a memory limit: condition on some variables, answer case by case, and sum the cases.

    P(x, e) = sum over the states c of the conditioned variables C of P(x, C = c, e)

With C known, every table with a variable of C loses that axis. Each case takes the same time, so the method trades time
for memory: all cases together take as long as one run with unlimited memory, or longer if tables without variables of C
are summed again for each case.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox._core import cutset
from bayesbox.described import Remedy
from bayesbox.errors import AnswerByCases
from bayesbox.limits import log2_size_text
from bayesbox.network.exact.orders import flat, most_bytes, too_costly
from bayesbox.network.factor_graph import FactorModel
from bayesbox.schema.arrays import AnyArray

MAX_SECONDS = 1200.0  # for one answer by cases, by default
WORTH_A_WORD = 10.0  # seconds; a longer computation is announced beforehand
SLACK = 4.0  # of the time: the first order found may be this many times worse than those of the cases


class Conditioned(NamedTuple):
    """The variables to condition on, the order of the others, and log2 of the cells that one case takes."""

    variables: tuple[int, ...]
    order: list[int]
    log2_cells: float


class AnswerPlan(NamedTuple):
    """The plan of an exact answer: the number of cases, the memory, and the estimated seconds."""

    conditioned_on: tuple[str, ...]
    cases: int
    bytes: float
    seconds: float

    def __str__(self) -> str:
        size = log2_size_text(math.log2(max(self.bytes, 1.0)))
        if not self.conditioned_on:
            return f"one junction tree of {size}, about {seconds_text(self.seconds)}"
        names = ", ".join(self.conditioned_on[:6]) + (", ..." if len(self.conditioned_on) > 6 else "")
        count = len(self.conditioned_on)
        return (
            f"conditioning on {count} variable{'s' if count > 1 else ''} ({names}): "
            f"{self.cases:,} cases of {size}, about {seconds_text(self.seconds)}"
        )


def seconds_text(seconds: float) -> str:
    """A duration in words.

    >>> seconds_text(0.2), seconds_text(90), seconds_text(7300), seconds_text(1e12)
    ('1 second', '90 seconds', '2 hours', '31,710 years')
    """
    for size, name in ((365 * 86400.0, "year"), (86400.0, "day"), (3600.0, "hour"), (120.0, "minute")):
        if seconds >= 2 * size or (name == "minute" and seconds >= size):
            count = round(seconds / (60.0 if name == "minute" else size))
            return f"{count:,} {name}s"
    count = max(1, round(seconds))
    return f"{count} second{'s' if count > 1 else ''}"


def conditioned(
    cards: Sequence[int],
    scopes: Iterable[Sequence[int]],
    stage: Sequence[int],
    allowed: Sequence[bool] | NDArray[np.bool_],
    log2_limit: float,
    log2_work: float,
) -> Conditioned:
    """The `allowed` variables to condition on so that the rest takes at most this many cells.

    The search stops at `log2_work` cells in all cases together.
    """
    members, ends = flat(scopes)
    variables, order, log2_cells = cutset(
        np.asarray(cards, np.int64),
        members,
        ends,
        np.asarray(stage, np.int64),
        np.asarray(allowed, np.uint8),
        log2_limit,
        log2_work,
    )
    return Conditioned(tuple(variables.tolist()), order.tolist(), float(log2_cells))


def log2_work(max_seconds: float | None, seconds_a_cell: float) -> float:
    """log2 of the cells that can be processed within the time limit, with some slack."""
    limit = MAX_SECONDS if max_seconds is None else max_seconds
    return math.log2(max(SLACK * limit / seconds_a_cell, 1.0))


def number_of_cases(cards: Sequence[int], variables: Sequence[int]) -> int:
    """The number of combinations of their states."""
    return math.prod(cards[variable] for variable in variables)


def cases_of(cards: Sequence[int], variables: Sequence[int]) -> Iterator[dict[int, int]]:
    """Every combination of their states."""
    for states in itertools.product(*(range(cards[variable]) for variable in variables)):
        yield dict(zip(variables, states, strict=True))


def require_time(
    plan: AnswerPlan,
    max_bytes: int | None,
    max_seconds: float | None,
    *,
    at_once: float,
    fits: bool,
    times: int = 1,
) -> None:
    """Refuse an answer whose cases take longer than the limit; announce how long a slow one takes.

    `at_once` is log2 of the bytes without cases, `fits` whether a case stays within the memory limit, and `times` the
    number of answers requested.
    """
    limit, seconds = MAX_SECONDS if max_seconds is None else max_seconds, plan.seconds * times
    if fits and seconds <= limit:
        if seconds >= WORTH_A_WORD:
            warnings.warn(AnswerByCases(str(plan._replace(seconds=seconds)), seconds=seconds), stacklevel=4)
        return
    memory = most_bytes(max_bytes)
    size = log2_size_text(math.log2(max(memory, 1)))
    within = (
        f", or {size} and {seconds_text(seconds)}; the limits are {size} and"
        if fits
        else f"; the limits are {size} and"
    )
    raise too_costly(
        f"an exact answer would need {log2_size_text(at_once)} of tables{within} {seconds_text(limit)}",
        at_once,
        memory,
        Remedy("max_bytes or max_seconds", "--max-bytes or --max-seconds"),
    )


def plan_of(model: FactorModel, cut: Conditioned, bytes_a_cell: int, seconds_a_cell: float) -> AnswerPlan:
    """The plan for a choice of variables."""
    cells, cases = 2.0 ** min(cut.log2_cells, 1000.0), number_of_cases(model.cards, cut.variables)
    log2_seconds = cut.log2_cells + sum(math.log2(model.cards[v]) for v in cut.variables) + math.log2(seconds_a_cell)
    names = tuple(model.names[variable] for variable in cut.variables)
    return AnswerPlan(names, cases, cells * bytes_a_cell, 2.0**log2_seconds if log2_seconds < 1000 else math.inf)


def sum_of_cases(cases: Iterable[tuple[AnyArray, float]]) -> tuple[AnyArray, float]:
    """The sum of exp(log scale) x table over all cases, in the same form."""
    total, top = None, -math.inf
    for table, log_scale in cases:
        if total is None:
            total, top = table, log_scale
        elif table.dtype == object:  # fractions have no scale
            total = np.asarray(total + table, dtype=object)
        elif table.any():
            most = max(top, log_scale) if total.any() else log_scale
            total = np.asarray(total * math.exp(min(top - most, 0.0)) + table * math.exp(log_scale - most))
            top = most
    assert total is not None
    return total, top
