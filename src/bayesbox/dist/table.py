"""The distribution of a category: a table of P(level | class)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist.base import Columns, Doubles, Plan, UnseenNote
from bayesbox.dist.cells import LevelCounts, group_counts, log_table
from bayesbox.dist.factor import Factor, NoFactor, divided, formula
from bayesbox.dist.fit import FitOptions, LevelTally
from bayesbox.dist.functions import log
from bayesbox.dist.levels import LevelDistribution
from bayesbox.dist.number.cuts import modl_groups
from bayesbox.errors import BadOption, UnseenLevel
from bayesbox.schema.columns import Column
from bayesbox.schema.encode import encode_narrow

WIDEST_LOOKUP = 65_536  # integer levels in a wider range are encoded first

if TYPE_CHECKING:
    from bayesbox.dist.expression import Expression


@dataclass(frozen=True)
class Table(LevelDistribution):
    """log P(level | class), levels x classes, and the rows for an unseen level and for a missing value.

    A row of zeros means that the column is ignored.
    """

    groups: tuple[int, ...] = ()  # of each level, if levels are grouped; -1 for one that never occurred

    @classmethod
    def fit(cls, column: str, tally: LevelTally, options: FitOptions) -> Self:
        """P(level | class) by the smoothing rule; with groups, that of the group times the share of the level in it
        over all classes. A declared level that never occurred is in no group and has a count of 0."""
        if options.kind.group is None:
            if getattr(tally, "sparse", False):  # counts of a flag or a bin are never sparse
                from bayesbox.dist.sparse_table import SparseTable

                return SparseTable.fit(column, tally, options)  # type: ignore[return-value]
            return super().fit(column, tally, options)
        if options.smoothing.listed:
            raise BadOption(
                f"prior counts apply to single levels, but the levels of `{column}` are grouped",
                remedy="Use another smoothing rule, or no group",
            )
        counts = options.level_counts(tally)
        width = len(counts.levels)
        levels = counts.as_cells().counts[:, :width].T
        n = levels.sum(axis=1)
        groups = np.full(width, -1, dtype=np.int64)
        if (n > 0).any():
            groups[n > 0] = modl_groups(levels[n > 0])
        found = tuple(groups.tolist())
        log_p, log_unseen, log_missing = log_table(group_counts(counts, found), options.smoothing)
        of_zero = log_unseen
        if options.unseen == "ignore":
            log_unseen = np.zeros_like(log_unseen)
        total = np.array([n[groups == group].sum() for group in range(len(log_p))])
        rows = np.tile(log_unseen if options.lasting is None else of_zero, (width, 1))  # in 0.1 it was unseen
        for level in np.flatnonzero(groups >= 0):
            rows[level] = log_p[groups[level]] + log(n[level] / total[groups[level]])
        return cls(column, counts.levels, rows, log_unseen, log_missing, options.unseen == "error", found)

    def describe(self) -> str:
        return f"modl, {len(set(self.groups) - {-1})} groups" if self.groups else ""

    def unseen(self, level: str) -> UnseenNote | None:
        return None if level in self.position else UnseenNote(self.levels, bool(self.log_unseen.any()))

    @cached_property
    def position(self) -> dict[str, int]:
        """The position of each level."""
        return {level: index for index, level in enumerate(self.levels)}

    @cached_property
    def integer_range(self) -> tuple[int, int]:
        """For levels that are all integers in a narrow range: the lowest, and the size of the range."""
        try:
            values = [int(level) for level in self.levels]
        except ValueError:
            return 0, 0
        if not values or [str(value) for value in values] != list(self.levels):
            return 0, 0
        width = max(values) - min(values) + 1
        return (min(values), width) if width <= WIDEST_LOOKUP else (0, 0)

    @cached_property
    def lookup(self) -> tuple[int, Doubles, NDArray[np.bool_]] | None:
        """For integer levels: the lowest, the rows from it to the highest, then unseen and missing, and which rows have
        no known level."""
        lowest, width = self.integer_range
        if not width:
            return None
        rows, unseen = np.tile(self.log_unseen, (width + 2, 1)), np.ones(width + 2, dtype=bool)
        places = np.array([int(level) for level in self.levels]) - lowest
        rows[places], rows[-1] = self.log_p, self.log_missing
        unseen[places] = unseen[-1] = False
        return lowest, rows, unseen

    def row(self, level: str | None) -> Doubles:
        """The log-probabilities of one level (None: missing), one value per class."""
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
            plan.add_integers(column, *self.lookup)
            return
        self._add_coded(plan, column)

    def compiled(self, weight: float) -> tuple[object, ...] | None:
        if type(self) is not Table:
            return None
        rows = np.vstack([self.log_p, self.log_unseen[None, :], self.log_missing[None, :]])
        return "levels", self.column, self.levels, weight * rows, self.lookup is not None, self.unseen_is_error

    def _add_coded(self, plan: Plan, column: Column) -> None:
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
                    f"column `{self.column}` has a level that was not seen in training",
                    found=level,
                    remedy="With unseen='smooth' the smoothing rule gives it a probability",
                    column=self.column,
                )

    def _counted(self, level: str | None, counts: LevelCounts, options: FitOptions) -> Factor | NoFactor:
        """The factor of a level; if it is in a group, that of the group times the share of the level in it."""
        if not self.groups or level not in counts.levels:
            return super()._counted(level, counts, options)
        index = counts.levels.index(level)
        group = self.groups[index]
        if group < 0 and options.unseen == "ignore" and options.lasting is None:
            return NoFactor(self.column, f"{level} is unseen")
        own = counts.as_cells(exact=True).counts[:, index].sum()
        groups = group_counts(counts, self.groups)
        cells, (over, under) = groups.as_cells(exact=True), groups.ratio(options.smoothing, exact=True)
        share = Fraction(1) if group < 0 else Fraction(own) / Fraction(cells.counts[:, group].sum())
        shares = [divided(over[c, group], under[c, group]) * share for c in range(groups.classes)]
        if not any(shares):
            return NoFactor(self.column, "its group has probability 0 in every class")
        formulas = [
            formula(cells.counts[c, group], cells.totals[c], over[c, group], under[c, group], options.smoothing)
            + ("" if share == 1 else f" * {share}")
            for c in range(groups.classes)
        ]
        shown = level if group < 0 or groups.levels[group] == level else f"{level}, one of {groups.levels[group]}"
        return self._factor(shown, formulas, shares)

    def shown_counts(self, counts: LevelCounts) -> LevelCounts | None:
        return None if self.groups else counts

    def _left_out_counts(self, counts: LevelCounts, domain: tuple[str, ...]) -> tuple[LevelCounts, tuple[str, ...]]:
        if not self.groups:
            return counts, domain
        grouped = group_counts(counts, self.groups)  # groups stay; the share in a group does not depend on the class
        return grouped, grouped.levels

    def _positions(self, counts: LevelCounts) -> dict[str, int]:
        return dict(zip(self.levels, self.groups, strict=True)) if self.groups else super()._positions(counts)

    # -- exported -------------------------------------------------------------------------------------------------

    def expression(self) -> Expression:
        from bayesbox.dist.expression import Lookup, ReadLevel

        position = ReadLevel(self.column, self.levels)
        return Lookup(position, self.log_p, self.log_missing, self.log_unseen, self.unseen_is_error)
