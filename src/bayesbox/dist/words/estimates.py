"""From counts of words to weights: multinomial, Poisson, Bernoulli, tables, positions or complement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from bayesbox._core import ExactArray
from bayesbox.dist.base import Doubles, ignored_where_impossible
from bayesbox.dist.cells import Cells, Smoothing, log_ratio_by_level, ratio
from bayesbox.dist.functions import log
from bayesbox.dist.words.count_table import CountTable
from bayesbox.dist.words.weights import WordWeights
from bayesbox.errors import BadData, BadOption

ROOT = 0.5  # the exponent with which n words weigh as much as sqrt(n)
TIMES = ("0", "1", "2", "3+")  # the count classes of a word in a document
WORDS_A_PIECE = 4096
MOST_TERMS = 1 << 24  # the maximum number of probabilities of the position model


def count_weights(
    words: tuple[str, ...],
    cells: ExactArray,
    classes: int,
    rule: Smoothing,
    *,
    once: bool = False,
    tempered: bool = False,
) -> WordWeights:
    """The multinomial model: the weight of a word is log P(word | class)."""
    exponent = ROOT if tempered else 0.0
    return WordWeights(words, _log_shares(words, cells, classes, rule), np.zeros(classes), once=once, exponent=exponent)


def _log_shares(words: tuple[str, ...], cells: ExactArray, classes: int, rule: Smoothing) -> Doubles:
    """log P(word | class), words x classes: the log of each word's share of all words of a class."""
    totals, shares = cells.sum_rows(classes).to_doubles(), np.empty((len(words), classes))
    for some in _pieces(len(words)):
        counts = cells.columns(classes, some.start, some.stop)
        found = ratio(rule, Cells(counts, totals, len(words), words[some]))
        shares[some] = ignored_where_impossible(log_ratio_by_level(found))
    return shares


def _pieces(words: int) -> Iterator[slice]:
    """Blocks of words, so that intermediate results stay in the CPU caches."""
    for first in range(0, words, WORDS_A_PIECE):
        yield slice(first, min(first + WORDS_A_PIECE, words))


def poisson_weights(words: tuple[str, ...], cells: ExactArray, documents: ExactArray, rule: Smoothing) -> WordWeights:
    """The Poisson model of word counts: x log(rate) - rate; x! is equal in every class.

    The rate of a class is (occurrences + a * the mean of all documents) / (documents + a), with `a` the weight of the
    rule: as if `a` more documents had the word at the mean rate.
    """
    if rule.weight is None:
        raise BadOption(
            f"a word has a Poisson rate, which {type(rule).__name__} cannot smooth",
            remedy="Use mle, laplace, lidstone:a or m:m",
        )
    classes = len(documents)
    counts, n = cells.to_doubles().reshape(classes, len(words)), documents.to_doubles()[:, None]
    rate = poisson_rate(counts, n, counts.sum(axis=0) / max(float(n.sum()), 1.0), rule.weight)
    return WordWeights(words, np.ascontiguousarray(ignored_where_impossible(log(rate).T)), -rate.sum(axis=1))


