"""Naive Bayes averaged over all 2**d sets of columns that may depend on the class (Dash and Cooper, 2004).

In each subset S, its columns depend on the class and the others do not. The sum over all subsets of P(S | rows) P(c, x
| S, rows) is a product, since the evidence of a subset factorises:

    P(c, x) = P(c) product over j of [w_j P(x_j | c) + (1 - w_j) P(x_j)]

w_j = P(column j depends on the class | rows) follows from the evidence of both: a Dirichlet prior for levels and bins,
a normal-inverse-gamma prior for numbers. A missing value has the factor 1. The density of numbers is the maximum a
posteriori gaussian under that prior, with the weight of a quarter of a row; or Student's t, the predictive distribution
of a prior with the weight of one row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bayesbox.dist.base import Distribution
from bayesbox.dist.naive import NaiveModel
from bayesbox.errors import BadOption
from bayesbox.rule.naive import fit_options, naive_model
from bayesbox.schema.schema import Schema
from bayesbox.table.averaged.options import AveragedOptions
from bayesbox.tally.book import Book


@dataclass(frozen=True)
class AveragedModel(NaiveModel):
    """Naive Bayes with averaged distributions; `inclusion` is w_j by column."""

    inclusion: Mapping[str, float] = field(default_factory=dict)


def averaged_model(schema: Schema, book: Book, rules: AveragedOptions) -> AveragedModel:
    """Apply the rules to the tallies."""
    naive = naive_model(schema, book, rules)
    counted = book.with_classes(naive.classes)
    made: list[Distribution] = []
    inclusion: dict[str, float] = {}
    silent: dict[str, str] = {}
    for each in naive.conditionals:
        name = each.columns[0]
        if schema.kinds[name].missing == "level":
            raise BadOption("averaged naive Bayes ignores missing values", found=f"missing='level' of column `{name}`")
        found = each.averaged(counted[name], fit_options(schema, counted, rules, name), rules.inclusion)
        if found is None:
            silent[name] = each.silent
        else:
            made.append(found[0])
            inclusion[name] = found[1]
    ignored = {**naive.ignored, **silent}
    return AveragedModel(naive.classes, naive.labels, naive.log_prior, tuple(made), ignored, inclusion=inclusion)
