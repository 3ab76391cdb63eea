"""Leave-one-out terms of a multinomial: a row's own words taken out of the counts of its class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist.base import Columns, Doubles, Plan, left_out_where_impossible, log
from bayesbox.dist.multinomial import Multinomial
from bayesbox.errors import CannotForget
from bayesbox.model.naive import group_cells
from bayesbox.rule.smoothing import Cells, Smoothing, ratio
from bayesbox.rule.table import spread
from bayesbox.schema.columns import CountMatrix, as_numbers
from bayesbox.tally.book import Book

ENTRIES_A_PIECE = 65_536  # of the sparse matrix: bounds the memory of classes x entries


def add_words(
    plan: Plan, conditional: Multinomial, book: Book, rule: Smoothing, columns: Columns, target: NDArray[np.int32]
) -> None:
    """Enter the terms; the vocabulary stays as it is, since it is given by the columns."""
    matrix = _matrix(conditional, columns, plan.rows)
    counts = _counts(conditional, book)
    totals = counts.sum(axis=1)
    own_total = np.zeros(plan.rows)
    entries = np.repeat(np.arange(plan.rows), np.diff(matrix.indptr))
    np.add.at(own_total, entries, matrix.data)
    terms = np.zeros((plan.rows, plan.classes))
    for start in range(0, len(entries), ENTRIES_A_PIECE):
        piece = slice(start, start + ENTRIES_A_PIECE)
        rows, words = entries[piece], matrix.indices[piece]
        data = np.asarray(matrix.data[piece], dtype=np.float64)
        left = counts[:, words].copy()
        under = np.tile(totals[:, None], (1, len(rows)))
        at = (target[rows], np.arange(len(rows)))
        left[at] -= data
        under[at] -= own_total[rows]
        if (left < 0).any():
            raise CannotForget("some of these rows were never learned: they hold more words than were counted")
        names = [conditional.words[word] for word in words]
        over, below = ratio(rule, Cells(left, under, len(conditional.words), names))
        log_p = left_out_where_impossible((log(over) - log(below)).T)
        np.add.at(terms, rows, _times(data, log_p))
    plan.add_terms(terms)


def _times(data: Doubles, log_p: Doubles) -> Doubles:
    with np.errstate(invalid="ignore"):
        return np.where(data[:, None] == 0, 0.0, data[:, None] * log_p)


def _matrix(conditional: Multinomial, columns: Columns, rows: int) -> CountMatrix:
    """The counts of the rows as compressed rows, from a matrix or from columns."""
    if conditional.group is not None:
        found: Any = columns[conditional.group]
        return found  # type: ignore[no-any-return]
    dense = np.zeros((rows, len(conditional.words)))
    for index, word in enumerate(conditional.words):
        if columns.get(word) is not None:
            dense[:, index] = np.nan_to_num(np.asarray(as_numbers(columns[word], name=word), dtype=np.float64))
    at, words = np.nonzero(dense)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(at, minlength=rows))])
    return CountMatrix(indptr, words, dense[at, words], len(conditional.words))


def _counts(conditional: Multinomial, book: Book) -> Doubles:
    classes = len(book.classes)
    if conditional.group is not None:
        tally = book[conditional.group]
        cells = spread(tally.cells, classes, tally.levels, conditional.words)
    else:
        cells = group_cells([book[word].sums.total for word in conditional.words], classes)
    return cells.to_doubles().reshape(classes, len(conditional.words))
