"""Searches for a structure beside the enumeration of all structures."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.refusal import refusal

from bayesbox.errors import BadOption, UnknownNode
from bayesbox.network.learn.arcs import ArcRules, arc_of, reachable
from bayesbox.network.learn.exact_search import exact_search
from bayesbox.network.learn.scores import Score, Scorer, columns_of
from bayesbox.network.learn.search import Found, SearchStep, search
from bayesbox.network.learn.structural_em import structural_em
from bayesbox.network.learn.tree import chow_liu, information_of_pairs, tree_augmented
from bayesbox.stat.family_counter import MemoryCounter
from bayesbox.stat.spanning_tree import augmenting_forest, maximum_spanning_tree

from .networks import all_structures, random_rows

FOUR = list(all_structures(4))
NAMES = ["c0", "c1", "c2", "c3"]


def total(scorer, structure):
    return scorer.total([columns_of(each) if isinstance(each, int) else each for each in structure])


def test_there_are_543_structures_of_four():
    assert len(FOUR) == 543


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32), name=st.sampled_from(["bic", "aic", "k2", "dirichlet:0.3", "bdeu", "bdeu:20"]))
def test_exact_search_is_the_best_of_all(seed, name):
    coded = random_rows(np.random.default_rng(seed), columns=4, rows=120)
    counter, score = MemoryCounter(coded), Score.of(name)
    scorer = Scorer(counter, score)
    best = max(total(scorer, structure) for structure in FOUR)
    found = exact_search(counter, score, ArcRules.of(NAMES))
    assert found.score == pytest.approx(best, abs=1e-8)
    assert total(scorer, found.parents) == pytest.approx(best, abs=1e-8)
    climbed = search(scorer, ArcRules.of(NAMES), patience=15, restarts=3)
    assert climbed.score <= best + 1e-8
    assert reachable(climbed.parents)[1]


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32), data=st.data())
def test_searches_keep_to_the_rules(seed, data):
    generator = np.random.default_rng(seed)
    coded = random_rows(generator, columns=4, rows=150)
    arcs = [(NAMES[a], NAMES[b]) for a, b in itertools.permutations(range(4), 2)]
    forbidden = data.draw(st.lists(st.sampled_from(arcs), max_size=5, unique=True))
    order = generator.permutation(4).tolist()
    free = [(NAMES[a], NAMES[b]) for a, b in itertools.combinations(order, 2) if (NAMES[a], NAMES[b]) not in forbidden]
    required = data.draw(st.lists(st.sampled_from(free), max_size=2, unique=True)) if free else []
    rules = ArcRules.of(NAMES, required=required, forbidden=forbidden, max_parents=2)
    counter, score = MemoryCounter(coded), Score.of("bdeu:5")
    scorer = Scorer(counter, score)

    def kept(structure):
        found = {(NAMES[p], NAMES[c]) for c, above in enumerate(structure) for p in above}
        return not found & set(forbidden) and found >= set(required) and all(len(above) <= 2 for above in structure)

    best = max(total(scorer, structure) for structure in FOUR if kept(structure))
    exact = exact_search(counter, score, rules)
    assert exact.score == pytest.approx(best, abs=1e-8)
    climbed = search(scorer, rules, patience=10, restarts=2)
    for found in (exact, climbed):
        assert kept([columns_of(mask) for mask in found.parents])
        assert reachable(found.parents)[1]
    assert climbed.score <= best + 1e-8


def test_tiers_point_forward_only():
    coded = random_rows(np.random.default_rng(1), columns=4, rows=300)
    rules = ArcRules.of(NAMES, tiers=[["c3"], "c2", ["c1", "c0"]])
    found = search(Scorer(MemoryCounter(coded), Score.of("aic")), rules)
    tier = {"c3": 0, "c2": 1, "c1": 2, "c0": 2}
    arcs = [(NAMES[p], NAMES[c]) for c, mask in enumerate(found.parents) for p in columns_of(mask)]
    assert arcs
    assert all(tier[parent] <= tier[child] for parent, child in arcs)


def test_a_search_is_the_same_every_time_and_tells_its_steps():
    coded = random_rows(np.random.default_rng(2), columns=8, rows=500)
    steps: list[SearchStep] = []
    rules = ArcRules.of([f"c{p}" for p in range(8)])
    one = search(Scorer(MemoryCounter(coded), Score.of("bic")), rules, restarts=3, seed=4, progress=steps.append)
    other = search(Scorer(MemoryCounter(coded), Score.of("bic")), rules, restarts=3, seed=4)
    assert one.parents == other.parents
    assert one.history == other.history == [step.score for step in steps]
    assert steps[-1].best == one.score == max(one.history)
    assert steps[-1].moves == one.moves


def test_a_climb_without_restarts_rises_at_every_step():
    coded = random_rows(np.random.default_rng(3), columns=8, rows=500)
    rules = ArcRules.of([f"c{p}" for p in range(8)])
    found = search(Scorer(MemoryCounter(coded), Score.of("bic")), rules)
    assert np.diff(found.history).min() > 0


def test_patience_finds_at_least_as_much():
    for seed in range(5):
        coded = random_rows(np.random.default_rng(seed), columns=7, rows=400)
        rules = ArcRules.of([f"c{p}" for p in range(7)])
        scorer = Scorer(MemoryCounter(coded), Score.of("bic"))
        assert search(scorer, rules, patience=15).score >= search(scorer, rules).score


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_chow_liu_is_the_tree_of_the_largest_likelihood(seed):
    coded = random_rows(np.random.default_rng(seed), columns=5, rows=150)
    counter = MemoryCounter(coded)
    scorer = Scorer(counter, Score.of("loglik"))
    best = -np.inf
    for code in itertools.product(range(5), repeat=3):  # Prufer's codes: all 125 trees
        best = max(best, scorer.total(rooted(prufer(code), 5)))
    for root in (0, 3):
        tree = chow_liu(counter, root)
        assert not tree[root]
        assert scorer.total(tree) == pytest.approx(best, abs=1e-8)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_tan_is_the_best_tree_under_the_class(seed):
    coded = random_rows(np.random.default_rng(seed), columns=5, rows=200)
    counter = MemoryCounter(coded)
    scorer = Scorer(counter, Score.of("loglik"))
    others = [0, 1, 3, 4]
    best = -np.inf
    for code in itertools.product(range(4), repeat=2):
        structure = [[2], [2], [], [2], [2]]
        for node, above in enumerate(rooted(prufer(code), 4)):
            structure[others[node]] += [others[parent] for parent in above]
        best = max(best, scorer.total(structure))
    found = tree_augmented(counter, 2, root=3)
    assert found[3] == [2]
    assert found[2] == []
    assert scorer.total(found) == pytest.approx(best, abs=1e-8)


def prufer(code):
    """The edges of the tree of a code."""
    count = len(code) + 2
    degree = [1 + code.count(node) for node in range(count)]
    edges = []
    for node in code:
        leaf = degree.index(1)
        edges.append((leaf, node))
        degree[leaf] -= 1
        degree[node] -= 1
    return [*edges, tuple(node for node in range(count) if degree[node] == 1)]


def rooted(edges, count):
    """The parents of each node, from node 0."""
    parents, waiting = [[] for _ in range(count)], [(0, -1)]
    while waiting:
        node, above = waiting.pop()
        for edge in edges:
            if node in edge:
                other = edge[0] + edge[1] - node
                if other != above:
                    parents[other] = [node]
                    waiting.append((other, node))
    return parents


def test_mutual_information_of_a_copy_is_its_entropy():
    coded = random_rows(np.random.default_rng(0), columns=2, rows=1000, cards=[2, 2])
    twice = type(coded)(coded.variables, (coded.columns[0], coded.columns[0]), coded.rows)
    share = coded.columns[0].mean()
    entropy = -share * np.log(share) - (1 - share) * np.log(1 - share)
    assert information_of_pairs(MemoryCounter(twice), [0, 1])[0, 1] == pytest.approx(entropy)


def test_spanning_tree_of_nothing_and_of_equals():
    assert maximum_spanning_tree(np.zeros((0, 0))) == []
    assert maximum_spanning_tree(np.zeros((4, 4))) == [-1, 0, 0, 0]
    assert maximum_spanning_tree(np.zeros((3, 3)), root=2) == [2, 2, -1]


def test_forest_drops_arcs_that_are_worth_nothing_and_begins_at_the_root():
    worth = np.array([[0, 5, 1, -1], [5, 0, 4, -1], [1, 4, 0, 0], [-1, -1, 0, 0]], dtype=float)
    assert augmenting_forest(worth) == [-1, 0, 1, -1]
    assert augmenting_forest(worth, root=2) == [1, 2, -1, -1]
    assert augmenting_forest(worth, root=3) == [-1, 0, 1, -1]
    assert augmenting_forest(np.zeros((0, 0))) == []


def test_information_of_pairs_of_complete_rows_is_the_same_by_tables():
    coded = random_rows(np.random.default_rng(3), columns=4, rows=300)
    counter = MemoryCounter(coded)
    for given_ in ([], [3]):
        by_tests = information_of_pairs(counter, [0, 1, 2], given_)
        by_tables = information_of_pairs(counter, [0, 1, 2], given_, complete=False)
        np.testing.assert_allclose(by_tables, by_tests, atol=1e-12)


@pytest.mark.parametrize(
    ("given_", "found"),
    [
        ({"required": ["c0->c1", "c1->c0"]}, [("c0", "c1"), ("c1", "c0")]),
        ({"required": ["c0->c1"], "forbidden": ["c0->c1"]}, "c0->c1"),
        ({"required": ["c0->c1", "c2->c1"], "max_parents": 1}, 2),
        ({"required": ["c0->c0"]}, "c0->c0"),
        ({"required": ["c0"]}, "c0"),
        ({"max_parents": -1}, -1),
        ({"tiers": [["c0"], ["c1"]]}, "c2, c3"),
        ({"tiers": [["c0", "c1"], ["c1", "c2", "c3"]]}, "c1"),
    ],
)
def test_rules_that_contradict_themselves(given_, found):
    with refusal(BadOption, found=found):
        ArcRules.of(NAMES, **given_)


def test_rules_of_unknown_nodes():
    with refusal(UnknownNode, kind="node", name="c11", where="the arc c0->c11"):
        ArcRules.of(NAMES, forbidden=["c0->c11"])
    with pytest.raises(UnknownNode):
        ArcRules.of(NAMES, tiers=[["x"]])
    assert arc_of(" a->b ") == ("a", "b")


def test_an_exact_search_knows_its_limits():
    coded = random_rows(np.random.default_rng(0), columns=23, rows=10)
    with refusal(BadOption, found=23):
        exact_search(MemoryCounter(coded), Score.of("bic"), ArcRules.of([f"c{p}" for p in range(23)]))


@pytest.mark.parametrize(
    ("found", "rounds", "last"),
    [([[0, 1], [0, 0], [0, 0]], 3, [0, 0]), ([[0, 1], [2, 0], [0, 1]], 3, [0, 1]), ([[0, 1]] * 3, 2, [0, 1])],
)
def test_structural_em_goes_on_until_it_finds_a_structure_again(found, rounds, last):
    """The next search begins where the last one ended; a structure that was found before ends it, cycles too."""
    coded = random_rows(np.random.default_rng(0), columns=2, rows=4)
    starts = []

    def find(rows, worth, start):
        assert worth == 0.5
        assert rows.rows == 2 * 4
        starts.append(start)
        return Found(found[len(starts) - 1], float(len(starts)))

    result = structural_em(coded, find, copies=2, seed=0)
    assert len(starts) == rounds
    assert starts[0] is None
    assert starts[1:] == found[: rounds - 1]
    assert result.parents == last
