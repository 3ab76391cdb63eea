"""A column of text among other columns: the words of each text, independent given the class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self, cast

import numpy as np

from bayesbox.dist.base import Columns, Distribution, Doubles
from bayesbox.dist.cells import Cells, spread
from bayesbox.dist.factor import Factor, NoFactor, product_of_words
from bayesbox.dist.fit import FitOptions
from bayesbox.dist.leave_one_out import LeaveOneOutPlan
from bayesbox.dist.words.estimates import count_weights, taken
from bayesbox.dist.words.factors import exact, exact_counts, share_factor
from bayesbox.dist.words.leave_one_out import own_words_out
from bayesbox.dist.words.weights import WordWeights
from bayesbox.errors import BadOption
from bayesbox.schema.arrays import PlainColumn
from bayesbox.schema.columns import CountMatrix
from bayesbox.schema.kinds import Words
from bayesbox.schema.tokens import Documents, Tokens
from bayesbox.tally.book import Book
from bayesbox.tally.words import WordCounts, most_common

if TYPE_CHECKING:
    from bayesbox.dist.learned import LearnedTable

MOST_WORDS = 40  # of a text; with more, factors are not shown individually


@dataclass(frozen=True)
class Text(Distribution):
    """log P(text | class) is the sum of the weights of its known words; a missing text has none."""

    column: str
    weights: WordWeights
    tokens: Tokens

    unsampled: ClassVar[str] = "it gives the shares of words, not how many a text has"

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def classes(self) -> int:
        return len(self.weights.offset)

    @property
    def all_parameters(self) -> int:
        return len(self.weights.words) * self.classes

    @property
    def free_parameters(self) -> int:
        return max(len(self.weights.words) - 1, 0) * self.classes

    def log_prob(self, values: PlainColumn) -> Doubles:
        return self.weights.terms(Documents.of(values, where=f"column `{self.column}`"), self.tokens)

    @classmethod
    def fit(cls, column: str, tally: WordCounts, options: FitOptions) -> Self:
        """The multinomial over the words of the column, or over the most common words."""
        words, cells, kind = tally.levels, tally.cells, cast("Words", options.kind)
        classes = len(tally.classes)
        if kind.top is not None and kind.top < len(words):
            chosen = most_common(cells, classes, len(words), kind.top)
            words, cells = tuple(words[place] for place in chosen.tolist()), taken(cells, classes, len(words), chosen)
        tempered = kind.occurrence == "normalised"
        return cls(column, count_weights(words, cells, classes, options.smoothing, tempered=tempered), kind.tokens)

    def learned(self, book: Book, options: FitOptions, most: int | None) -> Iterator[LearnedTable]:
        """The share of each word among all words of the texts of a class."""
        from bayesbox.dist.learned import LearnedTable
        from bayesbox.dist.words.learned import share_rows

        tally, words = book[self.column], self.weights.words
        cells = tally.cells if words == tally.levels else spread(tally.cells, self.classes, tally.levels, words)
        rows = share_rows(self.weights, cells, options.smoothing, most)
        yield LearnedTable(self.column, rows, len(words) - len(rows))

    def work(self, columns: Columns, book: Book, options: FitOptions) -> Iterator[Factor | NoFactor]:
        """One factor per word, to the power of its count; a single one for all if there are many."""
        column = columns.get(self.column)
        if column is None or isinstance(column, CountMatrix) or column[0].as_py() is None:
            yield NoFactor(self.column)
            return
        listed = self.weights.listed(Documents.of(column), self.tokens)
        if len(listed.indices) > MOST_WORDS or self.column not in book:
            yield product_of_words(self.column, self.terms(columns, 1)[0])
            return
        tally = book[self.column]
        known = {word: place for place, word in enumerate(tally.levels)}
        words = [self.weights.words[place] for place in listed.indices.tolist()]
        kept = [known[word] for word in self.weights.words]
        cells = taken(tally.cells, self.classes, len(tally.levels), np.array(kept, dtype=np.int64))
        totals = exact(cells.sum_rows(self.classes), self.classes, 1)[:, 0]
        counts = exact_counts(tally.cells, self.classes, len(tally.levels), [known[word] for word in words])
        strength = float(self.weights.factors(np.array([float(listed.data.sum())]))[0]) if self.weights.scaled else 1.0
        for place, (word, times) in enumerate(zip(words, listed.data.tolist(), strict=True)):
            own = Cells(counts[:, place : place + 1], totals, len(kept), [word])
            yield share_factor(f"P({word} in {self.column} | class)", own, options.smoothing, times * strength)

    def leave_one_out(self, plan: LeaveOneOutPlan, columns: Columns, book: Book, options: FitOptions) -> None:
        """The row's words are subtracted from the counts of its class; a word that no other row has disappears."""
        if cast("Words", options.kind).top is not None:
            raise BadOption(
                f"column `{self.column}` keeps only its most common words, and these may change with each row",
                remedy="Use cross-validation, or all words",
            )
        column = columns.get(self.column)
        if column is None:
            return
        weights = self.weights
        matrix = weights.listed(Documents.of(column), self.tokens)
        counts = book[self.column].cells.to_doubles().reshape(plan.classes, len(weights.words))
        terms, known = own_words_out(matrix, counts, weights.words, options.smoothing, plan.target, words_may_go=True)
        plan.add_terms(terms * weights.factors(known)[:, None])
