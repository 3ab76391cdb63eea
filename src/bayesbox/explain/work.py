"""The factors of naive Bayes for one case, each as a count over a count, with the pseudo-counts of its rule."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

from bayesbox.dist.base import Columns, Doubles
from bayesbox.dist.cells import Cells, LevelCounts, Ratio, Smoothing
from bayesbox.dist.dirichlet import share_posteriors
from bayesbox.dist.factor import Factor, Logged, NoFactor, divided, formula, given_value, log_of
from bayesbox.dist.naive import NaiveModel
from bayesbox.explain.box import BayesBox
from bayesbox.explain.class_work import ClassWork
from bayesbox.explain.evidence import Explanation
from bayesbox.explain.steps import Cell, Row, Step, line
from bayesbox.explain.underflow import log_joints
from bayesbox.rule.naive import fit_options
from bayesbox.rule.options import NaiveOptions
from bayesbox.rule.priors import prior_ratio
from bayesbox.rule.smoothing import MaximumLikelihood
from bayesbox.schema.schema import Schema
from bayesbox.tally.book import Book

MOST_FACTORS, SHOWN_FACTORS = 200, 40  # of a row: printed in full up to the first number; with more, only the second
CLOSE = 1e-9  # the largest difference between the product of terms and the answer


class HasPrior(Protocol):
    """A model with a prior."""

    @property
    def classes(self) -> tuple[str, ...]: ...
    @property
    def log_prior(self) -> Doubles: ...


def bayes_box(
    schema: Schema,
    book: Book,
    rules: NaiveOptions,
    model: NaiveModel,
    columns: Columns,
    *,
    against: str | None = None,
    every: bool = False,
) -> BayesBox:
    """The calculation for the first row of these columns; with `every`, all factors are shown, however many."""
    counted = book.with_classes(model.classes)
    factors = [prior_factor(model, book, rules)]
    ignored = [NoFactor(name, reason) for name, reason in model.ignored.items()]
    row = {name: column[0:1] for name, column in columns.items()}
    for conditional in model.conditionals:
        options = fit_options(schema, counted, rules, conditional.columns[0])
        for factor in conditional.work(row, counted, options):
            if isinstance(factor, NoFactor):
                ignored.append(factor)
            else:
                factors.append(factor.power(model.weight_of(conditional)))
    if not every:
        factors[1:] = most_informative(factors[1:], len(model.classes))
    weighted = model.is_weighted
    return BayesBox(model.classes, tuple(factors), tuple(ignored), not weighted, against)


def most_informative(factors: list[Factor], classes: int) -> list[Factor]:
    """The factors; if there are very many, those that differ most between classes, and the product of the others."""
    if len(factors) <= MOST_FACTORS:
        return factors
    spread = [_spread(factor) for factor in factors]
    shown = set(sorted(range(len(factors)), key=lambda place: (-spread[place], place))[:SHOWN_FACTORS])
    others = [factor for place, factor in enumerate(factors) if place not in shown]
    products = tuple(map(Logged, log_joints(classes, others)))  # as a fraction it would have thousands of digits
    rest = Factor(f"{len(others):,} other factors", ("product of them",) * classes, products)
    return [*(factor for place, factor in enumerate(factors) if place in shown), rest]


def _spread(factor: Factor) -> float:
    logs = [log_of(value) for value in factor.values]
    return math.inf if any(map(math.isinf, logs)) else max(logs) - min(logs)


def prior_factor(model: HasPrior, book: Book, rules: Any) -> Factor:
    """The prior of any model: class count over total, with the pseudo-counts of its rule; or as given."""
    if rules.prior is None and np.any(book.n):
        rule = getattr(rules, "prior_smoothing", None) or MaximumLikelihood()
        counted = _counted_prior(model.classes, book.with_classes(model.classes), rule)
        if np.allclose([log_of(value) for value in counted.values], model.log_prior, rtol=0, atol=1e-12):
            return counted
    found = [given_value(math.exp(value)) for value in model.log_prior.tolist()]
    return Factor("P(class)", tuple(text for text, _ in found), tuple(value for _, value in found))


def _counted_prior(classes: tuple[str, ...], book: Book, rule: Smoothing) -> Factor:
    over, under = prior_ratio(book.class_counts, classes, rule, exact=True)
    counts = LevelCounts(classes, book.class_counts, 1).as_cells(exact=True)
    formulas = [
        formula(counts.counts[0, index], counts.totals[0], over[index], under[index], rule)
        for index in range(len(classes))
    ]
    shares = tuple(divided(a, b) for a, b in zip(over, under, strict=True))
    ratios = Ratio(np.array([over], dtype=object), np.array([under], dtype=object))
    names = Cells(counts.counts[:, : len(classes)], counts.totals, len(classes), classes)
    return Factor("P(class)", tuple(formulas), shares, tuple(share_posteriors(names, ratios, rule)[0]))


def work_of_terms(
    title: str, prior: Factor, classes: tuple[str, ...], evidence: object, log_posterior: Doubles, against: str | None
) -> ClassWork:
    """The calculation of a model that only has an explanation: one factor per column.

    If the terms do not multiply to the posterior, only the prior and the posterior are shown.
    """
    factors = [prior]
    if isinstance(evidence, Explanation):
        for place, name in enumerate(evidence.columns):
            terms = evidence.terms[0, :, place].tolist()
            if any(terms):
                factors.append(Factor(f"factor of {name}", ("",) * len(terms), tuple(map(Logged, terms))))
    box = BayesBox(classes, tuple(factors), is_probability=False, against=against)
    shares = np.exp(log_posterior)
    if not any(math.isnan(log_of(value)) for factor in factors for value in factor.values) and np.allclose(
        [float(share) for share in box.posterior], shares, rtol=CLOSE, atol=CLOSE
    ):
        return box.work(title)
    best = classes[int(shares.argmax())]
    posterior = Row("posterior: P(class | x)", tuple(Cell(value=share) for share in shares.tolist()))
    first = Row(prior.name, tuple(map(Cell, prior.formulas, prior.values)))
    steps = (
        Step("prior", (first,), classes),
        Step("posterior", (posterior,), classes),
        Step("decision", (line(f"so the class is {best}"),)),
    )
    return ClassWork(title, steps, classes, tuple(shares.tolist()))
