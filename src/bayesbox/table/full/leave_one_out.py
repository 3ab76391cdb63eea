"""Leave-one-out of full Bayes from its tally: each row is predicted by the model of all other rows, without a refit.

With n rows of a class, mean u and covariance S (divided by n), d = x - u and q = d' S^-1 d, the class has without x

    x - u' = d n / (n - 1)      S' = n / (n - 1) (S - d d' / (n - 1))

    (x - u')' S'^-1 (x - u') = n q / (n - 1 - q)      |S'| = (n / (n - 1))^p (1 - q / (n - 1)) |S|

so only q is needed. If this loses precision for a row, or if its removal changes a floor, a shrunk covariance or an
imputed value, its tally is subtracted and all rules are applied: exact, but slower. If correlations are shrunk towards
independence, each row has its own covariance (table/full/shrinkage.py); the amount of shrinkage is that of all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist import functions
from bayesbox.dist.base import Columns, Doubles, Plan, ignored_where_impossible
from bayesbox.dist.cells import Cells, ratio
from bayesbox.dist.functions import log
from bayesbox.dist.joint.gaussian import JointGaussian
from bayesbox.dist.joint.table import JointTable
from bayesbox.dist.posterior import normalised
from bayesbox.errors import NeverLearned
from bayesbox.rule.joint_normal import Columns as NumberColumns
from bayesbox.rule.joint_normal import Normal
from bayesbox.rule.joint_table import expected_counts, table_codes
from bayesbox.schema.encode import Encoded
from bayesbox.schema.schema import Schema
from bayesbox.stat.leave_one_out import prior_table
from bayesbox.table.full.model import ENOUGH, FullModel, full_model, number_columns
from bayesbox.table.full.options import FullOptions
from bayesbox.table.full.posterior import posterior
from bayesbox.table.full.shrinkage import Shrinkage, pieces, terms_without_row
from bayesbox.tally.book import Book
from bayesbox.tally.comoments import CoMoments
from bayesbox.tally.joint_columns import count_all

Codes = NDArray[np.int32]
Flags = NDArray[np.bool_]

FIRM = 1e-6  # the share of independence from which no covariance is singular
KEPT = 1e-3  # the smallest remaining share of a determinant or variance that is precise enough
MARGIN = 1 + 1e-9  # margin around a floor, so that rounding does not matter
AT_ONCE = 65_536  # rows


def leave_one_out(
    schema: Schema,
    book: Book,
    rules: FullOptions,
    flags: Sequence[str],
    model: FullModel,
    columns: Columns,
    labels: Encoded,
) -> Doubles:
    """P(class | x) of each row under the model of all other rows; a class with no other row has 0."""
    if rules.unseen == "error":  # a level that only this row has is not an error here
        rules = replace(rules, unseen="smooth")
    counted = book.with_classes(model.classes)
    target = _target(labels, model.classes, counted)
    prior = prior_table(schema.classes, counted, rules, model)[target]
    rows = len(target)
    terms, doubtful = np.zeros((rows, len(model.classes))), np.zeros(rows, dtype=bool)
    tally = counted.joint
    if not isinstance(tally, CoMoments) or _depends_on_all(tally, model, rules):
        doubtful[:] = True
    else:
        codes = np.empty((0, rows), dtype=np.int32)
        if model.table is not None:
            codes = model.table.codes_of(columns, rows)
            terms += table_terms(model.table, schema, tally, rules, codes, target, doubtful)
        if model.normals is not None:
            moments = _Column.of(number_columns(schema, counted, flags)[0])
            _Numbers(model, rules, moments, target, columns).add(codes, terms, doubtful)
    plan = Plan(rows, np.zeros(len(model.classes)))
    plan.add_terms(np.where(doubtful[:, None], 0.0, terms + prior))
    answer = normalised(plan, prior, _core.POSTERIOR)
    for row in np.flatnonzero(doubtful).tolist():
        answer[row] = _refitted(schema, book, rules, flags, model, columns, labels, row)
    return answer


def _target(labels: Encoded, classes: tuple[str, ...], book: Book) -> Codes:
    """The labels as indices of the model's classes; an error if one was not learned."""
    place = {text: index for index, text in enumerate(classes)}
    target = np.array([*(place.get(text, -1) for text in labels.levels), -1], dtype=np.int32)[labels.codes]
    if (target < 0).any() or (np.bincount(target, minlength=len(classes)) > book.n).any():
        raise NeverLearned(
            "some of these rows were never learned: a class has fewer",
            remedy="Leave-one-out needs the rows that the model was trained on",
        )
    return target


