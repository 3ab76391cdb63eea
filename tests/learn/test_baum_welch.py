"""Baum-Welch: the likelihood never falls, what made the data is found again, and hmmlearn agrees."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import bayesbox as bb

PLAIN = dict.fromkeys(["smoothing", "start_smoothing", "transition_smoothing"], "mle")


def made(seed: int, states: int = 3, symbols: int = 4):
    random = np.random.default_rng(seed)
    tables = {
        "start": random.dirichlet(np.ones(states)),
        "transition": random.dirichlet(np.ones(states), size=states),
        "emission": random.dirichlet(np.ones(symbols), size=states),
    }
    hmm = bb.HiddenMarkovModel.from_tables(**tables)
    lengths = random.integers(5, 60, size=12).tolist()
    sequences = [np.array(hmm.sample(length, seed=seed * 100 + k).sequence) for k, length in enumerate(lengths)]
    return tables, sequences, lengths


def start_from(seed: int, states: int = 3, symbols: int = 4):
    random = np.random.default_rng(1000 + seed)
    return {
        "start": random.dirichlet(np.ones(states)),
        "transition": random.dirichlet(np.ones(states), size=states),
        "emission": random.dirichlet(np.ones(symbols), size=states),
    }


@pytest.mark.parametrize("seed", range(3))
def test_likelihood_never_falls(seed):
    _, sequences, _ = made(seed)
    hmm = bb.HiddenMarkovModel(3, **PLAIN, iterations=60, tolerance=0, restarts=1, seed=seed).fit(sequences)
    history = np.array(hmm.history_)
    assert (np.diff(history) >= -1e-9 * np.abs(history[1:])).all()
    assert sum(hmm.score(sequences)) >= history[-1] - 1e-9


def test_likelihood_times_prior_never_falls():
    _, sequences, _ = made(7)
    before = -np.inf
    hmm = bb.HiddenMarkovModel.from_tables(**start_from(7))
    for _ in range(15):
        fitted = bb.HiddenMarkovModel(3, iterations=1).fit(sequences, initial=hmm)
        tables = fitted.start_, fitted.transition_, fitted.emission_
        now = sum(fitted.score(sequences)) + sum(float(np.log(table).sum()) for table in tables)
        assert now >= before - 1e-9
        before, hmm = now, fitted


def test_states_are_found_again():
    random = np.random.default_rng(4)
    states = np.zeros(600, dtype=int)
    for step in range(1, 600):
        states[step] = states[step - 1] if random.random() < 0.95 else 1 - states[step - 1]
    values = random.normal(np.array([0.0, 5.0])[states], np.array([1.0, 0.5])[states])
    hmm = bb.HiddenMarkovModel(2).fit(values)
    path = hmm.predict(values)
    agree = np.mean(path == states)
    assert max(agree, 1 - agree) > 0.98
    assert hmm.converged_
    assert sorted(hmm.model_.conditionals[0].mean.round(1)) == pytest.approx([0.0, 5.0], abs=0.2)


def test_same_seed_same_model():
    _, sequences, _ = made(2)
    first, second = (bb.HiddenMarkovModel(3, iterations=8, seed=9).fit(sequences) for _ in range(2))
    assert first.book_ == second.book_


def test_progress_is_told():
    told = []
    bb.HiddenMarkovModel(2, iterations=4, restarts=1, tolerance=0).fit(
        ["a", "b", "a", "a"], progress=lambda step, log_likelihood: told.append((step, log_likelihood))
    )
    assert [step for step, _ in told] == [1, 2, 3, 4]


def log_joint(tables, path, symbols, lengths):
    """log P(path, symbols)."""
    first = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    later = np.setdiff1d(np.arange(len(path)), first)
    terms = (
        tables["start"][path[first]],
        tables["transition"][path[later - 1], path[later]],
        tables["emission"][path, symbols],
    )
    return sum(float(np.log(each).sum()) for each in terms)


@pytest.mark.parametrize("seed", range(3))
def test_equals_hmmlearn(seed):
    from hmmlearn import hmm as hmmlearn

    _, sequences, lengths = made(seed)
    tables = start_from(seed)
    peer = hmmlearn.CategoricalHMM(3, n_iter=10, tol=-np.inf, init_params="", implementation="scaling")
    peer.startprob_, peer.transmat_, peer.emissionprob_ = tables["start"], tables["transition"], tables["emission"]
    peer.n_features = 4
    ours = bb.HiddenMarkovModel.from_tables(**tables)
    flat = np.concatenate(sequences)[:, None]
    assert sum(ours.score(sequences)) == pytest.approx(peer.score(flat, lengths), rel=1e-9)
    np.testing.assert_allclose(np.vstack(ours.predict_proba(sequences)), peer.predict_proba(flat, lengths), atol=1e-9)
    path = np.concatenate(ours.predict(sequences))  # where paths tie, hmmlearn takes the last state and we the first
    assert log_joint(tables, path, flat[:, 0], lengths) == pytest.approx(peer.decode(flat, lengths)[0], rel=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer.fit(flat, lengths)
    fitted = bb.HiddenMarkovModel(3, **PLAIN, iterations=10, tolerance=0).fit(sequences, initial=ours)
    np.testing.assert_allclose(fitted.start_, peer.startprob_, atol=1e-9)
    np.testing.assert_allclose(fitted.transition_, peer.transmat_, atol=1e-9)
    np.testing.assert_allclose(fitted.emission_, peer.emissionprob_, atol=1e-9)
