"""How good a classifier of documents is: on documents it has not seen, or by cross-validation.

As with rows, the model that has not seen a fold is made of the total less the tally of the fold.
"""

from __future__ import annotations

import copy
import functools
import operator
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayesbox.classifier.evaluation import Evaluation
from bayesbox.classifier.predictions import Predictions, cross_validated, held_out, left_one_out, require_options
from bayesbox.classifier.rows import common_codes
from bayesbox.classifier.training import Progress, Training
from bayesbox.schema.encode import Encoded
from bayesbox.schema.tokens import Documents
from bayesbox.source.base import Batch
from bayesbox.source.wrapped import Recorded
from bayesbox.stat.folds import stratified_folds
from bayesbox.stat.metrics import BINS, Scored, scored
from bayesbox.tally.book import Book
from bayesbox.tally.documents import count_documents
from bayesbox.text.classifier import DocumentClassifier
from bayesbox.text.select_model import settle
from bayesbox.text.train import Labelled, parts_of, plain_text_column, train_documents


def evaluate_held_out(
    classifier: DocumentClassifier,
    labelled: Labelled,
    *,
    weight: str | None = None,
    bins: int = BINS,
    threads: int = 1,
    progress: Progress | None = None,
) -> Evaluation:
    """A fitted classifier on the documents of a source; nothing is learned from them."""
    require_options(bins=bins)
    classes = classifier.model.classes  # makes the model before threads ask for it
    plain = classifier.uncalibrated()
    if plain is not None:
        plain.model  # noqa: B018  likewise

    def judged(batch: Batch) -> Predictions:
        texts, labels, weights = parts_of(batch, labelled.columns, weight)
        found = _judged(classifier, plain, texts, labels, classes, weights, bins)
        if progress is not None:
            progress(batch.rows)
        return found

    both = labelled.source.reduce(judged, threads=threads)
    return held_out(labelled.source, labelled.target, both, of="document")


def _judged(
    classifier: DocumentClassifier,
    plain: DocumentClassifier | None,
    texts: Documents,
    labels: Encoded,
    classes: tuple[str, ...],
    weights: Any,
    bins: int,
) -> Predictions:
    """Predictions that were counted, and the same by the model without calibration where there is one."""
    found, before = (
        None
        if each is None
        else scored(each.log_posterior(texts), labels, each.model.classes, classes=classes, weights=weights, bins=bins)
        for each in (classifier, plain)
    )
    assert found is not None
    return Predictions(found, before)


def cross_validate(
    classifier: DocumentClassifier,
    labelled: Labelled,
    *,
    folds: int = 10,
    repeats: int = 1,
    seed: int = 0,
    weight: str | None = None,
    bins: int = BINS,
    threads: int = 1,
    progress: Progress | None = None,
) -> Evaluation:
    """Stratified cross-validation of a classifier that has learned nothing yet; afterwards it knows all documents."""
    require_options(bins=bins, folds=folds, repeats=repeats)
    kept, training = _learned_and_kept(classifier, labelled, weight=weight, threads=threads)
    codes = common_codes([each.labels for each in kept])
    by_repeat = []
    with ThreadPoolExecutor(threads) as pool:
        for repeat in range(repeats):
            fold_of_row = stratified_folds(codes, folds, seed=seed, repeat=repeat)
            parts = [list(_of_fold(kept, fold_of_row == number)) for number in range(folds)]
            judge = functools.partial(_judge_fold, classifier, bins=bins, progress=progress)
            if classifier.rules.calibration is not None or classifier.chooses:
                others = [list(_of_fold(kept, (fold_of_row != number) & (codes >= 0))) for number in range(folds)]
                by_repeat.append(functools.reduce(operator.add, pool.map(judge, parts, others)))
                continue
            by_repeat.append(functools.reduce(operator.add, pool.map(judge, parts)))
    source, target = labelled.source, labelled.target
    return cross_validated(source, target, by_repeat, unlabelled=training.unlabelled, folds=folds, seed=seed)


