"""Word counts as a table: P(0, 1, 2, or 3 or more occurrences) for each word and class."""

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

MOST = 3  # higher counts are treated as this


@dataclass(frozen=True)
class CountTable(WordWeights):
    """log P(document | class) is the sum of log P(count | word, class) over the vocabulary.

    `offset` is that of an empty document, `weights` the contribution of a word that occurs once, `twice` and `thrice`
    that of one that occurs twice, and three times or more.
    """

    twice: Doubles | None = None
    thrice: Doubles | None = None

    def sums(self, documents: Documents | CountMatrix, tokens: Tokens) -> tuple[Doubles, Doubles]:
        """The sums, documents x classes, and the number of known words of each document."""
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
        """The contribution of each of these words, with this count in a document, to each class."""
        terms: Doubles = np.stack(self._tables)[whole_times(counts) - 1, words]
        return terms

    @property
    def _tables(self) -> tuple[Doubles, Doubles, Doubles]:
        assert self.twice is not None
        assert self.thrice is not None
        return self.weights, self.twice, self.thrice


def whole_times(counts: object) -> NDArray[np.int64]:
    """Counts clipped to 1, 2 or 3; an error if one is not an integer."""
    given = np.asarray(counts)
    times: NDArray[np.int64] = np.minimum(given, MOST).astype(np.int64)
    if given.dtype.kind == "f" and (np.minimum(given, MOST) != times).any():
        raise BadData("word counts must be integers", remedy="Pass integer counts, or use occurrence='count'")
    return times
