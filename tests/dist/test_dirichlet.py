"""The posterior of a share: that of the prior which a smoothing rule implies, else of Jeffreys' prior."""

from __future__ import annotations

import numpy as np
import pytest

from bayesbox.dist.cells import Cells, Smoothing, ratio
from bayesbox.dist.dirichlet import share_posteriors
from bayesbox.rules import AsWritten, Laplace, Lidstone, MaximumLikelihood, MEstimate, PriorCounts, ReplaceZero

COUNTS = np.array([[2.0, 0.0, 3.0], [1.0, 4.0, 0.0]])
CELLS = Cells(COUNTS, COUNTS.sum(axis=1), 3, ["a", "b", "c"])

IMPLIED = {
    "laplace": (Laplace(), [1, 1, 1]),
    "lidstone": (Lidstone(0.25), [0.25] * 3),
    "m": (MEstimate(6), [2, 2, 2]),
    "m with shares": (MEstimate(4, {"a": 0.5, "b": 0.25, "c": 0.25}), [2, 1, 1]),
    "prior counts": (PriorCounts({"a": 3, "b": 1, "c": 2}), [3, 1, 2]),
    "as written": (AsWritten(2, 6), [2, 2, 2]),
}


@pytest.mark.parametrize("name", IMPLIED)
def test_a_rule_that_adds_counts_is_a_dirichlet_prior(name: str) -> None:
    rule, added = IMPLIED[name]
    found = share_posteriors(CELLS, ratio(rule, CELLS), rule)
    for row, counts in zip(found, COUNTS, strict=True):
        alpha = counts + np.array(added)
        assert [each.alpha for each in row] == pytest.approx(alpha.tolist())
        assert [each.beta for each in row] == pytest.approx((alpha.sum() - alpha).tolist())
        assert sum(each.alpha / (each.alpha + each.beta) for each in row) == pytest.approx(1)
        assert all("implies" in each.prior and not each.at_zero for each in row)
    over, under = ratio(rule, CELLS)
    estimates = (over / under).tolist()
    assert [[each.alpha / (each.alpha + each.beta) for each in row] for row in found] == pytest.approx(
        np.array(estimates)
    )


@pytest.mark.parametrize("rule", [MaximumLikelihood(), Lidstone(0), ReplaceZero("half"), AsWritten(1, 5)])
def test_other_rules_get_the_reference_prior(rule: Smoothing) -> None:
    found = share_posteriors(CELLS, ratio(rule, CELLS), rule)
    assert [(each.alpha, each.beta) for each in found[0]] == [(2.5, 4.0), (0.5, 6.0), (3.5, 3.0)]
    assert [each.at_zero for each in found[0]] == [False, True, False]
    assert all("Jeffreys" in each.prior and rule.text() in each.prior for each in found[0])
    whole = Cells(np.array([[5.0, 0.0]]), np.array([5.0]), 2, ["a", "b"])
    assert [each.at_one for each in share_posteriors(whole, ratio(rule, whole), rule)[0]] == [True, False]