def leave_one_out(
    classifier: DocumentClassifier,
    labelled: Labelled,
    *,
    bins: int = BINS,
    threads: int = 1,
    progress: Progress | None = None,
) -> Evaluation:
    """Every document judged by the model of all the others; afterwards the classifier knows all of them."""
    require_options(bins=bins)
    kept, training = _learned_and_kept(classifier, labelled, weight=None, threads=threads)
    classes, total = classifier.model.classes, Scored(classifier.model.classes, bins)
    for each in kept:
        part = each.take(np.flatnonzero(each.labels.codes >= 0))
        if len(part.labels.codes):
            with np.errstate(divide="ignore"):
                log_p = np.log(classifier.leave_one_out(part.texts, part.labels))
            total = total + scored(log_p, part.labels, classes, bins=bins)
        if progress is not None:
            progress(len(each.labels.codes))
    return left_one_out(labelled.source, labelled.target, total, unlabelled=training.unlabelled)


@dataclass(frozen=True)
class Kept:
    """Some documents in memory, with their labels and weights."""

    column: pa.Array
    labels: Encoded
    weights: NDArray[np.float64] | None

    def take(self, rows: NDArray[Any]) -> Kept:
        """These documents, in this order."""
        weights = None if self.weights is None else self.weights[rows]
        return Kept(self.column.take(pa.array(rows)), self.labels._replace(codes=self.labels.codes[rows]), weights)

    @classmethod
    def joined(cls, parts: list[Kept]) -> Kept:
        """The documents of all parts."""
        column = pa.chunked_array([plain_text_column(part.column) for part in parts]).combine_chunks()
        levels = list(dict.fromkeys(text for part in parts for text in part.labels.levels))
        codes = [
            np.array([*(levels.index(text) for text in part.labels.levels), -1], dtype=np.int32)[part.labels.codes]
            for part in parts
        ]
        weights = [part.weights for part in parts if part.weights is not None]
        return cls(column, Encoded(np.concatenate(codes), levels, levels), np.concatenate(weights) if weights else None)

    @property
    def texts(self) -> Documents:
        """The documents as the core reads them."""
        return Documents.of(self.column)


def _learned_and_kept(
    classifier: DocumentClassifier, labelled: Labelled, *, weight: str | None, threads: int
) -> tuple[list[Kept], Training]:
    recorded = Recorded(labelled.source)
    training = train_documents(classifier, replace(labelled, source=recorded), weight=weight, threads=threads)
    kept = []
    for batch in recorded.given:
        _, labels, weights = parts_of(batch, labelled.columns, weight)
        kept.append(Kept(batch[labelled.column], labels, weights))
    return kept, training


def _of_fold(kept: list[Kept], chosen: NDArray[np.bool_]) -> Iterator[Kept]:
    """The chosen documents."""
    start = 0
    for each in kept:
        own = np.flatnonzero(chosen[start : start + len(each.labels.codes)])
        start += len(each.labels.codes)
        if len(own):
            yield each.take(own)


def _judge_fold(
    classifier: DocumentClassifier,
    parts: list[Kept],
    others: list[Kept] | None = None,
    *,
    bins: int,
    progress: Progress | None,
) -> Predictions:
    """The documents of a fold judged by the classifier that never saw them."""
    other = without(classifier, parts)
    if others is not None:  # what is derived is derived anew, from documents outside the fold
        whole = Kept.joined(others)
        other.strength, other.tried = None, ()
        settle(other, whole.texts, whole.labels, weights=whole.weights)
    classes, plain = classifier.model.classes, other.uncalibrated()
    total = Predictions(Scored(classes, bins), None if plain is None else Scored(classes, bins))
    for part in parts:
        total = total + _judged(other, plain, part.texts, part.labels, classes, part.weights, bins)
        if progress is not None:
            progress(len(part.labels.codes))
    return total


def without(classifier: DocumentClassifier, parts: list[Kept]) -> DocumentClassifier:
    """The classifier that never saw these documents: the total less their tally, exactly."""
    tallies = (
        count_documents(
            part.texts, part.labels, classifier.tokens, weights=part.weights, often=classifier.often
        ).with_label_type(classifier.book.label_type)
        for part in parts
    )
    other = copy.copy(classifier)
    other.accept(classifier.book - functools.reduce(operator.add, tallies, Book.empty()))
    return other
