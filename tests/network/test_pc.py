"""PC-stable, Meek's rules, directed extensions, and the comparison of structures."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesbox.network.graph import Graph, Node
from bayesbox.network.learn.arcs import ArcRules, packed, reachable
from bayesbox.network.learn.compare import compare, pattern_of
from bayesbox.network.learn.pc import PartialGraph, directed_extension, meek, pc
from bayesbox.network.query.dsep import active_path
from bayesbox.stat.family_counter import MemoryCounter

from .networks import all_structures, random_rows


class Oracle:
    """A counter whose tests know the truth: independence is d-separation."""

    def __init__(self, structure):
        self.cards, self.rows = (2,) * len(structure), 1
        self.names = [f"n{place}" for place in range(len(structure))]
        self.graph = Graph(
            [Node(self.names[n], ("a", "b"), tuple(self.names[p] for p in above)) for n, above in enumerate(structure)]
        )

    def g_tests(self, sets):
        open_ = [
            active_path(self.graph, [self.names[s[0]]], [self.names[s[1]]], [self.names[g] for g in s[2:]]) is not None
            for s in sets
        ]
        return np.where(open_, 1e6, 0.0), np.ones(len(sets))


def matrix(structure):
    arcs = np.zeros((len(structure),) * 2, dtype=bool)
    for node, above in enumerate(structure):
        arcs[list(above), node] = True
    return arcs


def skeleton_and_colliders(structure):
    """What two structures that say the same have in common (Verma and Pearl 1990)."""
    near = {frozenset((p, n)) for n, above in enumerate(structure) for p in above}
    colliders = {
        (frozenset(pair), n)
        for n, above in enumerate(structure)
        for pair in itertools.combinations(above, 2)
        if frozenset(pair) not in near
    }
    return frozenset(near), frozenset(colliders)


FOUR = list(all_structures(4))
CLASSES: dict = {}
for each in FOUR:
    CLASSES.setdefault(skeleton_and_colliders(each), []).append(each)


def test_patterns_are_what_all_equivalent_structures_share():
    assert len(CLASSES) == 185  # the known number of classes of four nodes
    for members in CLASSES.values():
        shared = np.all([matrix(each) for each in members], axis=0)
        some = np.any([matrix(each) for each in members], axis=0)
        for each in members:
            directed, open_ = pattern_of(matrix(each))
            assert (directed == shared).all()
            assert (open_ == (some & some.T)).all()


def test_pc_with_perfect_tests_finds_the_pattern_and_a_structure_of_it():
    for key, members in CLASSES.items():
        rules = ArcRules.of([f"n{p}" for p in range(4)])
        found = pc(Oracle(members[0]), rules)
        directed, open_ = pattern_of(matrix(members[0]))
        assert (found.directed == directed).all()
        assert (found.undirected == open_).all()
        parents = directed_extension(found)
        structure = tuple(tuple(p for p in range(4) if mask >> p & 1) for mask in parents)
        assert skeleton_and_colliders(structure) == key


def test_a_pattern_of_contradictions_still_gives_a_structure():
    directed = np.zeros((4, 4), dtype=bool)
    for parent, child in [(0, 1), (1, 2), (2, 0)]:
        directed[parent, child] = True
    open_ = np.zeros((4, 4), dtype=bool)
    open_[2, 3] = open_[3, 2] = True
    parents = directed_extension(PartialGraph(directed, open_, 0))
    assert reachable(parents)[1]
    assert sum(mask.bit_count() for mask in parents) == 4


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_pc_does_not_depend_on_the_order_of_the_columns(seed):
    """The skeleton does not; directions may, where tests contradict each other."""
    generator = np.random.default_rng(seed)
    coded = random_rows(generator, columns=6, rows=400)
    rules = ArcRules.of(coded.names)
    order = generator.permutation(6).tolist()
    one = pc(MemoryCounter(coded), rules)
    other = pc(MemoryCounter(coded.arranged([coded.names[p] for p in order])), rules)
    near = one.directed | one.directed.T | one.undirected
    again = other.directed | other.directed.T | other.undirected
    assert (near[np.ix_(order, order)] == again).all()


def test_pc_keeps_to_what_is_known():
    coded = random_rows(np.random.default_rng(8), columns=4, rows=800)
    rules = ArcRules.of(coded.names, required=["c3->c0"], forbidden=["c0->c1", "c1->c0", "c1->c2"])
    found = pc(MemoryCounter(coded), rules)
    assert found.directed[3, 0]
    assert not (found.directed | found.undirected)[0, 1]
    assert not (found.directed | found.undirected)[1, 2]
    assert packed(found.directed)
    parents = directed_extension(found)
    assert parents[0] >> 3 & 1


def test_comparison():
    names = ["a", "b", "c", "d"]
    same = compare(names, [("a", "b")], [("a", "b")])
    assert (same.shd, same.same, same.missing, same.extra, same.reversed) == (0, 1, (), (), ())
    turned = compare(names, [("b", "a")], [("a", "b")])
    assert (turned.shd, turned.reversed) == (0, (("b", "a"),))  # they say the same
    collider = compare(names, [("a", "c"), ("b", "c")], [("c", "a"), ("c", "b")])
    assert collider.shd == 2
    assert len(collider.reversed) == 2
    both = compare(names, [("a", "b"), ("c", "d")], [("a", "b"), ("b", "c")])
    assert (both.shd, both.missing, both.extra) == (2, (("b", "c"),), (("c", "d"),))


@pytest.mark.parametrize("alpha", [0.001, 0.2])
def test_a_level_of_significance_parts_more_or_fewer(alpha):
    coded = random_rows(np.random.default_rng(4), columns=6, rows=100)
    few = pc(MemoryCounter(coded), ArcRules.of(coded.names), alpha=0.001)
    many = pc(MemoryCounter(coded), ArcRules.of(coded.names), alpha=alpha)
    assert (few.directed | few.undirected).sum() <= (many.directed | many.undirected).sum()


def colliders(arcs):
    """The pairs of parents that are not neighbours, with their child."""
    near = arcs | arcs.T
    return {
        (a, b, c)
        for a, b in itertools.combinations(range(len(arcs)), 2)
        for c in range(len(arcs))
        if arcs[a, c] and arcs[b, c] and not near[a, b]
    }


def equivalent(arcs, known):
    """Every structure with the same neighbours and colliders that has the known arcs, by trying all directions."""
    edges = [(a, b) for a, b in itertools.combinations(range(len(arcs)), 2) if arcs[a, b] or arcs[b, a]]
    wanted = colliders(arcs)
    for turned in itertools.product([False, True], repeat=len(edges)):
        other = np.zeros_like(arcs)
        for (a, b), turn in zip(edges, turned, strict=True):
            other[(b, a) if turn else (a, b)] = True
        if not reachable(packed(other))[1]:
            continue
        if (other[known]).all() and colliders(other) == wanted:
            yield other


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_meeks_rules_direct_what_all_structures_with_the_known_arcs_share(seed):
    """Complete also where arcs are known beforehand, which needs the fourth rule (Meek 1995, theorem 4)."""
    random = np.random.default_rng(seed)
    order = random.permutation(5)
    arcs = np.triu(random.random((5, 5)) < 0.7, 1)[np.ix_(order, order)]
    known = arcs & (random.random((5, 5)) < 0.3)
    directed = known.copy()
    for a, b, c in colliders(arcs):
        directed[[a, b], [c, c]] = True
    open_ = (arcs & ~directed) | (arcs & ~directed).T
    meek(directed, open_)
    members = list(equivalent(arcs, known))
    np.testing.assert_array_equal(directed, np.logical_and.reduce(members))
    np.testing.assert_array_equal(open_, np.logical_or.reduce(members) & ~directed & ~directed.T)


def test_meeks_fourth_rule():
    """a - b -> c -> d, a - d, a - c, b and d no neighbours: only a -> d makes no new collider and no cycle."""
    a, b, c, d = range(4)
    directed, open_ = np.zeros((4, 4), dtype=bool), np.zeros((4, 4), dtype=bool)
    directed[b, c] = directed[c, d] = True
    for one, other in ((a, b), (a, d), (a, c)):
        open_[one, other] = open_[other, one] = True
    meek(directed, open_)
    assert directed[a, d]
    assert not open_[a, d]
