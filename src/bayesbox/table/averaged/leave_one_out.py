"""Leave-one-out of averaged naive Bayes: each row's own unit taken out of the evidence of a column and of its terms.

Without one row of class c and level v the evidence of the levels is less by its last factor, the prediction of v from
the others: by (n_cv - 1 + a) / (n_c - 1 + b) if the class matters, by (n_v - 1 + a) / (n - 1 + b) if it does not. For
numbers the evidence follows from the moments without the row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist.base import Columns, Distribution, Doubles, Plan, log
from bayesbox.dist.bernoulli import Bernoulli
from bayesbox.dist.bins import Bins
from bayesbox.dist.gaussian import LOG_ROOT_2_PI
from bayesbox.dist.posterior import refuse_infinite
from bayesbox.dist.student import Student, log_student
from bayesbox.dist.table import Table
from bayesbox.rule.bins import binned
from bayesbox.rule.naive import density_options, level_counts
from bayesbox.rule.normal import student_parameters
from bayesbox.rule.table import LevelCounts
from bayesbox.schema.columns import as_numbers
from bayesbox.schema.encode import Encoded, encode
from bayesbox.schema.schema import Schema
from bayesbox.stat.leave_one_out import learned_target, never_learned, prior_table
from bayesbox.table.augmented.model import added_counts
from bayesbox.table.averaged.model import (
    PRIOR_ROWS,
    AveragedModel,
    AveragedNumber,
    averaged_bins,
    level_evidence,
    mixed_densities,
    number_evidence,
    posterior_squares,
    shares_of,
)
from bayesbox.table.averaged.options import AveragedOptions
from bayesbox.table.naive.leave_one_out import add_by_class, declared_levels, levels_of_one_row
from bayesbox.table.naive.leave_one_out_densities import Codes, Flags, Others, add_density, others_of
from bayesbox.table.naive.leave_one_out_numbers import leaves_only_flags
from bayesbox.tally.book import Book
from bayesbox.tally.moments import Moments

FAR = 1e3  # the square of a distance in deviations of the others, beyond which the evidence loses digits
LEAST_UNIT = 1e-290  # of a column: below it a deviation has not all its digits


def leave_one_out(
    schema: Schema, book: Book, rules: AveragedOptions, model: AveragedModel, columns: Columns, labels: Encoded
) -> tuple[Doubles, Flags]:
    """P(class | x) of each row under the average of all other rows, rows x classes; and which rows a refit must answer.

    A class that the row alone made up has probability 0.
    """
    counted = book.with_classes(model.classes)
    target = learned_target(labels, model.classes, counted)
    plan = Plan(len(target), np.zeros(len(model.classes)))
    plan.target = target
    prior = prior_table(schema.classes, counted, rules, model)
    plan.tables.append((target, np.vstack([prior, np.zeros(len(model.classes))])))
    emptied = counted.class_counts.to_doubles() <= 1
    doubtful: Flags = (emptied & np.array([name in schema.classes for name in model.classes]))[target]
    for conditional in model.conditionals:
        doubtful |= _add(plan, conditional, schema, counted, rules, columns, target)
        if isinstance(conditional, Bins):  # where to cut depends on how many classes there are
            doubtful |= emptied[target]
    answer: Doubles = plan.run(_core.POSTERIOR)
    if plan.impossible:
        if np.isnan(plan.run(_core.JOINT)).any():
            raise never_learned(", ".join(columns))
        doubtful |= np.isnan(answer).any(axis=1)
    return answer, doubtful


def _add(
    plan: Plan,
    conditional: Distribution,
    schema: Schema,
    book: Book,
    rules: AveragedOptions,
    columns: Columns,
    target: Codes,
) -> Flags:
    """Enter the terms of one column; which rows a refit must answer."""
    name = conditional.columns[0]
    column, kind, tally = columns.get(name), schema.kinds[name], book[name]
    if column is None:
        return np.zeros(plan.rows, dtype=bool)
    if isinstance(conditional, (Table, Bernoulli)):
        counts = level_counts(book, name, kind, rules)
        table = _level_table(counts, rules, domain=declared_levels(conditional, kind, counts))
        add_by_class(plan, conditional, counts, table, column)
        return _only_value(counts, column)
    values = np.asarray(as_numbers(column, name=name), dtype=np.float64)
    if schema.density(name) == "auto":  # the density is chosen anew
        return ~np.isnan(values)
    if isinstance(conditional, Bins):
        nothing = np.zeros(plan.classes)
        options = density_options(kind, rules, nothing, nothing)

        def finished(bins: Bins, values: Doubles, counts: Doubles) -> Bins:
            return averaged_bins(bins, binned(values, counts, bins.cuts).T, rules)[0]

        return add_density(plan, conditional, kind, tally, options, values, target, finished)
    assert isinstance(conditional, AveragedNumber)
    refuse_infinite({name: values}, ~np.isnan(values), 0)
    terms, doubtful = _number_terms(conditional, tally, rules.inclusion, values, target)
    plan.add_terms(terms)
    doubtful[leaves_only_flags(kind, tally, tally.pooled(), values)] = True
    return doubtful


def _only_value(counts: LevelCounts, column: Any) -> Flags:
    """The row that alone has a value: without it the column takes no part."""
    if counts.as_cells().counts.sum() > 1:
        return np.zeros(len(column), dtype=bool)
    found: Flags = encode(column).codes >= 0
    return found


def _level_table(counts: LevelCounts, rules: AveragedOptions, *, domain: tuple[str, ...]) -> Doubles:
    """For each class and level of the row that is gone: the logs of the average of that level in all classes.

    Classes x levels x classes; NaN where no row was learned.
    """
    cells = counts.as_cells().counts[:, :-1]  # the last level was never seen
    gone_too = levels_of_one_row(counts, domain)
    table = np.full((*cells.shape, counts.classes), np.nan)
    for size, there in ((counts.size, ~gone_too), (max(counts.size - 1, 1), gone_too)):
        if there.any():
            table[:, there] = _terms_without(cells, there, rules, size)
    if rules.unseen == "ignore":
        table[:, gone_too] = 0.0
    table[cells < 1] = np.nan
    return table


def _terms_without(cells: Doubles, there: NDArray[np.bool_], rules: AveragedOptions, size: int) -> Doubles:
    """The logs of the averages of some levels, of which there can be `size` without the row."""
    a, b = added_counts(rules.smoothing, size)
    n, own = cells[:, there], np.eye(len(cells))
    left = np.maximum(n.T[None] - own[:, None], 0.0)  # gone class x level x class
    total = np.maximum(cells.sum(axis=1)[None] - own, 0.0)[:, None]
    by_class = (left + a) / (total + b)
    whole = (np.maximum(n.sum(axis=0) - 1, 0.0) + a) / (max(cells.sum() - 1, 0.0) + b)
    last = np.diagonal(by_class, axis1=0, axis2=2).T  # of the class that the row is of
    odds = level_evidence(cells, rules.smoothing, size) - log(last) + log(whole)
    inside, outside = shares_of(odds, rules.inclusion)
    return log(inside[:, :, None] * by_class + (outside * whole)[:, :, None])


def _number_terms(
    density: AveragedNumber, tally: Moments, inclusion: float, values: Doubles, target: Codes
) -> tuple[Doubles, Flags]:
    """The logs of the average density of each row's value in all classes, and which rows a refit must answer."""
    if tally.pooled().unit < LEAST_UNIT:
        return np.zeros((len(values), len(tally.classes))), ~np.isnan(values)
    others = others_of(tally, values, target)
    unit = others.whole_deviation
    x, distance, deviation = others.x / unit, others.distance / unit, others.deviation / unit
    student = isinstance(density.by_class, Student)
    rows = 1.0 if student else PRIOR_ROWS
    if student:
        location, scale = student_parameters(others.n, distance, deviation, 1.0)
        n = others.n.sum(axis=1, keepdims=True)
        by_class = log_student(x, location, scale, others.n + 1)
        whole = log_student(x, np.zeros_like(x), student_parameters(n, n * 0, n * 0 + 1, 1.0)[1], n + 1)
    else:
        after = others.n + rows
        scale = np.sqrt(posterior_squares(others.n, distance, deviation, rows) / after)
        by_class = -0.5 * ((x - distance * others.n / after) / scale) ** 2 - np.log(scale) - LOG_ROOT_2_PI
        whole = -0.5 * x**2 - LOG_ROOT_2_PI
    odds = number_evidence(others.n, distance, deviation, rows)[:, None]
    terms = mixed_densities(by_class, whole, shares_of(odds, inclusion)) - np.log(unit) - np.log(others.unit)
    terms[~others.present] = 0.0
    return terms, others.doubtful | _far(others, x, distance, deviation, rows, target)


def _far(others: Others, x: Doubles, distance: Doubles, deviation: Doubles, rows: float, target: Codes) -> Flags:
    """The rows whose value is so far from the others of its class, or of the column, that taking it out cancels."""
    own = np.arange(len(target)), target
    n = others.n[own]
    away = n * (x[:, 0] - distance[own]) ** 2
    found: Flags = others.present & ((x[:, 0] ** 2 > FAR) | (away > FAR * (rows + n * deviation[own] ** 2)))
    return found
