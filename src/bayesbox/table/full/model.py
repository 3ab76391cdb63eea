"""The full Bayes model, without independence assumptions: P(tuple | class) times N(numbers | class, tuple).

The categories have a joint table, the numbers a normal with full covariance. If there are both, a cell of the table (a
tuple in a class) with enough rows has its own normal; other cells use that of their class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from bayesbox.classifier.report.size import ModelSize, Parameters, compared
from bayesbox.dist.base import Doubles
from bayesbox.dist.functions import log
from bayesbox.dist.joint.gaussian import JointGaussian, stacked
from bayesbox.dist.joint.table import Axis, JointTable
from bayesbox.rule.joint_normal import Columns, Normal, fitted, patterns_of, pooled, shrunk, toward_independence
from bayesbox.rule.joint_table import joint_table, require_room, table_codes
from bayesbox.rule.naive import missing_is_level
from bayesbox.rule.priors import given_prior, log_prior
from bayesbox.schema.arrays import AnyArray
from bayesbox.schema.flags import FLAG_DIGITS, FLAG_LEVELS
from bayesbox.schema.levels import label_order, label_values
from bayesbox.schema.schema import Schema
from bayesbox.table.full.options import FullOptions
from bayesbox.table.full.shrinkage import DERIVED, Shrinkage
from bayesbox.tally.book import Book
from bayesbox.tally.comoments import CoMoments
from bayesbox.tally.joint_columns import roles_of

ENOUGH = 5  # rows per numeric column plus one that a cell needs for its own normal


@dataclass(frozen=True)
class FullModel:
    """P(class), P(tuple | class) and N(numbers | class, tuple), as data only.

    `ignored` has the ignored columns with the reasons; `notes` describe which covariances were shrunk.
    """

    classes: tuple[str, ...]
    labels: AnyArray
    log_prior: Doubles
    table: JointTable | None
    normals: JointGaussian | None
    ignored: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    covariance: str = "full"
    shrinkage: Shrinkage | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are used."""
        return (*(self.table.columns if self.table else ()), *(self.normals.columns if self.normals else ()))

    def conditional(self, column: str) -> None:  # noqa: ARG002  the same question as to naive Bayes
        """None: no column has its own distribution."""
        return

    @property
    def own_normals(self) -> int:
        """The number of cells that have their own normal."""
        return 0 if self.normals is None else len(self.normals.mean) - len(self.classes)


def full_model(
    schema: Schema, book: Book, rules: FullOptions, flags: Sequence[str] = (), shrinkage: Shrinkage | None = None
) -> FullModel:
    """Apply the rules to the tally; `shrinkage` is the learned shrinkage of correlations."""
    classes = tuple(label_order(list({*book.classes, *schema.classes}), book.label_type))
    counted = book.with_classes(classes)
    axes = table_axes(schema, counted, rules, flags)
    columns, ignored = number_columns(schema, counted, flags)
    require_room(len(classes), [axis.size for axis in axes], naive=naive_numbers(len(classes), axes, columns))
    joint = counted.joint
    tally = joint if isinstance(joint, CoMoments) else CoMoments.of(classes, np.empty(0, dtype=np.int32), {}, {})
    kept = {axis.column for axis in axes}
    constant = (name for name in roles_of(schema, flags).categories if name in counted and name not in kept)
    ignored |= dict.fromkeys(constant, "all its values are equal")
    table, counts = joint_table(tally, axes, rules.smoothing, unseen=rules.unseen) if axes else (None, None)
    normals: JointGaussian | None = None
    notes: tuple[str, ...] = ()
    if columns.names:
        tally = tally.only(tally.frame.categories, columns.names)
        normals, notes = _normals(tally, columns, rules, classes, table, counts, shrinkage)
    if rules.prior is None:
        prior = log_prior(counted.class_counts, classes, rules.prior_smoothing)
    else:
        prior = log(given_prior(rules.prior, classes))
    labels = label_values(classes, book.label_type)
    return FullModel(classes, labels, prior, table, normals, ignored, notes, rules.covariance, shrinkage)


