"""Labelled rows in memory: their folds, and classifiers without a fold.

A classifier with only tallies forgets a fold by subtraction; one with derived parts is refitted on the other folds.
"""

from __future__ import annotations

import copy
import functools
import operator
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayesbox.errors import CannotMerge, LostLedger, Remedy
from bayesbox.schema.columns import Column, CountMatrix, as_view
from bayesbox.schema.encode import Encoded
from bayesbox.source.base import Batch, taken
from bayesbox.stat.folds import shuffle_keys
from bayesbox.tally.book import Book

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier

Places = NDArray[np.int64]
C = TypeVar("C", bound="AnyClassifier")


@dataclass(frozen=True)
class LabelledRows:
    """Rows with their labels and, if there are any, weights, row numbers and groups."""

    batch: Batch
    labels: Encoded
    weights: Any = None
    numbers: Places | None = None
    groups: Encoded | None = None

    def take(self, rows: Places) -> LabelledRows:
        """These rows, in this order."""
        columns = tuple(taken(column, rows) for column in self.batch.columns)
        labels = self.labels._replace(codes=self.labels.codes[rows])
        weights = None if self.weights is None else self.weights[rows]
        numbers = None if self.numbers is None else self.numbers[rows]
        groups = None if self.groups is None else self.groups._replace(codes=self.groups.codes[rows])
        return LabelledRows(Batch(self.batch.names, columns, len(rows)), labels, weights, numbers, groups)

    def pieces(self, rows: int) -> Iterator[LabelledRows]:
        """The rows in slices of at most this many, without a copy."""
        if self.batch.rows <= rows:
            yield self
            return
        for first in range(0, self.batch.rows, rows):
            last = min(first + rows, self.batch.rows)
            labels = self.labels._replace(codes=self.labels.codes[first:last])
            weights = None if self.weights is None else self.weights[first:last]
            numbers = None if self.numbers is None else self.numbers[first:last]
            groups = None if self.groups is None else self.groups._replace(codes=self.groups.codes[first:last])
            yield LabelledRows(self.batch.slice(first, last), labels, weights, numbers, groups)

    def counting(self) -> NDArray[np.bool_]:
        """Which rows have a label and a positive weight."""
        there: NDArray[np.bool_] = self.labels.codes >= 0
        return there if self.weights is None else there & (np.asarray(self.weights, dtype=np.float64) > 0)

    def viewed(self) -> LabelledRows:
        """The same rows with columns that can be sliced."""
        batch = self.batch
        weights = None if self.weights is None else np.asarray(self.weights, dtype=np.float64)
        columns = tuple(as_view(column) for column in batch.columns)
        whole = Batch(batch.names, columns, batch.rows, batch.first_row)
        return LabelledRows(whole, self.labels, weights, self.numbers, self.groups)

    def labelled(self) -> LabelledRows:
        """The rows that have a label."""
        there = self.labels.codes >= 0
        return self if there.all() else self.take(np.flatnonzero(there))

    @classmethod
    def joined(cls, parts: Sequence[LabelledRows]) -> LabelledRows:
        """The rows of all parts concatenated, with text columns as Arrow arrays."""
        if len(parts) == 1:
            return parts[0]
        names = parts[0].batch.names
        columns = tuple(
            pa.chunked_array([plain_text_column(part.batch[name]) for part in parts]).combine_chunks() for name in names
        )
        levels = list(dict.fromkeys(text for part in parts for text in part.labels.levels))
        place = {text: code for code, text in enumerate(levels)}
        codes = [
            np.array([*(place[text] for text in part.labels.levels), -1], dtype=np.int32)[part.labels.codes]
            for part in parts
        ]
        weights = [part.weights for part in parts if part.weights is not None]
        return cls(
            Batch(names, columns, sum(part.batch.rows for part in parts)),
            Encoded(np.concatenate(codes), levels, levels),
            np.concatenate(weights) if weights else None,
        )


