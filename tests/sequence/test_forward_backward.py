"""Chains in the core: the sum over all paths, exact ties, and numbers at the edge of what a double holds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bayesbox import _core


def log(values):
    with np.errstate(divide="ignore"):
        return np.log(values)


def chain(seed: int, *, zeros: bool):
    random = np.random.default_rng(seed)
    states, steps = int(random.integers(1, 11)), 4
    transition = random.dirichlet(np.ones(states), size=states)
    if zeros:
        transition[transition < 0.15] = 0.0
        transition[transition.sum(axis=1) == 0] = 1.0
        transition /= transition.sum(axis=1, keepdims=True)
    terms = np.vstack([log(random.dirichlet(np.ones(3), size=states)).T, np.zeros(states)])  # the last is missing
    codes = random.integers(0, 4, size=steps).astype(np.int32)
    start = random.dirichlet(np.ones(states))
    return log(start), log(transition), np.ascontiguousarray(terms), codes, np.array([0, steps])


def paths(start, transition, terms, codes, _):
    """(log P(path, sequence), path) of every path."""
    for path in itertools.product(range(len(start)), repeat=len(codes)):
        log_p = start[path[0]] + terms[codes, path].sum()
        yield log_p + sum(transition[a, b] for a, b in itertools.pairwise(path)), path


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_sum_over_paths(seed, zeros):
    given = chain(seed, zeros=zeros)
    states, steps = len(given[0]), len(given[3])
    posterior, follows, best = np.zeros((steps, states)), np.zeros((states, states)), (-np.inf, None)
    for log_p, path in paths(*given):
        p = np.exp(log_p)
        posterior[np.arange(steps), path] += p
        for pair in itertools.pairwise(path):
            follows[pair] += p
        best = max(best, (log_p, path), key=lambda each: each[0])
    total = posterior[0].sum()
    log_likelihood, rows = _core.chain_posterior(*given)
    assert _core.chain_score(*given)[0] == log_likelihood[0] == pytest.approx(np.log(total), abs=1e-12)
    np.testing.assert_allclose(rows, posterior / total, atol=1e-12)
    _, start, transition, emission = _core.chain_expect(*given)
    np.testing.assert_allclose(start, posterior[0] / total, atol=1e-12)
    np.testing.assert_allclose(transition, follows / total, atol=1e-12)
    for code in range(4):
        np.testing.assert_allclose(emission[code], (posterior / total)[given[3] == code].sum(axis=0), atol=1e-12)
    log_p, path = _core.chain_best(*given)
    assert log_p[0] == pytest.approx(best[0], abs=1e-12)
    assert tuple(path) == best[1]


def answers(given, threads=1):
    found = [
        *_core.chain_expect(*given, threads=threads),
        *_core.chain_best(*given, threads=threads),
        *_core.chain_posterior(*given, threads=threads),
        *_core.chain_posterior(*given, filtered=True, threads=threads),
        _core.chain_score(*given, threads=threads),
    ]
    return [each.tobytes() for each in found]


@pytest.mark.parametrize("seed", range(8))
def test_both_instruction_sets_give_the_same_bits(seed):
    given = chain(seed, zeros=False)
    fast = answers(given)
    _core.use_avx2(False)
    try:
        slow = answers(given)
    finally:
        _core.use_avx2(True)
    assert fast == slow


def long_chain(states: int, *, coded: bool = True):
    """Sequences of all lengths, of more steps than one group has."""
    random = np.random.default_rng(states)
    lengths = [0, 1, 2, 3, 40_000, 7, *random.integers(0, 2000, size=60)]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    terms = np.log(random.dirichlet(np.ones(6), size=states)).T
    codes = random.integers(0, 6, size=offsets[-1]).astype(np.int32)
    if not coded:
        terms, codes = terms[codes], None
    start, transition = random.dirichlet(np.ones(states)), random.dirichlet(np.ones(states), size=states)
    return np.log(start), np.log(transition), np.ascontiguousarray(terms), codes, offsets


@pytest.mark.parametrize("coded", [True, False])
def test_any_number_of_threads_gives_the_same_bits(coded):
    given = long_chain(3, coded=coded)
    assert answers(given) == answers(given, 2) == answers(given, 5)


@pytest.mark.parametrize("states", [1, 2, 3, 4, 5, 6, 7, 8, 9, 13])
@pytest.mark.parametrize("coded", [True, False])
def test_every_number_of_states_on_long_sequences(states, coded):
    """Each sequence by itself in plain numpy."""
    given = long_chain(states, coded=coded)
    log_start, log_transition, terms, codes, offsets = given
    rows = terms if codes is None else terms[codes]
    log_likelihood, posterior = _core.chain_posterior(*given)
    log_p, path = _core.chain_best(*given)
    for q in (1, 2, 3, 5, 6, 7, 8):
        first, stop = offsets[q], offsets[q + 1]
        if first == stop:
            continue
        emission, size = np.exp(rows[first:stop]), stop - first
        alpha, beta, scale = np.empty((size, states)), np.ones((size, states)), np.empty(size)
        best, pointers = log_start + rows[first], np.zeros((size, states), dtype=int)
        for t in range(size):
            before = np.exp(log_start) if t == 0 else alpha[t - 1] @ np.exp(log_transition)
            alpha[t] = before * emission[t]
            scale[t] = alpha[t].sum()
            alpha[t] /= scale[t]
            if t > 0:
                ways = best[:, None] + log_transition
                pointers[t], best = ways.argmax(axis=0), ways.max(axis=0) + rows[first + t]
        for t in range(size - 1, 0, -1):
            beta[t - 1] = np.exp(log_transition) @ (beta[t] * emission[t])
            beta[t - 1] /= beta[t - 1].sum()
        shares = alpha * beta
        np.testing.assert_allclose(posterior[first:stop], shares / shares.sum(axis=1, keepdims=True), atol=1e-12)
        assert log_likelihood[q] == pytest.approx(np.log(scale).sum(), rel=1e-12)
        state, way = int(best.argmax()), []
        assert log_p[q] == pytest.approx(best.max(), rel=1e-12)
        for t in range(size - 1, -1, -1):
            way.append(state)
            state = int(pointers[t, state])
        assert path[first:stop].tolist() == way[::-1]


def test_filtered_is_the_posterior_of_each_beginning():
    start, transition, terms, codes, _ = chain(3, zeros=False)
    _, rows = _core.chain_posterior(start, transition, terms, codes, np.array([0, 4]), filtered=True)
    for stop in range(1, 5):
        _, part = _core.chain_posterior(start, transition, terms, codes[:stop], np.array([0, stop]))
        np.testing.assert_allclose(rows[stop - 1], part[-1], atol=1e-12)


@pytest.mark.parametrize("states", [2, 5, 9])
def test_ties_go_to_the_first_state(states):
    even = np.zeros(states)
    _, path = _core.chain_best(even, np.zeros((states, states)), np.zeros((1500, states)), None, np.array([0, 1500]))
    assert not path.any()


@pytest.mark.parametrize("seed", range(4))
def test_states_that_fade_come_back(seed):
    """Two chains that never meet: the first fits better by far at the beginning, the second on the whole."""
    random = np.random.default_rng(seed)
    steps = int(random.integers(100, 2000))
    terms = np.zeros((2 * steps, 2))
    terms[:steps, 1] = -40.0
    terms[steps:, 0] = -41.0
    given = (log(np.array([0.5, 0.5])), log(np.eye(2)), terms, None, np.array([0, 2 * steps]))
    log_likelihood, rows = _core.chain_posterior(*given)
    assert log_likelihood[0] == pytest.approx(np.log(0.5) - 40.0 * steps, rel=1e-13)
    np.testing.assert_allclose(rows, np.tile([0.0, 1.0], (2 * steps, 1)), atol=1e-15)
    _, _, transition, _ = _core.chain_expect(*given)
    np.testing.assert_allclose(transition, [[0, 0], [0, 2 * steps - 1]], rtol=1e-9, atol=1e-9)


def test_tiny_parameters():
    start, transition = np.array([0.0, -1e4]), np.array([[0.0, -2000.0], [0.0, -3000.0]])
    terms = np.array([[0.0, -np.inf], [-np.inf, 0.0], [0.0, -np.inf]])
    given = (start, transition, terms, None, np.array([0, 3]))
    assert _core.chain_score(*given)[0] == -2000.0
    assert _core.chain_best(*given)[0][0] == -2000.0


def test_impossible_and_empty():
    terms = np.array([[-np.inf, -np.inf], [0.0, 0.0]])
    offsets = np.array([0, 0, 1, 2])
    found, rows = _core.chain_posterior(log(np.array([0.5, 0.5])), log(np.eye(2)), terms, None, offsets)
    assert found.tolist() == [0.0, -np.inf, 0.0]
    assert rows.tolist() == [[0.0, 0.0], [0.5, 0.5]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"codes": np.array([4], dtype=np.int32)}, "outside the terms"),
        ({"offsets": np.array([0, 2])}, "number of steps"),
        ({"log_start": np.array([np.nan, 0.0])}, "NaN"),
        ({"log_transition": np.zeros((1, 2))}, "length"),
        ({"log_start": np.zeros(0)}, "no state"),
    ],
)
def test_refused(change, message):
    given = {
        "log_start": np.zeros(2),
        "log_transition": np.zeros((2, 2)),
        "log_terms": np.zeros((3, 2)),
        "codes": np.array([0], dtype=np.int32),
        "offsets": np.array([0, 1]),
    }
    with pytest.raises(ValueError, match=message):
        _core.chain_score(**{**given, **change})
