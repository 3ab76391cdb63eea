"""Evaluation of a classifier: on given rows, by cross-validation or by leave-one-out.

Cross-validation subtracts. The rows are counted once; the model without a fold is made from the total less the tally of
the fold, which equals the count of the other folds to the bit. So k folds cost one more count and one prediction of
each row, not k trainings.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bayesbox.classifier.base import AnyClassifier
from bayesbox.classifier.evaluation import Evaluation
from bayesbox.classifier.predict import CELLS_A_PIECE
from bayesbox.classifier.predictions import Predictions, cross_validated, held_out, left_one_out, require_options
from bayesbox.classifier.report.asked import unseen_counter
from bayesbox.classifier.report.learned_rows import TrainingRowCheck
from bayesbox.classifier.rows import LabelledRows, Part, common_codes, numbered, parts_of
from bayesbox.classifier.train import labelled_rows, train
from bayesbox.classifier.training import Progress, Training
from bayesbox.dist import functions
from bayesbox.errors import UnknownColumn
from bayesbox.schema.encode import encode
from bayesbox.source.base import Batch, Source
from bayesbox.source.pool import worker_threads
from bayesbox.source.wrapped import Recorded
from bayesbox.stat.folds import stratified_folds
from bayesbox.stat.metrics import BINS, Scored, scored


def judged_by(
    classifier: AnyClassifier,
    plain: AnyClassifier | None,
    rows: LabelledRows,
    *,
    classes: tuple[str, ...],
    bins: int,
) -> Predictions:
    """The predictions of a classifier for some rows, and those before calibration if it is calibrated."""

    def judged(each: AnyClassifier) -> Scored:
        found = Scored(classes, bins)
        for part in rows.pieces(max(CELLS_A_PIECE // max(len(each.model.classes), 1), 1)):
            log_p = each.log_posterior(part.batch)
            found = found + scored(
                log_p,
                part.labels,
                each.model.classes,
                classes=classes,
                weights=part.weights,
                bins=bins,
                rows=part.numbers,
                first=part.batch.first_row,
                groups=part.groups,
            )
        return found

    return Predictions(judged(classifier), None if plain is None else judged(plain))


def evaluate_held_out(
    classifier: AnyClassifier,
    source: Source,
    target: str,
    *,
    weight: str | None = None,
    by: str | None = None,
    bins: int = BINS,
    threads: int = 1,
    progress: Progress | None = None,
) -> Evaluation:
    """Evaluate a fitted classifier on the rows of a source, one batch at a time.

    Rows without a label are dropped and counted. Labels that the model does not know count as errors and are listed.
    """
    require_options(bins=bins)
    classes = classifier.model.classes  # makes the model before threads need it
    plain = classifier.uncalibrated()
    if plain is not None:
        plain.check()  # likewise
    absent: list[str] = []
    unseen, learned = unseen_counter(classifier), TrainingRowCheck(classifier)

    def judged(batch: Batch) -> Predictions:
        rows = in_groups(labelled_rows(batch, target, weight, where=source.name), by, where=source.name)
        if not absent:
            absent.extend(classifier.absent_columns(rows.batch.names, where=source.name))
        learned.count(rows)
        answers = judged_by(classifier, plain, replace(rows, batch=unseen(rows.batch)), classes=classes, bins=bins)
        if progress is not None:
            progress(batch.rows)
        return answers

    both = source.reduce(judged, threads=threads)
    unseen.warn()
    found = held_out(source, target, both, how=learned.how(), of=classifier.unit, absent=absent)
    return found.by_groups(by)


def cross_validate(
    classifier: AnyClassifier,
    source: Source,
    target: str,
    *,
    folds: int = 10,
    repeats: int = 1,
    seed: int = 0,
    weight: str | None = None,
    by: str | None = None,
    bins: int = BINS,
    threads: int = 1,
    progress: Progress | None = None,
) -> Evaluation:
    """Stratified cross-validation of an unfitted classifier, which is trained on all rows afterwards.

    The rows are kept in memory. The folds depend only on the seed and the row numbers.
    """
    require_options(bins=bins, folds=folds, repeats=repeats)
    kept, training = learned_and_kept(classifier, source, target, weight=weight, by=by, threads=threads)
    codes = common_codes([rows.labels for rows in kept])
    by_repeat = []
    with worker_threads(threads) as pool:
        for repeat in range(repeats):
            parts = parts_of(kept, stratified_folds(codes, folds, seed=seed, repeat=repeat), folds)
            judge = functools.partial(judge_fold, classifier, parts, bins=bins, progress=progress)
            by_repeat.append(functools.reduce(operator.add, pool.map(judge, range(folds))))
    found = cross_validated(source, target, by_repeat, unlabelled=training.unlabelled, folds=folds, seed=seed)
    return found.by_groups(by)


def leave_one_out(
    classifier: AnyClassifier,
    source: Source,
    target: str,
    *,
    by: str | None = None,
    bins: int = BINS,
    threads: int = 1,
    progress: Progress | None = None,
) -> Evaluation:
    """Leave-one-out evaluation of an unfitted classifier, which is trained on all rows afterwards."""
    require_options(bins=bins)
    kept, training = learned_and_kept(classifier, source, target, by=by, threads=threads)
    classes, total = classifier.model.classes, Scored(classifier.model.classes, bins)
    for rows in kept:
        part = rows.take(np.flatnonzero(rows.labels.codes >= 0))
        if part.batch.rows:
            with np.errstate(divide="ignore"):
                log_p = functions.log(classifier.leave_one_out(part.batch, part.labels))
            total = total + scored(log_p, part.labels, classes, bins=bins, rows=part.numbers, groups=part.groups)
        if progress is not None:
            progress(rows.batch.rows)
    return left_one_out(source, target, total, unlabelled=training.unlabelled).by_groups(by)


# -- rows in memory --------------------------------------------------------------------------------------------------


def learned_and_kept(
    classifier: AnyClassifier,
    source: Source,
    target: str,
    *,
    weight: str | None = None,
    by: str | None = None,
    threads: int = 1,
) -> tuple[list[LabelledRows], Training]:
    """Train on all rows of a source, and keep the rows with texts encoded."""
    recorded = Recorded(source)
    training = train(classifier, recorded, target, weight=weight, threads=threads)
    kept = []
    while recorded.given:
        batch = recorded.given.pop(0)  # each is freed once it is encoded
        rows = in_groups(labelled_rows(batch, target, weight, where=source.name), by, where=source.name)
        columns = classifier.kept_columns(dict(zip(rows.batch.names, rows.batch.columns, strict=True)))
        kept.append(replace(rows, batch=Batch(tuple(columns), tuple(columns.values()), batch.rows, batch.first_row)))
    return numbered(kept), training


def in_groups(rows: LabelledRows, by: str | None, *, where: str) -> LabelledRows:
    """The rows with the values of a column as their groups."""
    if by is None:
        return rows
    names = rows.batch.names
    if by not in names:
        raise UnknownColumn(by, available=names, where=where)
    return replace(rows, groups=encode(rows.batch[by]))


def judge_fold(
    classifier: AnyClassifier,
    folds: Sequence[list[Part]],
    place: int,
    *,
    bins: int = BINS,
    progress: Progress | None = None,
) -> Predictions:
    """The predictions for the rows of one fold by the classifier without them.

    The fold is subtracted if the classifier has only tallies; else it is refitted on the other folds.
    """
    parts = [rows.take(chosen) for rows, chosen in folds[place]]
    classes = classifier.model.classes
    before = None if classifier.uncalibrated() is None else Scored(classes, bins)
    total = Predictions(Scored(classes, bins), before)
    if not parts:
        return total

    def others() -> list[LabelledRows]:
        return [rows.take(chosen) for index, fold in enumerate(folds) if index != place for rows, chosen in fold]

    other = classifier.without(parts, others)
    plain = other.uncalibrated()
    for rows in parts:
        total = total + judged_by(other, plain, rows, classes=classes, bins=bins)
        if progress is not None:
            progress(rows.batch.rows)
    return total
