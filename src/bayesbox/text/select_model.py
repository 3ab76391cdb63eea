"""The choice of the model of a text classifier, and of the weight of the words (a temperature).

Both are derived parts, not tallies. A bounded sample of documents is evaluated by leave-one-out; if documents have
weights, or words are selected after counting, by folds, each of which is subtracted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox.classifier.calibrated import Calibrated
from bayesbox.classifier.rows import LabelledRows, minus_rows
from bayesbox.dist import functions
from bayesbox.dist.base import Doubles
from bayesbox.schema.token_options import PAIRS, SINGLE
from bayesbox.stat import calibrate as maps
from bayesbox.stat.choose_calibration import PLAIN, choose, learned
from bayesbox.stat.folds import stratified_folds
from bayesbox.text.calibrate import least_loss, losses_of
from bayesbox.text.classifier import DocumentClassifier, Texts
from bayesbox.text.held_out import LeaveOneOutDocuments, can_leave_out
from bayesbox.text.leave_one_out import sums_without
from bayesbox.text.model import CHOICES, Strength, model_prior
from bayesbox.text.options import AUTO, TextOptions
from bayesbox.text.sample import FEWEST

FOLDS = 5
MOST_MAPPED = 10  # the most classes for which `auto` also calibrates by a map: with more, a sample is too small
NINE_IN_TEN = 1.2815515655446004  # the 90 % quantile of a lead by chance, in standard errors
Codes = NDArray[np.int32]
Judged = tuple[Doubles, Doubles]
Fold = tuple[NDArray[np.int64], Texts, DocumentClassifier]  # a fold: its rows, their texts, and the model of all others


class Trial(NamedTuple):
    """A model that was tried: its held-out accuracy, and its log loss after calibration."""

    occurrence: str
    once: bool
    accuracy: float
    log_loss: float | None  # None if no document has known words
    phrases: tuple[int, int] = SINGLE


class Tried(NamedTuple):
    """A trial with its held-out predictions."""

    trial: Trial
    rules: TextOptions
    judged: Judged
    hits: Doubles  # the weight of each correctly predicted document
    losses: Doubles
    strength: Strength


def settle(classifier: DocumentClassifier, rows: LabelledRows) -> None:
    """Choose the model and calibrate it, each if requested and not done before.

    The documents are a sample of the training documents. With fewer than 50, nothing is chosen: the model is
    multinomial naive Bayes.
    """
    if not classifier.has_second_pass():
        return
    labels = rows.labels
    place = np.array([*(classifier.classes.index(text) for text in labels.levels), -1], dtype=np.int32)
    target = place[labels.codes]
    number = int((target >= 0).sum())
    too_few = number < FEWEST or len(classifier.classes) < 2 or classifier.dropped > 0
    kind = classifier.rules.calibration if classifier.to_calibrate else None
    if kind is not None and (kind != AUTO or not too_few):
        classifier.require_all_words()
    if classifier.to_choose and not too_few:
        sample = HeldOutTrials(classifier, rows, target)
        tried = sample.tried()
        best = tried[_best(tried, calibrated=kind is not None)]
        classifier.keep_phrases(best.trial.phrases)
        settled = replace(
            classifier.settled,
            tried=tuple(each.trial for each in tried),
            chosen=classifier.names_of_choices(),
            documents=number,
        )
        classifier.settle_on(best.rules, settled)
    else:
        best = None
        classifier.keep_phrases(SINGLE)
    if kind is None or (kind == AUTO and too_few):
        return
    classifier.settle_on(classifier.rules, replace(classifier.settled, strength=Strength()))
    if number < 2 or len(classifier.classes) < 2:
        return
    if best is None:
        best = HeldOutTrials(classifier, rows, target).trial(classifier.rules, classifier.tokens.phrases)
    _calibrate(classifier, kind, best, target, rows.weights)


def choices(rules: TextOptions) -> list[TextOptions]:
    """The models to try: multinomial and complement, with all occurrences of a word or one per document."""
    return [
        replace(rules, occurrence=occurrence, once=once)
        for occurrence, once in CHOICES
        if once or not rules.once  # with `once`, only such models
    ]


class HeldOutTrials:
    """Labelled documents for held-out evaluation of several models."""

    def __init__(self, classifier: DocumentClassifier, rows: LabelledRows, target: Codes) -> None:
        self.classifier, self.rows, self.target = classifier, rows, target
        self.book = classifier.book.with_classes(classifier.classes)
        some = target >= 0
        weights = None if rows.weights is None else np.asarray(rows.weights, dtype=np.float64)
        self.weight = some.astype(np.float64) if weights is None else np.where(some, weights, 0.0)
        self._by_phrases: dict[tuple[int, int], list[Fold]] = {}
        self.leave_one_out = LeaveOneOutDocuments(classifier, rows, target) if can_leave_out(classifier, rows) else None

    def tried(self) -> list[Tried]:
        """The trials of all candidate models, the simplest first."""
        classifier = self.classifier
        phrases = [SINGLE, PAIRS] if classifier.phrases_open else [classifier.tokens.phrases]
        rules = choices(classifier.rules) if classifier.chooses else [classifier.rules]
        return [self.trial(each, words) for words in phrases for each in rules]

    def trial(self, rules: TextOptions, phrases: tuple[int, int]) -> Tried:
        """The trial of one model."""
        prior = model_prior(self.book, rules)
        if self.leave_one_out is not None and rules.occurrence in ("count", "complement", "normalised"):
            sums, known = self.leave_one_out.judged(rules, phrases)
        else:
            classifier = self.classifier.with_phrases(phrases) if self.classifier.phrases_open else self.classifier
            sums, known = self._judged(classifier, rules)
        right = ((sums + prior).argmax(axis=1) == self.target) & np.isfinite(sums).any(axis=1)
        loss, strength = least_loss(sums, known, prior, self.target)
        losses = losses_of(sums, known, prior, self.target, strength)
        hits = self.weight * right
        mean = functions.dot(self.weight, losses) / float(self.weight.sum()) if math.isfinite(loss) else None
        accuracy = float(hits.sum() / self.weight.sum())
        trial = Trial(rules.occurrence, rules.once, accuracy, mean, phrases)
        return Tried(trial, rules, (sums, known), hits, losses, strength)

    def _judged(self, classifier: DocumentClassifier, rules: TextOptions) -> Judged:
        """(the held-out sums of the weights, documents x classes; the known words)."""
        one_by_one = rules.top is None and rules.min_documents == 1 and not classifier.tokens.places
        if self.rows.weights is None and one_by_one:
            texts = classifier.texts_of(self.rows.batch)
            return _judged_one_by_one(classifier.with_rules(rules), texts, self.target)
        sums, known = np.full((len(self.target), len(classifier.classes)), -np.inf), np.zeros(len(self.target))
        for chosen, texts, other in self._folds(classifier):
            weights = other.with_rules(rules).model.conditional
            sums[chosen], known[chosen] = weights.sums(texts, classifier.tokens)
        return sums, known

    def _folds(self, classifier: DocumentClassifier) -> list[Fold]:
        """The folds for these phrases, subtracted once for all models."""
        phrases = classifier.tokens.phrases
        if phrases not in self._by_phrases:
            given = self.rows.weights
            rows = replace(self.rows, weights=None if given is None else np.asarray(given, dtype=np.float64))
            folds = min(FOLDS, int((self.target >= 0).sum()))
            fold_of_row = stratified_folds(self.target, folds)
            plain = classifier.uncalibrated() or classifier
            found: list[Fold] = []
            for fold in range(folds):
                chosen = np.flatnonzero(fold_of_row == fold)
                own = rows.take(chosen)
                # a class whose documents are all in the fold is kept
                other = minus_rows(plain, [own]).with_classes(classifier.classes)
                found.append((chosen, other.texts_of(own.batch), other))
            self._by_phrases[phrases] = found
        return self._by_phrases[phrases]


def _best(tried: Sequence[Tried], *, calibrated: bool) -> int:
    """The position of the best; the first in case of a tie.

    If it is to be calibrated, the best has the lowest log loss, and pairs of words are used only if they gain more than
    one standard error. Otherwise the best has the highest accuracy; the first model, the simplest, is replaced only by
    one whose lead exceeds chance at the 90 % level, by the documents that only one of the two predicts correctly.
    """
    trials = [each.trial for each in tried]
    losses = [math.inf if each.log_loss is None else each.log_loss for each in trials]
    if calibrated:
        single = [place for place, each in enumerate(trials) if each.phrases == trials[0].phrases]
        best, first = losses.index(min(losses)), min(single, key=losses.__getitem__)
        if best in single or not math.isfinite(losses[first]):
            return best
        gain = tried[first].losses - tried[best].losses
        return best if gain.mean() > gain.std() / math.sqrt(len(gain)) else first
    leads = [each.hits - tried[0].hits for each in tried]
    able = [0, *(k for k, lead in enumerate(leads) if lead.sum() > NINE_IN_TEN * np.sqrt((lead * lead).sum()))]
    return max(able, key=lambda k: (trials[k].accuracy, -losses[k]))


def _calibrate(classifier: DocumentClassifier, kind: str, best: Tried, target: Codes, weights: object) -> None:
    """Learn the weight of the words, and an additional calibration map if it is requested or better."""
    (sums, known), prior = best.judged, classifier.log_prior
    usable = np.isfinite(sums).all(axis=1) & (target >= 0)
    plain = losses_of(sums, known, prior, target, None)[usable]
    strength = best.strength
    gain = plain - best.losses[usable]
    if kind == AUTO and len(gain) and gain.mean() <= gain.std() / math.sqrt(len(gain)):
        strength = Strength()
    settled = replace(classifier.settled, strength=strength)
    if len(gain):
        after = losses_of(sums, known, prior, target, strength)[usable]
        settled = replace(settled, losses=(float(plain.mean()), float(after.mean())), documents=len(gain))
    classifier.settle_on(classifier.rules, settled)
    if kind == "temperature" or usable.sum() < 2 or (kind == AUTO and len(classifier.classes) > MOST_MAPPED):
        return
    factors = classifier.model.conditional.factors(known) if strength != Strength() else np.ones(len(known))
    joint = np.maximum(prior, -1e3) + sums[usable] * np.where(known > 0, factors, 0.0)[usable, None]
    log_p, codes = maps.normalised(joint), target[usable].astype(np.int64)
    given = None if weights is None else np.asarray(weights, dtype=np.float64)[usable]
    found = _map(kind, log_p, codes, given)
    if found is None or isinstance(found, maps.Temperature):  # the weight of the words is a temperature already
        return
    after = -found.applied(log_p)[np.arange(len(codes)), codes].mean()
    classifier.calibrated = Calibrated(found, classifier.classes, tuple(np.asarray(prior).tolist()))
    classifier.settle_on(classifier.rules, replace(settled, losses=(float(plain.mean()), float(after))))


def _map(kind: str, log_p: Doubles, codes: maps.Codes, weights: Doubles | None) -> maps.Calibration | None:
    """The calibration map of a kind; for `auto`, the best on held-out predictions, or None if none is better."""
    if kind != AUTO:
        return maps.calibration(kind, log_p, codes, weights)
    choice = choose({PLAIN: log_p}, codes, weights)
    return None if choice is None else learned(choice, log_p, codes, weights)


def _judged_one_by_one(classifier: DocumentClassifier, texts: Texts, target: Codes) -> Judged:
    """The leave-one-out sums of each document; -inf for the only document of its class."""
    counted = classifier.book.with_classes(classifier.classes)
    sums, known = np.full((len(target), len(classifier.classes)), -np.inf), np.zeros(len(target))
    rows = np.flatnonzero((target >= 0) & (counted.class_counts.to_doubles()[target] > 1))
    if len(rows):
        sums[rows], known[rows] = sums_without(classifier, counted, texts.take(rows), target[rows])
    return sums, known
