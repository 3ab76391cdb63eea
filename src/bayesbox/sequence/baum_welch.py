"""Baum-Welch: learn a chain with hidden states, from the expected counts under the current model.

Each iteration computes the expected counts of first states, of transitions and of the steps in each state, and applies
the rules to them as to counts (Baum et al., 1970; Rabiner, 1989, eq. 40). With maximum likelihood (`mle`) the
likelihood never decreases; with a smoothing rule likelihood times prior never does. Known states of steps stay fixed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from bayesbox.dist.base import Doubles
from bayesbox.errors import BadOption
from bayesbox.schema.columns import as_numbers
from bayesbox.schema.encode import Encoded, encode
from bayesbox.schema.levels import label_values
from bayesbox.schema.schema import Schema
from bayesbox.sequence.counts import ChainBook
from bayesbox.sequence.forward_backward import expected
from bayesbox.sequence.model import ChainModel, ChainRules, Steps, chain_model
from bayesbox.tally.book import Book
from bayesbox.tally.count import count

SHORT = 10  # iterations of each restart before only the best continues
EVEN = 0.05  # share of every state in an initial guess, so that none is empty

Progress = Callable[[int, float], None]


@dataclass(frozen=True)
class LearnedChain:
    """The final model with its expected counts, and the log-likelihood before each iteration."""

    model: ChainModel
    book: ChainBook
    history: list[float] = field(default_factory=list)
    converged: bool = False


@dataclass(frozen=True)
class Task:
    """The training task: the steps, their schema, the names of the states and the rules."""

    steps: Steps
    schema: Schema
    states: tuple[str, ...]
    label_type: str
    rules: ChainRules

    def in_order(self, states: tuple[str, ...]) -> Task:
        """The task with its states in another order."""
        known = self.steps.known
        if known is not None:
            place = np.array([*(states.index(state) for state in self.states), -1], dtype=np.int32)
            known = place[known]
        return replace(self, states=states, steps=replace(self.steps, known=known))

    def model(self, book: ChainBook) -> ChainModel:
        return chain_model(self.schema.with_classes(self.states), book, self.rules)

    def book(self, start: Doubles, transition: Doubles, rows: Doubles) -> ChainBook:
        """The book of expected counts; `rows` has the weight of each distinct step in each state."""
        emission = Book.empty(self.label_type)
        nobody = np.zeros(self.steps.rows, dtype=np.int32)
        values = label_values(self.states, self.label_type).tolist()
        for index, (state, value) in enumerate(zip(self.states, values, strict=True)):
            labels = Encoded(nobody, [state], [value])
            weights = np.ascontiguousarray(rows[:, index])
            emission = emission + count(
                self.steps.columns, labels, self.schema, weights=weights, label_type=self.label_type
            )
        return ChainBook.of(self.states, start, transition, emission)


def baum_welch(
    task: Task,
    *,
    initial: ChainModel | None = None,
    iterations: int = 100,
    tolerance: float = 1e-6,
    restarts: int = 3,
    seed: int = 0,
    progress: Progress | None = None,
) -> LearnedChain:
    """The best result of several random starts, or the result from an initial model.

    It stops after `iterations` iterations, or once the relative change of the log-likelihood is at most `tolerance`.
    """
    if initial is not None:
        if len(initial.states) != len(task.states):
            raise BadOption(
                f"the initial model has {len(initial.states)} states, but {len(task.states)} are to be learned",
                found=list(initial.states[:8]),
                remedy="Pass the same number: states=...",
            )
        begun = LearnedChain(initial, ChainBook.empty())
        if initial.states == task.states or set(initial.states) != set(task.states):
            return _rounds(task, begun, iterations, tolerance, progress)
        first = _rounds(task.in_order(initial.states), begun, 1, tolerance, progress)  # by name, not by position
        return _rounds(task, first, iterations - 1, tolerance, progress)
    random = np.random.default_rng(seed)
    short = min(SHORT, iterations) if restarts > 1 else 0
    best: LearnedChain | None = None
    for _ in range(restarts):
        begun = _rounds(task, _first_guess(task, random), short, tolerance, progress)
        if best is None or _last(begun) > _last(best):
            best = begun
    assert best is not None
    return best if best.converged else _rounds(task, best, iterations - short, tolerance, progress)


def _last(learned: LearnedChain) -> float:
    return learned.history[-1] if learned.history else -np.inf


def _rounds(task: Task, begun: LearnedChain, rounds: int, tolerance: float, progress: Progress | None) -> LearnedChain:
    model, book, history = begun.model, begun.book, list(begun.history)
    for _ in range(rounds):
        counts = expected(model, task.steps)
        now = float(counts.log_likelihood.sum())
        book = task.book(counts.start, counts.transition, counts.rows)
        model = task.model(book)
        history.append(now)
        if progress is not None:
            progress(len(history), now)
        if len(history) > 1 and np.isfinite(now) and abs(now - history[-2]) <= tolerance * (1 + abs(now)):
            return LearnedChain(model, book, history, converged=True)
    return LearnedChain(model, book, history)


def _first_guess(task: Task, random: np.random.Generator) -> LearnedChain:
    """An initial random assignment of steps to states: levels and texts at random, numbers by distance to a few of
    them."""
    size, steps = len(task.states), task.steps
    shares = np.ones((steps.rows, size))
    for name, column in steps.columns.items():
        kind = task.schema.kinds[name]
        if kind.has_levels or kind.is_text:
            codes, levels, _ = encode(column)
            by_level = np.vstack([random.dirichlet(np.ones(size), size=len(levels)), np.ones((1, size)) / size])
            shares *= EVEN + by_level[codes]
        else:
            shares *= EVEN + _nearness(np.asarray(as_numbers(column, name=name), dtype=np.float64), size, random)
    shares /= shares.sum(axis=1, keepdims=True)
    if steps.known is not None:
        known = np.flatnonzero(steps.known >= 0)
        shares[known] = 0.0
        shares[known, steps.known[known]] = 1.0
    times = 1.0 if steps.codes is None else np.bincount(steps.codes, minlength=steps.rows)[:, None]
    transition = random.dirichlet(np.ones(size), size=size) + np.eye(size)
    book = task.book(random.dirichlet(np.ones(size)), transition, shares * times)
    return LearnedChain(task.model(book), book)


def _nearness(values: Doubles, size: int, random: np.random.Generator) -> Doubles:
    present = values[np.isfinite(values)]
    if len(present) == 0 or np.ptp(present) == 0:
        return np.ones((len(values), size)) / size
    even = (np.arange(size) + random.uniform(0.25, 0.75, size=size)) / size
    centres = np.quantile(present, random.permutation(even))
    spread = np.ptp(np.quantile(present, [0.1, 0.9])) / size or np.ptp(present) / size
    with np.errstate(over="ignore", invalid="ignore"):
        near = np.exp(-0.5 * np.minimum(((values[:, None] - centres[None, :]) / spread) ** 2, 50.0))
    near = np.where(np.isnan(near), 1.0, near)
    share: Doubles = near / near.sum(axis=1, keepdims=True)
    return share
