"""Elimination orders, and their cost before anything is computed.

The order is the best of min-fill, weighted min-fill and min-size; the cost is the total size of its tables.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from bayesbox._core import elimination_order
from bayesbox.described import Remedy
from bayesbox.errors import TooCostly
from bayesbox.limits import current_limits, log2_size_text

KEPT = -1  # the stage of a variable that is not summed out


class Order(NamedTuple):
    """An elimination order, and log2 of the cells of all its tables."""

    variables: list[int]
    log2_cells: float


def best_order(cards: Sequence[int], scopes: Iterable[Sequence[int]], stage: Sequence[int]) -> Order:
    """The best order that eliminates variables of stage 0, then those of stage 1, and keeps those of stage KEPT.

    >>> best_order([2, 2, 2], [(0, 1), (1, 2)], [0, 0, KEPT]).variables
    [0, 1]
    """
    members, ends = flat(scopes)
    order, log2_cells = elimination_order(np.asarray(cards, np.int64), members, ends, np.asarray(stage, np.int64))
    return Order(order.tolist(), float(log2_cells))


def flat(scopes: Iterable[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """The concatenated scopes, and where each ends."""
    listed = [list(scope) for scope in scopes]
    members = np.array([variable for scope in listed for variable in scope], dtype=np.int64)
    return members, np.cumsum([len(scope) for scope in listed]).astype(np.int64)


def most_bytes(given: int | None) -> int:
    """The memory limit for the tables of one answer: the given number, else the current limit."""
    return current_limits().memory if given is None else given


def require_affordable(log2_cells: float, bytes_a_cell: int, limit: int | None = None) -> None:
    """Raise TooCostly if the tables would exceed the limit."""
    limit = most_bytes(limit)
    log2_bytes = log2_cells + math.log2(bytes_a_cell)
    if log2_bytes > math.log2(limit):
        raise too_costly(
            f"an exact answer needs {log2_size_text(log2_bytes)} of tables; the limit is "
            f"{log2_size_text(math.log2(limit))}",
            log2_bytes,
            limit,
            Remedy("max_bytes", "--max-bytes"),
        )


def too_costly(what: str, log2_bytes: float, limit: int, raised: Remedy) -> TooCostly:
    """The TooCostly error of an exact answer, with the limits to raise and the approximations to try."""
    return TooCostly(
        what,
        bytes=2.0**log2_bytes if log2_bytes < 1000 else math.inf,
        limit=limit,
        remedy="Give more evidence, ask about fewer variables, raise "
        + raised
        + ", or try an approximation: "
        + Remedy("approx='weighting'", "--approx weighting")
        + ", blockgibbs, bounds, gibbs, loopy or meanfield",
    )
