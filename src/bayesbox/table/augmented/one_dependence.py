"""Averaged one-dependence estimators (Webb, Boughton and Wang, 2005): every column in turn is a parent of all others.

    P(c, x) = mean over the parents i of P(c) P(x_i | c) product over j != i of P(x_j | c, x_i)

A missing value is neither a parent nor a factor, and a level of fewer than `least` rows is not a parent. A row without
parents is predicted by naive Bayes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist.base import Columns, Doubles, Plan, ignored_where_impossible
from bayesbox.dist.cells import Smoothing
from bayesbox.dist.functions import log
from bayesbox.dist.joint.family_table import FamilyTable
from bayesbox.rule.backoff import WEIGHTS, BackoffStep, Trust, expanded, step, uniform
from bayesbox.rule.discrete import Coding
from bayesbox.schema.arrays import AnyArray
from bayesbox.schema.encode import MISSING
from bayesbox.schema.schema import Schema
from bayesbox.stat.mutual_information import conditional_mutual_information, ties_united
from bayesbox.table.augmented.model import ClassPrior, by_rule, family_table, with_unseen
from bayesbox.table.augmented.options import OneDependenceOptions
from bayesbox.tally.base import positions
from bayesbox.tally.book import Book
from bayesbox.tally.pairs import Pairs


@dataclass(frozen=True)
class OneDependenceModel:
    """The AODE model as data only: log-probabilities by slot; each level of each column has a slot, plus one for unseen
    levels.

    `alone` are the columns with too many levels to be counted in pairs: they depend only on the class.
    """

    classes: tuple[str, ...]
    labels: AnyArray
    log_prior: Doubles
    coding: Coding
    names: tuple[str, ...]
    first_slot: NDArray[np.int64]
    naive: Doubles  # slots x classes: log P(x_j | c)
    table: Doubles  # slots x slots x classes: log P(x_j | c, x_i)
    is_parent: NDArray[np.uint8]
    trusts: Mapping[tuple[str, str], Trust]  # back-off weights by parent and column; (x, x): by class; ("", x): of P(x)
    alone: tuple[FamilyTable, ...] = ()
    ignored: Mapping[str, str] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are used."""
        return (*self.names, *(table.column for table in self.alone))

    @property
    def parameters(self) -> int:
        """The number of free parameters of all averaged models."""
        labels = len(self.classes)
        sizes = [len(self.coding.levels[name]) for name in self.names]
        free = sum(size - 1 for size in sizes)
        return (
            labels
            - 1
            + labels * free
            + sum(labels * size * (free - size + 1) for size in sizes)
            + sum((len(table.levels) - 1) * labels for table in self.alone)
        )

    @property
    def terms(self) -> int:
        """The number of all probabilities of all averaged models, including those determined by the sum of 1."""
        labels = len(self.classes)
        sizes = [len(self.coding.levels[name]) for name in self.names]
        pairs = sum(sizes) ** 2 - sum(size**2 for size in sizes)
        return labels * (1 + sum(sizes) + pairs + sum(len(table.levels) for table in self.alone))

    def conditional(self, column: str) -> None:  # noqa: ARG002  a column has one table for every parent
        """None: no column has a single table."""
        return

    def joint_log_prob(self, codes: Columns, rows: int) -> Doubles:
        """log P(class, x), rows x classes, of rows of codes."""
        missing = np.full(rows, MISSING, dtype=np.int32)
        joint: Doubles = _core.score_one_dependence(
            [np.asarray(codes.get(name, missing)) for name in self.names],
            rows,
            self.first_slot,
            self.log_prior,
            (self.log_prior[None, :] + self.naive).ravel(),
            self.naive.ravel(),
            self.table.ravel(),
            self.is_parent,
        )
        if self.alone:
            plan = Plan(rows, np.zeros(len(self.classes)))
            for table in self.alone:
                table.add_to(plan, codes)
            plan.add_terms(joint)
            joint = plan.run(_core.JOINT)
        return joint