def table_axes(schema: Schema, book: Book, rules: FullOptions, flags: Sequence[str]) -> tuple[Axis, ...]:
    """The categories of the table in column order, with the levels that occurred or were declared."""
    names = [name for name in roles_of(schema, flags).categories if name in book]
    axes = []
    for name in names:
        kind = schema.kinds[name]
        if name in flags or kind.is_flag:
            levels = FLAG_DIGITS if name in flags else FLAG_LEVELS
        else:
            listed = rules.smoothing.listed if len(names) == 1 else ()
            levels = tuple(sorted({*book[name].levels, *kind.domain, *listed}))
        if schema.ignores_constants and len(level_rows(schema, book, rules, name)) < 2:
            continue
        is_flag = levels in (FLAG_DIGITS, FLAG_LEVELS) and (name in flags or kind.is_flag)
        axes.append(Axis(name, levels, missing_is_level(kind, rules), is_flag))
    return tuple(axes)


def level_rows(schema: Schema, book: Book, rules: FullOptions, name: str) -> dict[str | None, float]:
    """The rows of each possible level of a category; None is missing, if that is a level."""
    tally, kind = book[name], schema.kinds[name]
    if tally.of_numbers:
        total, ones = float(tally.n.sum()), float(tally.sums.total.to_doubles().sum())
        counted: dict[str | None, float] = {"0": total - ones, "1": ones}
    else:
        counted = dict(zip(tally.levels, tally.by_level().to_doubles().tolist(), strict=True))
    if missing_is_level(kind, rules):
        counted[None] = float(book.n.sum() - tally.n.sum())
    lasting = dict.fromkeys(schema.lasting_levels(name), 0.0)
    return lasting | {level: rows for level, rows in counted.items() if rows}


def number_columns(schema: Schema, book: Book, flags: Sequence[str]) -> tuple[Columns, dict[str, str]]:
    """The numeric columns in use, and the ignored columns with the reasons."""
    roles = roles_of(schema, flags)
    ignored = {name: "it has no values" for name in schema.used if name not in book}
    names = []
    for name in roles.numbers:
        if name in book and book[name].pooled().excess.m:
            names.append(name)
        elif name in book:
            ignored[name] = "all its values are equal"
    wholes = tuple(book[name].pooled() for name in names)
    kinds = [schema.kinds[name] for name in names]
    floors = tuple(kind.floor for kind in kinds)
    return Columns(tuple(names), wholes, floors), ignored


def naive_numbers(classes: int, axes: Sequence[Axis], columns: Columns) -> int:
    """The number of parameters of naive Bayes for the same columns."""
    return max(classes - 1, 0) + classes * (sum(axis.size - 1 for axis in axes) + 2 * len(columns.names))


# -- the normals -----------------------------------------------------------------------------------------------------


def _normals(
    tally: CoMoments,
    columns: Columns,
    rules: FullOptions,
    classes: tuple[str, ...],
    table: JointTable | None,
    counts: Doubles | None,
    shrinkage: Shrinkage | None,
) -> tuple[JointGaussian, tuple[str, ...]]:
    """The normals of the classes, then those of the cells with enough rows."""
    diagonal = rules.covariance == "diagonal"
    plain = class_normals(tally, columns, classes, diagonal=diagonal)
    less = Shrinkage({}) if shrinkage is None else shrinkage
    own_rule = rules.shrink not in DERIVED
    if rules.covariance == "pooled":
        plain = [toward_independence(normal, less.of(name)) for normal, name in zip(plain, classes, strict=True)]
    within = pooled(plain, columns)
    cells, fits = ([], []) if table is None or counts is None else _cells(tally, columns, rules, table, counts)
    if rules.covariance == "pooled":
        assert within is not None
        one = shrunk(within, None, "auto" if rules.shrink else 0.0, "all classes together")
        made = [replace(normal, std=one.std, correlation=one.correlation, note="") for normal in (*plain, *fits)]
        notes = [one.note]
    else:
        toward = np.eye(len(columns.names)) if within is None else within.correlation
        shrink: str | float = rules.shrink if own_rule and not diagonal else "auto"
        places = [*range(len(classes)), *(place for place, _ in cells)]
        each = [
            toward_independence(normal, less.of(classes[place]))
            for normal, place in zip((*plain, *fits), places, strict=True)
        ]
        names = [f"class `{name}`" for name in classes] + [
            f"class `{classes[place]}` in a cell of the table" for place, _ in cells
        ]
        made = [shrunk(normal, toward, shrink, what) for normal, what in zip(each, names, strict=True)]
        notes = [normal.note for normal in made]
    own: dict[int, NDArray[np.int64]] = {}
    for number, (place, cell) in enumerate(cells):
        own.setdefault(cell, np.arange(len(classes)))[place] = len(classes) + number
    return replace(stacked(columns.names, made, len(classes)), own=own), tuple(note for note in notes if note)


