"""Naive Bayes averaged over all 2**d sets of columns that may depend on the class (Dash and Cooper, 2004).

Of each set of columns S, those in it depend on the class and the others do not. The sum over all sets of
P(S | rows) P(c, x | S, rows) is a product, since the evidence of a set is one:

    P(c, x) = P(c) product over j of [w_j P(x_j | c) + (1 - w_j) P(x_j)]

w_j = P(column j depends on the class | rows) follows from the evidence of both: a Dirichlet prior for levels and bins,
a normal-inverse-gamma prior for numbers. A missing value has the factor 1. The density of numbers is the gaussian that
is most probable under that prior, worth a quarter of a row; or Student's t, the prediction of a prior worth one row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from bayesbox.dist.base import Distribution, Doubles, log
from bayesbox.dist.bernoulli import Bernoulli
from bayesbox.dist.bins import Bins
from bayesbox.dist.gaussian import Gaussian
from bayesbox.dist.naive import NaiveModel
from bayesbox.dist.numbers import NumberDensity
from bayesbox.dist.student import Student, log_gamma
from bayesbox.dist.table import Table
from bayesbox.errors import BadOption
from bayesbox.rule.densities import bin_counts
from bayesbox.rule.naive import level_counts, naive_model
from bayesbox.rule.normal import gaussian, student_parameters
from bayesbox.rule.smoothing import Smoothing
from bayesbox.schema.kinds import SPACED
from bayesbox.schema.schema import Schema
from bayesbox.table.augmented.model import added_counts
from bayesbox.table.averaged.options import AveragedOptions
from bayesbox.tally.book import Book
from bayesbox.tally.moments import Moments

PRIOR_ROWS = 0.25  # of the prior of a gaussian: enough for a class with one value, little for all others


@dataclass(frozen=True)
class AveragedModel(NaiveModel):
    """Naive Bayes whose conditionals are averages; `inclusion` is w_j by column."""

    inclusion: Mapping[str, float] = field(default_factory=dict)


class Shares(NamedTuple):
    """w and 1 - w, each to all its digits: what is next to nothing may weigh a density that is far greater."""

    inside: Any  # a number, or one a row
    outside: Any


@dataclass(frozen=True)
class AveragedNumber(NumberDensity):
    """w p(x | class) + (1 - w) p(x): the density of each class and that of the whole column."""

    by_class: Gaussian | Student
    whole: Gaussian | Student
    shares: Shares

    def log_density(self, values: Doubles) -> Doubles:
        return mixed_densities(self.by_class.log_density(values), self.whole.log_density(values), self.shares)


def averaged_model(schema: Schema, book: Book, rules: AveragedOptions) -> AveragedModel:
    """Apply the rules to the tallies."""
    naive = naive_model(schema, book, rules)
    counted = book.with_classes(naive.classes)
    silent = {
        each.column: "all its values are equal"  # a point mass under floor=0 has no evidence
        for each in naive.conditionals
        if isinstance(each, Gaussian) and not counted[each.column].pooled().excess.m
    }
    taking_part = [each for each in naive.conditionals if each.columns[0] not in silent]
    made = [_averaged(each, schema, counted, rules) for each in taking_part]
    conditionals = tuple(conditional for conditional, _ in made)
    inclusion = {each.columns[0]: weight for each, weight in made}
    left_out = {**naive.left_out, **silent}
    return AveragedModel(naive.classes, naive.labels, naive.log_prior, conditionals, left_out, inclusion=inclusion)


def _averaged(
    conditional: Distribution, schema: Schema, book: Book, rules: AveragedOptions
) -> tuple[Distribution, float]:
    name = conditional.columns[0]
    kind = schema.kinds[name]
    if kind.missing == "level":
        raise BadOption("averaged naive Bayes leaves missing values out", found=f"missing='level' of column `{name}`")
    if isinstance(conditional, (Table, Bernoulli)):
        cells = level_counts(book, name, kind, rules).as_cells().counts  # the last level was never seen
        size = cells.shape[1] - 1
        shares = shares_of(level_evidence(cells, rules.smoothing, size), rules.inclusion)
        mixed = mixed_levels(cells, rules.smoothing, size, shares).T
        unseen = log(mixed[-1]) if rules.unseen != "ignore" else np.zeros(len(book.classes))
        return replace(conditional, log_p=log(mixed[:-1]), log_unseen=unseen), float(shares.inside)
    if isinstance(conditional, Bins):
        counts = np.asarray(bin_counts(book[name], conditional).counts, dtype=np.float64)
        return averaged_bins(conditional, counts, rules)
    if isinstance(conditional, (Gaussian, Student)) and schema.density(name) != SPACED:
        rows = PRIOR_ROWS if isinstance(conditional, Gaussian) else 1.0
        shares = shares_of(number_evidence(*_units(book[name]), rows), rules.inclusion)
        conditional = _with_prior(conditional, book[name])
        whole = _whole_density(conditional, book[name])
        return AveragedNumber(
            name, conditional.log_observed, conditional.log_missing, conditional, whole, shares
        ), float(shares.inside)
    raise BadOption(
        f"column `{name}` has a density without evidence, so that it cannot be averaged over",
        found=schema.density(name) if isinstance(conditional, Gaussian) else type(conditional).__name__,
        remedy="Take numeric='gaussian', 'student' or bins, such as 'mdl'; declare counts as real",
    )


def averaged_bins(bins: Bins, counts: Doubles, rules: AveragedOptions) -> tuple[Bins, float]:
    """The bins with their average, from counts of classes x bins; and w."""
    size = counts.shape[1]
    shares = shares_of(level_evidence(counts, rules.smoothing, size), rules.inclusion)
    mixed = mixed_levels(counts, rules.smoothing, size, shares).T
    return replace(bins, log_bins=log(mixed)), float(shares.inside)


def shares_of(log_odds: float | Doubles, inclusion: float) -> Shares:
    """w and 1 - w from the log of the evidence for the class over the evidence against it, and the prior."""
    exponent = log_odds + (log(inclusion) - log(1 - inclusion))
    return Shares(np.exp(-np.logaddexp(0.0, -exponent)), np.exp(-np.logaddexp(0.0, exponent)))


def level_evidence(counts: Doubles, rule: Smoothing, size: int) -> float:
    """The log of P(levels | class matters) / P(levels | it does not), from classes x levels, of which there can be so
    many.

    Either is a Dirichlet-multinomial: of each class by itself, or of all rows together.
    """
    a, b = added_counts(rule, size)
    if not a:
        raise BadOption("maximum likelihood is no prior, so that there is no evidence", remedy="Take laplace")
    by_class = sum(_dirichlet(row, a, b) for row in counts.tolist())
    return float(by_class - _dirichlet(counts.sum(axis=0).tolist(), a, b))


def _dirichlet(counts: list[float], a: float, b: float) -> float:
    terms = (math.lgamma(count + a) - math.lgamma(a) for count in counts if count)
    return math.fsum([math.lgamma(b), -math.lgamma(sum(counts) + b), *terms])


def mixed_levels(counts: Doubles, rule: Smoothing, size: int, shares: Shares) -> Doubles:
    """w P(level | class) + (1 - w) P(level), classes x levels."""
    a, b = added_counts(rule, size)
    by_class = (counts + a) / (counts.sum(axis=1, keepdims=True) + b)
    whole = counts.sum(axis=0)
    mixed: Doubles = shares.inside * by_class + shares.outside * ((whole + a) / (whole.sum() + b))[None, :]
    return mixed


def mixed_densities(by_class: Doubles, whole: Doubles, shares: Shares) -> Doubles:
    """The same of densities, all in logs."""
    mixed: Doubles = np.logaddexp(by_class + log(shares.inside), whole + log(shares.outside))
    return mixed


def _units(moments: Moments) -> tuple[Doubles, Doubles, Doubles]:
    """n, the distance of the mean from the column's, and the deviation, by class, in the column's deviations."""
    whole = moments.pooled()
    n, distance, deviation = np.zeros((3, len(moments.classes)))
    for index, each in enumerate(moments.spreads()):
        if each.n.m:
            n[index], deviation[index] = float(each.n.fraction), each.unit / whole.unit
            distance[index] = ((each.mean - whole.mean) + (each.rest_of_mean - whole.rest_of_mean)) / whole.unit
    return n, distance, deviation


def number_evidence(n: Doubles, distance: Doubles, deviation: Doubles, rows: float) -> Any:
    """The same for numbers, under a prior worth so many rows with the mean and the variance of the whole column:

    mean ~ N(column's mean, variance / rows), variance ~ inverse gamma(rows / 2, rows / 2 times the column's variance).
    The unit of the column cancels. The last axis is that of the classes.
    """
    by_class = _normal(n, posterior_squares(n, distance, deviation, rows), rows).sum(axis=-1)
    whole = n.sum(axis=-1)
    return by_class - _normal(whole, rows + whole, rows)


def posterior_squares(n: Doubles, distance: Doubles, deviation: Doubles, rows: float) -> Doubles:
    """r + n s**2 + r n d**2 / (n + r), with the distance d of the mean, the deviation s and a prior of r rows."""
    return rows + n * deviation**2 + rows * n * distance**2 / (n + rows)


def _normal(n: Doubles, squares: Doubles, rows: float) -> Doubles:
    """log of the evidence of n values with these squares q after a prior of r rows:

    log G((n + r) / 2) - log G(r / 2) + log(r / (n + r)) / 2 + r/2 log r - (n + r) / 2 log q - n/2 log pi
    """
    return (
        log_gamma((n + rows) / 2)
        - math.lgamma(rows / 2)
        + 0.5 * np.log(rows / (n + rows))
        + rows / 2 * math.log(rows)
        - (n + rows) / 2 * np.log(squares)
        - n / 2 * math.log(math.pi)
    )


def _with_prior(conditional: Gaussian | Student, moments: Moments) -> Gaussian | Student:
    """The gaussian that is most probable under the prior, its variance above 0; Student's t has its prior already."""
    if isinstance(conditional, Student):
        return conditional
    found = gaussian(
        conditional.column,
        moments,
        floor=0.0,
        log_observed=conditional.log_observed,
        log_missing=conditional.log_missing,
        prior_rows=PRIOR_ROWS,
    )
    assert found is not None  # a column without spread has no density
    return found


def _whole_density(conditional: Gaussian | Student, moments: Moments) -> Gaussian | Student:
    """The density of the whole column, once for each class."""
    whole = moments.pooled()
    if isinstance(conditional, Gaussian):
        every = np.ones(len(conditional.mean))
        return replace(
            conditional, mean=whole.mean * every, mean_low=whole.rest_of_mean * every, std=whole.unit * every
        )
    n = np.array([float(whole.n.fraction)])
    _, scale = student_parameters(n, np.zeros(1), np.array([whole.unit]), whole.unit)
    every = np.ones(len(conditional.shift))
    return replace(conditional, shift=whole.rest_of_mean * every, scale=scale[0] * every, df=(n[0] + 1) * every)