def _depends_on_all(tally: CoMoments, model: FullModel, rules: FullOptions) -> bool:
    """Whether one row affects more than its own class and cell, without a closed form."""
    own_weight = isinstance(rules.shrink, int | float) and rules.shrink > 0
    if model.notes or (own_weight and rules.covariance == "full"):
        return True
    if rules.covariance == "pooled" and (model.own_normals or model.shrinkage is not None):
        return True
    if model.table is not None and (table_codes(tally, model.table.axes) < 0).any():
        return True
    names = model.normals.columns if model.normals is not None else ()
    if any(name not in tally.frame.numbers for name in names):
        return True
    return not tally.cells.observed[[tally.frame.numbers.index(name) for name in names]].all()


def _refitted(
    schema: Schema,
    book: Book,
    rules: FullOptions,
    flags: Sequence[str],
    model: FullModel,
    columns: Columns,
    labels: Encoded,
    row: int,
) -> Doubles:
    """The same for one row by subtracting its tally and applying all rules."""
    one = {name: column[row : row + 1] for name, column in columns.items()}
    label = Encoded(labels.codes[row : row + 1], labels.levels, labels.values)
    others = book - count_all(one, label, schema, flags=flags, label_type=book.label_type)
    answer = np.zeros(len(model.classes))
    if others.classes:
        reduced = full_model(schema, others, rules, flags, model.shrinkage)
        places = [model.classes.index(name) for name in reduced.classes]
        answer[places] = posterior(reduced, one, 1, _core.POSTERIOR)[0]
    return answer


# -- the table -------------------------------------------------------------------------------------------------------


def table_terms(
    table: JointTable,
    schema: Schema,
    tally: CoMoments,
    rules: FullOptions,
    codes: Codes,
    target: Codes,
    doubtful: Flags,
) -> Doubles:
    """log P(tuple | class) without the row itself, which depends only on its class and tuple."""
    classes = len(tally.classes)
    counts = expected_counts(tally, table.axes)
    if (codes < 0).any():
        raise NeverLearned(
            "some of these rows were never learned: a level is new",
            remedy="Leave-one-out needs the rows that the model was trained on",
        )
    pairs, group = np.unique(np.stack([target, table.cell(codes)]), axis=1, return_inverse=True)
    own, cell = pairs.astype(np.int64)
    left, totals = counts[:, cell].copy(), np.tile(counts.sum(axis=1)[:, None], (1, len(cell)))
    if (left[own, np.arange(len(cell))] < 1).any():
        raise NeverLearned(
            "some of these rows were never learned: a tuple has no count in its class",
            remedy="Leave-one-out needs the rows that the model was trained on",
        )
    left[own, np.arange(len(cell))] -= 1
    totals[own, np.arange(len(cell))] -= 1
    size, gone = _sizes(table, schema, counts, cell)
    names = [_name(table, each) for each in cell.tolist()]
    over, under = ratio(rules.smoothing, Cells(left, totals, size, names))
    terms = ignored_where_impossible((log(over) - log(under)).T)
    if rules.unseen == "ignore":
        doubtful |= gone[group.ravel()]  # the column is ignored without this level; the other columns remain
    return terms[group.ravel()].reshape(-1, classes)


def _name(table: JointTable, cell: int) -> str | None:
    """The level of a cell, if the table has one column."""
    axis = table.axes[0]
    return axis.levels[cell] if len(table.axes) == 1 and cell < len(axis.levels) else None


def _sizes(table: JointTable, schema: Schema, counts: Doubles, cell: NDArray[np.int64]) -> tuple[Doubles, Flags]:
    """(the number of cells without a row of this cell, whether a level disappears with it)"""
    grid = counts.sum(axis=0).reshape(table.sizes)
    levels = np.unravel_index(cell, table.sizes)
    size, gone = np.ones(len(cell)), np.zeros(len(cell), dtype=bool)
    for place, axis in enumerate(table.axes):
        others = tuple(other for other in range(len(table.axes)) if other != place)
        once = grid.sum(axis=others)[levels[place]] == 1
        kind = schema.kinds[axis.column]
        declared = kind.domain if kind.lists_levels else axis.levels
        kept = np.array([level in declared for level in axis.levels] + [True] * axis.missing)[levels[place]]
        size *= np.where(once & ~kept, axis.size - 1, axis.size)
        gone |= once & ~kept
    return size, gone


