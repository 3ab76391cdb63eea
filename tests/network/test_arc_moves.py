"""The moves of a structure search in the core: their gains against single scores, the best against all of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesbox._core import ArcMoves, CodeTable, FamilyScore
from bayesbox.network.learn.arcs import has_cycle
from bayesbox.network.learn.scores import Score, Scorer, columns_of, mask_of
from bayesbox.schema.coded import CodedRows
from bayesbox.stat.family_counter import MemoryCounter

from .networks import random_rows

SCORES = ["bic", "aic", "loglik", "k2", "dirichlet:0.5", "bdeu", "bdeu:7"]
ADD, DELETE, REVERSE = 0, 1, 2


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    name=st.sampled_from(SCORES),
    rows=st.integers(1, 400),
    widest=st.sampled_from([3, 9, 40, 300]),
    most=st.integers(0, 4),
)
def test_changes_of_a_family_are_scores_of_families(seed, name, rows, widest, most):
    """Groups of columns, single ones, and tables too large: all have the scores of families asked for one by one."""
    generator = np.random.default_rng(seed)
    cards = generator.integers(1, widest + 1, size=9).tolist()
    coded = random_rows(generator, columns=9, rows=rows, cards=cards)
    score = Score.of(name)
    scorer, single = (Scorer(MemoryCounter(coded), score) for _ in range(2))
    order = generator.permutation(9).tolist()
    child, parents = order[0], order[1 : 1 + int(generator.integers(0, 5))]
    candidates = [sorted(set(order[1:7]) - {node}) for node in range(9)]
    change = scorer.changes([(child, mask_of(parents))], candidates, most)[0]
    assert change.score == pytest.approx(single.family(child, parents), rel=1e-12, abs=1e-12)
    for other in range(9):
        added = other not in parents
        if other not in candidates[child] or (added and len(parents) >= most):
            assert change.gain[other] == -np.inf
            continue
        changed = [*parents, other] if added else [each for each in parents if each != other]
        expected = single.family(child, changed)
        assert change.score + change.gain[other] == pytest.approx(expected, rel=1e-12, abs=1e-10)


def test_counts_of_many_rows_do_not_overflow():
    """All rows in one cell: more than a count of 16 bits holds, several times over."""
    rows = 600_000
    table = CodeTable([np.ones(rows, dtype=np.uint8)] * 3, np.array([2, 2, 3]))
    score = FamilyScore(1, 1.0, 1.0, rows)
    own, changed = table.changes(0, np.zeros(0, dtype=np.int64), np.array([1, 2]), score)
    members, ends = np.array([0, 0, 1, 0, 2]), np.array([1, 3, 5])
    expected = table.score(members, ends, np.arange(3), np.zeros(3, dtype=np.int64), score)
    assert [own, *changed] == pytest.approx(expected.tolist(), rel=1e-13)


@pytest.mark.parametrize(
    ("child", "parents", "candidates"), [(3, [], []), (0, [0], []), (0, [1, 1], []), (0, [], [0]), (0, [], [1, 1])]
)
def test_a_family_of_no_such_columns_is_refused(child, parents, candidates):
    table = CodeTable([np.zeros(4, dtype=np.uint8)] * 3, np.array([2, 2, 3]))
    some = [np.array(each, dtype=np.int64) for each in (parents, candidates)]
    with pytest.raises(ValueError, match="column"):
        table.changes(child, *some, FamilyScore(0, 1.0, 1.0, 4))


def all_moves(arcs, gain, required):
    """Every legal move and what it brings, by trying it."""
    found = {}
    for parent, child in np.argwhere(~np.eye(len(arcs), dtype=bool)).tolist():
        for kind in (ADD, DELETE, REVERSE):
            if arcs[parent, child] == (kind == ADD) or (kind == ADD and arcs[child, parent]):
                continue
            if kind != ADD and required[parent, child]:
                continue
            after = arcs.copy()
            after[parent, child] = kind == ADD
            after[child, parent] |= kind == REVERSE
            brings = gain[parent, child] + (gain[child, parent] if kind == REVERSE else 0)
            if not has_cycle(after) and brings > -np.inf:
                found[kind, parent, child] = (brings, after)
    return found


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), nodes=st.integers(1, 9))
def test_the_best_move_is_the_best_of_all(seed, nodes):
    require_best_move(np.random.default_rng(seed), nodes, share=0.4)


def test_the_best_move_of_more_nodes_than_a_word_has_bits():
    require_best_move(np.random.default_rng(0), 67, share=0.05)


def require_best_move(generator, nodes, share):
    order = generator.permutation(nodes)
    arcs = np.triu(generator.random((nodes, nodes)) < share, 1)[np.ix_(order, order)]
    required = arcs & (generator.random((nodes, nodes)) < 0.2)
    turnable = generator.random((nodes, nodes)) < 0.7
    marks = generator.integers(1, 1 << 63, size=nodes * nodes)
    gain = np.where(generator.random((nodes, nodes)) < 0.2, -np.inf, generator.integers(-5, 5, (nodes, nodes)) / 1.0)
    moves = ArcMoves(nodes, required.astype(np.uint8).ravel(), turnable.astype(np.uint8).ravel(), marks)
    for parent, child in np.argwhere(arcs).tolist():
        moves.toggle(parent, child)
    for child in range(nodes):
        moves.set_changes(child, -float(child), np.ascontiguousarray(gain[:, child]))
    assert moves.total == -sum(range(nodes))
    legal = all_moves(arcs, gain, required)
    expected = min(legal, key=lambda move: (-legal[move][0], move), default=None)
    kind, parent, child, brings = moves.best(fresh=False)
    assert (brings == -np.inf) == (expected is None)
    if expected is not None:
        assert (kind, parent, child) == expected
        assert brings == legal[expected][0]
    above = [mask_of(np.flatnonzero(arcs[:, node]).tolist()) for node in range(nodes)]
    assert moves.covered() == [
        (parent, child)
        for child in range(nodes)
        for parent in columns_of(above[child])
        if turnable[parent, child] and above[child] == above[parent] | 1 << parent
    ]


def test_a_walk_does_not_come_back_to_a_structure_it_has_seen():
    generator = np.random.default_rng(1)
    nodes, none = 3, np.zeros(9, dtype=np.uint8)
    moves = ArcMoves(nodes, none, none, generator.integers(1, 1 << 63, size=9))
    for child in range(nodes):
        moves.set_changes(child, 0.0, np.zeros(nodes))
    seen, arcs = {()}, set()
    moves.remember()
    while True:
        kind, parent, child, gain = moves.best(fresh=True)
        if gain == -np.inf:
            break
        arcs ^= {(parent, child), (child, parent)} if kind == REVERSE else {(parent, child)}
        moves.toggle(parent, child)
        if kind == REVERSE:
            moves.toggle(child, parent)
        assert tuple(sorted(arcs)) not in seen
        seen.add(tuple(sorted(arcs)))
        moves.remember()
    assert 10 < len(seen) <= 25  # of the 25 structures of three nodes


def test_gains_may_be_lowered():
    moves = ArcMoves(2, np.zeros(4, dtype=np.uint8), np.zeros(4, dtype=np.uint8), np.arange(1, 5))
    for child in range(2):
        moves.set_changes(child, 0.0, np.array([2.0, 2.0]))
    assert moves.best(fresh=False) == (ADD, 0, 1, 2.0)
    moves.lower(1, 1.0)
    assert moves.best(fresh=False) == (ADD, 1, 0, 2.0)
    with pytest.raises(IndexError):
        moves.toggle(0, 2)


def test_rows_with_two_codes_a_cell_wide_are_counted_too():
    """Columns of more than 256 states have words for codes."""
    generator = np.random.default_rng(4)
    coded = random_rows(generator, columns=3, rows=5000, cards=[400, 3, 300])
    assert isinstance(coded, CodedRows)
    scorer, single = (Scorer(MemoryCounter(coded), Score.of("aic")) for _ in range(2))
    change = scorer.changes([(1, 0)], [[1, 2], [0, 2], [0, 1]], 2)[0]
    for other in (0, 2):
        assert change.score + change.gain[other] == pytest.approx(single.family(1, (other,)), rel=1e-12)
