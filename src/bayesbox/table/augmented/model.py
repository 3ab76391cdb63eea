"""Augmented naive Bayes: each column depends on the class and on a few other columns.

The counts of a family are smoothed step by step, from P(x) over P(x | class) to P(x | class, all parents): a missing
parent, or a rare combination, backs off to the step before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from bayesbox.dist.base import Doubles, ignored_where_impossible
from bayesbox.dist.cells import Smoothing, added_counts
from bayesbox.dist.functions import log
from bayesbox.dist.joint.family_table import FamilyTable
from bayesbox.rule.backoff import expanded, step, uniform
from bayesbox.rule.discrete import Coding
from bayesbox.rule.priors import given_prior, log_prior
from bayesbox.schema.arrays import AnyArray
from bayesbox.schema.levels import label_order, label_values
from bayesbox.schema.schema import Schema
from bayesbox.table.augmented.options import AugmentedOptions
from bayesbox.tally.book import Book


@dataclass(frozen=True)
class ClassPrior:
    """The classes, their labels and their prior, which all these models have."""

    classes: tuple[str, ...]
    labels: AnyArray
    log_prior: Doubles
    book: Book

    @classmethod
    def of(cls, schema: Schema, book: Book, rules: AugmentedOptions) -> ClassPrior:
        classes = tuple(label_order(list({*book.classes, *schema.classes}), book.label_type))
        counted = book.with_classes(classes)
        if rules.prior is None:
            prior = log_prior(counted.class_counts, classes, rules.prior_smoothing)
        else:
            prior = log(given_prior(rules.prior, classes))
        return cls(classes, label_values(classes, book.label_type), prior, counted)


@dataclass(frozen=True)
class AugmentedModel:
    """P(class) and P(column | class, parents), as data only. `conditionals` are over codes, defined by `coding`."""

    classes: tuple[str, ...]
    labels: AnyArray
    log_prior: Doubles
    conditionals: tuple[FamilyTable, ...]
    coding: Coding
    ignored: Mapping[str, str] = field(default_factory=dict)

    is_weighted: ClassVar[bool] = False  # only naive Bayes has weights

    def weight_of(self, conditional: object) -> float:  # noqa: ARG002
        """The weight of a distribution: the exponent of its factor."""
        return 1.0

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are used."""
        return tuple(table.column for table in self.conditionals)

    def conditional(self, column: str) -> FamilyTable | None:
        """The table of one column; None if it is ignored."""
        return next((table for table in self.conditionals if table.column == column), None)

    @property
    def arcs(self) -> tuple[tuple[str, str], ...]:
        """The arcs between columns, from parent to child, without those from the class."""
        return tuple((parent, table.column) for table in self.conditionals for parent in table.parents)

    @property
    def parameters(self) -> int:
        """The number of free parameters."""
        labels = len(self.classes)
        tables = sum((len(table.levels) - 1) * labels * table.contexts for table in self.conditionals)
        return labels - 1 + tables

    @property
    def terms(self) -> int:
        """The number of all probabilities, including those determined by the sum of 1."""
        labels = len(self.classes)
        return labels + sum(len(table.levels) * labels * table.contexts for table in self.conditionals)


def with_unseen(counts: Doubles) -> Doubles:
    """The counts with an additional unseen level."""
    return np.concatenate([counts, np.zeros((*counts.shape[:-1], 1))], axis=-1)


def by_rule(counts: Doubles, lower: Doubles, rule: Smoothing, size: int) -> Doubles:
    """The rule applied to every row of counts; a row that gives 0/0 backs off to the step before."""
    a, b = added_counts(rule, size)
    under = counts.sum(axis=-1, keepdims=True) + b
    return np.where(under == 0, lower, (counts + a) / np.where(under == 0, 1.0, under))


def family_table(
    column: str,
    levels: tuple[str, ...],
    parents: tuple[str, ...],
    counts: Sequence[Doubles],
    smoothing: Smoothing | None,
) -> FamilyTable:
    """The table of one column from its counts: of each level; by class; by class and the first parent; ..."""
    padded = [with_unseen(each) for each in counts]
    below = step(padded[0], uniform(padded[0].shape, len(levels)))
    trusts, found = [below.trust], []
    for each in padded[1:]:
        lower = expanded(below)
        below = step(each, lower)
        if smoothing is not None:
            below = below._replace(probability=by_rule(each, lower.probability, smoothing, len(levels)))
        trusts.append(below.trust)
        found.append(below.probability)
    deepest = found[-1]
    sizes = deepest.shape[1:-1]
    table = np.empty((deepest.shape[0], *(size + 1 for size in sizes), deepest.shape[-1]))
    for known, each in enumerate(found):  # fewer parents first: the others overwrite them
        inside = (slice(None), *(slice(0, size) for size in sizes[:known]))
        table[inside] = each.reshape(*each.shape[:-1], *(1,) * (len(sizes) - known), each.shape[-1])
    log_p = ignored_where_impossible(log(np.moveaxis(table, 0, -1)))
    flat = np.ascontiguousarray(log_p.reshape(-1, len(deepest)))
    return FamilyTable(column, parents, tuple(sizes), levels, flat, tuple(trusts))
