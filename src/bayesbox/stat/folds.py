"""Stratified folds, identical for a seed on every machine and for every batch size.

The shuffle sorts the rows of a class by a hash of (seed, repeat, row number), so it depends on nothing else: neither on
the version of a random generator nor on batches.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesbox.described import parameter
from bayesbox.errors import BadOption

NO_FOLD = -1  # of a row without a label

Keys = NDArray[np.uint64]


def stratified_folds(codes: NDArray[np.integer], folds: int, *, seed: int = 0, repeat: int = 0) -> NDArray[np.int32]:
    """The fold of each row, from 0; NO_FOLD for a row with a negative code.

    The rows, class by class and shuffled within each, are assigned to the folds in turn: the sizes of two folds differ
    by at most one row, and so do the rows of any class in them.

    >>> stratified_folds(np.array([0, 0, 0, 0, 1, 1, -1]), 2, seed=3).tolist()
    [1, 0, 0, 1, 1, 0, -1]
    """
    labelled = int((codes >= 0).sum())
    if folds < 2:
        raise BadOption("the number of folds must be at least 2", found=folds)
    if seed < 0:
        raise BadOption("seed must be a non-negative integer", found=seed)
    if folds > labelled:
        fewer = "Use fewer folds: " + parameter("cv", labelled)
        remedy = fewer if labelled > 1 else "At least 2 rows with a label are needed"
        raise BadOption(f"there are more folds than labelled rows ({labelled:,})", found=folds, remedy=remedy)
    order = np.lexsort((shuffle_keys(len(codes), seed=seed, repeat=repeat), codes))
    order = order[codes[order] >= 0]
    fold = np.full(len(codes), NO_FOLD, dtype=np.int32)
    fold[order] = np.arange(labelled) % folds
    return fold


def shuffle_keys(rows: int, *, seed: int, repeat: int) -> Keys:
    """A distinct key for each row; sorting by the keys shuffles the rows."""
    return row_keys(0, rows, seed=seed, repeat=repeat)


def row_keys(first: int, rows: int, *, seed: int = 0, repeat: int = 0) -> Keys:
    """The keys of some rows, starting with `first`."""
    start = _mixed(_mixed(np.array([seed % 2**64], dtype=np.uint64)) ^ np.uint64(repeat))
    return _mixed(start ^ np.arange(first, first + rows, dtype=np.uint64))


def _mixed(values: Keys) -> Keys:
    """The finaliser of splitmix64 (Steele, Lea and Flood 2014): a bijection that mixes all bits."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
