"""A number in bins: P(bin | class), a table under the cuts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist.base import Doubles, Plan
from bayesbox.dist.numbers import NumberDensity

if TYPE_CHECKING:
    from bayesbox.dist.expression import Expression


@dataclass(frozen=True)
class Bins(NumberDensity):
    """log P(bin | class), bins x classes. A value on a cut is in the lower bin; the first and the last bin are open.

    The terms are of the bin, not of the point in it, so `log_density` of a row is that of its bin.
    """

    cuts: Doubles
    levels: tuple[str, ...]
    log_bins: Doubles
    method: str

    @property
    def level_number(self) -> int:
        return len(self.levels) + bool(self.log_missing.any())

    @property
    def free_parameters(self) -> int:
        return (self.level_number - 1) * self.classes

    def parameters(self) -> dict[str, Doubles]:
        return dict(zip(self.levels, np.exp(self.log_bins), strict=True))

    def describe(self) -> str:
        number = len(self.levels)
        return f"{self.method}, " + (f"{number} bins" if number > 1 else "one bin: it says nothing")

    @cached_property
    def rows(self) -> Doubles:
        """The rows of all bins, then that of a missing value."""
        return np.vstack([self.log_bins + self.log_observed, self.log_missing[None, :]])

    def log_density(self, values: Doubles) -> Doubles:
        return self.log_bins[codes_of(values, self.cuts)]

    def enter(self, plan: Plan, values: Doubles) -> None:
        plan.tables.append((codes_of(values, self.cuts), self.rows))

    def expression(self) -> Expression:
        from bayesbox.dist.expression import Lookup, ReadBin

        position = ReadBin(self.column, tuple(self.cuts.tolist()))
        return Lookup(position, self.log_bins + self.log_observed, self.log_missing)


def codes_of(values: NDArray[Any], cuts: Doubles) -> NDArray[np.int32]:
    """The bin of each value; -1 where it is missing (NaN).

    >>> codes_of(np.array([1.0, 2.5, 2.6, np.nan]), np.array([2.5]))
    array([ 0,  0,  1, -1], dtype=int32)
    """
    numbers = np.asarray(values, dtype=np.float64)
    codes = np.searchsorted(cuts, numbers, side="left").astype(np.int32)
    codes[np.isnan(numbers)] = -1
    return codes
