"""Tables from rows with missing values, by expectation-maximisation.

Each iteration distributes every row over its possible completions under the current network (expected counts, from a
junction tree in the core), and rebuilds the tables from these counts. The log-likelihood never decreases; with a rule
that has pseudo-counts a, the log-likelihood plus the log prior, sum of a log p, never decreases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bayesbox._core import JunctionTree, expected_counts, fill_holes
from bayesbox.errors import BadData
from bayesbox.network.exact.compiled import CompiledModel
from bayesbox.network.exact.junction import Propagation
from bayesbox.network.factor_graph import FactorModel, FactorTable
from bayesbox.schema.coded import CodedRows

Doubles = NDArray[np.float64]
States = NDArray[np.int32]
Progress = Callable[[int, float], None]

FEW_PATTERNS = 24  # sets of known columns, up to which each has its own plan
ROWS_A_TIME = 8192


class CodedParts(Protocol):
    """Rows as codes, in parts, that can be iterated repeatedly: `CodedRows`, or rows that are read again."""

    def parts(self) -> Iterator[CodedRows]: ...


@dataclass(frozen=True)
class Families:
    """A structure: the scope (parents..., node) of each node by position, and the states of all nodes."""

    names: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]
    scopes: tuple[tuple[int, ...], ...]

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shape of each table."""
        return [tuple(len(self.states[node]) for node in scope) for scope in self.scopes]

    def model(self, tables: Sequence[Doubles]) -> FactorModel:
        """The product of tables."""
        factors = tuple(
            FactorTable(scope, table.reshape(shape))
            for scope, table, shape in zip(self.scopes, tables, self.shapes, strict=True)
        )
        return FactorModel(self.names, self.states, factors)


class Maximise(Protocol):
    """The M-step: from counts (combinations x states, one per node) to tables."""

    def __call__(self, counts: list[Doubles]) -> list[Doubles]: ...


@dataclass
class LearnedTables:
    """Tables, the expected counts behind them, and the objective after each iteration."""

    tables: list[Doubles]
    counts: list[Doubles]
    history: list[float] = field(default_factory=list)
    converged: bool = False


def expectation(families: Families, tables: Sequence[Doubles], rows: CodedParts) -> tuple[list[Doubles], float]:
    """The expected counts of each family, and the log-likelihood."""
    model = families.model(tables)
    propagation = Propagation(CompiledModel(model))
    total, log_likelihood = np.zeros(sum(table.size for table in tables)), 0.0
    first = 0
    for part in rows.parts():
        for begin in range(0, part.rows, ROWS_A_TIME):
            some_weights = None if part.weights is None else part.weights[begin : begin + ROWS_A_TIME]
            states, weights = _distinct(states_of(part, begin, begin + ROWS_A_TIME), some_weights)
            for tree, some in _plans(propagation, states):
                counts, log_evidence = expected_counts(tree, np.ascontiguousarray(states[some]), weights[some])
                if np.isneginf(log_evidence).any():
                    raise BadData(
                        "a row is impossible under the current tables",
                        where=f"rows {first + begin + 1} to {first + begin + ROWS_A_TIME}",
                        remedy="Use a smoothing rule without zeros, such as laplace",
                    )
                total += counts
                log_likelihood += float(log_evidence @ weights[some])
        first += part.rows
    ends = np.cumsum([table.size for table in tables])[:-1]
    split = np.split(total, ends)
    return [each.reshape(table.shape) for each, table in zip(split, tables, strict=True)], log_likelihood


def completed(families: Families, tables: Sequence[Doubles], coded: CodedRows, *, copies: int, seed: int) -> CodedRows:
    """The rows, `copies` times over, with missing values sampled from the network."""
    propagation = Propagation(CompiledModel(families.model(tables)))
    states = states_of(coded, 0, coded.rows)
    made = np.empty((copies, *states.shape), dtype=np.int32)
    for tree, some in _plans(propagation, states):
        rows = np.ascontiguousarray(states[some])
        for copy in range(copies):
            made[copy][some] = fill_holes(tree, rows, seed * copies + copy)
    whole = made.reshape(-1, states.shape[1])
    columns = tuple(
        np.ascontiguousarray(whole[:, place]).astype(variable.dtype) for place, variable in enumerate(coded.variables)
    )
    return CodedRows(coded.variables, columns, len(whole))


def states_of(coded: CodedRows, begin: int, end: int) -> States:
    """The states as rows x variables, MISSING if there is none."""
    end = min(end, coded.rows)
    states = np.empty((end - begin, len(coded.columns)), dtype=np.int32)
    for place, column in enumerate(coded.columns):
        states[:, place] = column[begin:end]
    return states


def _distinct(states: States, weights: Doubles | None) -> tuple[States, Doubles]:
    """The distinct rows with their counts, or sums of weights; rows of weight 0 are dropped."""
    if not states.size:
        return states, np.ones(len(states)) if weights is None else weights
    whole = np.ascontiguousarray(states).view(np.dtype((np.void, states.dtype.itemsize * states.shape[1]))).reshape(-1)
    _, first, place, counts = np.unique(whole, return_index=True, return_inverse=True, return_counts=True)
    if weights is None:
        return states[first], counts.astype(np.float64)
    totals: Doubles = np.bincount(place.reshape(-1), weights=weights).astype(np.float64)
    return states[first[totals > 0]], totals[totals > 0]


def _plans(propagation: Propagation, states: States) -> Iterator[tuple[JunctionTree, NDArray[np.int64]]]:
    """Junction trees, each with its rows.

    If there are few sets of known columns, each has a tree without the known ones. If there are many, all share one
    tree with one-hot likelihoods as evidence: compiling a tree costs far more than running it.
    """
    count = states.shape[1]
    known = (states >= 0).astype(np.uint8)
    patterns, group = np.unique(np.packbits(known, axis=1), axis=0, return_inverse=True)
    none, every = np.zeros(count, dtype=np.uint8), np.ones(count, dtype=np.uint8)
    if len(patterns) > FEW_PATTERNS:
        always = np.asarray(known.all(axis=0), dtype=np.uint8)
        yield propagation.plan(always, every - always, None), np.arange(len(states))
        return
    for place in range(len(patterns)):
        rows = np.flatnonzero(group.reshape(-1) == place)
        yield propagation.plan(known[rows[0]], none, None), rows


def maximise_expectation(
    families: Families,
    rows: CodedParts,
    maximise: Maximise,
    start: list[Doubles],
    *,
    prior: Sequence[Doubles | None],
    iterations: int = 100,
    tolerance: float = 1e-6,
    progress: Progress | None = None,
) -> LearnedTables:
    """EM iterations from initial tables, until the relative gain of the objective is at most `tolerance`."""
    tables, history = start, list[float]()
    counts: list[Doubles] = []
    for _ in range(iterations):
        counts, log_likelihood = expectation(families, tables, rows)
        history.append(log_likelihood + _log_prior(tables, prior))
        if progress is not None:
            progress(len(history), history[-1])
        tables = maximise(counts)
        if len(history) > 1 and history[-1] - history[-2] <= tolerance * (1 + abs(history[-1])):
            return LearnedTables(tables, counts, history, converged=True)
    return LearnedTables(tables, counts, history)


def _log_prior(tables: Sequence[Doubles], prior: Sequence[Doubles | None]) -> float:
    total = 0.0
    for table, beforehand in zip(tables, prior, strict=True):
        if beforehand is not None:
            seen = beforehand > 0
            total += float((beforehand[seen] * np.log(table[seen])).sum())
    return total
