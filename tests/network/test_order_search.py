"""Search over orders against the proven best, and averaged networks against the samples."""

from __future__ import annotations

import math

import numpy as np
import pytest

import bayesbox as bb
from bayesbox.errors import BadOption
from bayesbox.network.learn.arcs import ArcRules
from bayesbox.network.learn.exact_search import exact_search
from bayesbox.network.learn.order_search import order_search, scored_sets
from bayesbox.network.learn.score_bound import upper_bound
from bayesbox.network.learn.scores import Score, Scorer
from bayesbox.stat.family_counter import MemoryCounter

from .networks import all_structures, family_score, frame_of, random_rows


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("score", ["bic", "bdeu:5"])
def test_the_best_structure_lies_between_what_is_found_and_the_bound(seed, score):
    generator = np.random.default_rng([41, seed])
    coded = random_rows(generator, columns=int(generator.integers(2, 8)), rows=200)
    counter = MemoryCounter(coded)
    names = [variable.name for variable in coded.variables]
    forbidden = [(names[0], names[1])] if seed % 3 == 0 else []
    rules = ArcRules.of(names, forbidden=forbidden)
    best = exact_search(counter, Score.of(score), rules)
    found = order_search(Scorer(counter, Score.of(score)), rules, restarts=5, seed=0)
    assert found.score <= best.score + 1e-7 <= found.bound + 2e-7
    assert found.score == pytest.approx(best.score, abs=1e-6)  # and at this size it is the best
    assert found.bound == pytest.approx(best.score, abs=1e-6)  # one group holds all columns: nothing is open
    assert not any(found.parents[names.index(b)] >> names.index(a) & 1 for a, b in forbidden)


@pytest.mark.parametrize("seed", range(10))
def test_smaller_groups_bound_from_above(seed, monkeypatch):
    generator = np.random.default_rng([42, seed])
    coded = random_rows(generator, columns=7, rows=100)
    scorer = Scorer(MemoryCounter(coded), Score.of("bic"))
    sets = scored_sets(scorer, ArcRules.of([variable.name for variable in coded.variables]))
    best = exact_search(MemoryCounter(coded), Score.of("bic"), ArcRules.of([f"c{place}" for place in range(7)]))
    bounds = []
    for size in (1, 3, 7):
        monkeypatch.setattr("bayesbox.network.learn.score_bound.GROUP", size)
        bounds.append(upper_bound(sets.candidates, best.score))
    assert min(bounds) >= best.score - 1e-7
    assert bounds[2] == pytest.approx(best.score, abs=1e-6)
    monkeypatch.setattr("bayesbox.network.learn.score_bound.STEPS", 1)  # without prices
    monkeypatch.setattr("bayesbox.network.learn.score_bound.GROUP", 1)
    assert upper_bound(sets.candidates) == pytest.approx(sum(each[0][0] for each in sets.candidates))
    assert bounds[2] >= best.score - 1e-7
    assert upper_bound(sets.candidates) >= bounds[0] - 1e-9


def test_the_bound_holds_for_every_structure_written_out():
    generator = np.random.default_rng(43)
    coded = random_rows(generator, columns=4, rows=60)
    found = order_search(Scorer(MemoryCounter(coded), Score.of("bic")), ArcRules.of(list("abcd")), restarts=2, seed=0)
    scores = [
        math.fsum(family_score(coded, child, above, "bic") for child, above in enumerate(structure))
        for structure in all_structures(4)
    ]
    assert found.score == pytest.approx(max(scores), abs=1e-8)
    assert found.bound >= max(scores) - 1e-8


def test_required_arcs_and_few_parents():
    generator = np.random.default_rng(44)
    coded = random_rows(generator, columns=6, rows=150)
    names = [variable.name for variable in coded.variables]
    rules = ArcRules.of(names, required=[("c5", "c0")], max_parents=1)
    found = order_search(Scorer(MemoryCounter(coded), Score.of("bic")), rules, restarts=3, seed=0)
    assert found.parents[0] == 1 << 5
    assert max(each.bit_count() for each in found.parents) <= 1
    assert found.score == pytest.approx(exact_search(MemoryCounter(coded), Score.of("bic"), rules).score, abs=1e-7)


def test_more_columns_than_an_exact_search_takes():
    generator = np.random.default_rng(45)
    coded = random_rows(generator, columns=24, rows=200, cards=[2] * 24)
    rows = frame_of(coded)
    net = bb.learn_network(rows, method="order", restarts=2)
    hill = bb.learn_network(rows, restarts=2)
    learning = net.learning_
    assert learning.score >= hill.learning_.score - 1e-7
    assert learning.gap == learning.bound - learning.score >= 0
    assert learning.gap < 0.03 * abs(learning.score)
    assert learning.bound_parents is None or learning.bound_parents >= 3
    assert bb.learn_network(rows, method="hill", restarts=0).learning_.gap is None


def test_a_bound_among_few_parents_says_so(monkeypatch):
    monkeypatch.setattr("bayesbox.network.learn.order_search.MOST_FAMILIES", 10)
    monkeypatch.setattr("bayesbox.network.learn.order_search.SMALLEST", 1)
    generator = np.random.default_rng(46)
    coded = random_rows(generator, columns=6, rows=400)
    found = order_search(
        Scorer(MemoryCounter(coded), Score.of("aic")), ArcRules.of([f"c{i}" for i in range(6)]), restarts=1, seed=0
    )
    assert found.bound_parents == 1


def test_the_averaged_network_has_the_arcs_of_most_samples():
    truth = bb.BayesianNetwork(
        {"b": ["a"], "c": ["b"], "d": []},
        {"a": 0.5, "b": {True: 0.9, False: 0.2}, "c": {True: 0.8, False: 0.1}, "d": 0.5},
    )
    rows = truth.sample(500, seed=4)
    net = bb.learn_network(rows, bootstrap=20, average=0.5, restarts=0)
    assert {frozenset(arc) for arc in net.edges} == {frozenset("ab"), frozenset("bc")}
    strengths = net.learning_.strengths
    assert all(strengths[arc][0] >= 0.5 and strengths[arc][1] >= 0.5 for arc in net.edges)
    assert net.learning_.score == pytest.approx(net.score(rows))
    empty = bb.learn_network(rows, bootstrap=5, average=1.0, forbidden=["a->b", "b->a"], restarts=0)
    assert ("a", "b") not in empty.edges
    picture = net.svg(strengths=True)
    assert picture.count("<title>") == len(net.edges)
    assert "100 %" in picture
    by_information = truth.svg(strengths=True)
    assert by_information.count("stroke-width") == truth.svg().count("stroke-width")
    assert by_information != truth.svg()


def test_what_is_refused():
    rows = {"a": ["x", "y", None], "b": ["x", "y", "x"]}
    with pytest.raises(BadOption, match="bootstrap"):
        bb.learn_network(rows, average=0.5)
    with pytest.raises(BadOption, match="missing"):
        bb.learn_network(rows, average=0.5, bootstrap=2)
    with pytest.raises(BadOption):
        bb.learn_network(rows, average=2, bootstrap=2)
    with pytest.raises(BadOption, match="patience"):
        bb.learn_network(rows, method="order", patience=3)
