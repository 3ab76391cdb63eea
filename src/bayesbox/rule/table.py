"""From counts to a table or a Bernoulli, by a smoothing rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesbox import _core
from bayesbox._core import ExactArray
from bayesbox.dist.base import Doubles, left_out_where_impossible, log
from bayesbox.dist.bernoulli import Bernoulli
from bayesbox.dist.table import Table
from bayesbox.errors import BadOption
from bayesbox.rule.bins import modl_groups
from bayesbox.rule.smoothing import MISSING, UNSEEN, Cells, Ratio, Smoothing, ratio
from bayesbox.tally.base import dyadic, positions


@dataclass(frozen=True)
class LevelCounts:
    """The counts of a column as a rule takes them: declared levels included, the missing as a level where asked.

    `cells` is class-major over `levels`; `missing` holds the rows of each class without a value, or None where
    missing values are left out.
    """

    levels: tuple[str, ...]
    cells: ExactArray
    classes: int
    missing: ExactArray | None = None

    @classmethod
    def of(
        cls,
        levels: tuple[str, ...],
        cells: ExactArray,
        classes: int,
        *,
        domain: tuple[str, ...] = (),
        missing: ExactArray | None = None,
    ) -> LevelCounts:
        """Counts over the levels that occurred and those of the declared domain."""
        union = levels if set(domain) <= set(levels) else tuple(sorted({*levels, *domain}))
        return cls(union, spread(cells, classes, levels, union), classes, missing)

    @property
    def size(self) -> int:
        """K: the levels there can be, the missing one included where it is a level."""
        return len(self.levels) + (self.missing is not None)

    @property
    def names(self) -> list[Any]:
        """The columns of the cells: the levels, then missing where it is one, then unseen."""
        return [*self.levels, *([MISSING] if self.missing is not None else []), UNSEEN]

    def as_cells(self, *, exact: bool = False) -> Cells:
        """The counts as doubles, or as fractions."""
        shape = (self.classes, len(self.levels))
        blocks = [_numbers(self.cells, exact=exact).reshape(shape)]
        if self.missing is not None:
            blocks.append(_numbers(self.missing, exact=exact).reshape(-1, 1))
        totals = np.concatenate(blocks, axis=1).sum(axis=1)
        unseen = np.zeros((self.classes, 1), dtype=blocks[0].dtype)
        return Cells(np.concatenate([*blocks, unseen], axis=1), totals, self.size, self.names)

    def ratio(self, rule: Smoothing, *, exact: bool = False) -> Ratio:
        """Numerators and denominators, classes x names."""
        return ratio(rule, self.as_cells(exact=exact))


def spread(cells: ExactArray, classes: int, levels: tuple[str, ...], wanted: tuple[str, ...]) -> ExactArray:
    """The cells of the wanted levels in their order, zero for those that never occurred."""
    if wanted == levels:
        return cells
    place = positions(wanted, levels)
    index = np.arange(classes)[:, None] * len(levels) + place[None, :]
    return cells.take(np.where(place[None, :] < 0, -1, index).ravel())


def _numbers(array: ExactArray, *, exact: bool) -> np.ndarray:
    if not exact:
        return array.to_doubles()
    values = np.empty(len(array), dtype=object)
    for cell in range(len(array)):
        values[cell] = dyadic(array, cell).fraction
    return values


def log_ratio(found: Ratio) -> Doubles:
    """The logs of a rule's probabilities, classes x levels."""
    over, under = found
    if under.ndim == 2 and under.shape[1] and under.strides[1] == 0:
        under = under[:, :1]  # the same in every column: one log is enough
    return log(over) - log(under)


def log_ratio_by_level(found: Ratio) -> Doubles:
    """The same as levels x classes, where there are many levels and most counts are alike."""
    over, under = found
    if under.ndim == 2 and under.shape[1] and under.strides[1] == 0:
        return _core.log_shares(np.ascontiguousarray(over, dtype=np.float64), under[:, 0].astype(np.float64))
    return np.ascontiguousarray((log(over) - log(under)).T)


def log_table(counts: LevelCounts, rule: Smoothing) -> tuple[Doubles, Doubles, Doubles]:
    """(levels x classes, unseen, missing) in logs; a level impossible in every class is left out."""
    log_p = left_out_where_impossible(log_ratio(counts.ratio(rule)).T)
    unseen = log_p[-1]
    missing = log_p[len(counts.levels)] if counts.missing is not None else np.zeros(counts.classes)
    return log_p[: len(counts.levels)], unseen, missing


def table(column: str, counts: LevelCounts, rule: Smoothing, *, unseen: str = "smooth") -> Table:
    """The distribution of a category."""
    log_p, log_unseen, log_missing = log_table(counts, rule)
    if unseen == "ignore":
        log_unseen = np.zeros_like(log_unseen)
    return Table(column, counts.levels, log_p, log_unseen, log_missing, unseen == "error")


def group_counts(counts: LevelCounts, groups: tuple[int, ...]) -> LevelCounts:
    """The counts of groups of levels, each named by its levels."""
    number = max(groups, default=-1) + 1
    members: list[list[str]] = [[] for _ in range(number)]
    for level, group in zip(counts.levels, groups, strict=True):
        if group >= 0:
            members[group].append(level)
    place = np.maximum(np.array(groups, dtype=np.int64), 0)  # what never occurred adds nothing anywhere
    index = (np.arange(counts.classes)[:, None] * number + place[None, :]).ravel()
    cells = counts.cells.sum_groups(index, counts.classes * number)
    return LevelCounts(tuple(" or ".join(each) for each in members), cells, counts.classes, counts.missing)


def grouped_table(column: str, counts: LevelCounts, rule: Smoothing, *, unseen: str = "smooth") -> Table:
    """The distribution of a category whose levels are grouped by MODL: P(group | class) by the rule, times the share of
    the level in its group, whatever the class. A level that never occurred is in no group, and unseen."""
    if rule.listed:
        raise BadOption(
            f"the levels of `{column}` are grouped, and prior counts are those of single levels",
            remedy="Take another smoothing, or no group",
        )
    width = len(counts.levels)
    levels = counts.as_cells().counts[:, :width].T
    n = levels.sum(axis=1)
    groups = np.full(width, -1, dtype=np.int64)
    if (n > 0).any():
        groups[n > 0] = modl_groups(levels[n > 0])
    found = tuple(groups.tolist())
    log_p, log_unseen, log_missing = log_table(group_counts(counts, found), rule)
    if unseen == "ignore":
        log_unseen = np.zeros_like(log_unseen)
    total = np.array([n[groups == group].sum() for group in range(len(log_p))])
    rows = np.tile(log_unseen, (width, 1))
    for level in np.flatnonzero(groups >= 0):
        rows[level] = log_p[groups[level]] + log(n[level] / total[groups[level]])
    return Table(column, counts.levels, rows, log_unseen, log_missing, unseen == "error", found)


def bernoulli(column: str, counts: LevelCounts, rule: Smoothing, *, unseen: str = "smooth") -> Bernoulli:
    """The distribution of a flag: its two levels are (false, true) or (0, 1), in this order."""
    log_p, log_unseen, log_missing = log_table(counts, rule)
    if unseen == "ignore":
        log_unseen = np.zeros_like(log_unseen)
    false, true = counts.levels
    return Bernoulli(column, (false, true), log_p, log_unseen, log_missing, unseen == "error")
