"""How good a classifier is: on rows it has not seen, by cross-validation, or leaving one row out at a time.

Cross-validation is a subtraction. The rows are counted once; the model that has not seen a fold is made of the total
less the tally of the fold, which is to the bit what counting the other folds would give. So k folds cost one more
counting of the rows and one prediction of each, not k trainings.
"""

from __future__ import annotations

import copy
import functools
import operator
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bayesbox.errors import BadData, BadOption
from bayesbox.learn.folds import stratified_folds
from bayesbox.learn.metrics import BINS, Scored, measure, scored
from bayesbox.schema.columns import CountMatrix
from bayesbox.schema.encode import Encoded, as_dictionary
from bayesbox.schema.infer import kind_of
from bayesbox.schema.kinds import Category
from bayesbox.source.base import Batch, Source, fold
from bayesbox.tally.book import Book
from bayesbox.workflow.classifier import Classifier, Rows
from bayesbox.workflow.evaluation import Evaluation
from bayesbox.workflow.predict import absent_columns
from bayesbox.workflow.train import Progress, Training, split_columns, train

Places = NDArray[np.int64]


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
    _require_bins(bins)
    classes = classifier.model.classes  # makes the model before threads ask for it
    absent: list[str] = []

    def judged(batch: Batch) -> Scored:
        columns, labels, weights = split_columns(batch, target, weight, where=source.name)
        if not absent:
            absent.extend(absent_columns(classifier, tuple(columns), where=source.name))
        features = batch.select(tuple(columns))
        log_p = classifier.log_posterior(features)
        if progress is not None:
            progress(batch.rows)
        return scored(log_p, labels, classes, weights=weights, bins=bins)

    found = fold(source, judged, threads=threads)
    if found is None or not found.rows:
        raise BadData("there is no row with a label", where=source.name)
    return Evaluation(
        "held-out",
        source.name,
        target,
        measure(found),
        found,
        skipped=_skipped(source),
        absent=tuple(dict.fromkeys(absent)),
    )


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
    _require_bins(bins)
    if repeats < 1:
        raise BadOption("there is one repeat or more", found=repeats)
    if folds < 2:
        raise BadOption("there are two folds or more", found=folds)
    kept, training = learned_and_kept(classifier, source, target, weight=weight, threads=threads)
    codes = common_codes([rows.labels for rows in kept])
    by_repeat = []
    with ThreadPoolExecutor(threads) as pool:
        for repeat in range(repeats):
            parts = parts_of(kept, stratified_folds(codes, folds, seed=seed, repeat=repeat), folds)
            judge = functools.partial(judge_fold, classifier, parts, bins=bins, progress=progress)
            by_repeat.append(functools.reduce(operator.add, pool.map(judge, range(folds))))
    total = functools.reduce(operator.add, by_repeat)
    total = replace(total, rows=by_repeat[0].rows, unlabelled=training.unlabelled)
    return Evaluation(
        "cross-validation",
        source.name,
        target,
        measure(total, repeats=repeats),
        total,
        folds=folds,
        repeats=repeats,
        seed=seed,
        accuracy_by_repeat=tuple(measure(each).accuracy.value for each in by_repeat),
        skipped=_skipped(source),
    )


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
    _require_bins(bins)
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
    total = replace(total, unlabelled=training.unlabelled)
    return Evaluation("leave-one-out", source.name, target, measure(total), total, skipped=_skipped(source))


def _require_bins(bins: int) -> None:
    if bins < 1:
        raise BadOption("there is one bin or more", found=bins)


def _skipped(source: Source) -> int:
    return int(getattr(getattr(source, "skipped", None), "count", 0))


# -- rows that are kept ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kept:
    """Some rows in memory: their columns without the target and the weight, which stand beside them."""

    batch: Batch
    labels: Encoded
    weights: NDArray[np.float64] | None = None

    def take(self, rows: Places) -> Kept:
        """These rows, in this order."""
        columns = tuple(_taken(column, rows) for column in self.batch.columns)
        labels = self.labels._replace(codes=self.labels.codes[rows])
        weights = None if self.weights is None else self.weights[rows]
        return Kept(Batch(self.batch.names, columns, len(rows)), labels, weights)


def _taken(column: Any, rows: Places) -> Any:
    if isinstance(column, np.ndarray):
        return column[rows]
    if isinstance(column, CountMatrix):
        lengths = np.diff(column.indptr)[rows]
        ends = np.cumsum(lengths)
        cells = np.repeat(column.indptr[:-1][rows] - (ends - lengths), lengths) + np.arange(lengths.sum())
        return CountMatrix(np.concatenate([[0], ends]), column.indices[cells], column.data[cells], column.width)
    taken = column.take(pa.array(rows))
    return _compact(taken) if pa.types.is_dictionary(taken.type) else taken