# -- the numbers -----------------------------------------------------------------------------------------------------


class _Column(NamedTuple):
    """A numeric column over all rows: n, mean as two doubles, std, and the floors of the variances."""

    n: Doubles
    mean: Doubles
    mean_low: Doubles
    std: Doubles
    floor: Doubles

    @classmethod
    def of(cls, columns: NumberColumns) -> _Column:
        wholes = columns.wholes
        return cls(
            np.array([float(whole.n.fraction) for whole in wholes]),
            np.array([whole.mean for whole in wholes]),
            np.array([whole.rest_of_mean for whole in wholes]),
            np.array([whole.unit for whole in wholes]),
            np.array(columns.floors),
        )


class _Numbers:
    """Adds the log-densities of rows under the normals of all other rows, and marks the rows that need a refit."""

    def __init__(self, model: FullModel, rules: FullOptions, whole: _Column, target: Codes, columns: Columns) -> None:
        assert model.normals is not None
        self.model, self.rules, self.whole, self.target = model, rules, whole, target
        self.normals: JointGaussian = model.normals
        self.values = self.normals.numbers_of(columns, len(target))
        self.enough = rules.enough or ENOUGH * (len(self.normals.names) + 1)
        shrinkage = Shrinkage({}) if model.shrinkage is None else model.shrinkage
        self.less = np.array([shrinkage.of(name) for name in model.classes])  # independence in pseudo-rows

    def add(self, codes: Codes, terms: Doubles, doubtful: Flags) -> None:
        rows = len(self.target)
        if not self.normals.own or self.model.table is None:
            for start in range(0, rows, AT_ONCE):
                self._add(np.arange(start, min(start + AT_ONCE, rows)), self.normals.by_class, terms, doubtful)
            return
        cells, group = np.unique(self.model.table.cell(codes), return_inverse=True)
        order = np.argsort(group.ravel(), kind="stable")
        starts = np.searchsorted(group.ravel()[order], np.arange(len(cells) + 1))
        for number, cell in enumerate(cells.tolist()):
            chosen = order[starts[number] : starts[number + 1]]
            normals = self.normals.own.get(cell, self.normals.by_class)
            self._add(chosen, normals, terms, doubtful)
            thin = (normals >= self.normals.classes) & (self.normals.rows[normals] - 1 < self.enough)
            doubtful[chosen] |= thin[self.target[chosen]]  # without this row the cell does not have its own normal

    def _add(self, rows: NDArray[np.int64], normals: NDArray[np.int64], terms: Doubles, doubtful: Flags) -> None:
        x = np.array([np.asarray(column[rows], dtype=np.float64) for column in self.values]).T
        everything = np.ones(x.shape[1], dtype=bool)
        mean, mean_low, factor, constant = self.normals.factors(normals, everything)
        own = self.target[rows]
        n = self.normals.rows[normals][own]
        thin = (n - 1 <= x.shape[1]) & (self.less[own] <= FIRM * n)
        doubtful[rows] |= thin | ~np.isfinite(x).all(axis=1) | self._floored(x, own, normals)
        with np.errstate(all="ignore"):
            away = [(x - mean[c]) - mean_low[c] for c in range(len(normals))]
            z = np.stack([functions.product(each, factor[c].T) for c, each in enumerate(away)], axis=1)
            mine = z[np.arange(len(rows)), own]
            if self.rules.covariance == "pooled":
                found, share = self._pooled(z, mine, own, n)
            elif self.less.any():
                found, share = self._shrunk(x, z, own, normals)
            else:
                found, share = self._apart(z, mine, own, n)
        terms[rows] += found + constant[None, :]
        doubtful[rows] |= ~(share > KEPT) | ~np.isfinite(found).all(axis=1)

    def _apart(self, z: Doubles, mine: Doubles, own: Codes, n: Doubles) -> tuple[Doubles, Doubles]:
        """The terms without constants, and the smallest remaining share of a determinant."""
        found = -0.5 * (z * z).sum(axis=2)
        width = z.shape[2]
        square = mine * mine
        q = square if self.rules.covariance == "diagonal" else square.sum(axis=1, keepdims=True)
        share = 1 - q / (n - 1)[:, None]
        quadratic = (n[:, None] * q / ((n - 1)[:, None] - q)).sum(axis=1)
        log_determinant = width * functions.log(n / (n - 1)) + functions.log(share).sum(axis=1)
        found[np.arange(len(own)), own] = -0.5 * (quadratic + log_determinant)
        return found, share.min(axis=1)

    def _shrunk(self, x: Doubles, z: Doubles, own: Codes, normals: NDArray[np.int64]) -> tuple[Doubles, Doubles]:
        """The same with correlations shrunk towards independence: one covariance per row."""
        found, share = -0.5 * (z * z).sum(axis=2), np.ones(len(own))
        for place in np.unique(own).tolist():
            normal, rows = self._plain_normal(int(normals[place]), self.less[place]), np.flatnonzero(own == place)
            height = log(np.diag(functions.cholesky(self.normals.correlation[normals[place]]))).sum()
            units = ((x[rows] - normal.mean) - normal.mean_low) / normal.std
            share[rows] = 1 - (units**2).max(axis=1) / (normal.n - 1)
            for some in pieces(rows, normal):
                z_own = units[np.searchsorted(rows, some)]
                found[some, place] = terms_without_row(normal, z_own, np.ones(len(some)), self.less[place]) + height
        return found, share

    def _plain_normal(self, normal: int, less: float) -> Normal:
        """A normal before its correlations were shrunk."""
        normals, n = self.normals, float(self.normals.rows[normal])
        correlation = normals.correlation[normal] * (1.0 if np.isinf(less) else (n + less) / n)
        np.fill_diagonal(correlation, 1.0)
        std = normals.std[normal]
        return Normal(n, normals.mean[normal], normals.mean_low[normal], std, correlation, std)

    def _pooled(self, z: Doubles, mine: Doubles, own: Codes, n: Doubles) -> tuple[Doubles, Doubles]:
        """One covariance for all classes: S' = N / (N - 1) (S - k d d'), k = n / ((n - 1) N)."""
        total = self.normals.rows[: self.normals.classes].sum()
        k = n / ((n - 1) * total)
        q = (mine * mine).sum(axis=1)
        share = 1 - k * q
        across = (z * mine[:, None, :]).sum(axis=2)
        squares = (z * z).sum(axis=2) + k[:, None] * across * across / share[:, None]
        squares[np.arange(len(own)), own] = (n / (n - 1)) ** 2 * q / share
        log_determinant = z.shape[2] * functions.log(total / (total - 1)) + functions.log(share)
        return -0.5 * (squares * (total - 1) / total + log_determinant[:, None]), share

    def _floored(self, x: Doubles, own: Codes, normals: NDArray[np.int64]) -> Flags:
        """The rows without which a variance may be at its floor, or a column constant."""
        whole, left = self.whole, self.whole.n - 1
        with np.errstate(all="ignore"):
            d = ((x - whole.mean) - whole.mean_low) / whole.std
            share = 1 - d * d / left  # of the variance over all rows
            least = whole.floor * share * whole.n / left  # in units of that variance
            ratio = (self.normals.std[normals] / whole.std) ** 2
            n = self.normals.rows[normals][own][:, None]
            mine = (x - self.normals.mean[normals][own]) - self.normals.mean_low[normals][own]
            one = (mine / whole.std) ** 2
            if self.rules.covariance == "pooled":
                total = self.normals.rows[: self.normals.classes].sum()
                reduced = (ratio[own] - one * n / ((n - 1) * total)) * total / (total - 1)
                lowest = reduced
            else:
                reduced = (ratio[own] - one / (n - 1)) * n / (n - 1)
                lowest = np.minimum(
                    reduced, np.where(np.eye(len(normals))[own][:, :, None] > 0, np.inf, ratio).min(axis=1)
                )
        safe = (lowest > least * MARGIN) & (share > KEPT) & (ratio.min(axis=0) > whole.floor * MARGIN)
        unsafe: Flags = ~safe.all(axis=1)
        return unsafe
