"""A multinomial over a group of count columns: how often each of many words occurs, given the class."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from bayesbox._core import ExactArray
from bayesbox.dist import functions
from bayesbox.dist.base import Columns, Distribution, Doubles, Linear, Plan
from bayesbox.dist.cells import LevelCounts, log_table, spread
from bayesbox.dist.factor import Factor, Logged, NoFactor, Number, decimal, divided, formula, log_of, product_of_words
from bayesbox.dist.fit import FitOptions
from bayesbox.dist.leave_one_out import LeaveOneOutPlan
from bayesbox.dist.words.leave_one_out import own_words_out
from bayesbox.errors import BadData, CannotExport
from bayesbox.schema.columns import Column, CountMatrix, as_numbers
from bayesbox.schema.kinds import CountGroup
from bayesbox.tally.book import Book
from bayesbox.tally.moments import Moments

if TYPE_CHECKING:
    from bayesbox.dist.expression import Expression
    from bayesbox.dist.learned import LearnedTable

FEW = 3  # words in the name of a large table


@dataclass(frozen=True)
class Multinomial(Distribution):
    """log P(word | class), words x classes. A row with counts x_w has the probability of its words in their order,
    prod_w P(word w | class)**x_w; a missing count is ignored.

    `group` is the name of a whole matrix of counts; None for separate columns.
    """

    words: tuple[str, ...]
    log_p: Doubles
    group: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return self.words if self.group is None else (self.group,)

    @property
    def classes(self) -> int:
        return int(self.log_p.shape[1])

    def parameters(self) -> dict[str, Doubles]:
        return dict(zip(self.words, functions.exp(self.log_p), strict=True))

    @property
    def all_parameters(self) -> int:
        return len(self.words) * self.classes

    @property
    def free_parameters(self) -> int:
        return (len(self.words) - 1) * self.classes

    def log_prob(self, values: Any) -> Doubles:
        """log P for a matrix of counts, or for a mapping of count columns."""
        if isinstance(values, CountMatrix):
            return self._sparse_terms(values)
        return self.terms(values, len(next(iter(values.values()))))

    @cached_property
    def _finite(self) -> Doubles:
        return np.where(np.isneginf(self.log_p), 0.0, self.log_p)

    @cached_property
    def _impossible(self) -> NDArray[np.float64]:
        return np.isneginf(self.log_p).astype(np.float64)

    def add_to(self, plan: Plan, columns: Columns) -> None:
        if self.group is not None:
            matrix = columns.get(self.group)
            if matrix is not None:
                assert isinstance(matrix, CountMatrix)
                plan.add_terms(self._sparse_terms(matrix))
            return
        for index, word in enumerate(self.words):
            column = columns.get(word)
            if column is not None:
                counts = np.asarray(as_numbers(column, name=word), dtype=np.float64)
                plan.add_terms(self._word_terms(index, counts))

    def _word_terms(self, index: int, counts: Doubles) -> Doubles:
        known = np.where(np.isnan(counts), 0.0, counts)
        if (known < 0).any():
            raise BadData(
                f"column `{self.words[index]}` must be a non-negative count",
                found=float(known.min()),
                column=self.words[index],
            )
        terms: Doubles = known[:, None] * self._finite[index][None, :]
        if self._impossible[index].any():
            terms[np.outer(known > 0, self._impossible[index] > 0)] = -np.inf
        return terms

    def _sparse_terms(self, matrix: CountMatrix) -> Doubles:
        if matrix.width != len(self.words):
            raise BadData(f"the matrix has {matrix.width} columns, but the model has {len(self.words)}")
        if len(matrix.data) and matrix.data.min() < 0:
            raise BadData("a count must not be negative", found=float(matrix.data.min()))
        terms = matrix.times(self._finite)
        if self._impossible.any():
            terms[matrix.times(self._impossible) > 0] = -np.inf
        return terms

    # -- from counts -----------------------------------------------------------------------------------------------

    @classmethod
    def fit(cls, column: str, tally: Any, options: FitOptions) -> Self:
        """P(word | class) over all the columns of a matrix, including words that never occurred."""
        words = tuple(str(index) for index in range(cast("CountGroup", options.kind).width))
        classes = len(tally.classes)
        return cls._of_cells(words, spread(tally.cells, classes, tally.levels, words), classes, options, column)

    @classmethod
    def fit_together(cls, tallies: Mapping[str, Moments], options: FitOptions) -> Self:
        """P(word | class) over all the words of the group, including those that never occurred."""
        classes = len(next(iter(tallies.values())).classes)
        cells = group_cells([tally.sums.total for tally in tallies.values()], classes)
        return cls._of_cells(tuple(tallies), cells, classes, options)

    @classmethod
    def _of_cells(
        cls, words: tuple[str, ...], cells: ExactArray, classes: int, options: FitOptions, group: str | None = None
    ) -> Self:
        log_p, _, _ = log_table(LevelCounts(words, cells, classes), options.smoothing)
        return cls(words, np.ascontiguousarray(log_p), group)

    def _cells(self, book: Book) -> ExactArray:
        """The counts of its words, class-major."""
        classes = len(book.classes)
        if self.group is None:
            return group_cells([book[word].sums.total for word in self.words], classes)
        tally = book[self.group]
        return spread(tally.cells, classes, tally.levels, self.words)

    # -- shown -----------------------------------------------------------------------------------------------------

    least: ClassVar[float] = 0.0
    unsampled: ClassVar[str] = "it gives the shares of words, not how many a row has"

    @property
    def is_scale(self) -> bool:  # type: ignore[override]
        return self.group is None

    def by_column(self) -> Iterator[Distribution]:
        if self.group is not None:
            yield self
            return
        for index, word in enumerate(self.words):
            yield Multinomial((word,), self.log_p[index : index + 1])

    def linear(self, one: int, zero: int) -> Linear:
        slopes = (self.log_p[:, one] - self.log_p[:, zero]).tolist()
        if self.group is not None:
            return Linear({self.group: slopes}, 0.0)
        return Linear({word: [slope] for word, slope in zip(self.words, slopes, strict=True)}, 0.0)

    def learned(self, book: Book, options: FitOptions, most: int | None) -> Iterator[LearnedTable]:
        """The share of each word among all words of a class."""
        from bayesbox.dist.learned import LearnedTable, counted_levels, level_rows, most_common_places

        cells, width = self._cells(book), len(self.words)
        places = most_common_places(cells.to_doubles().reshape(self.classes, width).sum(axis=0), most)
        names = [self.words[place] for place in places.tolist()]
        counted = counted_levels(cells, self.classes, width, places, width, names, options.smoothing)
        rows = level_rows([f"P({name} | class)" for name in names], self.log_p[places], counted)
        yield LearnedTable(
            self.group or ", ".join(self.words[:3]) + ("..." if width > 3 else ""), rows, width - len(rows)
        )

    def work(self, columns: Columns, book: Book, options: FitOptions) -> Iterator[Factor | NoFactor]:
        if self.group is not None:
            yield product_of_words(self.group, self.terms(columns, 1)[0])
            return
        counts = LevelCounts(self.words, self._cells(book), len(book.classes))
        for index, word in enumerate(self.words):
            yield self._word_factor(index, word, columns.get(word), counts, options)

    def _word_factor(
        self, index: int, word: str, column: Column, group: LevelCounts, options: FitOptions
    ) -> Factor | NoFactor:
        """The probability of one word to the power of its count."""
        count = math.nan if column is None else float(as_numbers(column, name=word)[0])
        if math.isnan(count) or count == 0:
            return NoFactor(word, "" if math.isnan(count) else "its count is 0")
        cells, (over, under) = group.as_cells(exact=True), group.ratio(options.smoothing, exact=True)
        formulas: list[str] = []
        values: list[Number] = []
        for c in range(group.classes):
            rule = options.smoothing
            base = formula(cells.counts[c, index], cells.totals[c], over[c, index], under[c, index], rule)
            formulas.append(base if count == 1 else f"[{base}]^{decimal(count)}")
            share = divided(over[c, index], under[c, index])
            values.append(share ** int(count) if count.is_integer() else Logged(count * log_of(share)))
        return Factor(f"P({word}={decimal(count)} | class)", tuple(formulas), tuple(values))

    # -- leave one out ---------------------------------------------------------------------------------------------

    def leave_one_out(self, plan: LeaveOneOutPlan, columns: Columns, book: Book, options: FitOptions) -> None:
        """The row's words are subtracted from the counts of its class; the vocabulary does not change."""
        counts = self._cells(book).to_doubles().reshape(plan.classes, len(self.words))
        matrix = self._matrix(columns, plan.rows)
        terms, _ = own_words_out(matrix, counts, self.words, options.smoothing, plan.target)
        plan.add_terms(terms)

    def _matrix(self, columns: Columns, rows: int) -> CountMatrix:
        """The counts as a compressed sparse row matrix, from a matrix or from columns."""
        if self.group is not None:
            found = columns[self.group]
            assert isinstance(found, CountMatrix)
            return found
        dense = np.zeros((rows, len(self.words)))
        for index, word in enumerate(self.words):
            if columns.get(word) is not None:
                dense[:, index] = np.nan_to_num(np.asarray(as_numbers(columns[word], name=word), dtype=np.float64))
        at, words = np.nonzero(dense)
        indptr = np.concatenate([[0], np.cumsum(np.bincount(at, minlength=rows))])
        return CountMatrix(indptr, words, dense[at, words], len(self.words))

    # -- exported -------------------------------------------------------------------------------------------------

    def expression(self) -> Expression:
        from bayesbox.dist.expression import ReadNumber, case, total

        if self.group is not None:
            raise CannotExport(
                "a matrix of counts has no column names", remedy="Train on a data frame of Count columns"
            )
        counts = [ReadNumber(word) for word in self.words]
        terms = [case((x > 0.0, x * weights), otherwise=0.0) for x, weights in zip(counts, self.log_p, strict=True)]
        return total(terms)


def group_cells(totals: Sequence[ExactArray], classes: int) -> ExactArray:
    """The sums of several count columns side by side, class-major."""
    cells = ExactArray(classes * len(totals))
    for index, total in enumerate(totals):
        cells.add(total, np.arange(classes, dtype=np.int64) * len(totals) + index)
    return cells
