"""A category's distribution: a table of P(level | class)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbox.dist.base import Columns, Distribution, Doubles, Plan
from bayesbox.errors import UnseenLevel
from bayesbox.schema.encode import encode_narrow

if TYPE_CHECKING:
    from bayesbox.dist.expression import Expression

WIDEST_LOOKUP = 65_536  # integer levels in a wider range are encoded first


@dataclass(frozen=True)
class Table(Distribution):
    """log P(level | class), levels x classes, and the rows for a level never seen and for a missing value.

    A row of zeros leaves the column out.
    """

    column: str
    levels: tuple[str, ...]
    log_p: Doubles
    log_unseen: Doubles
    log_missing: Doubles
    unseen_is_error: bool = False
    groups: tuple[int, ...] = ()  # of each level, where levels are grouped; -1 for one that never occurred

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

    def describe(self) -> str:
        return f"modl, {len(set(self.groups) - {-1})} groups" if self.groups else ""

    @cached_property
    def position(self) -> dict[str, int]:
        """Where each level stands."""
        return {level: index for index, level in enumerate(self.levels)}

    @cached_property
    def integer_range(self) -> tuple[int, int]:
        """For levels that are all integers, and close enough: the lowest, and how many there are to the highest."""
        try:
            values = [int(level) for level in self.levels]
        except ValueError:
            return 0, 0
        if not values or [str(value) for value in values] != list(self.levels):
            return 0, 0
        width = max(values) - min(values) + 1
        return (min(values), width) if width <= WIDEST_LOOKUP else (0, 0)

    @cached_property
    def lookup(self) -> tuple[int, Doubles] | None:
        """For levels that are integers: the lowest, and the rows from it to the highest, then unseen and missing."""
        lowest, width = self.integer_range
        if not width:
            return None
        rows = np.tile(self.log_unseen, (width + 2, 1))
        rows[np.array([int(level) for level in self.levels]) - lowest] = self.log_p
        rows[-1] = self.log_missing
        return lowest, rows

    def row(self, level: str | None) -> Doubles:
        """The log-probabilities of one level (None: missing), a value a class."""
        if level is None:
            return self.log_missing
        index = self.position.get(level)
        return self.log_unseen if index is None else self.log_p[index]

    def add_to(self, plan: Plan, columns: Columns) -> None:
        column = columns.get(self.column)
        if column is None:
            plan.add_constant(self.log_missing)
            return
        if isinstance(column, np.ndarray) and column.dtype.kind in "iuf" and not self.unseen_is_error and self.lookup:
            plan.integers.append((column, *self.lookup))
            return
        self._add_coded(plan, column)

    def _add_coded(self, plan: Plan, column: Any) -> None:
        codes, levels, _ = encode_narrow(column)
        if self.unseen_is_error:
            self._require_seen(levels)
        rows = np.empty((len(levels) + 1, plan.classes))
        for index, level in enumerate(levels):
            rows[index] = self.row(level)
        rows[-1] = self.log_missing
        plan.tables.append((codes, rows))

    def _require_seen(self, levels: list[str]) -> None:
        for level in levels:
            if level not in self.position:
                raise UnseenLevel(
                    f"column `{self.column}` has a level that was never seen",
                    found=level,
                    remedy="Set unseen='smooth' to let the smoothing rule answer",
                )

    def expression(self) -> Expression:
        from bayesbox.dist.expression import Lookup, ReadLevel

        position = ReadLevel(self.column, self.levels)
        return Lookup(position, self.log_p, self.log_missing, self.log_unseen, self.unseen_is_error)
