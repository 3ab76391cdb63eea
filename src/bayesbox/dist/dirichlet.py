"""The posterior of a probability in a table, given the counts.

A smoothing rule that adds a_v to the count of each level v, and their sum to the total, is the mean of a Dirichlet
posterior under the prior Dirichlet(a_1, ..., a_K). The probability of one level then has the posterior

    Beta(n_cv + a_v, n_c - n_cv + sum of the other a)

A rule that implies no such prior (maximum likelihood, replaced zeros, inconsistent sums) gets Jeffreys' reference
prior, a_v = 1/2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist.cells import Cells, Ratio, Smoothing
from bayesbox.schema.arrays import AnyArray

JEFFREYS = 0.5
REFERENCE = "Jeffreys' prior, 1/2 for each level, since {rule} implies none"
IMPLIED = "the Dirichlet prior that {rule} implies"


class SharePosterior(NamedTuple):
    """The posterior Beta(alpha, beta) of a probability, and its prior in words.

    `at_zero` and `at_one`: whether the reference prior was used and no row, or every row, has the level. The interval
    then begins at 0 or ends at 1, so that it contains the estimate.
    """

    alpha: float
    beta: float
    prior: str
    at_zero: bool = False
    at_one: bool = False


def share_posteriors(cells: Cells, found: Ratio, rule: Smoothing) -> list[list[SharePosterior]]:
    """The posterior of each probability, classes x levels, from the ratios of a rule.

    >>> from bayesbox.rules import Laplace
    >>> cells = Cells(np.array([[2.0, 1.0]]), np.array([3.0]), 2, ["a", "b"])
    >>> share_posteriors(cells, Laplace().ratio(cells), Laplace())[0][0]
    SharePosterior(alpha=3.0, beta=2.0, prior='the Dirichlet prior that laplace implies', at_zero=False, at_one=False)
    """
    counts = _doubles(cells.counts)
    totals = np.broadcast_to(_doubles(cells.by_column), counts.shape)
    over, under = (np.broadcast_to(_doubles(part), counts.shape) for part in found)
    name = rule.text()
    if implies_prior(rule, over - counts, under - totals, cells.size):
        prior = IMPLIED.format(rule=name)
        return [
            [SharePosterior(float(a), max(float(b - a), 0.0), prior) for a, b in zip(*rows, strict=True)]
            for rows in zip(over, under, strict=True)
        ]
    prior, rest = REFERENCE.format(rule=name), JEFFREYS * (float(cells.size) - 1)
    return [
        [
            SharePosterior(float(n) + JEFFREYS, float(whole - n) + rest, prior, bool(n == 0), bool(n == whole))
            for n, whole in zip(*rows, strict=True)
        ]
        for rows in zip(counts, totals, strict=True)
    ]


def implies_prior(rule: Smoothing, added: AnyArray, added_to_total: AnyArray, size: Any) -> bool:
    """Whether the pseudo-counts of a rule are a Dirichlet prior: positive, and summing to that of the total."""
    if rule.replaces or not added.size or added.min() < 0:
        return False
    if rule.listed:
        return bool(added_to_total.min() > 0)
    first = float(added.flat[0])
    return first > 0 and np.allclose(added, first) and np.allclose(added_to_total, first * size)


def _doubles(values: Any) -> NDArray[np.float64]:
    return np.asarray(values).astype(np.float64)
