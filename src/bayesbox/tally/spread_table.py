"""Statistics of many columns by class, computed by the core exactly and rounded once."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.tally.exact import Dyadic, rounded_root
from bayesbox.tally.moments import LEAST, Moments, Spread

Doubles = NDArray[np.float64]
MOST_WORD = (1 << 63) - 1


class SpreadTable(NamedTuple):
    """Arrays of columns x (classes, then all classes together): zeros without values. `least` is one per column.

    >>> target = np.array([0, 0, 0, 0, 1, 1], dtype=np.int32)
    >>> age = Moments.of(("H", "L"), np.array([20.0, 45, 20, 25, 25, 25]), target)
    >>> table = SpreadTable.of([age], floor=0.01)
    >>> table.n.tolist(), table.mean.round(2).tolist(), table.unit.round(2).tolist(), table.least.round(3).tolist()
    ([[4.0, 2.0, 6.0]], [[27.5, 25.0, 26.67]], [[10.31, 0.0, 8.5]], [0.85])
    """

    n: Doubles
    mean: Doubles
    mean_low: Doubles  # the rounding error of the mean
    unit: Doubles  # the std; 0 only if all values are equal
    least: Doubles  # the std at `floor` times the variance of the column

    @classmethod
    def of(cls, tallies: Sequence[Moments], *, floor: float = 0.0) -> SpreadTable:
        """The table of tallies with the same classes; Python computes what has too many digits for the core."""
        share = exact_share(floor)
        in_core = max(share.numerator, share.denominator) <= MOST_WORD
        words = (share.numerator, share.denominator) if in_core else (0, 1)
        (n, mean, low, unit), least, known = _core.spreads([tally.sums for tally in tallies], *words)
        table = cls(n, mean, low, unit, least)
        for place in np.flatnonzero(known == 0).tolist() if in_core else range(len(tallies)):
            table._work_out(place, tallies[place], share)
        return table

    def _work_out(self, place: int, tally: Moments, share: Fraction) -> None:
        whole = tally.pooled()
        for index, spread in enumerate((*tally.spreads(), whole)):
            found = (0.0, 0.0, 0.0, 0.0)
            if spread.n.m:
                found = float(spread.n.fraction), spread.mean, spread.rest_of_mean, spread.unit
            self.n[place, index], self.mean[place, index], self.mean_low[place, index], self.unit[place, index] = found
        self.least[place] = _least(whole, share)

    def has_spread(self) -> NDArray[np.bool_]:
        """Which columns have values that differ."""
        return self.unit[:, -1] > 0


def _least(whole: Spread, share: Fraction) -> float:
    if not (whole.excess.m and share):
        return 0.0
    under = whole.n * whole.n * Dyadic(share.denominator, 0)
    return max(rounded_root(whole.excess * Dyadic(share.numerator, 0), under), LEAST)


@lru_cache
def exact_share(floor: float) -> Fraction:
    """A floor as an exact fraction: 0.1 is one tenth.

    >>> exact_share(0.1)
    Fraction(1, 10)
    """
    return Fraction(str(floor))
