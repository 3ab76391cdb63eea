"""Short sequences side by side in the lanes of vectors: the same answers as each by itself, to the bit."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bayesbox import _core


def sequences(states: int, *, coded: bool, longest: int = 60, count: int = 90, impossible: bool = False):
    random = np.random.default_rng(states)
    lengths = [0, 1, 1, 1, 1, 2, 5, 1500, *random.integers(1, longest, size=count)]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    terms = np.log(random.dirichlet(np.ones(7), size=states)).T * random.choice([1.0, 30.0], size=7)[:, None]
    if impossible:
        terms[3] = -np.inf
    codes = random.integers(0, 7, size=offsets[-1]).astype(np.int32)
    if impossible:
        codes[(codes == 3) & (random.random(len(codes)) < 0.95)] = 0
    if not coded:
        terms, codes = terms[codes], None
    start, transition = random.dirichlet(np.ones(states)), random.dirichlet(np.ones(states), size=states)
    return np.log(start), np.log(transition), np.ascontiguousarray(terms), codes, offsets


def each_by_itself(given):
    start, transition, terms, codes, offsets = given
    for first, stop in itertools.pairwise(offsets):
        own = (terms, codes[first:stop]) if codes is not None else (terms[first:stop], None)
        yield start, transition, *own, np.array([0, stop - first])


@pytest.mark.parametrize("impossible", [False, True])
@pytest.mark.parametrize("coded", [True, False])
@pytest.mark.parametrize("states", [2, 3, 4, 5, 6, 7, 8])
def test_many_are_as_each_by_itself(states, coded, impossible):
    given = sequences(states, coded=coded, impossible=impossible)
    alone = list(each_by_itself(given))
    assert _core.chain_score(*given).tobytes() == b"".join(_core.chain_score(*one).tobytes() for one in alone)
    log_p, rows = _core.chain_posterior(*given)
    np.testing.assert_allclose(log_p, _core.chain_score(*given), rtol=1e-14)
    assert rows.tobytes() == b"".join(_core.chain_posterior(*one)[1].tobytes() for one in alone)
    log_best, path = _core.chain_best(*given)
    assert log_best.tobytes() == b"".join(_core.chain_best(*one)[0].tobytes() for one in alone)
    assert path.tobytes() == b"".join(_core.chain_best(*one)[1].tobytes() for one in alone)
    log_likelihood, *counts = _core.chain_expect(*given)
    assert log_likelihood.tobytes() == log_p.tobytes()
    parts = [_core.chain_expect(*one)[1:] for one in alone]
    for place in range(3):  # start, transition, emission: added up in another order
        own = [part[place] for part in parts]
        summed = np.concatenate(own) if place == 2 and not coded else np.sum(own, axis=0)
        np.testing.assert_allclose(counts[place], summed, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("coded", [True, False])
@pytest.mark.parametrize("states", [2, 5, 8])
def test_same_bits_for_every_instruction_set_and_number_of_threads(states, coded):
    given = sequences(states, coded=coded, longest=200, count=600)

    def answers(threads: int) -> list[bytes]:
        found = [
            *_core.chain_expect(*given, threads=threads),
            *_core.chain_best(*given, threads=threads),
            *_core.chain_posterior(*given, threads=threads),
            _core.chain_score(*given, threads=threads),
        ]
        return [each.tobytes() for each in found]

    fast = answers(1)
    assert fast == answers(3)
    _core.use_avx2(False)
    try:
        assert answers(2) == fast
    finally:
        _core.use_avx2(True)


def test_order_of_the_sequences_changes_no_answer_of_theirs():
    start, transition, terms, codes, offsets = sequences(5, coded=True)
    turned = np.random.default_rng(0).permutation(len(offsets) - 1)
    lengths = np.diff(offsets)[turned]
    mixed = np.concatenate([codes[offsets[q] : offsets[q + 1]] for q in turned])
    other = (start, transition, terms, mixed, np.concatenate([[0], np.cumsum(lengths)]))
    score = _core.chain_score(start, transition, terms, codes, offsets)
    assert _core.chain_score(*other).tobytes() == score[turned].tobytes()
