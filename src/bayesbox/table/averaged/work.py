"""The calculation of averaged naive Bayes: each factor is the average of P(x | class) and P(x)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesbox.dist import functions
from bayesbox.dist.base import Columns, Distribution, Doubles
from bayesbox.dist.factor import Factor, Logged, NoFactor
from bayesbox.dist.number.averaged_number import AveragedNumber
from bayesbox.explain.box import BayesBox
from bayesbox.explain.class_work import ClassWork
from bayesbox.explain.steps import Cell, Row, Step
from bayesbox.explain.work import prior_factor
from bayesbox.rule.naive import naive_model
from bayesbox.source.base import Batch

if TYPE_CHECKING:
    from bayesbox.table.averaged.classifier import AveragedClassifier

LEAST = 1e-6  # 1 - w below which the share of P(x) is lost in rounding


def averaged_work(classifier: AveragedClassifier, batch: Batch, against: str | None) -> ClassWork:
    """The calculation for a batch of one row: w P(x | class) + (1 - w) P(x) for each column."""
    from bayesbox.classifier.case import value_text

    model = classifier.model
    naive = naive_model(classifier.model_schema(), classifier.book, classifier.rules)
    columns = classifier.columns_of(batch)
    factors = [prior_factor(model, classifier.book, classifier.rules)]
    ignored = [NoFactor(name, reason) for name, reason in model.ignored.items()]
    for conditional in model.conditionals:
        name = conditional.columns[0]
        value, terms = value_text(columns.get(name)), conditional.terms(columns, 1)[0]
        if value is None or not terms.any():
            ignored.append(NoFactor(name, "" if value is None else f"{value} is unseen"))
            continue
        formulas = _formulas(conditional, naive.conditional(name), columns, terms, model.inclusion[name])
        factors.append(Factor(f"P({name}={value} | class)", formulas, tuple(Logged(term) for term in terms.tolist())))
    rows = tuple(Row(f"w of {name}", (Cell(value=float(share)),)) for name, share in model.inclusion.items())
    weights = Step("weights", rows, ("P(it depends on the class | rows)",))
    box = BayesBox(model.classes, tuple(factors), tuple(ignored), against=against)
    return box.work(classifier.case_title(batch), (weights,) if rows else ())


def _formulas(
    averaged: Distribution, plain: Distribution | None, columns: Columns, terms: Doubles, share: float
) -> tuple[str, ...]:
    """w P(x | class) + (1 - w) P(x) with its numbers, for each class."""
    if isinstance(averaged, AveragedNumber):
        values = averaged.numbers_of(columns)
        assert values is not None
        by_class, whole = (functions.exp(each.log_density(values)[0]) for each in (averaged.by_class, averaged.whole))
    elif plain is None or 1 - share < LEAST:
        return (f"{share:.6g} P(x | class) + {1 - share:.3g} P(x)",) * len(terms)
    else:
        by_class = functions.exp(plain.terms(columns, 1)[0])
        whole = (functions.exp(terms) - share * by_class) / (1 - share)
    pairs = zip(by_class.tolist(), np.broadcast_to(whole, by_class.shape).tolist(), strict=True)
    return tuple(f"{share:.5g} x {own:.5g} + {1 - share:.5g} x {other:.5g}" for own, other in pairs)
