"""Column selection and column weights of naive Bayes, learned from the rows after counting.

Everything is evaluated on the terms of held-out rows: by leave-one-out, which is exact, or by folds if rows have
weights or the tallies are not exact.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.classifier.calibrated import COLUMN_WEIGHTS, held_out, labelled
from bayesbox.classifier.calibration.auto import HeldOutAnswers
from bayesbox.classifier.rows import LabelledRows, sample_of
from bayesbox.dist.base import Doubles
from bayesbox.dist.number.cuts import bin_names, mdl
from bayesbox.dist.posterior import terms_of
from bayesbox.errors import DataWarning
from bayesbox.rule.options import selection
from bayesbox.schema.coded import CodedRows, Variable
from bayesbox.schema.schema import Schema
from bayesbox.stat.calibrate import normalised
from bayesbox.stat.choose_calibration import PLAIN, fold_of_rows
from bayesbox.table.columns import class_codes, concat_column, takes_part
from bayesbox.table.naive import select
from bayesbox.table.naive.column_weights import learned_weights
from bayesbox.table.naive.leave_one_out import leave_one_out_terms
from bayesbox.table.naive.select import Terms

if TYPE_CHECKING:
    from bayesbox.table.naive.classifier import NaiveClassifier

FOLDS = 10
MOST_TERMS = 20_000_000  # the most terms in memory; for more, a sample of rows is evaluated


def chosen_columns(classifier: NaiveClassifier, parts: Sequence[LabelledRows]) -> dict[str, float]:
    """The weight of every column under selection or weighting: 0 if it is ignored."""
    rules = classifier.rules
    kept = labelled(parts)
    plain = classifier.changed(
        rules=replace(rules, select=None, column_weights=None), derived=None, calibrate=None, calibrated=None
    )
    groups = [conditional.columns for conditional in plain.model.conditionals]
    if not kept or len(plain.classes) < 2 or not groups:
        return {}
    weights = np.ones(len(groups))
    terms: Terms | None = None
    if rules.select is not None:
        method, number = selection(rules.select)
        if method in ("mi", "cfs"):
            taken = _by_counts(plain, kept, groups, method, number)
        else:
            terms = unseen_terms(plain, kept)
            taken = select.forward(terms) if method == "forward" else select.backward(terms)
        weights = np.zeros(len(groups))
        weights[taken] = 1.0
    if rules.column_weights is not None and weights.any():
        taken = np.flatnonzero(weights).tolist()
        terms = unseen_terms(plain, kept) if terms is None else terms
        weights[taken] = learned_weights(replace(terms, columns=terms.columns[taken]))
    return {name: weight for group, weight in zip(groups, weights.tolist(), strict=True) for name in group}


def unseen_terms(classifier: NaiveClassifier, kept: list[LabelledRows]) -> Terms:
    """The held-out terms of the rows, or of a sample of them if there are many."""
    model = classifier.model
    place = {text: code for code, text in enumerate(model.classes)}
    most = max(2, MOST_TERMS // (len(model.classes) * max(len(model.conditionals), 1)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # problems of these rows were reported in training
        if kept[0].weights is None and not classifier.needs_refit():
            asked = sample_of(kept, most)
            found = [_leave_one_out(classifier, rows) for rows in asked]
        else:
            asked, found = _by_folds(classifier, sample_of(kept, most))
    codes = [class_codes(rows, tuple(place)) for rows in asked]
    weights = None if kept[0].weights is None else np.concatenate([rows.weights for rows in asked])
    return Terms.of(
        np.concatenate([prior for prior, _ in found]),
        np.concatenate([terms for _, terms in found], axis=1),
        np.concatenate(codes),
        weights,
    )


# -- weights as a calibration ----------------------------------------------------------------------------------------

WEIGHED_CELLS = 300_000  # rows times classes times columns on which the weights are learned
STEPS, DECREASE = 40, 1e-5  # the tolerance: a calibration needs no more digits
FEWEST_WEIGHED = 100  # the fewest rows to learn weights on


def weighed_answers(classifier: NaiveClassifier, kept: list[LabelledRows]) -> HeldOutAnswers:
    """The held-out predictions of naive Bayes, and those with column weights learned without their fold."""
    plain = classifier.changed(calibrate=None, calibrated=None, _model=classifier.model)
    groups = [conditional.columns for conditional in plain.model.conditionals]
    terms = unseen_terms(plain, kept)
    weights = None if kept[0].weights is None else terms.weights
    bases = {PLAIN: normalised(terms.prior + terms.columns.sum(axis=0))}
    most = WEIGHED_CELLS // (max(len(groups), 1) * len(plain.classes))
    if not groups or min(most, len(terms.codes)) < FEWEST_WEIGHED // 2:
        return HeldOutAnswers(bases, terms.codes, weights)

    def learned(chosen: NDArray[np.int64]) -> Doubles:
        if len(chosen) > most:  # evenly spread, so that a file sorted by class is not a problem
            chosen = chosen[np.linspace(0, len(chosen) - 1, most).astype(np.int64)]
        return learned_weights(terms.take(chosen), steps=STEPS, decrease=DECREASE)

    fold_of_row = fold_of_rows(terms.codes)
    weighed = np.empty_like(terms.prior)
    for number in range(int(fold_of_row.max()) + 1):
        outside = np.flatnonzero(fold_of_row == number)
        weighed[outside] = terms.take(outside).answers(learned(np.flatnonzero(fold_of_row != number)))
    bases[COLUMN_WEIGHTS] = weighed

    def of_all() -> dict[str, float]:
        found = learned(np.arange(len(terms.codes))).tolist()
        return {name: weight for group, weight in zip(groups, found, strict=True) for name in group}

    return HeldOutAnswers(bases, terms.codes, weights, of_all)


def _leave_one_out(classifier: NaiveClassifier, rows: LabelledRows) -> tuple[Doubles, Doubles]:
    assert classifier.schema is not None
    columns = classifier.columns_of(rows.batch)
    return leave_one_out_terms(
        classifier.schema, classifier.book, classifier.rules, classifier.model, columns, rows.labels
    )


def _by_folds(
    classifier: NaiveClassifier, kept: list[LabelledRows]
) -> tuple[list[LabelledRows], list[tuple[Doubles, Doubles]]]:
    model = classifier.model
    asked, found = [], []
    for other, rows, chosen in held_out(classifier, kept, folds=FOLDS):
        part = rows.take(chosen)
        places = [model.classes.index(name) for name in other.classes]
        prior = np.full((part.batch.rows, len(model.classes)), -np.inf)
        prior[:, places] = other.model.log_prior
        terms = np.zeros((len(model.conditionals), part.batch.rows, len(model.classes)))
        columns = other.columns_of(part.batch)
        for place, conditional in enumerate(model.conditionals):
            own = other.model.conditional(conditional.columns[0])
            if own is not None:
                terms[place][:, places] = terms_of(own, columns, part.batch.rows, len(places)).run(_core.JOINT)
        asked.append(part)
        found.append((prior, terms))
    return asked, found


# -- by counts -------------------------------------------------------------------------------------------------------


def _by_counts(
    classifier: NaiveClassifier,
    kept: list[LabelledRows],
    groups: list[tuple[str, ...]],
    method: str,
    number: int | None,
) -> list[int]:
    """The groups of columns that a count-based method selects; columns without levels, such as words, are kept."""
    assert classifier.schema is not None
    coded = coded_columns([classifier.as_counted(rows) for rows in kept], classifier.schema, classifier.classes)
    names = coded.names[:-1]
    taken = select.most_informative(coded, number) if method == "mi" else select.correlated(coded)
    chosen = {names[column] for column in taken}
    return [
        place
        for place, group in enumerate(groups)
        if any(name in chosen for name in group) or not any(name in names for name in group)
    ]


def coded_columns(
    kept: list[LabelledRows], schema: Schema, classes: tuple[str, ...], cuts_of: Callable[[Doubles, Any], Doubles] = mdl
) -> CodedRows:
    """The columns with levels, or numbers in bins, and the class last."""
    codes = np.concatenate([class_codes(rows, classes) for rows in kept])
    variables, columns = [], []
    for name in schema.used:
        if takes_part(schema.kinds[name]):
            values = concat_column(kept, name, schema.kinds[name])
            if isinstance(values, tuple):
                variable = Variable(name, tuple(values[1]))
                columns.append(values[0].astype(variable.dtype, copy=False))
            else:
                variable = _in_bins(name, values, codes, len(classes), cuts_of)
                columns.append(variable.binned(values))
            variables.append(variable)
    weights = None if kept[0].weights is None else np.concatenate([rows.weights for rows in kept])
    return CodedRows((*variables, Variable("class", classes)), (*columns, codes), len(codes), weights)


def _in_bins(name: str, values: Doubles, codes: NDArray[np.int64], classes: int, cuts_of: Any) -> Variable:
    """The bins of numbers by class; one bin if all values are equal."""
    there = ~np.isnan(values)
    distinct, place = np.unique(values[there], return_inverse=True)
    cuts = np.empty(0)
    if len(distinct) > 1:
        counts = np.bincount(place * classes + codes[there], minlength=len(distinct) * classes)
        cuts = cuts_of(distinct, counts.reshape(-1, classes))
    return Variable(name, bin_names(cuts), tuple(cuts.tolist()))
