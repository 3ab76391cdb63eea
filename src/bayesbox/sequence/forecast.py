"""Forecasts, the streaming filter, and samples of a chain."""

from __future__ import annotations

import bisect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bayesbox.dist.base import Distribution, Doubles
from bayesbox.dist.functions import log_sum_along
from bayesbox.errors import BadOption, ImpossibleEvidence, require_whole
from bayesbox.schema.levels import Labels
from bayesbox.sequence.forward_backward import log_terms
from bayesbox.sequence.model import ChainModel, Steps
from bayesbox.source.cells import values_column


class LevelForecast(NamedTuple):
    """P(level), steps x levels."""

    levels: tuple[str, ...]
    probabilities: Doubles


class NumberForecast(NamedTuple):
    """The mean and the standard deviation of a number, one per step."""

    mean: Doubles
    std: Doubles


@dataclass(frozen=True)
class Forecast:
    """P(state) for the next steps, steps x states, and the forecast of each column."""

    labels: Labels
    states: Doubles
    columns: Mapping[str, LevelForecast | NumberForecast]

    @classmethod
    def of(cls, model: ChainModel, log_now: Doubles | None, steps: int) -> Forecast:
        """The forecast from P(state) at the last step, or from the start if there is none."""
        transition = np.exp(model.log_transition)
        shares = np.exp(model.log_start) if log_now is None else np.exp(log_now) @ transition
        rows = np.empty((steps, len(model.states)))
        for step in range(steps):
            rows[step] = shares / shares.sum()
            shares = rows[step] @ transition
        columns = {}
        for conditional in model.conditionals:
            seen = _column(conditional, rows)
            if seen is not None:
                columns[conditional.columns[0]] = seen
        return cls(model.labels, rows, columns)

    @property
    def symbols(self) -> Doubles:
        """P(symbol), steps x symbols, of a chain of one column of levels."""
        return self._only().probabilities

    @property
    def levels(self) -> tuple[str, ...]:
        """The symbols, in the order of `symbols`."""
        return self._only().levels

    def _only(self) -> LevelForecast:
        found = list(self.columns.values())
        if len(found) != 1 or not isinstance(found[0], LevelForecast):
            raise AttributeError("only a model of one categorical column has symbols; see `columns`")
        return found[0]


def _column(conditional: Distribution, states: Doubles) -> LevelForecast | NumberForecast | None:
    table, moments = conditional.level_table(), conditional.mean_and_std()
    if table is not None:
        return LevelForecast(table.levels, states @ table.shares().T)
    if moments is None:
        return None
    mean = states @ moments[0]
    away = moments[0][None, :] - mean[:, None]
    return NumberForecast(mean, np.sqrt((states * (moments[1][None, :] ** 2 + away**2)).sum(axis=1)))


class Filter:
    """A streaming filter: after each step, P(state | steps so far) and their log-likelihood.

    >>> from bayesbox import HiddenMarkovModel
    >>> hmm = HiddenMarkovModel.from_tables(start=[0.5, 0.5], transition=[[0.9, 0.1], [0.1, 0.9]],
    ...     emission=[[0.8, 0.2], [0.3, 0.7]], states=["up", "down"], symbols=["rise", "fall"])
    >>> stream = hmm.filter()
    >>> for step in ["rise", "rise", None]:
    ...     print(stream.update(step).round(3))
    [0.727 0.273]
    [0.851 0.149]
    [0.781 0.219]
    """

    def __init__(self, model: ChainModel) -> None:
        self.model = model
        self.steps = 0
        self.log_likelihood = 0.0
        self._log_now: Doubles | None = None

    @property
    def probabilities(self) -> Doubles:
        """P(state | steps so far); before the first, P(first state)."""
        return np.exp(self.model.log_start if self._log_now is None else self._log_now)

    def update(self, step: object) -> Doubles:
        """Add one step: a value, or a mapping of the columns; None is a step with nothing observed."""
        if self._log_now is None:
            before = self.model.log_start
        else:
            before = log_sum_along(self._log_now[:, None] + self.model.log_transition)
        joint = before + log_terms(self.model, Steps(self._columns(step), 1, None, np.array([0, 1])))[0]
        total = float(log_sum_along(joint))
        if total == -np.inf:
            raise ImpossibleEvidence(
                f"step {self.steps + 1} is impossible after the steps before it", found=step, remedy="It was not added"
            )
        self._log_now = joint - total
        self.log_likelihood += total
        self.steps += 1
        return self.probabilities

    def _columns(self, step: object) -> dict[str, Any]:
        names = self.model.columns
        if isinstance(step, Mapping):
            return {name: values_column([step[name]], name) for name in names if step.get(name) is not None}
        if step is None or not names:
            return {}
        if len(names) > 1:
            raise BadOption(f"a step has the columns {', '.join(names)}: pass a mapping", found=step)
        return {names[0]: values_column([step], names[0])}

    def forecast(self, steps: int = 1) -> Forecast:
        """The forecast for the next steps."""
        return Forecast.of(self.model, self._log_now, steps)


class Sample(NamedTuple):
    """A sampled sequence and its states."""

    sequence: Any
    states: Labels


def sample(model: ChainModel, n: int, seed: int | None) -> Sample:
    """A random sequence of n steps; the same seed gives the same sequence."""
    require_whole("n, the steps of a sample,", n)
    if seed is not None:
        require_whole("seed", seed)
    random = np.random.default_rng(seed)
    draws = random.random(n).tolist()
    rows = [_ladder(row) for row in np.exp(model.log_transition)]
    ladder = _ladder(np.exp(model.log_start))
    path = np.empty(n, dtype=np.int64)
    for step, draw in enumerate(draws):
        path[step] = state = min(bisect.bisect_right(ladder, draw), len(model.states) - 1)
        ladder = rows[state]
    columns = {each.columns[0]: each.sample(random, path) for each in model.conditionals}
    sequence = next(iter(columns.values())) if len(columns) == 1 else columns
    return Sample(sequence, model.labels[path])


def _ladder(shares: Doubles) -> list[float]:
    sums = np.cumsum(shares)
    ladder: list[float] = (sums / sums[-1]).tolist()
    return ladder