class PairCounts:
    """The counts of pairs over the known levels."""

    def __init__(self, pairs: Pairs, coding: Coding) -> None:
        self.pairs = pairs
        self.place = {
            name: positions(coding.levels[name], pairs.levels[index])
            for index, name in enumerate(pairs.names)
            if name in coding.levels
        }

    def single(self, name: str) -> Doubles:
        """Classes x levels."""
        return _taken(self.pairs.single(name), self.place[name], axis=1)

    def pair(self, first: str, second: str) -> Doubles:
        """Classes x levels of the first x levels of the second."""
        counts = _taken(self.pairs.pair(first, second), self.place[first], axis=1)
        return _taken(counts, self.place[second], axis=2)

    def information(self, names: Sequence[str]) -> Doubles:
        """I(x; y | class) of every pair of these columns, in nats; pairs that are equal but for rounding are equal."""
        return ties_united(self._of_known(names, conditional_mutual_information, self._together[0]))

    def rows(self, names: Sequence[str]) -> Doubles:
        """The number of rows with both values, for every pair of these columns."""
        return self._of_known(names, lambda counts: float(counts.sum()), self._together[1])

    @cached_property
    def _together(self) -> tuple[Doubles, Doubles]:
        return self.pairs.information()

    def _of_known(self, names: Sequence[str], one: Callable[[Doubles], float], of_all: Doubles) -> Doubles:
        """A statistic of all counted levels or, if the model does not know some of them, of the known levels."""
        at = np.array([self.pairs.places[name] for name in names], dtype=np.int64)
        found: Doubles = of_all[np.ix_(at, at)]
        sizes = self.pairs.sizes
        partly = [place for place, name in enumerate(names) if (self.place[name] >= 0).sum() < sizes[at[place]]]
        for place in partly:
            for other in range(len(names)):
                if other != place:
                    value = one(self.pair(names[place], names[other]))
                    found[place, other] = found[other, place] = value
        return found


class PairTrusts(Mapping[tuple[str, str], Trust]):
    """The back-off weights: of single columns, and of pairs as an array."""

    def __init__(self, own: Mapping[tuple[str, str], Trust], names: Sequence[str], shares: Doubles) -> None:
        self.own = own
        self.names = names
        self.shares = shares  # parents x columns x weights
        self.place = {name: place for place, name in enumerate(names)}

    def __getitem__(self, key: tuple[str, str]) -> Trust:
        if key in self.own:
            return self.own[key]
        parent, name = (self.place[each] for each in key)
        return Trust(WEIGHTS, tuple(self.shares[parent, name].tolist()))

    def __iter__(self) -> Iterator[tuple[str, str]]:
        yield from self.own
        yield from itertools.permutations(self.names, 2)

    def __len__(self) -> int:
        return len(self.own) + len(self.names) * (len(self.names) - 1)


def _taken(counts: Doubles, place: NDArray[np.int64], *, axis: int) -> Doubles:
    """The counts at these positions of an axis, 0 for absent ones."""
    if np.array_equal(place, np.arange(counts.shape[axis])):
        return counts
    shape = [1] * counts.ndim
    shape[axis] = len(place)
    return np.where((place >= 0).reshape(shape), np.take(counts, np.maximum(place, 0), axis=axis), 0.0)


def pairs_of(book: Book) -> Pairs:
    """The counts of pairs; empty if no column has a value."""
    return book.joint if isinstance(book.joint, Pairs) else Pairs.of(book.classes, {}, np.empty(0, np.int32))


