"""A flag's distribution: P(true | class), for bools and for numbers that are 0 or 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist.base import Columns, Doubles, Plan, UnseenNote
from bayesbox.dist.cells import LevelCounts
from bayesbox.dist.fit import FitOptions
from bayesbox.dist.levels import LevelDistribution
from bayesbox.errors import UnseenLevel
from bayesbox.schema.arrays import NumberArray
from bayesbox.schema.columns import Column
from bayesbox.schema.encode import encode
from bayesbox.schema.flags import FLAG_CODES

FALSE, TRUE, UNSEEN, MISSING = range(4)
IS_UNSEEN = np.arange(4) == UNSEEN

if TYPE_CHECKING:
    from bayesbox.dist.expression import Expression


@dataclass(frozen=True)
class Bernoulli(LevelDistribution):
    """log P(false | class) and log P(true | class), and the rows for unseen and missing values."""

    @property
    def rows(self) -> Doubles:
        """The rows of false, true, unseen and missing."""
        return np.vstack([self.log_p, self.log_unseen[None, :], self.log_missing[None, :]])

    def row(self, level: str | None) -> Doubles:
        """The log-probabilities of one level (None: missing), one value per class."""
        index = MISSING if level is None else FLAG_CODES.get(level.lower(), UNSEEN)
        answer: Doubles = self.rows[index]
        return answer

    def unseen(self, level: str) -> UnseenNote | None:
        return None if level.lower() in FLAG_CODES else UnseenNote(self.levels, bool(self.log_unseen.any()))

    def add_to(self, plan: Plan, columns: Columns) -> None:
        column = columns.get(self.column)
        if column is None:
            plan.add_constant(self.log_missing)
            return
        if isinstance(column, np.ndarray) and column.dtype.kind in "iubf" and not self.unseen_is_error:
            plan.add_integers(column, 0, self.rows, IS_UNSEEN)
        else:
            codes = self._codes(column)
            if self.unseen_is_error and (codes == UNSEEN).any():
                raise UnseenLevel(f"column `{self.column}` has a value that is neither 0 nor 1", column=self.column)
            plan.tables.append((codes, self.rows))

    def compiled(self, weight: float) -> tuple[object, ...] | None:
        if type(self) is not Bernoulli:
            return None
        return "flag", self.column, weight * self.rows, True, self.unseen_is_error

    def _codes(self, column: Column) -> NumberArray:
        if isinstance(column, np.ndarray) and column.dtype.kind == "f":
            return flag_codes(column)
        codes, levels, _ = encode(column)
        place = np.array([FLAG_CODES.get(level.lower(), UNSEEN) for level in levels] + [MISSING], dtype=np.int8)
        return place[codes]

    def _index(self, counts: LevelCounts, level: str | None) -> int:
        return super()._index(counts, level if level is None else self._named(counts, level))

    def _named(self, counts: LevelCounts, level: str) -> str:
        """A level by its name in the counts: false and 0 are the same, and so are true and 1."""
        index = FLAG_CODES.get(level.lower())
        return level if index is None else counts.levels[index]

    def _lasting_levels(self, counts: LevelCounts, options: FitOptions) -> tuple[str, ...]:  # noqa: ARG002
        return counts.levels

    def _positions(self, counts: LevelCounts) -> dict[str, int]:
        return super()._positions(counts) | FLAG_CODES

    def _spelled(self, level: str) -> str:
        return level.lower()

    @property
    def integer_range(self) -> tuple[int, int]:
        return 0, 2

    # -- exported -------------------------------------------------------------------------------------------------

    def expression(self) -> Expression:
        from bayesbox.dist.expression import Lookup, ReadFlag

        position = ReadFlag(self.column, self.levels)
        return Lookup(position, self.log_p, self.log_missing, self.log_unseen, self.unseen_is_error)


def flag_codes(values: NumberArray) -> NDArray[np.int8]:
    """Numbers as codes of false, true, unseen and missing."""
    codes = np.full(len(values), UNSEEN, dtype=np.int8)
    codes[values == 0] = FALSE
    codes[values == 1] = TRUE
    codes[np.isnan(values)] = MISSING
    return codes
