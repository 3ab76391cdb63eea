"""Choosing a density for a column: the one that predicts the class best in cross-validation on the column.

The folds are drawn from the counts of distinct values by class: the same counts give the same folds and the same
choice, whatever the order of the rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist import functions
from bayesbox.dist.base import Distribution, Doubles, Plan
from bayesbox.dist.fit import FitOptions, ValueTable, fitted
from bayesbox.tally.values import Values

CANDIDATES = ("gaussian", "student", "lognormal", "kernel", "frequency:10", "mdl", "modl")
FOLDS = 5


class Choice(NamedTuple):
    """The chosen density, and the cross-validated log loss of each, in nats per row."""

    density: str
    losses: dict[str, float]


class Automatic:
    """The best family for a column, chosen at each fit."""

    tally = Values
    least_values = 0
    silent = "all its values are equal"

    @staticmethod
    def fit(column: str, tally: Any, options: FitOptions) -> Distribution | None:
        values, counts = tally.table
        chosen = choose(values, counts, options).density if len(values) > 1 else "gaussian"
        return fitted(column, tally, replace(options, density=chosen)).distribution


def choose(values: Doubles, counts: Doubles, options: FitOptions) -> Choice:
    """The density with the lowest cross-validated log loss; the first in case of a tie.

    The loss of a row is -log P(class | x), from this column alone. If a density cannot be fitted on a fold, the prior
    is used there.

    >>> from bayesbox.rule.smoothing import Laplace
    >>> two_humps = np.array([[9, 0], [8, 1], [0, 9], [1, 9], [9, 1], [9, 0]] * 4)
    >>> choose(np.arange(24.0), two_humps, FitOptions(Laplace())).density in CANDIDATES
    True
    """
    options = options.without_missing()
    parts = folds_of(counts)
    losses = {
        method: sum(_loss(method, values, counts - part, part, options) for part in parts) / float(counts.sum())
        for method in CANDIDATES
    }
    return Choice(min(losses, key=lambda method: losses[method]), losses)


def _loss(method: str, values: Doubles, learned: Doubles, asked: Doubles, options: FitOptions) -> float:
    """The sum of -log P(class | x) over the rows of one fold under the density of the other folds."""
    some = asked.any(axis=1)
    prior = functions.log(learned.sum(axis=0) + 1)
    plan = Plan(int(some.sum()), prior - functions.log(functions.exp(prior).sum()))
    density = fitted("", ValueTable(values, learned), replace(options, density=method)).distribution
    if density is not None:
        density.add_to(plan, {"": np.ascontiguousarray(values[some])})
    log_posterior = plan.run(_core.LOG_POSTERIOR)
    if np.isnan(log_posterior).any():  # some row is impossible in every class
        return float("inf")
    wanted = asked[some]
    return float(-(wanted[wanted > 0] * log_posterior[wanted > 0]).sum())


def folds_of(counts: Doubles, folds: int = FOLDS) -> list[Doubles]:
    """Counts of values x classes, divided into folds of about the same size in each class.

    Integer counts are divided row by row; a cell with fractional weights stays together. Rows are numbered within a
    class by value, and each run of k rows is shuffled over the k folds.
    """
    whole = bool((counts == np.floor(counts)).all())
    even = np.floor(counts / folds) if whole else np.zeros_like(counts)
    rest = counts - folds * even if whole else counts
    parts = [even.copy() for _ in range(folds)]
    for label in range(counts.shape[1]):
        occurs = np.flatnonzero(rest[:, label])
        cells = np.repeat(occurs, rest[occurs, label].astype(np.int64)) if whole else occurs
        fold = _shuffled(len(cells), folds)
        for index, part in enumerate(parts):
            mine = cells[fold == index]
            np.add.at(part[:, label], mine, 1.0 if whole else rest[mine, label])
    return parts


def _shuffled(rows: int, folds: int) -> NDArray[np.int64]:
    """The fold of each row: each run of `folds` rows is a permutation, from pseudo-random numbers (splitmix64)."""
    runs = -(-rows // folds)
    state = np.arange(1, runs * folds + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    state ^= state >> np.uint64(31)
    return np.argsort(state.reshape(runs, folds), axis=1, kind="stable").ravel()[:rows]
