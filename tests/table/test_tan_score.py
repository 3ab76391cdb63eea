"""The scores of tree-augmented naive Bayes against the log-likelihoods that define them."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

import bayesbox as bb


def gain_of_an_arc(x: np.ndarray, y: np.ndarray, label: np.ndarray) -> tuple[float, int]:
    """What P(y | x, class) adds to the log-likelihood over P(y | class), and how many free numbers it takes more."""

    def log_likelihood(groups: list[tuple[int, ...]]) -> float:
        cells, totals = Counter(zip(groups, y.tolist(), strict=True)), Counter(groups)
        return sum(count * math.log(count / totals[group]) for (group, _), count in cells.items())

    classes = len(set(label.tolist()))
    with_arc = log_likelihood(list(zip(label.tolist(), x.tolist(), strict=True)))
    without = log_likelihood([(each,) for each in label.tolist()])
    levels_x, levels_y = len(set(x.tolist())), len(set(y.tolist()))
    return with_arc - without, classes * levels_x * (levels_y - 1) - classes * (levels_y - 1)


@pytest.mark.parametrize("score", ["mi", "aic", "bic"])
def test_an_arc_is_drawn_where_it_gains_more_than_its_numbers_cost(score: str) -> None:
    """By the log-likelihoods of both models, for pairs of columns whose dependence is near what an arc costs."""
    drawn = []
    for seed in range(60):
        random = np.random.default_rng(seed)
        rows, levels_x, levels_y = int(random.integers(60, 200)), int(random.integers(2, 5)), int(random.integers(2, 4))
        label, x = random.integers(0, 2, rows), random.integers(0, levels_x, rows)
        follows = random.random(rows) < random.uniform(0, 0.6)
        y = np.where(follows, x % levels_y, random.integers(0, levels_y, rows))
        gain, free = gain_of_an_arc(x, y, label)
        cost = {"mi": 0.0, "aic": 1.0, "bic": math.log(rows) / 2}[score] * free
        columns = {"x": [f"x{each}" for each in x], "y": [f"y{each}" for each in y]}
        arcs = bb.TAN(score=score).fit(columns, [f"c{each}" for each in label]).arcs_
        assert (len(arcs) == 1) == (gain > cost), (seed, gain, cost)
        drawn.append(len(arcs))
    assert score == "mi" or 10 < sum(drawn) < 50  # near the edge on both sides
