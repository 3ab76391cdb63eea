"""The number of times a document holds a word, as a table of 0, 1, 2 and 3 or more for each word and class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist.base import Doubles
from bayesbox.dist.words.weights import WordWeights, product
from bayesbox.errors import BadData
from bayesbox.schema.arrays import NumberArray
from bayesbox.schema.columns import CountMatrix
from bayesbox.schema.tokens import Documents, Tokens

MOST = 3  # times that are told apart; more are the same


@dataclass(frozen=True)
class CountTable(WordWeights):
    """log P(document | class) is the sum over all words of the vocabulary of log P(times | word, class).

    `offset` is that of a document without a word, `weights` what a word adds that is there once, and `twice` and
    `thrice` what it adds that is there two times, and three times or more.
    """

    twice: Doubles | None = None
    thrice: Doubles | None = None

    def sums(self, documents: Documents | CountMatrix, tokens: Tokens) -> tuple[Doubles, Doubles]:
        """(the sums of documents x classes, how many words of each document are known)."""
        listed = self.listed(documents, tokens)
        times = whole_times(listed.data)
        sums = np.tile(self.offset, (listed.rows, 1))
        for level, table in enumerate(self._tables, start=1):
            at = CountMatrix(listed.indptr, listed.indices, (times == level).astype(np.float64), listed.width)
            sums = sums + product(at, table)
        there = CountMatrix(listed.indptr, listed.indices, np.ones(len(times)), listed.width)
        if self.certain is not None and self.certain.any():
            sums[there.times(self.certain.astype(np.float64)) < self.certain.sum(axis=0)] = -np.inf
        return sums, np.diff(listed.indptr).astype(np.float64)

    def of_entries(self, words: NumberArray, counts: Doubles) -> Doubles:
        """What each of these words, which occurs that often in a document, adds to each class."""
        terms: Doubles = np.stack(self._tables)[whole_times(counts) - 1, words]
        return terms

    @property
    def _tables(self) -> tuple[Doubles, Doubles, Doubles]:
        assert self.twice is not None
        assert self.thrice is not None
        return self.weights, self.twice, self.thrice


def whole_times(counts: object) -> NDArray[np.int64]:
    """Counts as one of 1, 2 and 3; one that is no whole number is refused."""
    given = np.asarray(counts)
    times: NDArray[np.int64] = np.minimum(given, MOST).astype(np.int64)
    if given.dtype.kind == "f" and (np.minimum(given, MOST) != times).any():
        raise BadData("word counts must be integers", remedy="Pass integer counts, or use occurrence='count'")
    return times
