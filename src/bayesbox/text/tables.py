"""The tables of a document model, one row per word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bayesbox.dist.learned import LearnedTable
from bayesbox.dist.words.learned import complement_rows, position_rows, presence_rows, rate_rows, share_rows, times_rows
from bayesbox.text.model import kept_words

if TYPE_CHECKING:
    from bayesbox.text.classifier import DocumentClassifier

PER_WORD = {"table": 4}  # rows per word, if it has several


def learned_words(classifier: DocumentClassifier, most: int | None) -> Iterator[LearnedTable]:
    """The table of words by class, with the most common words."""
    rules, weights = classifier.rules, classifier.model.conditional
    book = classifier.book.with_classes(classifier.model.classes)
    words, cells, holders, *often = kept_words(book, rules, classifier.width)
    if rules.once:
        cells = holders
    if rules.occurrence == "binary":
        rows = presence_rows(weights, holders, book.class_counts, rules.smoothing, most)
    elif rules.occurrence == "complement":
        rows = complement_rows(weights, cells, rules.smoothing, most)
    elif rules.occurrence == "table":
        rows = times_rows(weights, [holders, *often], book.class_counts, rules.smoothing, most)
    elif rules.occurrence == "position":
        rows = position_rows(weights, words, cells, rules.smoothing, most)
    elif rules.occurrence == "poisson":
        rows = rate_rows(weights, cells, most)
    else:
        rows = share_rows(weights, cells, rules.smoothing, most)
    hidden = len(weights.words) * PER_WORD.get(rules.occurrence, 1) - len(rows)
    yield LearnedTable(classifier.text_column, rows, hidden, f"occurrence {rules.occurrence}")
