"""Leave-one-out from the tallies: each row is predicted by the model of all other rows, without a refit.

A row is subtracted from every tally and all rules are applied again: the number of levels, the variance floor and the
class prior may change with it. For levels and counts, the result depends only on the class and the value of the row, so
it is looked up in a table; for numbers, the moments are updated in doubles, or exactly where doubles would cancel.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist import functions
from bayesbox.dist.base import Columns, Distribution, Doubles
from bayesbox.dist.fit import FitOptions
from bayesbox.dist.leave_one_out import Codes, LeaveOneOutPlan
from bayesbox.dist.naive import NaiveModel
from bayesbox.dist.posterior import normalised, normalised_log, posterior, terms_of
from bayesbox.rule.naive import fit_options, naive_model
from bayesbox.rule.options import NaiveOptions
from bayesbox.schema.encode import Encoded
from bayesbox.schema.schema import Schema
from bayesbox.source.base import taken
from bayesbox.stat.leave_one_out import learned_target, never_learned, prior_table
from bayesbox.tally.book import Book
from bayesbox.tally.count import count


def leave_one_out(
    schema: Schema, book: Book, rules: NaiveOptions, model: NaiveModel, columns: Columns, labels: Encoded
) -> Doubles:
    """P(class | x) of each row under the model of all other rows, rows x classes.

    A class with no other row has probability 0.
    """
    counted = book.with_classes(model.classes)
    target = learned_target(labels, model.classes, counted)
    plan = LeaveOneOutPlan(target, len(model.classes))
    plan.doubtful[:] = (
        rules.var_smoothing is not None
    )  # a row may change the largest variance, and so the floors of all columns
    prior = prior_table(schema.classes, counted, rules, model)
    plan.tables.append((target, np.vstack([prior, np.zeros(len(model.classes))])))
    for conditional in model.conditionals:
        weight = model.weight_of(conditional)
        options = fit_options(schema, counted, rules, conditional.columns[0])
        if weight == 1:
            conditional.leave_one_out(plan, columns, counted, options)
        else:
            alone = _alone(conditional, counted, options, columns, target)
            plan.add(alone, weight)
            plan.doubtful |= alone.doubtful
    plan.finish()
    answer: Doubles = plan.run(_core.POSTERIOR)
    if plan.impossible:
        if np.isnan(plan.run(_core.JOINT)).any():
            raise never_learned(", ".join(columns))
        answer = normalised(plan, prior[target], _core.POSTERIOR)
    doubtful = np.flatnonzero(plan.doubtful)
    if rules.var_smoothing is None and len(doubtful):
        answer[doubtful], sure = _by_terms(schema, book, rules, model, columns, labels, doubtful)
        doubtful = doubtful[~sure]
    for row in doubtful:
        answer[row] = _refitted(schema, book, rules, model, columns, labels, int(row))
    return answer


def _by_terms(
    schema: Schema,
    book: Book,
    rules: NaiveOptions,
    model: NaiveModel,
    columns: Columns,
    labels: Encoded,
    rows: NDArray[np.int64],
) -> tuple[Doubles, NDArray[np.bool_]]:
    """The posteriors of some rows, refitting only the columns that need it, and which of them are reliable."""
    some = {name: taken(column, rows) for name, column in columns.items()}
    chosen = Encoded(labels.codes[rows], labels.levels, labels.values)
    prior, terms = leave_one_out_terms(schema, book, rules, model, some, chosen)
    joint = prior.copy()
    for conditional, own in zip(model.conditionals, terms, strict=True):
        joint += model.weight_of(conditional) * own
    sure = np.array([bool(np.isfinite(each).any() and (each < np.inf).all()) for each in joint], dtype=bool)
    joint[~sure] = 0.0
    return functions.exp(normalised_log(joint, prior)), sure


def leave_one_out_terms(
    schema: Schema, book: Book, rules: NaiveOptions, model: NaiveModel, columns: Columns, labels: Encoded
) -> tuple[Doubles, Doubles]:
    """(log P(class), log P(x_j | class)) of each row under the tallies of all other rows.

    Rows x classes, and conditionals x rows x classes in the order of the model, without its weights.
    """
    counted = book.with_classes(model.classes)
    target = learned_target(labels, model.classes, counted)
    terms = np.zeros((len(model.conditionals), len(target), len(model.classes)))
    doubtful = np.full((len(model.conditionals), len(target)), rules.var_smoothing is not None)
    for place, conditional in enumerate(model.conditionals):
        options = fit_options(schema, counted, rules, conditional.columns[0])
        alone = _alone(conditional, counted, options, columns, target)
        terms[place] = alone.run(_core.JOINT)
        doubtful[place] |= alone.doubtful
    if np.isnan(terms).any():
        raise never_learned(", ".join(columns))
    for row in np.flatnonzero(doubtful.any(axis=0)):
        again_places = np.flatnonzero(doubtful[:, row]).tolist()
        names = {name for place in again_places for name in model.conditionals[place].columns}
        reduced, one = _without_row(schema, book, rules, model, columns, labels, int(row), only=names)
        places = [model.classes.index(name) for name in reduced.classes]
        for place in again_places:
            again = reduced.conditional(model.conditionals[place].columns[0])
            terms[place, row] = 0.0
            if again is not None:
                terms[place, row, places] = terms_of(again, one, 1, len(reduced.classes)).run(_core.JOINT)[0]
    return prior_table(schema.classes, counted, rules, model)[target], terms


def _alone(
    conditional: Distribution, book: Book, options: FitOptions, columns: Columns, target: Codes
) -> LeaveOneOutPlan:
    """The terms of one distribution, computed separately."""
    plan = LeaveOneOutPlan(target, len(book.classes))
    conditional.leave_one_out(plan, columns, book, options)
    plan.finish()
    return plan


def _refitted(
    schema: Schema, book: Book, rules: NaiveOptions, model: NaiveModel, columns: Columns, labels: Encoded, row: int
) -> Doubles:
    """The same for one row by subtracting its tally and applying all rules: exact, but slower."""
    reduced, one = _without_row(schema, book, rules, model, columns, labels, row)
    answer = np.zeros(len(model.classes))
    answer[[model.classes.index(name) for name in reduced.classes]] = posterior(reduced, one, 1)[0]
    return answer


def _without_row(
    schema: Schema,
    book: Book,
    rules: NaiveOptions,
    model: NaiveModel,
    columns: Columns,
    labels: Encoded,
    row: int,
    *,
    only: Collection[str] | None = None,
) -> tuple[NaiveModel, Columns]:
    """The model of all other rows, for some columns or all, and the row."""
    one = {name: column[row : row + 1] for name, column in columns.items()}
    if only is not None and rules.var_smoothing is None:  # else the variances of all columns matter
        one = {name: one[name] for name in one if name in only}
        book = book.with_tallies({name: tally for name, tally in book.columns.items() if name in only})
    label = Encoded(labels.codes[row : row + 1], labels.levels, labels.values)
    others = book - count(one, label, schema, label_type=book.label_type)
    weights = model.weights if only is None else {name: float(name in only) for name in schema.used}
    return naive_model(schema, others, rules, weights), one
