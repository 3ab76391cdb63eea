"""The log-probability of a document as a sum of weights: one per word, and an offset per class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist.base import Doubles
from bayesbox.errors import BadData
from bayesbox.schema.arrays import NumberArray
from bayesbox.schema.columns import CountMatrix
from bayesbox.schema.tokens import Documents, Tokens


@dataclass(frozen=True)
class WordWeights:
    """offset + the weighted sum of a document's words, for each class, scaled by the number of words.

    `once` counts a word once, however often it occurs. n dependent words carry the information of fewer independent
    ones: their sum is multiplied by `strength` / n**`exponent`. `certain` marks words x classes that are never absent:
    a document without the word is impossible. A weight of -inf makes a document with the word impossible. Unknown words
    are ignored.
    """

    words: tuple[str, ...]
    weights: Doubles  # words x classes
    offset: Doubles  # classes
    once: bool = False
    strength: float = 1.0
    exponent: float = 0.0
    certain: NDArray[np.bool_] | None = None

    @cached_property
    def _vocabulary(self) -> _core.Vocabulary:
        return _core.Vocabulary(self.words)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_vocabulary"}

    def terms(self, documents: Documents | CountMatrix, tokens: Tokens) -> Doubles:
        """log P(document | class), documents x classes."""
        sums, known = self.sums(documents, tokens)
        return sums * self.factors(known)[:, None] if self.scaled else sums

    @property
    def scaled(self) -> bool:
        """Whether words have a weight other than 1."""
        return (self.strength, self.exponent) != (1.0, 0.0)

    def factors(self, known: Doubles) -> Doubles:
        """The weight of each word in a document with this many known words."""
        return self.strength / np.maximum(known, 1.0) ** self.exponent

    def sums(self, documents: Documents | CountMatrix, tokens: Tokens) -> tuple[Doubles, Doubles]:
        """The unscaled sums, documents x classes, and the number of words summed."""
        sums, known = self._sums(documents, tokens, self.weights)
        sums = sums + self.offset
        if self.certain is not None and self.certain.any():
            present, _ = self._sums(documents, tokens, self.certain.astype(np.float64))
            sums[present < self.certain.sum(axis=0)] = -np.inf
        return sums, known

    def _sums(
        self, documents: Documents | CountMatrix, tokens: Tokens, weights: Doubles
    ) -> tuple[Doubles, NDArray[np.float64]]:
        if isinstance(documents, CountMatrix):
            return self._matrix_sums(documents, weights)
        table = np.ascontiguousarray(weights)
        sums, known = _core.score_words(
            documents.data, documents.offsets, self._vocabulary, table, self.once, tokens.compiled
        )
        return sums, known.astype(np.float64)

    def _matrix_sums(self, matrix: CountMatrix, weights: Doubles) -> tuple[Doubles, NDArray[np.float64]]:
        data = np.asarray(matrix.data, dtype=np.float64)
        if (data < 0).any():
            raise BadData("a count must not be negative", found=float(data.min()))
        if self.once:
            data = (data != 0).astype(np.float64)
        columns = np.array([int(word) for word in self.words], dtype=np.int64)
        table = np.zeros((matrix.width, weights.shape[1]))
        table[columns] = weights
        known = np.zeros((matrix.width, 1))
        known[columns] = 1.0
        counts = CountMatrix(matrix.indptr, matrix.indices, data, matrix.width)
        return product(counts, table), counts.times(known)[:, 0]

    def of_entries(self, words: NumberArray, counts: Doubles) -> Doubles:
        """The contribution of each of these words, with this count in a document, to each class."""
        terms: Doubles = self.weights[words] * (np.ones(len(counts)) if self.once else counts)[:, None]
        return terms

    def listed(self, documents: Documents | CountMatrix, tokens: Tokens) -> CountMatrix:
        """The known words of each document with their counts; columns are positions in `words`."""
        if isinstance(documents, CountMatrix):
            place = np.full(documents.width, -1, dtype=np.int64)
            place[[int(word) for word in self.words]] = np.arange(len(self.words))
            kept = (place[documents.indices] >= 0) & (np.asarray(documents.data) != 0)
            ends = np.concatenate([[0], np.cumsum(kept)])
            data = np.asarray(documents.data, dtype=np.float64)[kept]
            return CountMatrix(ends[documents.indptr], place[documents.indices][kept], data, len(self.words))
        starts, numbers, counts = _core.list_terms(documents.data, documents.offsets, self._vocabulary, tokens.compiled)
        return CountMatrix(starts, numbers, counts, len(self.words))


def product(counts: CountMatrix, weights: Doubles) -> Doubles:
    """The sums of counts times weights, documents x classes; -inf if a word in the document has such a weight."""
    impossible = np.isneginf(weights)
    if not impossible.any():
        return counts.times(weights)
    sums = counts.times(np.where(impossible, 0.0, weights))
    return np.where(counts.times(impossible.astype(np.float64)) > 0, -np.inf, sums)