def plain_text_column(column: Column) -> pa.Array:
    """A column as one Arrow array without dictionary encoding, with 64-bit offsets."""
    assert not isinstance(column, CountMatrix)  # a matrix is one batch
    array = pa.array(column, from_pandas=True) if isinstance(column, np.ndarray) else column
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    array = array.cast(array.type.value_type) if pa.types.is_dictionary(array.type) else array
    return array.cast(pa.large_string()) if pa.types.is_string(array.type) else array


def sample_of(kept: list[LabelledRows], most: int) -> list[LabelledRows]:
    """A sample of this size, drawn by position; all rows if there are fewer."""
    total = sum(rows.batch.rows for rows in kept)
    if total <= most:
        return kept
    keys = shuffle_keys(total, seed=0, repeat=0)
    drawn = keys <= np.partition(keys, most - 1)[most - 1]
    ends = np.cumsum([rows.batch.rows for rows in kept])
    parts = [rows.take(np.flatnonzero(own)) for rows, own in zip(kept, np.split(drawn, ends[:-1]), strict=True)]
    return [part for part in parts if part.batch.rows]


def common_codes(labels: list[Encoded]) -> NDArray[np.int64]:
    """The labels of all batches as codes in the order of their texts."""
    texts = sorted({text for each in labels for text in each.levels})
    place = {text: code for code, text in enumerate(texts)}
    found = [np.array([*(place[text] for text in each.levels), -1], dtype=np.int64)[each.codes] for each in labels]
    return np.concatenate(found)


Part = tuple[LabelledRows, Places]  # some of the kept rows, sliced on demand


def numbered(kept: list[LabelledRows]) -> list[LabelledRows]:
    """The same rows with their row numbers."""
    ends = np.cumsum([rows.batch.rows for rows in kept])
    return [
        replace(rows, numbers=np.arange(end - rows.batch.rows, end))
        for rows, end in zip(kept, ends.tolist(), strict=True)
    ]


def parts_of(kept: list[LabelledRows], fold_of_row: NDArray[np.int32], folds: int) -> list[list[Part]]:
    """The rows of each fold, one part per batch."""
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


def minus_rows(classifier: C, parts: Sequence[LabelledRows]) -> C:
    """The classifier without these rows: the total less their tally, exactly."""
    from bayesbox.classifier.train import RowCounter

    classifier = classifier.with_ledger(False)  # a fold does not need it, and it takes longer than counting
    assert classifier.schema is not None
    count = RowCounter(classifier, None)
    tallies = (count(rows).book for rows in parts)
    other = copy.copy(classifier)
    other.accept(classifier.schema, classifier.book - functools.reduce(operator.add, tallies, Book.empty()))
    return other


def refit_on(classifier: C, parts: Sequence[LabelledRows]) -> C:
    """A classifier with the same rules, fitted on these rows alone."""
    other = classifier.unfitted_clone().with_ledger(False)
    other.learn_all(parts)
    assert other.schema is not None
    other.accept(other.schema.with_classes(classifier.classes), other.book)  # a fold may lack a class
    return other


def check_merge(one: AnyClassifier, other: AnyClassifier) -> None:
    """Raise an error if two classifiers cannot be merged, and warn if a ledger is lost."""
    if one.kind != other.kind:
        raise CannotMerge(
            "the two models are of different kinds",
            found=f"{one.title} and {other.title}",
            remedy="Train both with the same kind, or average them: "
            + Remedy("BayesOptimal([a, b])", "bayes average A B"),
        )
    if not one.counts_like(other):
        raise CannotMerge("the two models have different rules", remedy="Give both the same parameters")
    if one.schema is None or other.schema is None:
        raise CannotMerge("one of the two models is not trained yet")
    if not one.derived_like(other):
        raise CannotMerge(
            "the two models derived different choices from their rows, so they counted different things",
            remedy="Train one model on the rows of both, or train the second by updating a copy of the first",
        )
    warn_of_lost_ledger(one, other)


def warn_of_lost_ledger(one: AnyClassifier, other: AnyClassifier) -> None:
    """Warn if only one of two merged models has a ledger, since the merged model has none."""
    if one.ledger != other.ledger:
        warnings.warn(LostLedger("second" if one.ledger else "first"), stacklevel=5)