def _compact(column: pa.DictionaryArray) -> pa.DictionaryArray:
    """A dictionary of the levels that occur: one that does not is no level these rows bring."""
    used = pc.drop_null(pc.unique(column.indices))
    return pa.DictionaryArray.from_arrays(pc.index_in(column.indices, value_set=used), column.dictionary.take(used))


class Recorded:
    """A source that remembers the batches it gave."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.name = source.name
        self.given: list[Batch] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.source, name)

    def batches(self) -> Iterator[Batch]:
        self.given = []
        for batch in self.source.batches():
            self.given.append(batch)
            yield batch


def learned_and_kept(
    classifier: Classifier, source: Source, target: str, *, weight: str | None = None, threads: int = 1
) -> tuple[list[Kept], Training]:
    """Learn every row of a source, and keep the rows with their texts encoded."""
    recorded = Recorded(source)
    training = train(classifier, recorded, target, weight=weight, threads=threads)
    kept = []
    while recorded.given:
        batch = recorded.given.pop(0)  # each is let go once it is encoded
        columns, labels, weights = split_columns(batch, target, weight, where=source.name)
        encoded = tuple(_encoded(column) for column in columns.values())
        kept.append(Kept(Batch(tuple(columns), encoded, batch.rows, batch.first_row), labels, weights))
    return kept, training


def _encoded(column: Any) -> Any:
    """Text as codes, once and for all folds; other columns as they are."""
    if isinstance(column, (np.ndarray, CountMatrix)) or not isinstance(kind_of(column, name=""), Category):
        return column
    return as_dictionary(column)


def common_codes(labels: list[Encoded]) -> NDArray[np.int64]:
    """The labels of all batches as codes in the order of their texts, whatever the batches are."""
    texts = sorted({text for each in labels for text in each.levels})
    place = {text: code for code, text in enumerate(texts)}
    found = [np.array([*(place[text] for text in each.levels), -1], dtype=np.int64)[each.codes] for each in labels]
    return np.concatenate(found)


Part = tuple[Kept, Places]  # some of the rows that are kept; they are taken when they are needed


def parts_of(kept: list[Kept], fold_of_row: NDArray[np.int32], folds: int) -> list[list[Part]]:
    """The rows of each fold, a part for each batch that has some."""
    parts: list[list[Part]] = [[] for _ in range(folds)]
    start = 0
    for rows in kept:
        own = fold_of_row[start : start + rows.batch.rows]
        start += rows.batch.rows
        order = np.argsort(own, kind="stable")
        cut = np.searchsorted(own[order], np.arange(folds + 1))
        for number in np.flatnonzero(np.diff(cut)):
            parts[number].append((rows, order[cut[number] : cut[number + 1]]))
    return parts


def without(classifier: Classifier, parts: list[Kept]) -> Classifier:
    """The classifier that never saw these rows: the total less their tally, exactly."""
    assert classifier.schema is not None
    tallies = (classifier.tally(rows.batch, rows.labels, classifier.schema, weights=rows.weights) for rows in parts)
    other = copy.copy(classifier)
    other.accept(classifier.schema, classifier.book - functools.reduce(operator.add, tallies, Book.empty()))
    return other


def learned_anew(classifier: Classifier, folds: Sequence[list[Part]]) -> Classifier:
    """A classifier of the same rules that has learned these folds and derived its choices from them alone."""
    other = classifier.blank()
    parts = [rows.take(chosen) for fold in folds for rows, chosen in fold]
    other.learn_all([Rows(rows.batch, rows.labels, rows.weights) for rows in parts])
    return other


def judge_fold(
    classifier: Classifier,
    folds: Sequence[list[Part]],
    place: int,
    *,
    bins: int = BINS,
    progress: Progress | None = None,
) -> Scored:
    """The predictions for the rows of one fold by the classifier that never saw them.

    Where the classifier is its tallies and no more, that is a subtraction; else it learns the other folds anew.
    """
    parts = [rows.take(chosen) for rows, chosen in folds[place]]
    if not parts:
        return Scored(classifier.model.classes, bins)
    if classifier.relearns():
        other = learned_anew(classifier, [fold for index, fold in enumerate(folds) if index != place])
    else:
        other = without(classifier, parts)
    known = other.model.classes
    total = Scored(classifier.model.classes, bins)
    for rows in parts:
        log_p = other.log_posterior(rows.batch)
        found = scored(log_p, rows.labels, known, classes=total.classes, weights=rows.weights, bins=bins)
        total = total + found
        if progress is not None:
            progress(rows.batch.rows)
    return total
