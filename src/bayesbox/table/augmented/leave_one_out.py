"""Leave-one-out for models with dependent columns, with fixed cut points, arcs and back-off weights.

Each row is subtracted from every count it is in, and the rules are applied again: that is exact for a fixed structure.
The derived parts that the row influenced (cut points, arcs, back-off weights) are not refitted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist.base import Doubles
from bayesbox.dist.cells import Smoothing, added_counts
from bayesbox.rule.backoff import Trust
from bayesbox.stat.leave_one_out import never_learned
from bayesbox.table.augmented.options import AugmentedOptions

Codes = NDArray[np.int32]


class Column(NamedTuple):
    """One column of the rows: their codes, and the counts of its levels by class (classes x levels)."""

    codes: Codes
    counts: Doubles
    declared: NDArray[np.bool_]  # the levels that remain even without rows
    ignores_unseen: bool = False  # whether a level that only this row has is ignored

    @property
    def present(self) -> NDArray[np.bool_]:
        """The rows that have a value."""
        there: NDArray[np.bool_] = (self.codes >= 0) & (self.codes < self.counts.shape[1])
        return there

    @property
    def seen(self) -> NDArray[np.bool_]:
        """The rows whose value has a term."""
        return self.remains if self.ignores_unseen else self.present

    @property
    def remains(self) -> NDArray[np.bool_]:
        """The rows whose value also occurs in other rows."""
        lasting, present = (self.counts.sum(axis=0) > 1) | self.declared, self.present
        there: NDArray[np.bool_] = present & lasting[np.where(present, self.codes, 0)]
        return there


class Removal:
    """Subtracts each row from the counts; `target` is the class of each row."""

    def __init__(self, target: Codes, classes: int, rules: AugmentedOptions) -> None:
        self.own = target[:, None] == np.arange(classes)[None, :]  # rows x classes: 1 where the row itself was counted
        self.rules = rules

    def sizes(self, column: Column) -> Doubles:
        """The number of levels K for each row: a level that only this row has is not counted."""
        n = column.counts.sum(axis=0)
        known = (n > 0) | column.declared
        alone = (n == 1) & ~column.declared
        left: Doubles = known.sum() - np.where(column.seen, alone[_safe(column)], False).astype(np.float64)
        return left

    def pooled(self, column: Column, trust: Trust) -> Doubles:
        """P(x) of each row's own value, rows x 1."""
        n = column.counts.sum(axis=0)
        others = np.maximum(n[_safe(column)] - 1, 0)
        size = np.maximum(self.sizes(column), 1)
        total = np.maximum(n.sum() - 1, 0)
        m = trust.rows(total)
        found: Doubles = (others + m / size) / (total + m)
        return found[:, None]

    def by_class(self, column: Column, lower: Doubles, trust: Trust) -> Doubles:
        """P(x | class), rows x classes."""
        n = column.counts[:, _safe(column)].T
        total = np.broadcast_to(column.counts.sum(axis=1)[None, :], n.shape)
        return self.step(n, total, lower, trust, self.sizes(column))

    def step(self, n: Doubles, total: Doubles, lower: Doubles, trust: Trust, sizes: Doubles) -> Doubles:
        """One back-off step, or the rule, from counts and totals (rows x classes) that include the row itself."""
        n, total = np.maximum(n - self.own, 0), np.maximum(total - self.own, 0)
        if self.rules.smoothing is None:
            m = trust.rows(total)
            found: Doubles = (n + m * lower) / (total + m)
            return found
        return _by_rule(n, total, lower, self.rules.smoothing, sizes)


def _by_rule(n: Doubles, total: Doubles, lower: Doubles, rule: Smoothing, sizes: Doubles) -> Doubles:
    a, b = np.array([added_counts(rule, int(size)) for size in np.unique(sizes)]).T
    place = np.searchsorted(np.unique(sizes), sizes)
    under = total + b[place][:, None]
    return np.where(under == 0, lower, (n + a[place][:, None]) / np.where(under == 0, 1.0, under))


def _safe(column: Column) -> Codes:
    return np.where(column.seen, column.codes, 0)


def require_learned(columns: Mapping[str, Column], target: Codes) -> None:
    """Raise an error if a row has a value that was never counted in its class."""
    for name, column in columns.items():
        unknown = column.codes >= column.counts.shape[1]
        own = column.counts[target, np.where(column.present, column.codes, 0)]
        if unknown.any() or (column.present & (own < 1)).any():
            raise never_learned(name)


def family_terms(
    removal: Removal,
    own: Column,
    parents: Sequence[Column],
    counts: Sequence[Doubles],
    trusts: Sequence[Trust],
) -> Doubles:
    """P(x | class, parents) of each row's own values, rows x classes; 1 if the column is missing.

    `counts` has the counts of each step: of x; by class; by class and the first parent; ... (the column on the last
    axis).
    """
    sizes = removal.sizes(own)
    found = removal.by_class(own, removal.pooled(own, trusts[0]), trusts[1])
    known = own.seen
    index: tuple[Any, ...] = ()
    for parent, step_counts, trust in zip(parents, counts[2:], trusts[2:], strict=True):
        known = known & parent.remains
        index = (*index, _safe(parent))
        n = step_counts[(slice(None), *index, _safe(own))].T
        total = step_counts.sum(axis=-1)[(slice(None), *index)].T
        deeper = removal.step(n, total, found, trust, sizes)
        found = np.where(known[:, None], deeper, found)
    return np.where(own.seen[:, None], found, 1.0)
