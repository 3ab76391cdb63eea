"""A flag's distribution: P(true | class), for bools and for numbers that are 0 or 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist.base import Columns, Distribution, Doubles, Plan
from bayesbox.errors import UnseenLevel
from bayesbox.schema.encode import encode
from bayesbox.schema.flags import FLAG_CODES

if TYPE_CHECKING:
    from bayesbox.dist.expression import Expression

FALSE, TRUE, UNSEEN, MISSING = range(4)


@dataclass(frozen=True)
class Bernoulli(Distribution):
    """log P(false | class) and log P(true | class), and the rows for any other value and for a missing one."""

    column: str
    levels: tuple[str, str]
    log_p: Doubles
    log_unseen: Doubles
    log_missing: Doubles
    unseen_is_error: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def classes(self) -> int:
        return len(self.log_missing)

    @property
    def level_number(self) -> int:
        return len(self.levels) + bool(self.log_missing.any())

    @property
    def free_parameters(self) -> int:
        return (self.level_number - 1) * self.classes

    def parameters(self) -> dict[str, Doubles]:
        return dict(zip(self.levels, np.exp(self.log_p), strict=True))

    def log_prob(self, values: Any) -> Doubles:
        return self.terms({self.column: values}, len(values))

    @property
    def rows(self) -> Doubles:
        """The rows of false, true, unseen and missing."""
        return np.vstack([self.log_p, self.log_unseen[None, :], self.log_missing[None, :]])

    def row(self, level: str | None) -> Doubles:
        """The log-probabilities of one level (None: missing), a value a class."""
        index = MISSING if level is None else FLAG_CODES.get(level.lower(), UNSEEN)
        answer: Doubles = self.rows[index]
        return answer

    def add_to(self, plan: Plan, columns: Columns) -> None:
        column = columns.get(self.column)
        if column is None:
            plan.add_constant(self.log_missing)
            return
        direct = isinstance(column, np.ndarray) and column.dtype.kind in "iubf" and not self.unseen_is_error
        if direct:
            plan.integers.append((column, 0, self.rows))
        else:
            codes = self._codes(column)
            if self.unseen_is_error and (codes == UNSEEN).any():
                raise UnseenLevel(f"column `{self.column}` has a value that is neither 0 nor 1")
            plan.tables.append((codes, self.rows))

    def _codes(self, column: Any) -> NDArray[Any]:
        if isinstance(column, np.ndarray) and column.dtype.kind == "f":
            return flag_codes(column)
        codes, levels, _ = encode(column)
        place = np.array([FLAG_CODES.get(level.lower(), UNSEEN) for level in levels] + [MISSING], dtype=np.int8)
        return place[codes]

    def expression(self) -> Expression:
        from bayesbox.dist.expression import Lookup, ReadFlag

        position = ReadFlag(self.column, self.levels)
        return Lookup(position, self.log_p, self.log_missing, self.log_unseen, self.unseen_is_error)


def flag_codes(values: NDArray[Any]) -> NDArray[np.int8]:
    """Doubles as codes of false, true, unseen and missing."""
    codes = np.full(len(values), UNSEEN, dtype=np.int8)
    codes[values == 0] = FALSE
    codes[values == 1] = TRUE
    codes[np.isnan(values)] = MISSING
    return codes
