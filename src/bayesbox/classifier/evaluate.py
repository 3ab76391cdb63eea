"""How good a classifier is: on rows it has not seen, by cross-validation, or leaving one row out at a time.

Cross-validation is a subtraction. The rows are counted once; the model that has not seen a fold is made of the total
less the tally of the fold, which is to the bit what counting the other folds would give. So k folds cost one more
counting of the rows and one prediction of each, not k trainings.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from bayesbox.classifier.base import Classifier
from bayesbox.classifier.evaluation import Evaluation
from bayesbox.classifier.predict import absent_columns
from bayesbox.classifier.predictions import Predictions, cross_validated, held_out, left_one_out, require_options
from bayesbox.classifier.rows import LabelledRows, Part, common_codes, minus_rows, parts_of, refit_on
from bayesbox.classifier.train import train
from bayesbox.classifier.training import Progress, Training, split_columns
from bayesbox.schema.columns import CountMatrix
from bayesbox.schema.encode import Encoded, as_dictionary
from bayesbox.schema.infer import kind_of
from bayesbox.schema.kinds import Category
from bayesbox.source.base import Batch, Source
from bayesbox.source.wrapped import Recorded
from bayesbox.stat.folds import stratified_folds
from bayesbox.stat.metrics import BINS, Scored, scored


def judged_by(
    classifier: Classifier, batch: Batch, labels: Encoded, *, classes: tuple[str, ...], **options: Any
) -> Predictions:
    """The answers of a classifier to some rows."""
    known, wanted = classifier.model.classes, {"classes": classes, **options}
    found = scored(classifier.log_posterior(batch), labels, known, **wanted)
    if classifier.calibrate is None:
        return Predictions(found)
    return Predictions(found, scored(classifier.plain_log_posterior(batch), labels, known, **wanted))


def evaluate_held_out(
    classifier: Classifier,
    source: Source,
    target: str,
    *,
    weight: str | None = None,
    bins: int = BINS,
    threads: int = 1,
    progress: Progress | None = None,
) -> Evaluation:
    """A fitted classifier on the rows of a source, a batch at a time; nothing is learned from them.

    Rows without a label are left out and counted. A label that the classifier never saw is an error of it, and named.
    """
    require_options(bins=bins)
    classes = classifier.model.classes  # makes the model before threads ask for it
    absent: list[str] = []

    def judged(batch: Batch) -> Predictions:
        columns, labels, weights = split_columns(batch, target, weight, where=source.name)
        if not absent:
            absent.extend(absent_columns(classifier, tuple(columns), where=source.name))
        features = batch.select(tuple(columns))
        answers = judged_by(classifier, features, labels, classes=classes, weights=weights, bins=bins)
        if progress is not None:
            progress(batch.rows)
        return answers

    return held_out(source, target, source.reduce(judged, threads=threads), absent=absent)


def cross_validate(
    classifier: Classifier,
    source: Source,
    target: str,
    *,
    folds: int = 10,
    repeats: int = 1,
    seed: int = 0,
    weight: str | None = None,
    bins: int = BINS,
    threads: int = 1,
    progress: Progress | None = None,
) -> Evaluation:
    """Stratified cross-validation of a classifier that has learned nothing yet; afterwards it knows all rows.

    The rows are kept in memory. The folds follow from the seed and the numbers of the rows alone.
    """
    require_options(bins=bins, folds=folds, repeats=repeats)
    kept, training = learned_and_kept(classifier, source, target, weight=weight, threads=threads)
    codes = common_codes([rows.labels for rows in kept])
    by_repeat = []
    with ThreadPoolExecutor(threads) as pool:
        for repeat in range(repeats):
            parts = parts_of(kept, stratified_folds(codes, folds, seed=seed, repeat=repeat), folds)
            judge = functools.partial(judge_fold, classifier, parts, bins=bins, progress=progress)
            by_repeat.append(functools.reduce(operator.add, pool.map(judge, range(folds))))
    return cross_validated(source, target, by_repeat, unlabelled=training.unlabelled, folds=folds, seed=seed)


def leave_one_out(
    classifier: Classifier,
    source: Source,
    target: str,
    *,
    bins: int = BINS,
    threads: int = 1,
    progress: Progress | None = None,
) -> Evaluation:
    """Every row judged by the model of all the others; the classifier has learned nothing yet, afterwards all rows."""
    require_options(bins=bins)
    kept, training = learned_and_kept(classifier, source, target, threads=threads)
    classes, total = classifier.model.classes, Scored(classifier.model.classes, bins)
    for rows in kept:
        part = rows.take(np.flatnonzero(rows.labels.codes >= 0))
        if part.batch.rows:
            with np.errstate(divide="ignore"):
                log_p = np.log(classifier.leave_one_out(part.batch, part.labels))
            total = total + scored(log_p, part.labels, classes, bins=bins)
        if progress is not None:
            progress(rows.batch.rows)
    return left_one_out(source, target, total, unlabelled=training.unlabelled)


# -- rows that are kept ----------------------------------------------------------------------------------------------


def learned_and_kept(
    classifier: Classifier, source: Source, target: str, *, weight: str | None = None, threads: int = 1
) -> tuple[list[LabelledRows], Training]:
    """Learn every row of a source, and keep the rows with their texts encoded."""
    recorded = Recorded(source)
    training = train(classifier, recorded, target, weight=weight, threads=threads)
    kept = []
    while recorded.given:
        batch = recorded.given.pop(0)  # each is let go once it is encoded
        columns, labels, weights = split_columns(batch, target, weight, where=source.name)
        encoded = tuple(_encoded(column) for column in columns.values())
        kept.append(LabelledRows(Batch(tuple(columns), encoded, batch.rows, batch.first_row), labels, weights))
    return kept, training


def _encoded(column: Any) -> Any:
    """Text as codes, once and for all folds; other columns as they are."""
    if isinstance(column, (np.ndarray, CountMatrix)) or not isinstance(kind_of(column, name=""), Category):
        return column
    return as_dictionary(column)


def judge_fold(
    classifier: Classifier,
    folds: Sequence[list[Part]],
    place: int,
    *,
    bins: int = BINS,
    progress: Progress | None = None,
) -> Predictions:
    """The predictions for the rows of one fold by the classifier that never saw them.

    Where the classifier is its tallies and no more, that is a subtraction; else it learns the other folds anew.
    """
    parts = [rows.take(chosen) for rows, chosen in folds[place]]
    classes = classifier.model.classes
    plain = Scored(classes, bins) if classifier.calibrate is not None else None
    total = Predictions(Scored(classes, bins), plain)
    if not parts:
        return total
    if classifier.needs_refit():
        other = refit_on(classifier, [fold for index, fold in enumerate(folds) if index != place])
    else:
        other = minus_rows(classifier, parts)
        if getattr(classifier.rules, "prior_smoothing", None) is not None:  # a class that is gone keeps a share
            assert other.schema is not None
            other.accept(other.schema.with_classes(classes), other.book)
    for rows in parts:
        total = total + judged_by(other, rows.batch, rows.labels, classes=classes, weights=rows.weights, bins=bins)
        if progress is not None:
            progress(rows.batch.rows)
    return total