def class_normals(
    tally: CoMoments, columns: Columns, classes: Sequence[str], *, diagonal: bool = False
) -> list[Normal]:
    """The normals of the classes before shrinkage."""
    label = tally.cells.label
    return [_fit(tally, np.flatnonzero(label == place), columns, diagonal=diagonal) for place in range(len(classes))]


def _fit(tally: CoMoments, cells: AnyArray, columns: Columns, *, diagonal: bool) -> Normal:
    return fitted(patterns_of(tally, cells), columns, diagonal=diagonal)


def _cells(
    tally: CoMoments, columns: Columns, rules: FullOptions, table: JointTable, counts: Doubles
) -> tuple[list[tuple[int, int]], list[Normal]]:
    """The (class, cell) pairs with enough rows, and the normal of each from its complete tuples."""
    codes = table_codes(tally, table.axes)
    complete = np.flatnonzero((codes >= 0).all(axis=0))
    cell = table.cell(codes[:, complete])
    enough = rules.enough or ENOUGH * (len(columns.names) + 1)
    keys = tally.cells.label[complete].astype(np.int64) * counts.shape[1] + cell
    found, group = np.unique(keys, return_inverse=True)
    rows = tally.cells.n.take(complete).sum_groups(group.ravel(), len(found)).to_doubles()
    kept = np.flatnonzero(rows >= enough)
    places = [(int(found[k]) // counts.shape[1], int(found[k]) % counts.shape[1]) for k in kept]
    diagonal = rules.covariance == "diagonal"
    normals = [_fit(tally, complete[group.ravel() == k], columns, diagonal=diagonal) for k in kept]
    return places, normals


def size_of_full(model: FullModel) -> ModelSize:
    """The size: |L| - 1 for the prior, the product of all K less 1 per class, p + p (p + 1) / 2 per normal of p
    numbers.

    A pooled covariance, or variances only, have correspondingly fewer.
    """
    labels = len(model.classes)
    total = naive = max(labels - 1, 0)
    if model.table is not None:
        total += labels * (len(model.table.log_p) - 1)
        naive += labels * sum(size - 1 for size in model.table.sizes)
    joint = total if model.normals is None else None
    if model.normals is not None:
        width, normals = len(model.normals.names), len(model.normals.mean)
        pairs = width * (width + 1) // 2
        each = {"full": width + pairs, "pooled": width, "diagonal": 2 * width}[model.covariance]
        total += normals * each + (pairs if model.covariance == "pooled" else 0)
        naive += labels * 2 * width
    return ModelSize(total, joint, naive=naive)


def parameters_of_full(model: FullModel) -> Parameters:
    """The number of parameters, free and all: the joint table, and a mean and a covariance per normal."""
    labels = len(model.classes)
    sizes = () if model.table is None else model.table.sizes
    width = 0 if model.normals is None else len(model.normals.names)
    naive, joint = compared(sizes, width, labels)
    terms = labels + (0 if model.table is None else labels * len(model.table.log_p))
    if model.normals is not None:
        pairs, normals = width * (width + 1) // 2, len(model.normals.mean)
        each = {"full": width + pairs, "pooled": width, "diagonal": 2 * width}[model.covariance]
        terms += normals * each + (pairs if model.covariance == "pooled" else 0)
    return Parameters(size_of_full(model).parameters, terms, naive, joint)
