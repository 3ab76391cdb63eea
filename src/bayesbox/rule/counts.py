"""From sums of counts to a Poisson, or to a multinomial over a group."""

from __future__ import annotations

import numpy as np

from bayesbox._core import ExactArray
from bayesbox.dist.base import Doubles
from bayesbox.dist.multinomial import Multinomial
from bayesbox.dist.poisson import Poisson
from bayesbox.errors import BadOption
from bayesbox.rule.smoothing import Smoothing
from bayesbox.rule.table import LevelCounts, log_table
from bayesbox.tally.moments import Moments


def poisson(
    column: str, moments: Moments, rule: Smoothing, *, log_observed: Doubles, log_missing: Doubles
) -> Poisson | None:
    """The rate of each class: (sum of x + a * mean of the column) / (n + a), as if `a` more rows had the column's mean.

    `a` is the weight of the rule: 0 for maximum likelihood, 1 for Laplace. None where every count is 0.
    """
    if rule.weight is None:
        raise BadOption(
            f"column `{column}` has a Poisson rate, which {type(rule).__name__} cannot smooth",
            remedy="Use mle, laplace, lidstone:a or m:m",
        )
    whole = moments.pooled()
    if whole.n.m == 0 or whole.total.m == 0:
        return None
    n, total = moments.sums.n.to_doubles(), moments.sums.total.to_doubles()
    mean = whole.mean
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = np.where(n + rule.weight > 0, (total + rule.weight * mean) / (n + rule.weight), mean)
    return Poisson(column, rate, log_observed, log_missing)


def multinomial(
    words: tuple[str, ...], cells: ExactArray, classes: int, rule: Smoothing, *, group: str | None = None
) -> Multinomial:
    """P(word | class) over all the words of the group, those that never occurred included."""
    log_p, _, _ = log_table(LevelCounts(words, cells, classes), rule)
    return Multinomial(words, np.ascontiguousarray(log_p), group)
