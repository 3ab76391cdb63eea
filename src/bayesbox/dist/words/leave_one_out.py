"""Leave-one-out terms of a multinomial: the row's words are subtracted from the counts of its class.

The columns of a matrix stay in any case; a word of a text that no other row has disappears with its row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist.base import Doubles, ignored_where_impossible
from bayesbox.dist.cells import Cells, Smoothing, ratio
from bayesbox.dist.functions import log
from bayesbox.errors import NeverLearned
from bayesbox.schema.columns import CountMatrix

ENTRIES_A_PIECE = 65_536  # of the sparse matrix: bounds the memory of classes x entries


def added_to_each(rule: Smoothing) -> float | None:
    """The pseudo-count of a rule per word, for any number of words; None if it is not a constant."""
    some, more = rule.added(10), rule.added(20)
    if some is None or more is None or some[0] != more[0] or not some[0] > 0:
        return None
    return some[0] if (some[1], more[1]) == (10 * some[0], 20 * some[0]) else None


def own_words_out(
    matrix: CountMatrix,
    counts: Doubles,
    words_of_model: tuple[str, ...],
    rule: Smoothing,
    target: NDArray[np.int32],
    *,
    words_may_go: bool = False,
    complement: bool = False,
) -> tuple[Doubles, Doubles]:
    """log P(row | class), rows x classes, by the counts (classes x words) of all other rows; and the words of each row.

    With `words_may_go` a word that only this row has leaves the vocabulary: it adds nothing, and the vocabulary
    shrinks. With `complement` the counts are those of the other classes, and the weight of a word is -log of its share.
    """
    added = added_to_each(rule)
    if added is not None:
        return _in_core(matrix, counts, added, target, words_may_go=words_may_go, complement=complement)
    rows_number = len(target)
    totals = counts.sum(axis=1)
    own_total = np.zeros(rows_number)
    entries = np.repeat(np.arange(rows_number), np.diff(matrix.indptr))
    alone = np.zeros(len(entries), dtype=bool)
    size = np.full(rows_number, counts.shape[1])
    if words_may_go:
        everywhere = counts.sum(axis=0) / max(len(counts) - 1, 1) if complement else counts.sum(axis=0)
        alone = everywhere[matrix.indices] <= np.asarray(matrix.data, dtype=np.float64)
        size -= np.bincount(entries[alone], minlength=rows_number)
    known = np.zeros(rows_number)
    np.add.at(known, entries[~alone], matrix.data[~alone])
    np.add.at(own_total, entries, matrix.data)
    terms = np.zeros((rows_number, len(counts)))
    for start in range(0, len(entries), ENTRIES_A_PIECE):
        piece = slice(start, start + ENTRIES_A_PIECE)
        rows, words = entries[piece], matrix.indices[piece]
        data = np.asarray(matrix.data[piece], dtype=np.float64)
        left = counts[:, words].copy()
        under = np.tile(totals[:, None], (1, len(rows)))
        at = (target[rows], np.arange(len(rows)))
        if complement:
            left, under = left - data, under - own_total[rows]
        sign = 1 if complement else -1
        left[at] += sign * data
        under[at] += sign * own_total[rows]
        if (left < 0).any():
            raise NeverLearned("some of these rows were never learned: they have more words than were counted")
        names = [words_of_model[word] for word in words]
        over, below = ratio(rule, Cells(left, under, size[rows] if words_may_go else len(words_of_model), names))
        log_p = ignored_where_impossible((log(over) - log(below)).T)
        log_p[alone[piece]] = 0.0
        if complement:
            log_p = np.where(np.isneginf(log_p), 0.0, -log_p)
        np.add.at(terms, rows, _times(data, log_p))
    return terms, known


def _in_core(
    matrix: CountMatrix,
    counts: Doubles,
    added: float,
    target: NDArray[np.int32],
    *,
    words_may_go: bool,
    complement: bool,
) -> tuple[Doubles, Doubles]:
    classes, size = counts.shape
    everywhere = counts.sum(axis=0) / max(classes - 1, 1) if complement else counts.sum(axis=0)
    found = _core.left_out_words(
        np.asarray(matrix.indptr, dtype=np.int64),
        matrix.indices,
        np.asarray(matrix.data, dtype=np.float64),
        target,
        np.ascontiguousarray(counts.T),
        counts.sum(axis=1),
        everywhere if words_may_go else None,
        float(size),
        added,
        complement,
    )
    if found is None:
        raise NeverLearned("some of these rows were never learned: they have more words than were counted")
    return found


def _times(data: Doubles, log_p: Doubles) -> Doubles:
    with np.errstate(invalid="ignore"):
        return np.where(data[:, None] == 0, 0.0, data[:, None] * log_p)
