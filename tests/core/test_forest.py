"""Forests of counts in the core: laws of the counts, answers without a row, and arrays that nobody vouches for."""

import numpy as np
import pytest

from bayesbox import _core

MISSING = 0xFFFF


def rows(count=120, seed=0):
    """Two columns of cells and a category, some values missing, three classes."""
    rng = np.random.default_rng(seed)
    target = rng.integers(0, 3, count).astype(np.int32)
    codes = np.stack([
        np.minimum(rng.poisson(3 + 4 * target), 19),
        rng.integers(0, 20, count),
        (target + rng.integers(0, 2, count)) % 70 + 60,
    ]).astype(np.uint16)  # fmt: skip
    codes[0, :7] = MISSING
    codes[2, 5:9] = MISSING
    return codes, target


LEVELS, ORDERED = np.array([20, 20, 70]), np.array([1, 1, 0], dtype=np.uint8)


def grown(codes, target, *, drawn=False, seed=1, trees=12, sample=60):
    return _core.grow_forest(codes, target, 3, LEVELS, ORDERED, trees, 2, sample, drawn, seed)


def leaves(forest, codes):
    """The nodes of each row, tree by tree: followed in Python."""
    arrays = {name: values.tolist() for name, values in forest.arrays().items()}
    paths = []
    for root in arrays["root"]:
        for row in range(codes.shape[1]):
            node, path = root, [root]
            while arrays["column"][node] >= 0:
                column = arrays["column"][node]
                code, size = int(codes[column, row]), arrays["words_of"][column]
                if code == MISSING or (size and code >= 64 * size):
                    left = arrays["missing_left"][node]
                elif size:
                    left = arrays["words"][arrays["threshold"][node] + code // 64] >> code % 64 & 1
                else:
                    left = code < arrays["threshold"][node]
                node = arrays["child"][node] + (0 if left else 1)
                path.append(node)
            paths.append(path)
    return paths


@pytest.mark.parametrize("drawn", [False, True])
def test_every_row_is_counted_on_its_way(drawn):
    codes, target = rows()
    forest = grown(codes, target, drawn=drawn)
    counts = forest.count(codes, target, 3)
    expected = np.zeros_like(counts)
    for number, path in enumerate(leaves(forest, codes)):
        expected[path, target[number % len(target)]] += 1
    assert np.array_equal(counts, expected)
    assert forest.nodes > 3 * forest.trees


def test_answers_are_chains_of_priors():
    codes, target = rows()
    forest = grown(codes, target)
    counts, weight = forest.count(codes, target, 3), 0.7
    expected = np.zeros((len(target), 3))
    for number, path in enumerate(leaves(forest, codes)):
        p, pull = np.full(3, 1 / 3), 1.0
        for node in path:
            p = (counts[node] + pull * p) / (counts[node].sum() + pull)
            pull = weight
        expected[number % len(target)] += p
    assert np.allclose(forest.ask(codes, counts, weight), expected, rtol=1e-12)


def test_answers_without_a_row_are_those_of_the_counts_without_it():
    codes, target = rows(count=40)
    forest = grown(codes, target, trees=30, sample=25)
    counts = forest.count(codes, target, 3)
    answers, asked = forest.ask_without(codes, target, counts, 1.5)
    assert asked.min() > 0
    assert asked.sum() == 30 * (40 - 25)
    arrays = forest.arrays()
    for row in (0, 7, 23):
        others = np.delete(np.arange(40), row)
        fewer = forest.count(np.ascontiguousarray(codes[:, others]), target[others], 3)
        # each tree by itself, to leave out those that were grown on the row
        own = np.ascontiguousarray(codes[:, [row]])
        by_tree = np.array([
            _core.Forest.of(**{**arrays, "root": arrays["root"][[tree]]}).ask(own, fewer, 1.5)[0] for tree in range(30)
        ])  # fmt: skip
        chosen = [tree for tree in range(30) if _unseen(codes, target, tree, row)]
        assert len(chosen) == asked[row]
        assert np.allclose(by_tree[chosen].sum(axis=0), answers[row], rtol=1e-12)


def _unseen(codes, target, tree, row):
    """Whether a tree was grown without a row: the same draws again."""
    mask, state = (1 << 64) - 1, (1 * 0x2545F4914F6CDD1D + tree * 2 + 1) & ((1 << 64) - 1)
    order = list(range(len(target)))
    for place in range(25):
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        z ^= z >> 31
        other = place + (z * (len(target) - place) >> 64)
        order[place], order[other] = order[other], order[place]
    return row not in order[:25]


def test_the_same_seed_gives_the_same_forest():
    codes, target = rows()
    one, same, other = (grown(codes, target, seed=seed).arrays() for seed in (1, 1, 2))
    assert all(np.array_equal(one[name], same[name]) for name in one)
    assert not all(np.array_equal(one[name], other[name]) for name in one)


def test_arrays_bring_the_forest_back():
    codes, target = rows()
    forest = grown(codes, target)
    again = _core.Forest.of(**forest.arrays())
    counts = forest.count(codes, target, 3)
    assert np.array_equal(again.ask(codes, counts, 1.0), forest.ask(codes, counts, 1.0))


@pytest.mark.parametrize("name", ["root", "column", "threshold", "child", "missing_left", "words_of"])
@pytest.mark.parametrize("value", [-2, 1 << 40])
def test_indices_outside_are_refused(name, value):
    codes, target = rows()
    arrays = grown(codes, target).arrays()
    place = int(np.flatnonzero(arrays["column"] >= 0)[0]) if len(arrays[name]) == len(arrays["column"]) else 0
    arrays[name][place] = value
    with pytest.raises(ValueError, match="outside"):
        _core.Forest.of(**arrays)


def test_a_child_before_its_parent_is_refused():
    codes, target = rows()
    arrays = grown(codes, target).arrays()
    inner = np.flatnonzero(arrays["column"] >= 0)[3]
    arrays["child"][inner] = 0
    with pytest.raises(ValueError, match="outside"):
        _core.Forest.of(**arrays)


def test_wrong_arguments_are_refused():
    codes, target = rows()
    forest = grown(codes, target)
    counts = forest.count(codes, target, 3)
    with pytest.raises(ValueError, match="beyond the levels"):
        _core.grow_forest(codes, target, 3, np.array([3, 20, 70]), ORDERED, 1, 1, 10, False, 0)
    with pytest.raises(ValueError, match="no such class"):
        forest.count(codes, target + 5, 3)
    with pytest.raises(ValueError, match="number of columns"):
        forest.ask(np.ascontiguousarray(codes[:2]), counts, 1.0)
    with pytest.raises(ValueError, match="not those of the nodes"):
        forest.ask(codes, counts[1:], 1.0)


# -- trees that are added up -----------------------------------------------------------------------------------------


def boosted(codes, target, *, rounds=30, leaves=6, rate=0.3, share=1.0, seed=0, classes=3):
    start = np.log(np.bincount(target, minlength=classes) + 1.0)
    questions, values = _core.boost_forest(
        codes, target, start, LEVELS, ORDERED, rounds, leaves, rate, 1.0, share, seed
    )
    return questions, values, start


def log_loss(sums, target):
    highest = sums.max(axis=1, keepdims=True)
    whole = highest[:, 0] + np.log(np.exp(sums - highest).sum(axis=1))
    return float((whole - sums[np.arange(len(target)), target]).sum())


@pytest.mark.parametrize("classes", [2, 3])
def test_every_boosted_tree_lowers_the_log_loss_of_its_rows(classes):
    codes, target = rows()
    target = np.minimum(target, classes - 1).astype(np.int32)
    questions, values, start = boosted(codes, target, classes=classes)
    sums, losses = questions.sum_values(codes, target, values, start)
    assert (np.diff([log_loss(np.tile(start, (len(target), 1)), target), *losses]) < 0).all()
    assert losses[-1] == pytest.approx(log_loss(sums, target))
    assert np.allclose(sums, start + questions.ask_values(codes, values))


def test_boosted_sums_are_those_of_the_leaves():
    codes, target = rows()
    questions, values, _ = boosted(codes, target)
    expected = np.zeros((len(target), 3))
    for number, path in enumerate(leaves(questions, codes)):
        expected[number % len(target)] += values[path[-1]]
    assert np.allclose(questions.ask_values(codes, values), expected)


def test_the_first_tree_takes_newton_steps():
    codes, target = rows()
    questions, values, start = boosted(codes, target, rounds=1, rate=0.5)
    p = np.exp(start) / np.exp(start).sum()
    ends = [path[-1] for path in leaves(questions, codes)]
    assert len(set(ends)) == 6
    for leaf in set(ends):
        own = target[np.array(ends) == leaf]
        slope = len(own) * p - np.bincount(own, minlength=3)
        assert np.allclose(values[leaf], -0.5 * slope / (len(own) * p * (1 - p) + 1))


def test_the_first_division_is_the_best_of_all():
    codes, target = rows()
    codes[codes == MISSING] = 0
    codes = np.ascontiguousarray(codes[:2])
    start = np.log(np.bincount(target) + 1.0)
    questions, _ = _core.boost_forest(codes, target, start, LEVELS[:2], ORDERED[:2], 1, 2, 0.1, 1.0, 1.0, 0)
    p = np.exp(start) / np.exp(start).sum()

    def worth(inside):
        slope = inside.sum() * p - np.bincount(target[inside], minlength=3)
        return (slope**2 / (inside.sum() * p * (1 - p) + 1)).sum()

    gains = {
        (column, cut): worth(codes[column] < cut) + worth(codes[column] >= cut)
        for column in range(2)
        for cut in range(1, 20)
        if 3 <= (codes[column] < cut).sum() <= 117
    }
    arrays = questions.arrays()
    found = gains[arrays["column"][0], arrays["threshold"][0]]
    assert found == pytest.approx(max(gains.values()))


def test_boosted_trees_are_the_same_for_the_same_seed():
    codes, target = rows()
    one, two, other = (boosted(codes, target, share=0.6, seed=seed)[1] for seed in (4, 4, 5))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


def test_boosting_refuses_what_does_not_fit():
    codes, target = rows()
    questions, values, start = boosted(codes, target)
    with pytest.raises(ValueError, match="values"):
        questions.ask_values(codes, values[:-1])
    with pytest.raises(ValueError, match="values"):
        questions.sum_values(codes, target, values[:, :2], start)
    with pytest.raises(ValueError, match="no such class"):
        questions.sum_values(codes, target + 1, values, start)
    with pytest.raises(ValueError, match="two classes"):
        _core.boost_forest(codes, np.zeros_like(target), np.zeros(1), LEVELS, ORDERED, 5, 5, 0.1, 1.0, 1.0, 0)
    with pytest.raises(ValueError, match="beyond"):
        _core.boost_forest(codes, target, start, LEVELS - 15, ORDERED, 5, 5, 0.1, 1.0, 1.0, 0)
