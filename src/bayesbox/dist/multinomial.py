"""A multinomial over a group of count columns: how often each of many words occurs, given the class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist.base import Columns, Distribution, Doubles, Plan
from bayesbox.errors import BadData, CannotExport
from bayesbox.schema.columns import CountMatrix, as_numbers

if TYPE_CHECKING:
    from bayesbox.dist.expression import Expression


@dataclass(frozen=True)
class Multinomial(Distribution):
    """log P(word | class), words x classes. A row with counts x_w has the probability of its words in their order,
    prod_w P(word w | class)**x_w; a missing count is left out.

    `group` is the name under which a whole matrix of counts stands; None for columns of their own.
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
        return dict(zip(self.words, np.exp(self.log_p), strict=True))

    @property
    def free_parameters(self) -> int:
        return (len(self.words) - 1) * self.classes

    def log_prob(self, values: Any) -> Doubles:
        """Of a matrix of counts, or of a mapping of columns of counts."""
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
            raise BadData(f"column `{self.words[index]}` is a count, 0 or more", found=float(known.min()))
        terms: Doubles = known[:, None] * self._finite[index][None, :]
        if self._impossible[index].any():
            terms[np.outer(known > 0, self._impossible[index] > 0)] = -np.inf
        return terms

    def _sparse_terms(self, matrix: CountMatrix) -> Doubles:
        if matrix.width != len(self.words):
            raise BadData(f"the matrix has {matrix.width} columns, the model {len(self.words)}")
        if len(matrix.data) and matrix.data.min() < 0:
            raise BadData("a count is 0 or more", found=float(matrix.data.min()))
        terms = matrix.times(self._finite)
        if self._impossible.any():
            terms[matrix.times(self._impossible) > 0] = -np.inf
        return terms

    def expression(self) -> Expression:
        from bayesbox.dist.expression import ReadNumber, case, total

        if self.group is not None:
            raise CannotExport(
                "a matrix of counts has no columns with names", remedy="Learn from a frame of Count columns"
            )
        counts = [ReadNumber(word) for word in self.words]
        terms = [case((x > 0.0, x * weights), otherwise=0.0) for x, weights in zip(counts, self.log_p, strict=True)]
        return total(terms)
