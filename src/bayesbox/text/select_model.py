"""What a text classifier derives from its counts: the model, and the weight of the words (their temperature).

Neither is a tally. Documents of a bounded sample are evaluated by the model of all the others; if they have weights, or
words are chosen after counting, each fold of them by the model that is left when the fold is subtracted.
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
from bayesbox.text.leave_one_out import sums_without
from bayesbox.text.left_out import LeaveOneOutDocuments, can_leave_out
from bayesbox.text.model import CHOICES, Strength, model_prior
from bayesbox.text.options import AUTO, TextOptions
from bayesbox.text.sample import FEWEST

FOLDS = 5
MOST_MAPPED = 10  # classes whose probabilities `auto` maps once more: with many, a sample is too small for it
NINE_IN_TEN = 1.2815515655446004  # standard errors that a lead by chance stays below nine times out of ten
Codes = NDArray[np.int32]
Judged = tuple[Doubles, Doubles]
Fold = tuple[NDArray[np.int64], Texts, DocumentClassifier]  # its rows, their texts, and the model of all others


class Trial(NamedTuple):
    """A model that was tried: the share of documents it judged rightly unseen, and the log loss once calibrated."""

    occurrence: str
    once: bool
    accuracy: float
    log_loss: float | None  # None if no document says anything
    phrases: tuple[int, int] = SINGLE


class Tried(NamedTuple):
    """A trial with what it was evaluated by."""

    trial: Trial
    rules: TextOptions
    judged: Judged
    hits: Doubles  # the weight of each document that is right
    losses: Doubles
    strength: Strength


def settle(classifier: DocumentClassifier, rows: LabelledRows) -> None:
    """Choose the model, if that is requested, and calibrate it, if that is, unless both were done before.

    The documents are a sample of those that were learned. With fewer than 50 nothing is chosen: the model stays the
    textbook's.
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
    """The models that are tried: by counts and by the other classes, words as often as they are there, or once."""
    return [
        replace(rules, occurrence=occurrence, once=once)
        for occurrence, once in CHOICES
        if once or not rules.once  # who asks for words that count once gets no other
    ]


class HeldOutTrials:
    """Documents with their classes, to be evaluated by models that have not seen them."""

    def __init__(self, classifier: DocumentClassifier, rows: LabelledRows, target: Codes) -> None:
        self.classifier, self.rows, self.target = classifier, rows, target
        self.book = classifier.book.with_classes(classifier.classes)
        some = target >= 0
        weights = None if rows.weights is None else np.asarray(rows.weights, dtype=np.float64)
        self.weight = some.astype(np.float64) if weights is None else np.where(some, weights, 0.0)
        self._by_phrases: dict[tuple[int, int], list[Fold]] = {}
        self.left_out = LeaveOneOutDocuments(classifier, rows, target) if can_leave_out(classifier, rows) else None

    def tried(self) -> list[Tried]:
        """All models that may be chosen, the simplest first."""
        classifier = self.classifier
        phrases = [SINGLE, PAIRS] if classifier.phrases_open else [classifier.tokens.phrases]
        rules = choices(classifier.rules) if classifier.chooses else [classifier.rules]
        return [self.trial(each, words) for words in phrases for each in rules]

    def trial(self, rules: TextOptions, phrases: tuple[int, int]) -> Tried:
        """How a model does."""
        prior = model_prior(self.book, rules)
        if self.left_out is not None and rules.occurrence in ("count", "complement", "normalised"):
            sums, known = self.left_out.judged(rules, phrases)
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
        """(documents x classes: the sums of the weights by a model that has not seen the document, the known words)."""
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
        """The folds for these phrases, subtracted once for all models that are tried on them."""
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
                # a class that is all in the fold stays one
                other = minus_rows(plain, [own]).with_classes(classifier.classes)
                found.append((chosen, other.texts_of(own.batch), other))
            self._by_phrases[phrases] = found
        return self._by_phrases[phrases]


def _best(tried: Sequence[Tried], *, calibrated: bool) -> int:
    """The position of the best; the first in case of a tie.

    Where the best is to be calibrated, it has the least log loss, and pairs of words are taken only where they gain
    more than one standard error. Else the most documents are right; the first model, which is the simplest, gives way
    only to one whose lead over it would be smaller by chance nine times out of ten, by the documents that only one of
    the two judges rightly.
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
    """Learn the weight of the words, and a calibration on top if it is requested or better."""
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
    if found is None or isinstance(found, maps.Temperature):  # which the strength of the words is already
        return
    after = -found.applied(log_p)[np.arange(len(codes)), codes].mean()
    classifier.calibrated = Calibrated(found, classifier.classes, tuple(np.asarray(prior).tolist()))
    classifier.settle_on(classifier.rules, replace(settled, losses=(float(plain.mean()), float(after))))


def _map(kind: str, log_p: Doubles, codes: maps.Codes, weights: Doubles | None) -> maps.Calibration | None:
    """The map of a kind; of `auto` the best on held-out answers, None if none is better."""
    if kind != AUTO:
        return maps.calibration(kind, log_p, codes, weights)
    choice = choose({PLAIN: log_p}, codes, weights)
    return None if choice is None else learned(choice, log_p, codes, weights)


def _judged_one_by_one(classifier: DocumentClassifier, texts: Texts, target: Codes) -> Judged:
    """Each document by the model of all the others; -inf for one that is all of its class."""
    counted = classifier.book.with_classes(classifier.classes)
    sums, known = np.full((len(target), len(classifier.classes)), -np.inf), np.zeros(len(target))
    rows = np.flatnonzero((target >= 0) & (counted.class_counts.to_doubles()[target] > 1))
    if len(rows):
        sums[rows], known[rows] = sums_without(classifier, counted, texts.take(rows), target[rows])
    return sums, known
