"""From counts of words to their weights: by occurrence counts, by presence and absence, or by the other classes."""

from __future__ import annotations

import numpy as np

from bayesbox._core import ExactArray
from bayesbox.dist.base import left_out_where_impossible, log
from bayesbox.dist.word_weights import WordWeights
from bayesbox.rule.smoothing import Cells, Smoothing, ratio
from bayesbox.rule.table import LevelCounts, log_table
from bayesbox.tally.base import added


def count_weights(
    words: tuple[str, ...], cells: ExactArray, classes: int, rule: Smoothing, *, tempered: bool = False
) -> WordWeights:
    """The multinomial: the weight of a word is log P(word | class), its share of all words of the class."""
    log_p, _, _ = log_table(LevelCounts(words, cells, classes), rule)
    return WordWeights(words, np.ascontiguousarray(log_p), np.zeros(classes), tempered=tempered)


def complement_weights(words: tuple[str, ...], cells: ExactArray, classes: int, rule: Smoothing) -> WordWeights:
    """The weight of a word is -log of its share in all other classes together (Rennie and others, 2003).

    Many documents of the others make a steadier estimate than few of the class itself.
    """
    width = len(words)
    place = np.tile(np.arange(width, dtype=np.int64), classes)
    others = added(cells.sum_groups(place, width).take(place), cells, sign=-1) if width else cells
    log_p, _, _ = log_table(LevelCounts(words, others, classes), rule)
    finite = np.where(np.isneginf(log_p), 0.0, -log_p)
    return WordWeights(words, np.ascontiguousarray(finite), np.zeros(classes))


def occurrence_weights(
    words: tuple[str, ...], holders: ExactArray, documents: ExactArray, rule: Smoothing
) -> WordWeights:
    """The Bernoulli model: every word is present or absent, and absence speaks too.

    With p the share of the class's documents that hold the word, smoothed as one of two values, a document has the
    probability prod p over its words times prod (1 - p) over all others.
    """
    classes, width = len(documents), len(words)
    held = holders.to_doubles().reshape(classes, width)
    totals = np.tile(documents.to_doubles()[:, None], (1, width))
    present, absent = (
        left_out_where_impossible((log(over) - log(under)).T)
        for over, under in (
            ratio(rule, Cells(held, totals, 2, ["true"] * width)),
            ratio(rule, Cells(totals - held, totals, 2, ["false"] * width)),
        )
    )
    certain = np.isneginf(absent)
    floor = np.where(certain, 0.0, absent)
    return WordWeights(words, np.ascontiguousarray(present - floor), floor.sum(axis=0), once=True, certain=certain)
