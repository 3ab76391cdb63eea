"""The scores of tree-augmented naive Bayes against the log-likelihoods that define them."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import bayesbox as bb
from bayesbox.tally.pairs import Pairs


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


def exact_gain(x: list[int], y: list[int], labels: list[int]) -> Fraction:
    """exp(n I(x; y | class)), the gain in likelihood of an arc: a product of fractions, compared exactly."""
    cells = Counter(zip(labels, x, y, strict=True))
    of_x, of_y, of_class = Counter(zip(labels, x, strict=True)), Counter(zip(labels, y, strict=True)), Counter(labels)
    gain = Fraction(1)
    for (c, a, b), count in cells.items():
        gain *= Fraction(count * of_class[c], of_x[c, a] * of_y[c, b]) ** count
    return gain


def exact_tree(gains: list[list[Fraction]]) -> set[tuple[int, int]]:
    """Prim's tree: to the first of the best columns, from the column that joined first; gains of 1 are no arcs."""
    joined, arcs = [0], set()
    while len(joined) < len(gains):
        left = [k for k in range(len(gains)) if k not in joined]
        best = max(gains[i][k] for i in joined for k in left)
        child = next(k for k in left if any(gains[i][k] == best for i in joined))
        parent = next(i for i in joined if gains[i][child] == best)
        joined.append(child)
        if best > 1:
            arcs.add((parent, child))
    return arcs


@pytest.mark.parametrize("rounding", [0.0, 1e-14])
@pytest.mark.parametrize("seed", range(4))
def test_arcs_that_are_equally_good_in_exact_arithmetic_are_taken_in_the_order_of_the_columns(
    seed: int, rounding: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Among rare events hundreds of arcs are equally good, and remain so however their logarithms are rounded."""
    really = Pairs.information

    def rounded(self: Pairs) -> tuple[np.ndarray, np.ndarray]:
        information, rows = really(self)
        noise = np.random.default_rng(seed).uniform(-rounding, rounding, information.shape)
        return information * (1 + noise + noise.T), rows

    monkeypatch.setattr(Pairs, "information", rounded)
    random = np.random.default_rng(seed)
    labels = np.repeat(np.arange(4), 20)
    table = (random.random((80, 24)) < random.choice([0.03, 0.1], 24)).astype(int)
    table[0], table[1] = 0, 1
    columns = [table[:, k].tolist() for k in range(24)]
    gains = [[exact_gain(x, y, labels.tolist()) for y in columns] for x in columns]
    names = [f"x{k:02d}" for k in range(24)]
    given = {
        name: ["rare" if each else "common" for each in column] for name, column in zip(names, columns, strict=True)
    }
    found = bb.TAN().fit(given, [f"c{each}" for each in labels]).arcs_
    undirected = {frozenset((names[a], names[b])) for a, b in exact_tree(gains)}
    assert {frozenset(arc) for arc in found} == undirected


@pytest.mark.parametrize("seed", range(4))
def test_parents_of_kdb_that_are_equally_good_are_taken_by_name(seed: int) -> None:
    """Copies of one column, each with its levels named anew: the sums are added in another order for every pair."""
    random = np.random.default_rng(seed)
    label = random.integers(0, 3, 400)
    one = np.where(random.random(400) < 0.4, label, random.integers(0, 7, 400))
    new = {f"x{place}": random.permutation(7) for place in range(6)}
    columns = {name: [f"level {each}" for each in new[name][one]] for name in reversed(new)}
    arcs = bb.KDB(k=1).fit(columns, [f"c{k}" for k in label]).classifier_.model.arcs
    assert set(arcs) == {("x0", name) for name in list(new)[1:]}
