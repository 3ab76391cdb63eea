"""What a classifier of documents derives after it has counted them: which model it is, and how strongly words speak.

Neither is a tally. Documents are judged by the model of all the others; where they have weights, or words are chosen
after counting, each fold of them by the model that is left when the fold is subtracted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox.classifier.rows import LabelledRows, minus_rows
from bayesbox.dist.base import Doubles
from bayesbox.stat.folds import stratified_folds
from bayesbox.text.calibrate import least_loss
from bayesbox.text.classifier import DocumentClassifier, Texts
from bayesbox.text.leave_one_out import sums_without
from bayesbox.text.model import CHOICES, Strength
from bayesbox.text.options import TextOptions

FOLDS = 5
NINE_IN_TEN = 1.2815515655446004  # standard errors that a lead by chance stays below nine times out of ten
Codes = NDArray[np.int32]


def settle(classifier: DocumentClassifier, rows: LabelledRows) -> None:
    """Choose the model, where that is asked for, and calibrate it, where that is, unless both were done before.

    The documents are some that were learned.
    """
    chooses, calibrates = classifier.to_choose, classifier.to_calibrate
    if not (chooses or calibrates):
        return
    classifier.require_all_words()
    labels = rows.labels
    place = np.array([*(classifier.classes.index(text) for text in labels.levels), -1], dtype=np.int32)
    target = place[labels.codes]
    few = (target >= 0).sum() < 2 or len(classifier.classes) < 2
    if chooses and not few:
        candidates = choices(classifier.rules)
        tried, hits = zip(*(_trial(classifier.with_rules(each), rows, target) for each in candidates), strict=True)
        best = candidates[_best(tried, hits, calibrated=calibrates)]
        classifier.settle_on(best, replace(classifier.settled, tried=tried))
    if calibrates:
        classifier.settle_on(classifier.rules, replace(classifier.settled, strength=Strength()))
        if not few:
            sums, known = _judged(classifier.with_rules(classifier.rules), rows, target)
            strength = least_loss(sums, known, classifier.model.log_prior, target)[1]
            classifier.settle_on(classifier.rules, replace(classifier.settled, strength=strength))


def choices(rules: TextOptions) -> list[TextOptions]:
    """The models that are tried: by counts and by the other classes, words as often as they are there, or once."""
    return [
        replace(rules, occurrence=occurrence, once=once)
        for occurrence, once in CHOICES
        if once or not rules.once  # who asks for words that count once gets no other
    ]


class Trial(NamedTuple):
    """A model that was tried: the share of documents it judged rightly unseen, and the log loss once calibrated."""

    occurrence: str
    once: bool
    accuracy: float
    log_loss: float | None  # None where no document says anything


def _best(tried: Sequence[Trial], hits: Sequence[Doubles], *, calibrated: bool) -> int:
    """The place of the best, of equal ones the first.

    The most documents are right; the first model, which is the simplest, gives way only to one whose lead over it would
    be smaller by chance nine times out of ten, by the documents that only one of the two judges rightly. Where the best
    is to be calibrated, it has the least log loss.
    """
    losses = [math.inf if each.log_loss is None else each.log_loss for each in tried]
    if calibrated:
        return losses.index(min(losses))
    leads = [own - hits[0] for own in hits]
    able = [0, *(k for k, lead in enumerate(leads) if lead.sum() > NINE_IN_TEN * np.sqrt((lead * lead).sum()))]
    return max(able, key=lambda k: (tried[k].accuracy, -losses[k]))


def _trial(classifier: DocumentClassifier, rows: LabelledRows, target: Codes) -> tuple[Trial, Doubles]:
    """The trial, and the weight of each document that is right."""
    sums, known = _judged(classifier, rows, target)
    prior, some = classifier.model.log_prior, target >= 0
    weights = rows.weights
    weight = some.astype(np.float64) if weights is None else np.where(some, np.asarray(weights, dtype=np.float64), 0.0)
    right = ((sums + prior).argmax(axis=1) == target) & np.isfinite(sums).any(axis=1)
    loss, _ = least_loss(sums, known, prior, target)
    rules, hits = classifier.rules, weight * right
    share = float(hits.sum() / weight.sum())
    return Trial(rules.occurrence, rules.once, share, loss if math.isfinite(loss) else None), hits


def _judged(classifier: DocumentClassifier, rows: LabelledRows, target: Codes) -> tuple[Doubles, Doubles]:
    """(documents x classes: the sums of the weights by a model that has not seen the document, the known words)."""
    rules = classifier.rules
    one_by_one = rules.top is None and rules.min_documents == 1 and not classifier.tokens.places
    if rows.weights is None and one_by_one:
        return _judged_one_by_one(classifier, classifier.texts_of(rows.batch), target)
    return _judged_by_folds(classifier, rows, target)


def _judged_one_by_one(classifier: DocumentClassifier, texts: Texts, target: Codes) -> tuple[Doubles, Doubles]:
    """Each document by the model of all the others; -inf for one that is all of its class."""
    counted = classifier.book.with_classes(classifier.classes)
    sums, known = np.full((len(target), len(classifier.classes)), -np.inf), np.zeros(len(target))
    rows = np.flatnonzero((target >= 0) & (counted.class_counts.to_doubles()[target] > 1))
    if len(rows):
        sums[rows], known[rows] = sums_without(classifier, counted, texts.take(rows), target[rows])
    return sums, known


def _judged_by_folds(classifier: DocumentClassifier, rows: LabelledRows, target: Codes) -> tuple[Doubles, Doubles]:
    sums, known = np.full((len(target), len(classifier.classes)), -np.inf), np.zeros(len(target))
    weights = None if rows.weights is None else np.asarray(rows.weights, dtype=np.float64)
    rows = replace(rows, weights=weights)
    folds = min(FOLDS, int((target >= 0).sum()))
    fold_of_row = stratified_folds(target, folds)
    plain = classifier.uncalibrated() or classifier
    for fold in range(folds):
        chosen = np.flatnonzero(fold_of_row == fold)
        own = rows.take(chosen)
        other = minus_rows(plain, [own]).with_classes(classifier.classes)  # a class that is all in the fold stays one
        sums[chosen], known[chosen] = other.model.conditional.sums(other.texts_of(own.batch), classifier.tokens)
    return sums, known
