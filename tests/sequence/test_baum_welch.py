"""Baum-Welch: the likelihood never falls, what made the data is found again, and hmmlearn agrees."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.sequence.states import StateChoice

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


@pytest.mark.parametrize("tolerance", [1e-4, 1e-5, 1e-7])
def test_it_ends_with_the_first_round_that_changes_no_more_than_the_tolerance(tolerance):
    _, sequences, _ = made(1)
    hmm = bb.HiddenMarkovModel(3, **PLAIN, iterations=2000, tolerance=tolerance, restarts=1).fit(sequences)
    now = np.array(hmm.history_)
    changes = np.abs(np.diff(now)) / (1 + np.abs(now[1:]))
    assert hmm.converged_
    assert len(changes) > 1
    assert changes[-1] <= tolerance < changes[:-1].min()


def test_without_a_tolerance_every_round_is_taken():
    _, sequences, _ = made(1)
    hmm = bb.HiddenMarkovModel(3, **PLAIN, iterations=30, tolerance=0, restarts=1).fit(sequences)
    assert len(hmm.history_) == 30


def test_same_seed_same_model():
    _, sequences, _ = made(2)
    first, second = (bb.HiddenMarkovModel(3, iterations=8, seed=9).fit(sequences) for _ in range(2))
    assert first.book_ == second.book_


def test_progress_is_told():
    told = []
    bb.HiddenMarkovModel(2, iterations=4, restarts=1, tolerance=0).fit(
        ["a", "b", "a", "a"], progress=lambda *news: told.append(news)
    )
    assert [share for share, _, _ in told] == [0.25, 0.5, 0.75, 0.99, 1.0]
    assert [what.split(",")[0] for _, _, what in told] == ["round 1", "round 2", "round 3", "round 4", "done"]


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


def test_variances_do_not_collapse():
    """A value that comes up again and again draws a state to itself; the prior keeps its deviation."""
    random = np.random.default_rng(0)
    values = np.where(random.random(400) < 0.3, 3.0, random.normal(0.0, 10.0, size=400))
    kinds = {"0": bb.Real("gaussian", floor=0)}
    hmm = bb.HiddenMarkovModel(2, columns=kinds, iterations=60).fit(values)
    [density] = hmm.model_.conditionals
    rows = np.array([float(each) for each in hmm.book_.emission["0"].n])
    least = np.sqrt(values.var() / (rows + 1))  # what one row of the whole column's variance leaves
    assert (density.std >= least * (1 - 1e-12)).all()
    assert np.isfinite(hmm.history_).all()


def test_number_prior_is_so_many_rows_of_the_whole_column():
    from fractions import Fraction

    values, states = [1.0, 2.0, 4.0, 8.0, 9.0], ["a", "a", "a", "b", "b"]
    hmm = bb.HiddenMarkovModel(number_prior=2.5).fit(values, states)
    [density] = hmm.model_.conditionals
    exact = [Fraction(value) for value in values]
    mean = sum(exact) / 5
    variance = sum((value - mean) ** 2 for value in exact) / 5
    rows = Fraction(5, 2)
    for place, own in enumerate((exact[:3], exact[3:])):
        middle = (sum(own) + rows * mean) / (len(own) + rows)
        squares = sum(value * value for value in own) + rows * (variance + mean * mean)
        assert density.mean[place] == float(middle)
        assert density.std[place] == pytest.approx(float(squares / (len(own) + rows) - middle**2) ** 0.5, rel=1e-15)
    plain = bb.HiddenMarkovModel().fit(values, states).model_.conditionals[0]  # counted: as naive Bayes has it
    assert plain.mean.tolist() == [7 / 3, 8.5]


def test_likelihood_times_normal_prior_never_falls():
    random = np.random.default_rng(5)
    values = np.concatenate([random.normal(0, 1, 60), random.normal(3, 2, 60)])
    how = {**PLAIN, "columns": {"0": bb.Real("gaussian", floor=0)}, "number_prior": 3.0}
    hmm = bb.HiddenMarkovModel(2, iterations=1, restarts=1, **how).fit(values)
    before = -np.inf
    for _ in range(20):
        [density] = hmm.model_.conditionals
        squares = values.var() + (values.mean() - density.mean) ** 2
        prior = float((-3.0 * np.log(density.std) - 1.5 * squares / density.std**2).sum())
        now = hmm.score(values) + prior
        assert now >= before - 1e-9
        before = now
        hmm = bb.HiddenMarkovModel(2, iterations=1, **how).fit(values, initial=hmm)


@pytest.mark.parametrize("choose", ["bic", "cv"])
@pytest.mark.parametrize("many", [False, True])
def test_number_of_states(choose, many):
    random = np.random.default_rng(3)
    hidden = np.repeat(np.tile([0, 1, 2], 8), 15)
    values = random.normal(np.array([0.0, 6.0, 12.0])[hidden], 1.0)
    lengths = [45] * 8 if many else None
    hmm = bb.HiddenMarkovModel("1..5", choose=choose, iterations=30).fit(values, lengths=lengths)
    assert list(hmm.choice_.scores) == [1, 2, 3, 4, 5]
    assert hmm.choice_.best == 3 == len(hmm.states_)
    if choose == "bic":
        assert hmm.choice_.scores[3] == pytest.approx(hmm.bic(values, lengths=lengths), rel=1e-12)


@pytest.mark.parametrize(("by", "scores"), [("bic", {2: 7.0, 1: 7.0, 3: 9.0}), ("cv", {3: -1.0, 2: -1.0, 4: -2.0})])
def test_of_numbers_of_states_with_equal_scores_the_smaller_is_taken(by, scores):
    assert StateChoice(by, scores).best == min(scores)


def test_held_out_likelihood_is_that_of_models_without_the_fold():
    from bayesbox.stat.folds import shuffle_keys

    sequences = [list("aabba"), list("abab"), list("bbbaab"), list("ab")]
    hmm = bb.HiddenMarkovModel("2..2", choose="cv", folds=2, iterations=5, restarts=1).fit(sequences)
    fold = np.empty(4, dtype=int)
    fold[np.argsort(shuffle_keys(4, seed=0, repeat=0))] = [0, 1, 0, 1]
    total = 0.0
    for part in (0, 1):
        learned = bb.HiddenMarkovModel(2, iterations=5, restarts=1).fit(
            [sequences[q] for q in np.flatnonzero(fold != part)]
        )
        total += sum(learned.score([sequences[q] for q in np.flatnonzero(fold == part)]))
    assert hmm.choice_.scores[2] == pytest.approx(total / 17, rel=1e-12)


def test_auto_stops_once_it_gets_worse_and_keeps_known_states():
    values = np.random.default_rng(0).normal(size=80)
    assert list(bb.HiddenMarkovModel("auto", iterations=10).fit(values).choice_.scores) == [1, 2, 3]
    labels = ["x", "y", "z", *[None] * 77]
    assert min(bb.HiddenMarkovModel("auto", iterations=5).fit(values, labels).choice_.scores) == 3


@pytest.mark.parametrize("states", ["many", "3..2", "0..4", "2.."])
def test_states_that_cannot_be_chosen_from(states):
    with pytest.raises(bb.errors.BadOption):
        bb.HiddenMarkovModel(states)
    with refusal(bb.errors.BadOption, found="aic"):
        bb.HiddenMarkovModel("auto", choose="aic")
    with refusal(bb.errors.BadOption, found=-1):
        bb.HiddenMarkovModel(number_prior=-1)


@pytest.mark.parametrize("seed", range(2))
def test_equals_hmmlearn_on_numbers(seed):
    from hmmlearn import hmm as hmmlearn

    random = np.random.default_rng(seed)
    lengths = [40, 1, 75, 60]
    frame = {
        "level": random.normal(np.repeat([0.0, 4.0, 1.0, 5.0], 44), 1.0),
        "speed": random.normal(np.repeat([3.0, 2.0, 5.0, 5.5], 44), 0.7),
    }
    how = {**PLAIN, "columns": dict.fromkeys(frame, bb.Real("gaussian", floor=0)), "number_prior": 0}
    labels = random.integers(0, 3, size=176).tolist()
    start = bb.HiddenMarkovModel(3, **how).fit(frame, labels, lengths=lengths)  # any beginning will do
    fitted = bb.HiddenMarkovModel(3, **how, iterations=10, tolerance=0).fit(frame, lengths=lengths, initial=start)
    peer = hmmlearn.GaussianHMM(
        3, covariance_type="diag", n_iter=10, tol=-np.inf, init_params="", covars_prior=0, covars_weight=1, min_covar=0
    )
    peer.startprob_, peer.transmat_ = start.start_, start.transition_
    peer.means_ = np.column_stack([each.mean for each in start.model_.conditionals])
    peer.covars_ = np.column_stack([each.std**2 for each in start.model_.conditionals])
    steps = np.column_stack([frame[name] for name in start.model_.columns])
    assert sum(start.score(frame, lengths=lengths)) == pytest.approx(peer.score(steps, lengths), rel=1e-9)
    shares = np.vstack(start.predict_proba(frame, lengths=lengths))
    np.testing.assert_allclose(shares, peer.predict_proba(steps, lengths), atol=1e-9)
    assert np.concatenate(start.predict(frame, lengths=lengths)).tolist() == peer.predict(steps, lengths).tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer.fit(steps, lengths)
    np.testing.assert_allclose(fitted.transition_, peer.transmat_, atol=1e-9)
    means = np.column_stack([each.mean for each in fitted.model_.conditionals])
    np.testing.assert_allclose(means, peer.means_, atol=1e-9)
    spread = np.column_stack([each.std for each in fitted.model_.conditionals])
    np.testing.assert_allclose(spread**2, np.array([np.diag(each) for each in peer.covars_]), atol=1e-9)


@pytest.mark.parametrize("labels", [None, [None, "dry", None, None, "rain", None]])
def test_states_of_a_first_model_keep_their_names(labels):
    rows = {"rain": [0.1, 0.4, 0.5], "dry": [0.6, 0.3, 0.1]}
    follows = {"rain": [0.7, 0.3], "dry": [0.4, 0.6]}
    learned = []
    for order in (["rain", "dry"], ["dry", "rain"]):
        first = bb.HiddenMarkovModel.from_tables(
            start=[0.5, 0.5],
            transition=[follows[state] if order[0] == "rain" else follows[state][::-1] for state in order],
            emission=[rows[state] for state in order],
            states=order,
            symbols=["walk", "shop", "clean"],
        )
        days = ["walk", "shop", "clean", "clean", "clean", "walk"]
        learned.append(bb.HiddenMarkovModel(order, iterations=2).fit(days, labels, initial=first))
    assert learned[0].states_.tolist() == learned[1].states_.tolist()
    np.testing.assert_allclose(learned[0].emission_, learned[1].emission_, rtol=1e-12)
    np.testing.assert_allclose(learned[0].transition_, learned[1].transition_, rtol=1e-12)
    walk = learned[0].symbols_.index("walk")
    dry = learned[0].states_.tolist().index("dry")
    assert learned[0].emission_[dry, walk] > learned[0].emission_[1 - dry, walk]
