"""The evidence that the class matters for a column of levels."""

from __future__ import annotations

import numpy as np

from bayesbox.dist.averaging import level_evidence
from bayesbox.dist.functions import log_gamma
from bayesbox.rule.smoothing import Laplace


def test_the_evidence_is_rounded_alike_by_every_python() -> None:
    # sum() of doubles carries a correction since Python 3.12; of six classes most sums round otherwise without it
    draws = np.random.default_rng(3)
    for _ in range(50):
        counts = draws.integers(0, 60, size=(6, 4)).astype(float)
        parts = [marginal(row) for row in counts.tolist()]
        exact = sum((each.as_integer_ratio()[0] * 2**200 // each.as_integer_ratio()[1] for each in parts), start=0)
        assert level_evidence(counts, Laplace(), 4) == exact / 2**200 - marginal(counts.sum(axis=0).tolist())


def marginal(counts: list[float]) -> float:
    """log of G(4) / G(n + 4) times the product of G(count + 1), rounded once."""
    terms = [float(log_gamma(4.0)), -float(log_gamma(sum(counts) + 4)), *(float(log_gamma(c + 1)) for c in counts if c)]
    return float(sum(int(each.as_integer_ratio()[0] * 2**200 // each.as_integer_ratio()[1]) for each in terms) / 2**200)
