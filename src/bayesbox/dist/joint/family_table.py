"""P(x | class, parents) of one column of codes: one table per combination of the parents' levels."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

import numpy as np

from bayesbox.dist.base import Columns, Distribution, Doubles, Plan


@dataclass(frozen=True)
class FamilyTable(Distribution):
    """log P(level | class, parents), ((parents' codes) x (levels + 1)) x classes.

    A parent has one code more than it has levels: if it is missing or unseen, the table without this parent and those
    after it applies. The last level stands for an unseen one. `trusts` are the back-off weights: of P(level), of
    P(level | class), and of each additional parent.
    """

    looks_up_levels: ClassVar[bool] = True
    unsampled: ClassVar[str] = "its levels depend on those of other columns"

    column: str
    parents: tuple[str, ...]
    sizes: tuple[int, ...]  # levels of each parent
    levels: tuple[str, ...]
    log_p: Doubles
    trusts: tuple[Any, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def classes(self) -> int:
        return int(self.log_p.shape[1])

    def log_prob(self, values: Columns) -> Doubles:
        """log P for a mapping of the codes of the column and of its parents."""
        return self.terms(values, len(values[self.column]))

    @property
    def contexts(self) -> int:
        """The number of combinations of the parents' levels."""
        return prod(self.sizes)

    def add_to(self, plan: Plan, columns: Columns) -> None:
        """Add the terms of these codes: -1 is missing, the number of levels means unseen."""
        if self.column not in columns:
            return
        own = np.asarray(columns[self.column])
        context = np.zeros(plan.rows, dtype=np.int64)
        for parent, size in zip(self.parents, self.sizes, strict=True):
            codes = np.asarray(columns.get(parent, -1))
            context *= size + 1
            context += np.where(codes < 0, size, codes)
        codes = np.where(own < 0, -1, context * (len(self.levels) + 1) + own)
        plan.tables.append((codes.astype(np.int32), np.vstack([self.log_p, np.zeros((1, plan.classes))])))
