"""What is chosen for the robust density of a column, and what it is fitted to."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from bayesbox import _core
from bayesbox.dist.base import Doubles
from bayesbox.dist.functions import log, log_sum
from bayesbox.dist.number.cell_tree import CellTree, Keys, StudentShape
from bayesbox.dist.number.conjugate import ClassSpreads, spreads_of
from bayesbox.dist.number.log_cells import LogSums, log_spreads, log_sums, sum_of_logs
from bayesbox.tally.base import added
from bayesbox.tally.grid import Grid
from bayesbox.tally.moments import Moments

COMMON = Fraction(1, 100)  # zero is apart where more than this share of a column is zero
ZERO_ROWS = 2  # what the prior of the share of zero is worth
NO_ROWS = 0.1  # the share of values that are taken to be of a class of no rows
LOG_OWN, LOG_COMMON = math.log1p(-NO_ROWS), math.log(NO_ROWS)


def mixed(logs: Doubles) -> Doubles:
    """log(0.9 exp(own) + 0.1 exp(common)); the common one is the last along the last axis."""
    return log_sum(LOG_OWN + logs[..., :-1], LOG_COMMON + logs[..., -1:])


class ZeroCounts(NamedTuple):
    """The values of each class, and those of them that are zero."""

    n: Doubles
    zeros: Doubles


class Shape(NamedTuple):
    """What is chosen for a column, and what it is fitted to."""

    apart: bool
    is_log: bool
    counts: ZeroCounts
    base: float  # the mean of the column, on the scale that was chosen: base + low
    low: float
    spreads: ClassSpreads | None  # with a class of no rows; None where all values but zero are equal

    @classmethod
    def of(cls, tally: Grid) -> Shape:
        zeros, n = tally.zeros(), tally.sums.n
        counts = ZeroCounts(n.to_doubles(), zeros.to_doubles())
        common = is_common(Fraction(float(counts.zeros.sum())), Fraction(float(counts.n.sum())))
        rest = without_zeros(tally)
        apart = common
        if log_is_possible(tally) and rest.pooled().excess.m:
            by_class, whole = log_sums(tally)
            spreads = log_spreads(by_class, whole)
            if log_wins(spreads_of(rest).log_evidence(), spreads, whole):
                return cls(bool(counts.zeros.any()), True, counts, float(whole.mean[0]), 0.0, spreads.with_no_rows())
        values = rest if apart else Moments(tally.classes, tally.sums)
        pooled = values.pooled()
        spread = spreads_of(values) if pooled.excess.m else None
        low = pooled.rest_of_mean if spread else 0.0
        return cls(apart, False, counts, pooled.mean, low, spread.with_no_rows() if spread else None)

    def cells(self, tally: Grid, spread: StudentShape) -> tuple[Keys, Doubles]:
        """The runs of cells with one ratio: their first keys, and the logs of the ratios."""
        tree = CellTree.of(tally, zeros=not self.apart)
        starts, ratios = tree.runs(spread, self.base, is_log=self.is_log)
        new = np.append(True, (ratios[1:] != ratios[:-1]).any(axis=1))
        return starts[new], ratios[new]


def is_common(zeros: Fraction, n: Fraction) -> bool:
    """Whether zero is apart whatever the scale."""
    return zeros > COMMON * n


def without_zeros(tally: Grid) -> Moments:
    """The moments of the values that are not zero: zeros add nothing to a sum."""
    sums = tally.sums
    n = added(sums.n, tally.zeros(), sign=-1)
    return Moments(tally.classes, _core.Moments(n, sums.fractional, sums.total, sums.squares))


def log_is_possible(tally: Grid) -> bool:
    """Whether some values are above zero and none is below."""
    return len(tally.grid.cell) > 0 and bool((tally.grid.cell >= 0).all())


def log_wins(plain: Doubles, logs: ClassSpreads, whole: LogSums) -> Any:
    """Whether the evidence on the scale of logs is greater than the plain one; one answer, or one a row."""
    return logs.log_evidence() - sum_of_logs(whole)[..., 0] > plain


def log_shares(n: Doubles, zeros: Doubles, *, apart: bool) -> tuple[Doubles, Doubles]:
    """log P(x = 0 | class) and log P(x != 0 | class) with a class of no rows; classes, or rows x classes."""
    nothing = np.zeros((*n.shape[:-1], 1))
    n, zeros = np.concatenate([n, nothing], axis=-1), np.concatenate([zeros, nothing], axis=-1)
    if not apart:
        return np.full(n.shape, -np.inf), np.zeros(n.shape)
    share = zeros.sum(axis=-1, keepdims=True) / n.sum(axis=-1, keepdims=True)
    under = log(n + ZERO_ROWS)
    return log(zeros + ZERO_ROWS * share) - under, log(n - zeros + ZERO_ROWS * (1 - share)) - under
