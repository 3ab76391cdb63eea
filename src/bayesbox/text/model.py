"""The model of documents: a class prior, and a weight for each word and class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from bayesbox._core import ExactArray
from bayesbox.classifier.report.size import Parameters, written
from bayesbox.dist.base import Doubles
from bayesbox.dist.cells import spread
from bayesbox.dist.functions import log
from bayesbox.dist.words.estimates import (
    TIMES,
    complement_weights,
    count_weights,
    occurrence_weights,
    poisson_weights,
    position_weights,
    table_weights,
    taken,
)
from bayesbox.dist.words.weights import WordWeights
from bayesbox.errors import BadOption
from bayesbox.rule.priors import given_prior, log_prior
from bayesbox.schema.arrays import AnyArray
from bayesbox.schema.levels import label_order, label_values
from bayesbox.schema.tokens import Tokens
from bayesbox.tally.book import Book
from bayesbox.tally.documents import DOCUMENTS, THRICE, TWICE, WORDS
from bayesbox.tally.words import most_common
from bayesbox.text.options import OCCURRENCES, TextOptions

CHOICES = (("count", False), ("count", True), ("complement", False), ("complement", True))  # occurrence, once


class Strength(NamedTuple):
    """The weight of the words of a document: `strength` / n**`exponent` for n known words."""

    strength: float = 1.0
    exponent: float = 0.0


@dataclass(frozen=True)
class TextModel:
    """P(class) and the weights of the words, as data only."""

    classes: tuple[str, ...]
    labels: AnyArray
    log_prior: Doubles
    conditional: WordWeights


def text_model(
    book: Book,
    rules: TextOptions,
    *,
    declared: tuple[str, ...] = (),
    width: int | None = None,
    strength: Strength | None = None,
) -> TextModel:
    """Apply the rules to the tallies; `width` is that of a matrix of counts, in which every column is a word.

    `strength` is the calibrated weight of the words, instead of that of the rules.
    """
    classes = tuple(label_order(list({*book.classes, *declared}), book.label_type))
    counted = book.with_classes(classes)
    words, cells, holders, *often = kept_words(counted, rules, width)
    size, rule = len(classes), rules.smoothing
    if rules.once:
        cells = holders
    if rules.occurrence == "binary":
        conditional = occurrence_weights(words, holders, counted.class_counts, rule)
    elif rules.occurrence == "complement":
        conditional = complement_weights(words, cells, size, rule, once=rules.once)
    elif rules.occurrence == "table":
        conditional = table_weights(words, [holders, *often], counted.class_counts, rule)
    elif rules.occurrence == "position":
        conditional = position_weights(words, cells, size, rule)
    elif rules.occurrence == "poisson":
        conditional = poisson_weights(words, cells, counted.class_counts, rule)
    else:
        tempered = rules.occurrence == "normalised"
        conditional = count_weights(words, cells, size, rule, once=rules.once, tempered=tempered)
    if strength is not None:
        conditional = replace(conditional, strength=strength.strength, exponent=strength.exponent)
    return TextModel(classes, label_values(classes, book.label_type), model_prior(counted, rules), conditional)


def model_prior(book: Book, rules: TextOptions) -> Doubles:
    """The log prior of the classes of the book."""
    if rules.prior is not None:
        return log(given_prior(rules.prior, book.classes))
    if rules.occurrence == "complement" and len(book.classes) > 1:
        return np.zeros(len(book.classes))  # the weights are not log-likelihoods, so a prior does not apply
    return log_prior(book.class_counts, book.classes, rules.prior_smoothing)


def distinct_words(names: Sequence[str], tokens: Tokens) -> int:
    """The number of distinct words; words with positions, such as `1 kiwi`, are counted without them."""
    return len({name.partition(" ")[2] for name in names}) if tokens.places else len(names)


def known_words(book: Book, width: int | None) -> tuple[str, ...]:
    """The words of the tallies, or the columns of a matrix of this width."""
    if width is not None:
        return tuple(str(index) for index in range(width))
    found: tuple[str, ...] = book[WORDS].levels if WORDS in book else ()
    return found


def kept_words(book: Book, rules: TextOptions, width: int | None) -> tuple[Any, ...]:
    """The words that the rules keep, with their occurrences and documents and, if needed, documents with several."""
    size = len(book.classes)
    names = (WORDS, DOCUMENTS, *((TWICE, THRICE) if rules.occurrence == "table" else ()))
    words = known_words(book, width)
    cells = [
        spread(book[name].cells, size, book[name].levels, words) if name in book else ExactArray(size * len(words))
        for name in names
    ]
    chosen = np.arange(len(words))
    if rules.min_documents > 1:
        chosen = np.flatnonzero(_by_word(cells[1], size, len(words)) >= rules.min_documents)
    if rules.top is not None and rules.top < len(chosen):
        chosen = chosen[most_common(taken(cells[0], size, len(words), chosen), size, len(chosen), rules.top)]
    if len(chosen) == len(words):
        return (words, *cells)
    kept = tuple(words[place] for place in chosen.tolist())
    return (kept, *(taken(each, size, len(words), chosen) for each in cells))


def _by_word(cells: ExactArray, classes: int, width: int) -> Doubles:
    """The sum over the classes for each word."""
    return cells.sum_groups(np.tile(np.arange(width, dtype=np.int64), classes), width).to_doubles()


def parameters(occurrence: str, *, words: int, classes: int, length: int | None = None) -> Parameters:
    """The size of a model of documents; "position" is P(word at place i | class) for each of `length` places.

    >>> parameters("position", words=50_000, classes=2, length=100)[:3]
    (9999801, 10000002, 10000000)
    >>> parameters("count", words=50_000, classes=2)
    Parameters(free=99999, terms=100002, naive=100000, joint=None)
    >>> parameters("table", words=50_000, classes=2)[:2]
    (300001, 400002)
    """
    if occurrence == "position":
        if length is None:
            raise BadOption("the position model has a table for each position", remedy="Pass the length of a document")
        naive, free = length * words * classes, length * max(words - 1, 0) * classes
        return Parameters(free + classes - 1, naive + classes, naive, written(words**length * classes))
    if occurrence not in OCCURRENCES:
        raise BadOption(f"the model must be one of {', '.join(OCCURRENCES)}", found=occurrence)
    levels = len(TIMES) if occurrence == "table" else 1
    naive = levels * words * classes
    free = {"table": (levels - 1) * words, "binary": words, "poisson": words}.get(occurrence, max(words - 1, 0))
    joint = written(2**words * classes) if occurrence == "binary" else None
    return Parameters(free * classes + classes - 1, naive + classes, naive, joint)
