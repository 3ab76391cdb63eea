"""The weight of evidence of each column, in terms that sum to the joint log-probability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesbox.dist.base import Columns, Doubles
from bayesbox.dist.naive import ProductModel
from bayesbox.schema.arrays import AnyArray
from bayesbox.schema.levels import class_position


@dataclass(frozen=True)
class Explanation:
    """`prior` + the sum of `terms` over the columns is log P(class, x).

    `terms` is rows x classes x columns of log P(x_j | class), times the weight of the column if it has one; 0 if the
    column is ignored, +inf if a value hits a point mass.
    """

    labels: AnyArray
    columns: tuple[str, ...]
    prior: Doubles
    terms: Doubles

    def joined(self, parts: Mapping[str, Sequence[str]]) -> Explanation:
        """The explanation with the terms of the parts of a column, such as the month of a date, added to its own."""
        if not any(parts.values()):
            return self
        owner = {part: name for name, own in parts.items() for part in own}
        columns = tuple(name for name in self.columns if name not in owner)
        terms = self.terms[:, :, [self.columns.index(name) for name in columns]]
        for place, name in enumerate(self.columns):
            if name in owner and owner[name] in columns:
                own, more = columns.index(owner[name]), self.terms[:, :, place]
                with np.errstate(invalid="ignore"):
                    total = terms[:, :, own] + more
                terms[:, :, own] = np.where(np.isneginf(terms[:, :, own]) | np.isneginf(more), -np.inf, total)
        return Explanation(self.labels, columns, self.prior, terms)

    def position(self, label: object) -> int:
        """The position of a class."""
        return class_position(label, self.labels.tolist())

    def log_odds(self, label: object, against: object) -> Doubles:
        """log P(label | x) / P(against | x), one value per row: the sum of the contributions of prior and columns.

        If both classes are impossible, the columns contribute nothing and the prior remains. P is not calibrated.
        """
        one, other = self.position(label), self.position(against)
        prior = lead(self.prior[one], self.prior[other])
        with np.errstate(invalid="ignore"):
            odds = prior + self.column_odds(label, against).sum(axis=1)
        joint = self.joint()
        return settled(odds, prior, np.isneginf(joint[:, one]), np.isneginf(joint[:, other]))

    def column_odds(self, label: object, against: object) -> Doubles:
        """The contribution of each column to the log-odds, rows x columns; 0 if both classes are impossible."""
        return lead(self.terms[:, self.position(label)], self.terms[:, self.position(against)])

    def joint(self) -> Doubles:
        """log P(class, x), rows x classes."""
        impossible = np.isneginf(self.terms).any(axis=2)
        with np.errstate(invalid="ignore"):
            return np.where(impossible, -np.inf, self.prior[None, :] + self.terms.sum(axis=2))

    def __len__(self) -> int:
        return len(self.terms)


def lead(one: Any, other: Any) -> Doubles:
    """one - other; 0 if both are the same infinity."""
    with np.errstate(invalid="ignore"):
        return np.where(one == other, 0.0, np.subtract(one, other))


def settled(odds: Doubles, prior: Any, one_impossible: Any, other_impossible: Any) -> Doubles:
    """Log-odds with impossible classes: infinite against one, those of the prior if both are."""
    odds = np.where(one_impossible, -np.inf, np.where(other_impossible, np.inf, odds))
    return np.where(one_impossible & other_impossible, prior, odds)


def explanation(model: ProductModel, columns: Columns, rows: int, names: tuple[str, ...]) -> Explanation:
    """The explanation of these rows, with terms for the columns of these names, in this order."""
    terms = np.zeros((rows, len(model.classes), len(names)))
    place = {name: index for index, name in enumerate(names)}
    for conditional in model.conditionals:
        weight = model.weight_of(conditional)
        for each in conditional.by_column():
            terms[:, :, place[each.columns[0]]] = weight * each.terms(columns, rows)
    return Explanation(model.labels, names, model.log_prior, terms)
