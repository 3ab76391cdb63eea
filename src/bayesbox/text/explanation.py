"""The evidence of the words of a document for and against a class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayesbox.dist.base import Doubles
from bayesbox.dist.words.weights import WordWeights
from bayesbox.explain.evidence import lead, settled
from bayesbox.schema.arrays import AnyArray
from bayesbox.schema.columns import CountMatrix
from bayesbox.schema.levels import class_position

CELLS_A_PIECE = 1 << 20
LOOKED_AT = 4096  # words examined at a time, until every class has enough


class WordEvidence(NamedTuple):
    """A word of a document: its number of occurrences and its log-odds."""

    word: str
    times: float
    log_odds: float


@dataclass(frozen=True)
class TextExplanation:
    """`prior` + `offset` + the sum of a document's terms is log P(class, document).

    `words[i]` are the known words of document i, `counts[i]` their numbers of occurrences, `terms[i]` (words x classes)
    their terms. `offset` is the term of the absent words, in models that use absence; one per document if the weight of
    the words differs by document.
    """

    labels: AnyArray
    prior: Doubles
    offset: Doubles
    words: list[list[str]]
    counts: list[Doubles]
    terms: list[Doubles]

    def __len__(self) -> int:
        return len(self.words)

    def position(self, label: object) -> int:
        """The index of a class."""
        return class_position(label, self.labels.tolist())

    def log_odds(self, label: object, against: object) -> Doubles:
        """log of P(label | document) / P(against | document), or that of the prior if both are impossible."""
        joint, prior = self.joint(), self.prior
        one, other = (self.position(each) for each in (label, against))
        odds = lead(joint[:, one], joint[:, other])
        return settled(odds, lead(prior[one], prior[other]), np.isneginf(joint[:, one]), np.isneginf(joint[:, other]))

    def joint(self) -> Doubles:
        """log P(class, document), documents x classes."""
        offsets = np.broadcast_to(self.offset, (len(self.terms), len(self.prior)))
        return np.array(
            [self.prior + offset + terms.sum(axis=0) for offset, terms in zip(offsets, self.terms, strict=True)]
        )

    def top(self, row: int, label: object, against: object, number: int = 10) -> list[WordEvidence]:
        """The words of a document with the most evidence between two classes, the most informative first."""
        one, other = (self.terms[row][:, self.position(each)] for each in (label, against))
        odds = lead(one, other)
        order = np.argsort(-np.abs(odds), kind="stable")[:number].tolist()
        return [WordEvidence(self.words[row][k], float(self.counts[row][k]), float(odds[k])) for k in order]


def explained(
    labels: AnyArray,
    prior: Doubles,
    offset: Doubles,
    weights: WordWeights,
    listed: CountMatrix,
    strength: Doubles,
) -> TextExplanation:
    """The explanation of documents with these words; `strength` is the weight of the words in each document."""
    words, counts, terms = [], [], []
    for row, (start, stop) in enumerate(zip(listed.indptr[:-1].tolist(), listed.indptr[1:].tolist(), strict=True)):
        places = listed.indices[start:stop]
        words.append([weights.words[place] for place in places.tolist()])
        counts.append(np.asarray(listed.data[start:stop], dtype=np.float64))
        terms.append(weights.of_entries(places, counts[-1]) * strength[row])
    return TextExplanation(labels, prior, offset, words, counts, terms)


def telling(words: tuple[str, ...], weights: Doubles, number: int) -> list[list[tuple[str, float]]]:
    """For each class, the words with a higher weight (words x classes) than in all others, the largest lead first.

    >>> telling(("beer", "kiwi"), np.array([[-1.0, -1.5], [-3.0, -0.75]]), 3)
    [[('beer', 0.5)], [('kiwi', 2.25)]]
    """
    classes = weights.shape[1]
    best, lead = np.zeros(len(words), dtype=np.int64), weights[:, 0].copy()
    step = max(CELLS_A_PIECE // classes, 1)
    for first in range(0, len(words) if classes > 1 else 0, step):
        some = weights[first : first + step]
        rows, place = np.arange(len(some)), some.argmax(axis=1)
        others = some.copy()
        others[rows, place] = -np.inf
        with np.errstate(invalid="ignore"):
            lead[first : first + step] = np.nan_to_num(some[rows, place] - others.max(axis=1), nan=0.0)
        best[first : first + step] = place
    order = np.argsort(-lead, kind="stable")
    if classes > 1:
        order = order[lead[order] > 0]
    found: list[list[tuple[str, float]]] = [[] for _ in range(classes)]
    missing = number * classes
    for first in range(0, len(order), LOOKED_AT):
        if not missing:
            break
        ahead = order[first : first + LOOKED_AT]
        for k, label in zip(ahead.tolist(), best[ahead].tolist(), strict=True):
            if len(found[label]) < number:
                found[label].append((words[k], float(lead[k])))
                missing -= 1
    return found
