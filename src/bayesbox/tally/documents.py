"""From documents to a book of two tallies: how often each word occurred in a class, and in how many documents."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox._core import ExactArray
from bayesbox.errors import BadData
from bayesbox.schema.columns import CountMatrix
from bayesbox.schema.encode import Encoded
from bayesbox.schema.levels import label_order, label_type_of
from bayesbox.schema.tokens import Documents, Tokens
from bayesbox.tally.book import Book
from bayesbox.tally.count import checked_weights
from bayesbox.tally.words import Words, count_words, require_cells

WORDS = "words"  # occurrences
DOCUMENTS = "documents"  # documents that hold the word


def count_documents(
    documents: Documents | CountMatrix,
    labels: Encoded,
    tokens: Tokens,
    *,
    weights: Any = None,
    label_type: str | None = None,
) -> Book:
    """The book of these documents. A label that is missing leaves its document out; a weight counts it so often."""
    target, classes, kind = _ordered(labels, label_type)
    checked = checked_weights(weights, len(target))
    if checked is not None:
        target = np.where(checked > 0, target, np.int32(-1)).astype(np.int32)
    present = np.zeros(len(classes), dtype=bool)
    present[target[target >= 0]] = True
    place = np.append(np.cumsum(present) - 1, -1).astype(np.int32)  # the last entry answers the code -1
    target, classes = place[target], tuple(np.array(classes, dtype=object)[present].tolist())
    if isinstance(documents, CountMatrix):
        return _count_matrix(documents, target, classes, checked, kind)
    vocabulary, cells, held = count_words(documents, target, len(classes), tokens, checked)
    tallies = {WORDS: Words(classes, vocabulary, cells), DOCUMENTS: Words(classes, vocabulary, held)}
    return _book(classes, target, checked, tallies, kind)


def _ordered(labels: Encoded, label_type: str | None) -> tuple[NDArray[np.int32], tuple[str, ...], str]:
    """The codes in the order of the labels' own type."""
    kind = label_type or label_type_of(labels.values)
    classes = tuple(label_order(list(labels.levels), kind))
    rank = {text: index for index, text in enumerate(classes)}
    place = np.array([*(rank[text] for text in labels.levels), -1], dtype=np.int32)
    return place[labels.codes], classes, kind


def _count_matrix(
    matrix: CountMatrix,
    target: NDArray[np.int32],
    classes: tuple[str, ...],
    weights: NDArray[np.float64] | None,
    label_type: str,
) -> Book:
    if len(matrix.data) and matrix.data.min() < 0:
        raise BadData("a count is 0 or more: Negative values in data passed to TextClassifier", found=matrix.data.min())
    require_cells(len(classes), matrix.width)
    names = [str(index) for index in range(matrix.width)]
    holds = (np.asarray(matrix.data) != 0).astype(np.float64)
    tallies = {}
    for name, data in ((WORDS, matrix.data), (DOCUMENTS, holds)):
        cells = _core.count_sparse(matrix.indptr, matrix.indices, data, matrix.width, target, len(classes), weights)
        tallies[name] = Words.of(classes, names, cells)
    return _book(classes, target, weights, tallies, label_type)


def _book(
    classes: tuple[str, ...],
    target: NDArray[np.int32],
    weights: NDArray[np.float64] | None,
    tallies: dict[str, Words],
    label_type: str,
) -> Book:
    size = len(classes)
    if weights is None:
        counts = ExactArray.from_integers(np.bincount(target[target >= 0], minlength=size).astype(np.int64))
    else:
        zeros = np.zeros(len(target), dtype=np.uint8)
        counts = _core.count_codes_weighted([zeros], [1], target, size, weights)[0]
    kept = {name: tally for name, tally in tallies.items() if tally.levels}
    return Book(classes, counts, kept, label_type=label_type)
