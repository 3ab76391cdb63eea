"""Folds: stratified, the same for a seed, and different for another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.refusal import refusal

from bayesbox.errors import BadOption
from bayesbox.stat.folds import NO_FOLD, shuffle_keys, stratified_folds


@given(
    st.lists(st.integers(-1, 3), min_size=2, max_size=60), st.integers(2, 7), st.integers(0, 2**64), st.integers(0, 3)
)
def test_sizes_differ_by_one_row_at_most_overall_and_in_each_class(codes, folds, seed, repeat):
    codes = np.array(codes)
    if (codes >= 0).sum() < folds:
        with refusal(BadOption, what="folds"):
            stratified_folds(codes, folds, seed=seed, repeat=repeat)
        return
    found = stratified_folds(codes, folds, seed=seed, repeat=repeat)
    assert ((found == NO_FOLD) == (codes < 0)).all()
    for chosen in (codes >= 0, *(codes == code for code in range(4))):
        sizes = np.bincount(found[chosen], minlength=folds)
        assert sizes.max() - sizes.min() <= 1


def test_a_seed_gives_these_folds_on_every_machine():
    codes = np.arange(24) % 3
    expected = [0, 2, 3, 0, 3, 1, 3, 3, 0, 2, 2, 2, 1, 1, 1, 3, 1, 0, 2, 0, 2, 1, 0, 3]
    assert stratified_folds(codes, 4, seed=7).tolist() == expected


def test_seeds_and_repeats_shuffle_anew():
    codes = np.zeros(200, dtype=int)
    found = {
        (seed, repeat): tuple(stratified_folds(codes, 5, seed=seed, repeat=repeat))
        for seed in range(3)
        for repeat in range(3)
    }
    assert len(set(found.values())) == 9
    assert found[1, 2] == tuple(stratified_folds(codes, 5, seed=1, repeat=2))


def test_keys_shuffle_well():
    keys = shuffle_keys(20_000, seed=0, repeat=0)
    assert len(np.unique(keys)) == 20_000
    rank = np.argsort(np.argsort(keys))
    assert abs(np.corrcoef(rank, np.arange(20_000))[0, 1]) < 0.03
    assert abs(np.corrcoef(rank[1:], rank[:-1])[0, 1]) < 0.03
    ones = [int(((keys >> np.uint64(bit)) & np.uint64(1)).sum()) for bit in range(64)]
    assert max(abs(count - 10_000) for count in ones) < 300  # four deviations


@pytest.mark.parametrize(("folds", "seed", "found"), [(1, 0, 1), (3, -1, -1), (7, 0, 7)])
def test_refusals(folds, seed, found):
    with refusal(BadOption, found=found):
        stratified_folds(np.array([0, 0, 1, 1, 1, 1, -1]), folds, seed=seed)
