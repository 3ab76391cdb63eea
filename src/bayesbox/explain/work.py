"""The work shown: the Bayes box of one case, each factor as a count over a count with what its rule added."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from bayesbox.dist.base import Columns
from bayesbox.dist.cells import LevelCounts
from bayesbox.dist.factor import Factor, NoFactor, decimal, divided, formula
from bayesbox.dist.naive import NaiveModel
from bayesbox.explain.box import Work
from bayesbox.rule.naive import fit_options
from bayesbox.rule.options import NaiveOptions
from bayesbox.rule.priors import prior_ratio
from bayesbox.rule.smoothing import MaximumLikelihood
from bayesbox.schema.schema import Schema
from bayesbox.tally.book import Book


def bayes_box(schema: Schema, book: Book, rules: NaiveOptions, model: NaiveModel, columns: Columns) -> Work:
    """The work for the first row of these columns."""
    counted = book.with_classes(model.classes)
    factors = [_prior_factor(counted, rules, model)]
    left_out = [NoFactor(name, reason) for name, reason in model.left_out.items()]
    row = {name: column[0:1] for name, column in columns.items()}
    for conditional in model.conditionals:
        options = fit_options(schema, counted, rules, conditional.columns[0])
        for factor in conditional.work(row, counted, options):
            if isinstance(factor, NoFactor):
                left_out.append(factor)
            else:
                factors.append(factor.power(model.weight_of(conditional)))
    return Work(model.classes, tuple(factors), tuple(left_out))


def _prior_factor(book: Book, rules: NaiveOptions, model: NaiveModel) -> Factor:
    if rules.prior is not None or not len(book.n) or not np.any(book.n):
        given = [math.exp(value) for value in model.log_prior]
        return Factor("P(class)", tuple(decimal(p) for p in given), tuple(Fraction(decimal(p)) for p in given))
    rule = rules.prior_smoothing or MaximumLikelihood()
    over, under = prior_ratio(book.class_counts, model.classes, rule, exact=True)
    counts = LevelCounts(model.classes, book.class_counts, 1).as_cells(exact=True)
    formulas = [
        formula(counts.counts[0, index], counts.totals[0], over[index], under[index], rule)
        for index in range(len(model.classes))
    ]
    return Factor("P(class)", tuple(formulas), tuple(divided(a, b) for a, b in zip(over, under, strict=True)))
