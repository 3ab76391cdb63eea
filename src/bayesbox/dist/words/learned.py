"""The tables of words in textbook form: (count + 1)/(total + V) for each word and class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayesbox._core import ExactArray
from bayesbox.dist import functions
from bayesbox.dist.base import Doubles
from bayesbox.dist.cells import Smoothing, exact_numbers
from bayesbox.dist.learned import CountedLevels, LearnedRow, counted_levels, level_rows, most_common_places
from bayesbox.dist.words.estimates import TIMES
from bayesbox.dist.words.weights import WordWeights


def common_words(cells: ExactArray, classes: int, most: int | None) -> NDArray[np.int64]:
    """The positions of the most common words in class-major cells."""
    by_class = cells.to_doubles().reshape(classes, -1)
    return most_common_places(by_class.sum(axis=0), most)


def share_rows(weights: WordWeights, cells: ExactArray, rule: Smoothing, most: int | None) -> tuple[LearnedRow, ...]:
    """P(word | class): the share of a word among all words of the class."""
    classes, width = len(weights.offset), len(weights.words)
    places = common_words(cells, classes, most)
    names = [weights.words[place] for place in places.tolist()]
    counted = counted_levels(cells, classes, width, places, width, names, rule)
    return level_rows([f"P({name} | class)" for name in names], weights.weights[places], counted)


def complement_rows(
    weights: WordWeights, cells: ExactArray, rule: Smoothing, most: int | None
) -> tuple[LearnedRow, ...]:
    """P(word | the other classes): the share of a word among all words of the others together."""
    classes, width = len(weights.offset), len(weights.words)
    places = common_words(cells, classes, most)
    names = [weights.words[place] for place in places.tolist()]
    counted = counted_levels(cells.others(classes), classes, width, places, width, names, rule)
    return level_rows([f"P({name} | other classes)" for name in names], -weights.weights[places], counted)


def presence_rows(
    weights: WordWeights, holders: ExactArray, documents: ExactArray, rule: Smoothing, most: int | None
) -> tuple[LearnedRow, ...]:
    """P(a document has the word | class): the share of the documents that contain it."""
    classes, width = len(weights.offset), len(weights.words)
    places = common_words(holders, classes, most)
    names = [weights.words[place] for place in places.tolist()]
    held = _columns(holders, classes, width, places)
    counted = CountedLevels(held, exact_numbers(documents), 2, ["true"] * len(names), rule)
    over, under = counted.ratios()
    with np.errstate(divide="ignore"):
        log_p = functions.log((over / under).astype(np.float64)).T
    return level_rows([f"P({name} in document | class)" for name in names], log_p, counted)


def times_rows(
    weights: WordWeights, held: Sequence[ExactArray], documents: ExactArray, rule: Smoothing, most: int | None
) -> tuple[LearnedRow, ...]:
    """P(a document has the word 0, 1, 2, or 3 or more times | class), four rows per word."""
    classes, width = len(weights.offset), len(weights.words)
    places = common_words(held[0], classes, most)
    totals = exact_numbers(documents)
    at_least = [np.repeat(totals[:, None], len(places), axis=1)]
    at_least += [_columns(cells, classes, width, places) for cells in held]
    tables = []
    for level, times in enumerate(TIMES):
        counts = at_least[level] - at_least[level + 1] if level + 1 < len(TIMES) else at_least[level]
        counted = CountedLevels(counts, totals, len(TIMES), [times] * len(places), rule)
        over, under = counted.ratios()
        with np.errstate(divide="ignore"):
            log_p = functions.log((over / under).astype(np.float64)).T
        titles = [f"P({weights.words[place]} {times} times | class)" for place in places.tolist()]
        tables.append(level_rows(titles, log_p, counted))
    return tuple(row for rows in zip(*tables, strict=True) for row in rows)


def rate_rows(weights: WordWeights, cells: ExactArray, most: int | None) -> tuple[LearnedRow, ...]:
    """The mean count of a word in a document of each class."""
    places = common_words(cells, len(weights.offset), most)
    return tuple(
        LearnedRow(
            f"rate of {weights.words[place]}",
            ("",) * len(weights.offset),
            tuple(functions.exp(weights.weights[place]).tolist()),
        )
        for place in places.tolist()
    )


def position_rows(
    weights: WordWeights, levels: Sequence[str], cells: ExactArray, rule: Smoothing, most: int | None
) -> tuple[LearnedRow, ...]:
    """P(word at a position | class); `levels` are words with their positions, such as `1 kiwi`."""
    classes = len(weights.offset)
    index = {level: place for place, level in enumerate(levels)}
    chosen = _first_places(weights, cells, index, most)
    by_place: dict[str, list[int]] = {}
    for level, place in index.items():
        by_place.setdefault(level.partition(" ")[0], []).append(place)
    distinct = len({word.partition(" ")[2] for word in weights.words})
    counts = np.zeros((classes, len(chosen)), dtype=object)
    totals = np.zeros((classes, len(chosen)), dtype=object)
    whole = exact_numbers(cells).reshape(classes, len(levels))
    for column, row in enumerate(chosen.tolist()):
        name = weights.words[row]
        if name in index:
            counts[:, column] = whole[:, index[name]]
        totals[:, column] = whole[:, by_place.get(name.partition(" ")[0], [])].sum(axis=1)
    names = [weights.words[row].partition(" ") for row in chosen.tolist()]
    counted = CountedLevels(counts, totals, distinct, [word for _, _, word in names], rule)
    titles = [f"P(word {place} is {word} | class)" for place, _, word in names]
    return level_rows(titles, weights.weights[chosen], counted)


def _first_places(
    weights: WordWeights, cells: ExactArray, index: dict[str, int], most: int | None
) -> NDArray[np.int64]:
    """The most common of all words at all positions."""
    common: Doubles = np.zeros(len(weights.words))
    by_level = cells.to_doubles().reshape(len(weights.offset), -1).sum(axis=0)
    for row, name in enumerate(weights.words):
        if name in index:
            common[row] = by_level[index[name]]
    return most_common_places(common, most)


def _columns(cells: ExactArray, classes: int, width: int, places: NDArray[np.int64]) -> NDArray[np.object_]:
    """The cells of some words as fractions, classes x words."""
    index = (np.arange(classes)[:, None] * width + places[None, :]).ravel()
    found: NDArray[np.object_] = exact_numbers(cells.take(index)).reshape(classes, len(places))
    return found
