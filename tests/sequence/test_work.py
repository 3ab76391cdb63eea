"""The work of chains: forward, Viterbi and Baum-Welch end in what the library answers."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesbox as bb
from bayesbox.errors import BadData, BadOption
from bayesbox.sequence.forward_backward import expected, filtered
from bayesbox.sequence.steps import sequences_of

DAYS = ["walk", "shop", "clean"]


@pytest.fixture
def weather():
    return bb.HiddenMarkovModel.from_tables(
        start=[0.6, 0.4],
        transition=[[0.7, 0.3], [0.4, 0.6]],
        emission=[[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]],
        states=["rain", "dry"],
        symbols=DAYS,
    )


@pytest.fixture
def counted():
    return bb.HiddenMarkovModel().fit([DAYS, ["walk", "walk"]], [["dry", "rain", "rain"], ["dry", "dry"]])


def values(step):
    return [[None if cell.value is None else float(cell.value) for cell in row.cells] for row in step.rows]


def test_forward_in_fractions(weather):
    work = weather.work(DAYS, "forward")
    assert work.step("likelihood").rows[0].cells[0].value == Fraction(8403, 250000)
    assert float(work.step("likelihood").rows[1].cells[0].value) == pytest.approx(weather.score(DAYS), rel=1e-12)
    assert "(0.06 x 0.7 + 0.24 x 0.4) x 0.4 = 0.0552" in str(work)
    shares = np.array(values(work.step("scaled")))
    steps = weather._steps(sequences_of(DAYS))
    np.testing.assert_allclose(shares[:, 1:], filtered(weather.model_, steps)[1], rtol=1e-12)
    assert np.log(shares[:, 0]).sum() == pytest.approx(weather.score(DAYS), rel=1e-12)
    assert max(map(len, str(work).splitlines())) <= 100


def test_given_thirds_are_thirds():
    hmm = bb.HiddenMarkovModel.from_tables(
        start=[1 / 3, 2 / 3], transition=[[1 / 7, 6 / 7], [0.5, 0.5]], emission=[[1 / 6, 5 / 6], [0.25, 0.75]]
    )
    assert hmm.work([0, 1]).step("alpha").rows[0].cells[0].value == Fraction(1, 18)
    assert hmm.tables()["transition"].rows[0].cells[1].value == Fraction(6, 7)


def test_viterbi_trellis(weather):
    work = weather.work(DAYS, "viterbi")
    assert [work.states[place] for place in work.path] == weather.predict(DAYS).tolist() == ["dry", "rain", "rain"]
    assert work.step("path").rows[0].cells[0].value == Fraction(42, 3125)
    origins = [[cell.formula for cell in row.cells] for row in work.step("trellis").rows if "from" in row.name]
    assert origins == [["dry", "dry"], ["rain", "dry"]]
    drawn = work.svg()
    assert drawn.startswith("<svg")
    assert drawn.count("<circle") == 6
    assert drawn.count('stroke-width="4"') == 2  # the best path
    assert "<svg" not in work.text()


def test_ties_are_those_of_the_library():
    even = bb.HiddenMarkovModel.from_tables(
        start=[0.5, 0.5], transition=[[0.5, 0.5], [0.5, 0.5]], emission=[[0.3, 0.7], [0.3, 0.7]]
    )
    sequence = [0, 1, 1, 0]
    work = even.work(sequence, "viterbi")
    assert [int(work.states[place]) for place in work.path] == even.predict(sequence).tolist()


def test_one_round_of_baum_welch(weather):
    work = weather.work(DAYS, "baum-welch", smoothing="mle")
    steps = weather._steps(sequences_of(DAYS))
    counts = expected(weather.model_, steps)
    np.testing.assert_allclose(values(work.step("gamma")), weather.predict_proba(DAYS), rtol=1e-12)
    pairs = np.array(values(work.step("xi"))).sum(axis=0).reshape(2, 2)
    np.testing.assert_allclose(pairs, counts.transition, rtol=1e-12)
    learner = bb.HiddenMarkovModel(
        2, smoothing="mle", start_smoothing="mle", transition_smoothing="mle", iterations=1, columns={0: "category"}
    )
    learned = learner.fit(DAYS, initial=weather)
    np.testing.assert_allclose(values(work.step("start"))[0], learned.start_, rtol=1e-12)
    np.testing.assert_allclose(values(work.step("transition")), learned.transition_, rtol=1e-12)
    assert list(work.step("emission").columns) == list(learned.symbols_)
    np.testing.assert_allclose(values(work.step("emission")), learned.emission_, rtol=1e-12)
    before, after = (row.cells[0].value for row in work.step("likelihood").rows)
    assert before == pytest.approx(weather.score(DAYS), rel=1e-12)
    assert after == pytest.approx(learned.score(DAYS), rel=1e-12)
    assert after > before


def test_counted_chains_show_their_counts(counted):
    tables = counted.tables()
    assert list(tables) == ["start", "transition", "0"]
    cell = tables["transition"].rows[0].cells[1]
    assert (cell.formula, cell.value) == ("(1 + 1)/(2 + 2)", Fraction(1, 2))
    np.testing.assert_allclose(values(tables["start"])[0], counted.start_, rtol=1e-12)
    np.testing.assert_allclose(values(tables["transition"]), counted.transition_, rtol=1e-12)
    np.testing.assert_allclose(values(tables["0"]), counted.emission_, rtol=1e-12)
    assert counted.work(DAYS).step("likelihood").rows[0].cells[0].value == Fraction(221, 4500)
    assert counted.score(DAYS) == pytest.approx(math.log(221 / 4500), rel=1e-12)
    assert "free" in str(tables)
    assert tables.parameters == {"free": counted.n_parameters}


def test_learned_chains_and_numbers():
    random = np.random.default_rng(1)
    rows = np.concatenate([random.normal(0, 1, 30), random.normal(6, 1, 30)])
    hmm = bb.HiddenMarkovModel(2).fit(rows)
    work = hmm.work(rows[25:35])
    assert float(work.step("likelihood").rows[1].cells[0].value) == pytest.approx(hmm.score(rows[25:35]), rel=1e-12)
    path = hmm.work(rows[25:35], "viterbi")
    assert [hmm.states_[place] for place in path.path] == hmm.predict(rows[25:35]).tolist()
    gamma = values(hmm.work(rows[25:35], "baum-welch").step("gamma"))
    np.testing.assert_allclose(gamma, hmm.predict_proba(rows[25:35]), rtol=1e-9, atol=1e-300)
    means = [row.cells[0].value for row in hmm.tables()["0"].rows]
    np.testing.assert_allclose(means, hmm.model_.conditionals[0].mean_and_std()[0])


def test_missing_values_say_nothing(weather):
    work = weather.work(["walk", None, "clean"])
    assert "2: missing" in str(work)
    score = float(work.step("likelihood").rows[1].cells[0].value)
    assert score == pytest.approx(weather.score(["walk", None, "clean"]), rel=1e-12)


def test_what_has_no_work(weather):
    with pytest.raises(BadOption, match="baum-welch"):
        weather.work(DAYS, "backward")
    with pytest.raises(BadOption, match="smoothing"):
        weather.work(DAYS, "forward", smoothing="mle")
    with pytest.raises(BadData, match="one sequence"):
        weather.work([DAYS, DAYS])
    with pytest.raises(BadData, match="100 steps"):
        weather.work(DAYS * 40)
    never = bb.HiddenMarkovModel.from_tables(start=[1, 0], transition=[[1, 0], [0, 1]], emission=[[1, 0], [0, 1]])
    assert never.work([0, 1]).step("likelihood").rows[0].cells[0].value == 0
    for algorithm in ("viterbi", "baum-welch"):
        with pytest.raises(BadData, match="impossible"):
            never.work([0, 1], algorithm)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.integers(1, 5), length=st.integers(1, 8))
def test_law_of_random_chains(seed, size, length):
    random = np.random.default_rng(seed)
    hmm = bb.HiddenMarkovModel.from_tables(
        start=random.dirichlet(np.ones(size)),
        transition=random.dirichlet(np.ones(size), size=size),
        emission=random.dirichlet(np.ones(3), size=size),
    )
    sequence = random.integers(0, 3, size=length)
    work = hmm.work(sequence)
    assert float(work.step("likelihood").rows[1].cells[0].value) == pytest.approx(hmm.score(sequence), rel=1e-12)
    path = hmm.work(sequence, "viterbi")
    assert [int(path.states[place]) for place in path.path] == hmm.predict(sequence).tolist()
    gamma = values(hmm.work(sequence, "baum-welch").step("gamma"))
    np.testing.assert_allclose(gamma, hmm.predict_proba(sequence), rtol=1e-11)
