"""The hidden Markov model as data: initial, transition and emission probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist.base import Distribution, Doubles
from bayesbox.dist.cells import LevelCounts, Smoothing, spread
from bayesbox.dist.functions import log
from bayesbox.errors import BadData, BadOption
from bayesbox.rule.naive import naive_model
from bayesbox.rule.options import NaiveOptions
from bayesbox.rule.smoothing import Laplace
from bayesbox.schema.levels import Labels, label_order, label_values
from bayesbox.schema.schema import Schema
from bayesbox.sequence.counts import ChainBook


@dataclass(frozen=True)
class ChainRules:
    """How the tallies of a chain become probabilities; emissions by the rules of naive Bayes.

    `number_prior` is the weight, in rows, of the normal-inverse-gamma prior of a number, which has the mean and the
    variance of the whole column.
    """

    emission: NaiveOptions = field(default_factory=lambda: NaiveOptions(numeric="gaussian"))
    start: Smoothing = field(default_factory=Laplace)
    transition: Smoothing = field(default_factory=Laplace)
    number_prior: float = 0.0


@dataclass(frozen=True)
class ChainModel:
    """P(first state), P(state | previous state) and P(step | state), with the columns of a step independent."""

    states: tuple[str, ...]
    labels: Labels
    log_start: Doubles
    log_transition: Doubles  # from row to column
    conditionals: tuple[Distribution, ...]
    ignored: Mapping[str, str] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a step that are used."""
        return tuple(name for conditional in self.conditionals for name in conditional.columns)

    @property
    def n_parameters(self) -> int:
        """The number of free parameters."""
        size = len(self.states)
        return size - 1 + size * (size - 1) + sum(each.free_parameters for each in self.conditionals)


@dataclass(frozen=True)
class Steps:
    """The steps of one or more sequences, end to end.

    `columns` has the distinct steps, and `codes` the index of each step; without codes each step has its own row.
    Sequence q is the steps from `offsets[q]` up to `offsets[q + 1]`. `known` has the state of each row, -1 if unknown.
    """

    columns: Mapping[str, Any]
    rows: int
    codes: NDArray[np.int32] | None
    offsets: NDArray[np.int64]
    known: NDArray[np.int32] | None = None

    @property
    def size(self) -> int:
        """The number of steps."""
        return int(self.offsets[-1])

    @property
    def sequences(self) -> int:
        return len(self.offsets) - 1


def chain_model(schema: Schema, book: ChainBook, rules: ChainRules) -> ChainModel:
    """The model from the tallies, by the rules."""
    states = tuple(label_order(list({*book.states, *schema.classes}), book.label_type))
    if not states:
        raise BadData("no step has a state, so there is nothing to learn from")
    emission = naive_model(schema.with_classes(states), book.emission, rules.emission)
    conditionals = emission.conditionals
    if rules.number_prior > 0:
        counted = book.emission.with_classes(states)
        conditionals = tuple(
            each.with_prior(counted[name], schema.kinds[name].floor, rules.number_prior)
            for each in conditionals
            for name in each.columns[:1]
        )
    for conditional in conditionals:
        if conditional.has_density and not conditional.takes_prior:
            raise BadOption(
                "hidden Markov models support numbers with a gaussian density, but column "
                f"`{conditional.columns[0]}` has another",
                remedy="Declare it Real('gaussian'), or bin it into a category",
            )
        if len(conditional.special_values()):
            raise BadData(
                f"column `{conditional.columns[0]}` has a single value in some state, and hidden Markov models "
                "do not support point masses",
                remedy="Give it a variance floor: Real(floor=1e-4)",
                column=conditional.columns[0],
            )
    start = LevelCounts(states, spread(book.start.cells, 1, book.start.levels, states), 1)
    by_state = book.transition.with_classes(states)
    cells = spread(by_state.cells, len(states), by_state.levels, states)
    return ChainModel(
        states,
        label_values(states, book.label_type),
        _shares(start, rules.start)[0],
        _shares(LevelCounts(states, cells, len(states)), rules.transition),
        conditionals,
        emission.ignored,
    )


def _shares(counts: LevelCounts, rule: Smoothing) -> Doubles:
    """The log of each row's probabilities; a row without counts is uniform."""
    over, under = counts.ratio(rule)
    shares = (over / under)[:, : len(counts.levels)]
    sums = shares.sum(axis=1, keepdims=True)
    return log(np.where(sums > 0, shares / np.where(sums > 0, sums, 1.0), 1 / len(counts.levels)))