def poisson_rate(counts: Doubles, documents: Doubles, mean: Doubles, weight: float) -> Doubles:
    """The rates, classes x words, from the counts of words and the numbers of documents (classes x 1)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = (counts + weight * mean) / (documents + weight)
    return np.where(documents + weight > 0, rate, mean)


def taken(cells: ExactArray, classes: int, width: int, chosen: NDArray[np.int64]) -> ExactArray:
    """The cells of some words, class-major."""
    return cells.take((np.arange(classes)[:, None] * width + chosen[None, :]).ravel())


def complement_weights(
    words: tuple[str, ...], cells: ExactArray, classes: int, rule: Smoothing, *, once: bool = False
) -> WordWeights:
    """The complement model: the weight of a word is -log of its share in all other classes (Rennie et al., 2003).

    The many documents of the other classes give a more stable estimate than the few of the class itself.
    """
    log_p = _log_shares(words, cells.others(classes), classes, rule)
    return WordWeights(words, np.where(np.isneginf(log_p), 0.0, -log_p), np.zeros(classes), once=once)


def occurrence_weights(
    words: tuple[str, ...], holders: ExactArray, documents: ExactArray, rule: Smoothing
) -> WordWeights:
    """The Bernoulli model: every word is present or absent, and absence counts too.

    With p the share of the class's documents that contain the word, smoothed as one of two values, a document has the
    probability prod p over its words times prod (1 - p) over all others.
    """
    classes, totals = len(documents), documents.to_doubles()
    weights, offset = np.empty((len(words), classes)), np.zeros(classes)
    certain: NDArray[np.bool_] | None = None
    for some in _pieces(len(words)):
        held = holders.columns(classes, some.start, some.stop)
        present, absent = (
            ignored_where_impossible(log_ratio_by_level(ratio(rule, Cells(counts, totals, 2, [name] * held.shape[1]))))
            for counts, name in ((held, "true"), (totals[:, None] - held, "false"))
        )
        if absent.min() == -np.inf:
            certain = np.zeros(weights.shape, dtype=bool) if certain is None else certain
            certain[some] = np.isneginf(absent)
            absent = np.where(certain[some], 0.0, absent)
        np.subtract(present, absent, out=weights[some])
        offset += absent.sum(axis=0)
    return WordWeights(words, weights, offset, once=True, certain=certain)


def table_weights(
    words: tuple[str, ...], held: Sequence[ExactArray], documents: ExactArray, rule: Smoothing
) -> CountTable:
    """The table model: P(0, 1, 2, or 3 or more occurrences) for each word and class.

    `held` are the documents with each word at least once, at least twice, and at least three times.
    """
    classes, width = len(documents), len(words)
    totals = documents.to_doubles()
    at_least = [np.tile(totals[:, None], (1, width))]
    at_least += [cells.to_doubles().reshape(classes, width) for cells in held]
    logs = []
    for level, name in enumerate(TIMES):
        counts = at_least[level] - at_least[level + 1] if level + 1 < len(TIMES) else at_least[level]
        found = ratio(rule, Cells(counts, totals, len(TIMES), [name] * width))
        logs.append(ignored_where_impossible(log_ratio_by_level(found)))
    certain = np.isneginf(logs[0])
    floor = np.where(certain, 0.0, logs[0])
    once, twice, thrice = (each - floor for each in logs[1:])
    return CountTable(words, once, floor.sum(axis=0), certain=certain, twice=twice, thrice=thrice)


def position_weights(levels: tuple[str, ...], cells: ExactArray, classes: int, rule: Smoothing) -> WordWeights:
    """The position model: P(word at position i | class), over all words at any position.

    `levels` are words with their positions, such as `1 kiwi`. The model has every word at every position.
    """
    found = [level.partition(" ") for level in levels]
    words = tuple(sorted({word for _, _, word in found}))
    places = max((int(place) for place, _, _ in found), default=0)
    if places * len(words) * classes > MOST_TERMS:
        raise BadData(
            f"{places} positions x {len(words)} words x {classes} classes are too many probabilities",
            remedy="The position model is for short documents; occurrence='count' has one table for all positions",
        )
    rank = {word: index for index, word in enumerate(words)}
    column = np.array([(int(place) - 1) * len(words) + rank[word] for place, _, word in found], dtype=np.int64)
    counts = np.zeros((classes, places * len(words)))
    counts[:, column] = cells.to_doubles().reshape(classes, len(levels))
    by_place = counts.reshape(classes, places, len(words))
    log_p = np.zeros((places, len(words), classes))
    for place in range(places):
        own = by_place[:, place]
        over, under = ratio(rule, Cells(own, own.sum(axis=1), len(words), list(words)))
        log_p[place] = ignored_where_impossible((log(over) - log(under)).T)
    names = tuple(f"{place + 1} {word}" for place in range(places) for word in words)
    return WordWeights(names, log_p.reshape(len(names), classes), np.zeros(classes))