def one_dependence_model(schema: Schema, book: Book, rules: OneDependenceOptions, coding: Coding) -> OneDependenceModel:
    """Apply the rules to the tallies."""
    frame = ClassPrior.of(schema, book, rules)
    pairs = pairs_of(frame.book)
    names = tuple(name for name in coding.levels if name in pairs.names and len(coding.levels[name]) > 1)
    counted = PairCounts(pairs, coding)
    sizes = [len(coding.levels[name]) for name in names]
    first = np.concatenate([[0], np.cumsum([size + 1 for size in sizes])]).astype(np.int64)
    slots, classes = int(first[-1]), len(frame.classes)
    naive, is_parent = np.zeros((slots, classes)), np.zeros(slots, dtype=np.uint8)
    own: dict[tuple[str, str], Trust] = {}
    spans = {name: slice(int(first[at]), int(first[at + 1])) for at, name in enumerate(names)}
    steps: dict[str, BackoffStep] = {}
    for name in names:
        single = counted.single(name)
        whole, below = _by_class(single, rules.smoothing, len(coding.levels[name]))
        own["", name], own[name, name] = whole.trust, below.trust
        steps[name] = below
        naive[spans[name]] = ignored_where_impossible(log(below.probability.T))
        is_parent[spans[name].start : spans[name].stop - 1] = single.sum(axis=0) >= rules.least
    trusts: Mapping[tuple[str, str], Trust] = own
    if rules.smoothing is None:
        table, shares = _core.pair_backoff(
            pairs.doubles,
            pairs.sizes,
            classes,
            np.array([pairs.places[name] for name in names], dtype=np.int64),
            [counted.place[name] for name in names],
            np.array(WEIGHTS),
            _side_by_side([steps[name].probability for name in names], classes),
            _side_by_side([steps[name].held_out for name in names], classes),
        )
        trusts = PairTrusts(own, names, shares)
    else:
        table = np.zeros((slots, slots, classes))
        for parent, name in itertools.permutations(names, 2):
            counts = with_unseen(counted.pair(parent, name))
            lower = steps[name].probability[:, None, :]
            found = by_rule(counts, lower, rules.smoothing, len(coding.levels[name]))
            rows = slice(spans[parent].start, spans[parent].stop - 1)
            table[rows, spans[name]] = ignored_where_impossible(log(np.moveaxis(found, 0, -1)))
    alone, ignored = columns_alone(schema, frame, pairs, coding, rules.smoothing)
    return OneDependenceModel(
        frame.classes,
        frame.labels,
        frame.log_prior,
        coding,
        names,
        first,
        naive,
        table,
        is_parent,
        trusts,
        alone,
        ignored,
    )


def _side_by_side(tables: Sequence[Doubles], classes: int) -> Doubles:
    """The tables side by side: classes x the slots of all columns."""
    return np.ascontiguousarray(np.concatenate([np.zeros((classes, 0)), *tables], axis=1))


def _by_class(single: Doubles, smoothing: Smoothing | None, size: int) -> tuple[BackoffStep, BackoffStep]:
    """P(x) and P(x | class)."""
    counts = with_unseen(single)
    pooled = counts.sum(axis=0)
    whole = step(pooled, uniform(pooled.shape, size))
    below = step(counts, expanded(whole))
    if smoothing is not None:
        below = below._replace(probability=by_rule(counts, whole.probability[None, :], smoothing, size))
    return whole, below


def level_counts(book: Book, coding: Coding, name: str) -> Doubles:
    """Classes x levels of one category, from its own tally."""
    tally = book[name]
    return _taken(np.asarray(tally.counts, dtype=np.float64), positions(coding.levels[name], tally.levels), axis=1)


def columns_alone(
    schema: Schema, frame: ClassPrior, pairs: Pairs, coding: Coding, smoothing: Smoothing | None
) -> tuple[tuple[FamilyTable, ...], dict[str, str]]:
    """The tables of the columns that are not counted in pairs, and the ignored columns with the reasons."""
    alone, ignored = [], {}
    for name in schema.used:
        if name in pairs.wide and name in coding.levels:
            single = level_counts(frame.book, coding, name)
            alone.append(family_table(name, coding.levels[name], (), [single.sum(axis=0), single], smoothing))
        elif name not in pairs.names:
            ignored[name] = "it has no values"
        elif len(coding.levels[name]) < 2:
            ignored[name] = "all its values are in one bin" if coding.is_cut(name) else "it has a single level"
    return tuple(alone), ignored
