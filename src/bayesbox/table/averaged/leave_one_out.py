"""Leave-one-out of averaged naive Bayes: each row is subtracted from the evidence and the terms of each column.

Without one row of class c and level v, the evidence of the levels loses one factor, the prediction of v from the other
rows: (n_cv - 1 + a) / (n_c - 1 + b) if the column depends on the class, (n_v - 1 + a) / (n - 1 + b) if it does not. For
numbers, the evidence follows from the moments without the row.
"""

from __future__ import annotations

import numpy as np

from bayesbox import _core
from bayesbox.dist.base import Columns, Doubles
from bayesbox.dist.leave_one_out import Flags, LeaveOneOutPlan
from bayesbox.rule.naive import fit_options
from bayesbox.schema.encode import Encoded
from bayesbox.schema.schema import Schema
from bayesbox.stat.leave_one_out import learned_target, never_learned, prior_table
from bayesbox.table.averaged.model import AveragedModel
from bayesbox.table.averaged.options import AveragedOptions
from bayesbox.tally.book import Book


def leave_one_out(
    schema: Schema, book: Book, rules: AveragedOptions, model: AveragedModel, columns: Columns, labels: Encoded
) -> tuple[Doubles, Flags]:
    """P(class | x) of each row under the model of all other rows, rows x classes; and which rows need a refit.

    A class with no other row has probability 0.
    """
    counted = book.with_classes(model.classes)
    target = learned_target(labels, model.classes, counted)
    plan = LeaveOneOutPlan(target, len(model.classes))
    prior = prior_table(schema.classes, counted, rules, model)
    plan.tables.append((target, np.vstack([prior, np.zeros(len(model.classes))])))
    emptied = counted.class_counts.to_doubles() <= 1
    plan.doubtful |= (emptied & np.array([name in schema.classes for name in model.classes]))[target]
    for conditional in model.conditionals:
        options = fit_options(schema, counted, rules, conditional.columns[0])
        conditional.leave_one_out_averaged(plan, columns, counted, options, rules.inclusion)
    answer: Doubles = plan.run(_core.POSTERIOR)
    if plan.impossible:
        if np.isnan(plan.run(_core.JOINT)).any():
            raise never_learned(", ".join(columns))
        plan.doubtful |= np.isnan(answer).any(axis=1)
    return answer, plan.doubtful
