"""The hidden Markov model: by enumeration, by hand counts, and where other implementations give NaN."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from tests.refusal import refusal, warning

import bayesbox as bb
from bayesbox.errors import ImpossibleRows

WEATHER = {
    "start": [0.6, 0.4],
    "transition": [[0.7, 0.3], [0.4, 0.6]],
    "emission": [[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]],
    "states": ["rain", "dry"],
    "symbols": ["walk", "shop", "clean"],
}


@pytest.fixture
def weather() -> bb.HiddenMarkovModel:
    return bb.HiddenMarkovModel.from_tables(**WEATHER)


def enumerated(sequence):
    """(P(sequence), P(state | sequence), the best path), by the sum over all paths."""
    start, transition, emission = (np.array(WEATHER[key]) for key in ("start", "transition", "emission"))
    total, rows, best = 0.0, np.zeros((len(sequence), 2)), (-1.0, None)
    for path in itertools.product(range(2), repeat=len(sequence)):
        p = 1.0
        for t, (state, symbol) in enumerate(zip(path, sequence, strict=True)):
            p *= start[state] if t == 0 else transition[path[t - 1], state]
            p *= 1.0 if symbol is None else emission[state, WEATHER["symbols"].index(symbol)]
        total += p
        for t, state in enumerate(path):
            rows[t, state] += p
        if p > best[0]:
            best = (p, path)
    return total, rows / total, [WEATHER["states"][state] for state in best[1]]


@pytest.mark.parametrize("seed", range(12))
def test_equals_enumeration(weather, seed):
    random = np.random.default_rng(seed)
    sequence = [[*WEATHER["symbols"], None][code] for code in random.integers(0, 4, size=random.integers(1, 8))]
    total, rows, path = enumerated(sequence)
    assert weather.score(sequence) == pytest.approx(np.log(total), abs=1e-12)
    np.testing.assert_allclose(weather.predict_proba(sequence), rows, atol=1e-12)
    assert weather.predict(sequence).tolist() == path


def test_equals_the_unrolled_network(weather):
    network = weather.to_network(3)
    evidence = {"symbol1": "walk", "symbol3": "clean"}
    assert network.log_probability(evidence) == pytest.approx(weather.score(["walk", None, "clean"]), abs=1e-12)
    found = network.posteriors(evidence)
    rows = weather.predict_proba(["walk", None, "clean"])
    for step in range(3):
        for index, state in enumerate(WEATHER["states"]):
            assert found[f"state{step + 1}"][state] == pytest.approx(rows[step, index], abs=1e-12)


def test_several_sequences_give_a_list(weather):
    both = [["walk", "shop"], ["clean"]]
    assert weather.score(both) == [weather.score(both[0]), weather.score(both[1])]
    assert [path.tolist() for path in weather.predict(both)] == [weather.predict(each).tolist() for each in both]
    assert [rows.shape for rows in weather.predict_proba(both)] == [(2, 2), (1, 2)]
    flat = ["walk", "shop", "clean"]
    assert weather.score(flat, lengths=[2, 1]) == weather.score(both)


def test_frame_by_its_columns(weather):
    frame = pd.DataFrame(
        {"day": [2, 1, 1, 3], "0": ["shop", "walk", "clean", "clean"], "who": ["a", "a", "b", "a"]},
    )
    path = weather.predict(frame, sequence="who", order="day")
    assert path.shape == (4,)
    assert path[[1, 0, 3]].tolist() == weather.predict(["walk", "shop", "clean"]).tolist()
    assert weather.score(frame, sequence="who", order="day")[1] == weather.score(["clean"])
    with refusal(bb.BadData, column="whom"):
        weather.score(frame, sequence="whom")


def test_every_form_of_a_sequence(weather):
    score = weather.score(["walk", None, "clean"])
    frame = pd.DataFrame({"seen": ["walk", None, "clean"]})
    for form in (
        ("walk", None, "clean"),
        np.array(["walk", None, "clean"], dtype=object),
        np.array([["walk"], [None], ["clean"]], dtype=object),
        frame,
        frame["seen"],
        {"0": ["walk", None, "clean"]},
        [{"0": "walk"}, {}, {"0": "clean"}],
    ):
        assert weather.score(form) == score
    for forms in (
        [frame, frame[:0], frame],
        [[{"0": "walk"}, {"0": None}, {"0": "clean"}], [], frame["seen"].tolist()],
    ):
        assert weather.score(forms) == [score, 0.0, score]
    letters = bb.HiddenMarkovModel.from_tables(start=[1], transition=[[1]], emission=[[0.5, 0.5]], symbols=["a", "b"])
    assert letters.score("abba") == pytest.approx(4 * np.log(0.5))
    assert letters.score("") == 0.0


def test_integers_of_any_type():
    hmm = bb.HiddenMarkovModel(1, smoothing="mle").fit(np.array([-128, 127, 127], dtype=np.int8))
    assert hmm.symbols_ == ("-128", "127")
    assert hmm.score(np.array([-128, 127], dtype=np.int8)) == pytest.approx(np.log(2 / 9))
    assert hmm.score(np.array([-128, 127])) == hmm.score([-128, 127])
    strict = bb.HiddenMarkovModel(1, unseen="error").fit([0, 2])
    assert np.isfinite(strict.score(np.array([0, 2])))
    with refusal(bb.BadData, column="0", found="1"):
        strict.score(np.array([0, 1]))


def test_several_columns_as_an_array():
    values = np.array([[0.0, 1.0], [0.1, 1.2], [5.0, -3.0], [5.1, -3.3]])
    hmm = bb.HiddenMarkovModel(2).fit(values)
    path = hmm.predict(values)
    assert path[0] == path[1] != path[2] == path[3]
    assert hmm.predict([values, values[2:]])[1].tolist() == [path[2], path[2]]
    sequence, states = hmm.sample(5)
    assert {name: len(column) for name, column in sequence.items()} == {"0": 5, "1": 5}
    assert len(states) == 5


def test_labelled_fit_is_counting():
    sequences = [["walk", "shop", "walk"], ["clean"]]
    states = [["dry", "rain", "dry"], ["rain"]]
    hmm = bb.HiddenMarkovModel(smoothing="mle", start_smoothing="mle", transition_smoothing="laplace")
    hmm.fit(sequences, states)
    assert hmm.states_.tolist() == ["dry", "rain"]
    np.testing.assert_allclose(hmm.start_, [1 / 2, 1 / 2])
    np.testing.assert_allclose(hmm.transition_, [[1 / 3, 2 / 3], [2 / 3, 1 / 3]])
    assert hmm.symbols_ == ("clean", "shop", "walk")
    np.testing.assert_allclose(hmm.emission_, [[0, 0, 1], [1 / 2, 1 / 2, 0]])


def test_forget_and_merge_are_exact():
    first, second = (["walk", "shop"], ["dry", "rain"]), (["clean", "clean", "walk"], ["rain", "rain", "dry"])
    both = bb.HiddenMarkovModel().fit([first[0], second[0]], [first[1], second[1]])
    alone = bb.HiddenMarkovModel().fit(*first)
    other = bb.HiddenMarkovModel().fit(*second)
    assert (alone + other).book_.digest() == both.book_.digest()
    assert bb.HiddenMarkovModel().fit(*first).partial_fit(*second).book_ == both.book_
    assert both.forget(*second).book_ == alone.book_
    with pytest.raises(bb.CannotForget):
        both.forget(*second)
    assert both.book_ == alone.book_


def test_numbers_strings_and_holes_together():
    random = np.random.default_rng(3)
    states = np.repeat([0, 1, 0, 1], 60)
    frame = pd.DataFrame(
        {
            "level": random.normal(states * 4.0, 1.0),
            "light": np.where(random.random(240) < 0.2 + 0.6 * states, "on", "off"),
        }
    )
    frame.loc[::7, "level"] = np.nan
    frame.loc[::5, "light"] = None
    hmm = bb.HiddenMarkovModel(states=2, seed=1).fit(frame)
    path = hmm.predict(frame)
    agree = np.mean(path == states)
    assert max(agree, 1 - agree) > 0.95
    assert np.isfinite(hmm.predict_proba(frame)).all()
    assert hmm.n_parameters == 1 + 2 + 2 * 2 + 2
    assert np.isfinite(hmm.bic(frame))


def test_some_labels_are_known():
    sequences = [list("aabbaabb"), list("aaabbb"), list("bbaa")]
    labels = [["A", None, None, "B", None, None, None, None], [None] * 6, ["B", None, None, None]]
    hmm = bb.HiddenMarkovModel(states=2, restarts=1).fit(sequences, labels)
    assert hmm.states_.tolist() == ["A", "B"]
    assert hmm.predict("aabb").tolist() == ["A", "A", "B", "B"]
    with pytest.raises(bb.CannotForget):
        hmm.forget(sequences, labels)


@pytest.mark.parametrize(
    ("states", "sequences"),
    [
        (2, [["a"]]),
        (1, [["a", "b", "a"]]),
        (6, [["a", "b"]]),
        (3, [[None, None, None], ["a", None]]),
        (2, [[1.0, 1.0, 1.0]]),
        (2, [[1.5], [2.5]]),
        (2, [["a"], []]),
    ],
)
@pytest.mark.parametrize("rule", ["laplace", "mle"])
def test_nothing_is_nan(states, sequences, rule):
    options = dict.fromkeys(["smoothing", "start_smoothing", "transition_smoothing"], rule)
    hmm = bb.HiddenMarkovModel(states, **options).fit(sequences)
    assert np.isfinite(hmm.score(sequences)).all()
    for sequence, rows in zip(sequences, hmm.predict_proba(sequences), strict=True):
        assert rows.shape == (len(sequence), states)
        np.testing.assert_allclose(rows.sum(axis=1), 1.0)
    assert [len(path) for path in hmm.predict(sequences)] == [len(sequence) for sequence in sequences]
    np.testing.assert_allclose(hmm.transition_.sum(axis=1), 1.0)
    np.testing.assert_allclose(hmm.forecast(sequences[0], 3).states.sum(axis=1), 1.0)


def test_unseen_symbol_by_the_rule():
    hmm = bb.HiddenMarkovModel(states=2, seed=2).fit([["a", "b", "a", "b"]])
    assert np.isfinite(hmm.score(["a", "never"]))
    assert np.isfinite(hmm.predict_proba(["never", "never"])).all()


def test_zero_transitions():
    hmm = bb.HiddenMarkovModel.from_tables(
        start=[1, 0, 0], transition=[[0.5, 0.5, 0], [0, 0.5, 0.5], [0, 0, 1]], emission=[[1, 0], [0.5, 0.5], [0, 1]]
    )
    assert hmm.predict([0, 0, 1, 1]).tolist() == [0, 1, 2, 2]
    assert hmm.score([1, 0]) == -np.inf
    with warning(ImpossibleRows, count=1, rows=1):
        rows = hmm.predict_proba([1, 0])
    np.testing.assert_allclose(rows, [[1, 0, 0], [0.5, 0.5, 0]])


def test_long_chain():
    hmm = bb.HiddenMarkovModel.from_tables(
        start=[0.5, 0.5], transition=[[0.99, 0.01], [0.02, 0.98]], emission=[[0.9, 0.1], [0.2, 0.8]]
    )
    sequence = np.random.default_rng(0).integers(0, 2, size=1_000_000)
    score = hmm.score(sequence)
    half = hmm.score(sequence[:500_000]) + hmm.score(sequence[500_000:])
    assert np.isfinite(score)
    assert score == pytest.approx(half, abs=10)
    rows = hmm.predict_proba(sequence)
    assert np.abs(rows.sum(axis=1) - 1).max() < 1e-12
    assert len(hmm.predict(sequence)) == 1_000_000


def test_filter_and_forecast(weather):
    stream = weather.filter()
    for step in ["walk", None, "clean"]:
        stream.update(step)
    assert stream.log_likelihood == pytest.approx(weather.score(["walk", None, "clean"]), abs=1e-12)
    np.testing.assert_allclose(stream.probabilities, weather.predict_proba(["walk", None, "clean"])[-1], atol=1e-12)
    found = weather.forecast(["walk", None, "clean"], 2)
    np.testing.assert_allclose(found.states, stream.forecast(2).states, atol=1e-12)
    np.testing.assert_allclose(found.states, weather.predict_proba(["walk", None, "clean", None, None])[3:], atol=1e-12)
    assert found.levels == ("walk", "shop", "clean")
    np.testing.assert_allclose(found.symbols, found.states @ np.array(WEATHER["emission"]), atol=1e-12)
    np.testing.assert_allclose(weather.forecast(steps=1).states[0], WEATHER["start"])


def test_sample(weather):
    sequence, states = weather.sample(20_000, seed=5)
    assert weather.sample(20_000, seed=5).sequence == sequence
    share = np.mean(np.array(sequence)[states == "rain"] == "clean")
    assert share == pytest.approx(0.5, abs=0.02)
    assert isinstance(
        bb.HiddenMarkovModel.from_tables(start=[1], transition=[[1]], emission=[[0.5, 0.5]]).sample(3).sequence[0], int
    )


@pytest.mark.parametrize("kind", ["given", "counted", "learned", "numbers"])
def test_file_round_trip(weather, tmp_path, kind):
    data: list = [["walk", "shop", "walk"], ["clean", "walk"]]
    hmm = weather
    if kind == "counted":
        hmm = bb.HiddenMarkovModel().fit(data, [["dry", "rain", "dry"], ["rain", "dry"]])
    elif kind == "learned":
        hmm = bb.HiddenMarkovModel(3, iterations=5).fit(data)
    elif kind == "numbers":
        data = [[0.5, 1.5, 9.0, 8.5], [9.1, None]]
        hmm = bb.HiddenMarkovModel(2, iterations=5, smoothing="lidstone:0.5").fit(data)
    path = tmp_path / "model.bayes"
    hmm.save(path)
    again = bb.HiddenMarkovModel.load(path)
    assert again.score(data) == hmm.score(data)
    assert bb.load(path).score(data) == hmm.score(data)
    assert again.states_.tolist() == hmm.states_.tolist()
    assert again.book_ == hmm.book_
    again.save(tmp_path / "again.bayes")
    assert (tmp_path / "again.bayes").read_bytes() == path.read_bytes()
    if kind == "counted":
        again.forget(data[1], ["rain", "dry"])
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(bb.BadModelFile):
        bb.HiddenMarkovModel.load(path)


@pytest.mark.parametrize(
    "wrong",
    [
        {"start": [0.5, 0.6]},
        {"transition": [[1, 0]]},
        {"emission": [[0.1, 0.9], [0.5, 0.5]]},
        {"start": [-0.5, 1.5]},
        {"states": ["rain", "rain"]},
        {"start": None},
        {"start": 0.5},
        {"transition": [0.5, 0.5]},
        {"emission": [["often", 0.5, 0.5], [0.1, 0.4, 0.5]]},
        {"transition": [{"rain": 1.0, "snow": 0.0}, {"rain": 0.5, "dry": 0.5}]},
    ],
)
def test_tables_that_are_none(wrong):
    with pytest.raises(bb.BadOption):
        bb.HiddenMarkovModel.from_tables(**{**WEATHER, **wrong})


def test_states_that_are_named_and_known(tmp_path):
    """Named states are there though no step has them, and a label that is none of them is refused."""
    hmm = bb.HiddenMarkovModel(["dry", "rain", "snow"]).fit(["walk", "walk", "shop"], ["dry", "dry", "rain"])
    assert hmm.states_.tolist() == ["dry", "rain", "snow"]
    assert hmm.transition_ == pytest.approx(np.array([[2 / 5, 2 / 5, 1 / 5], [1 / 3] * 3, [1 / 3] * 3]))
    again = bb.HiddenMarkovModel(["dry", "rain", "snow"]).partial_fit(["walk", "walk"], ["dry", "dry"])
    assert again.states_.tolist() == ["dry", "rain", "snow"]
    hmm.save(tmp_path / "named.bayes")
    loaded = bb.HiddenMarkovModel.load(tmp_path / "named.bayes")
    assert loaded.transition_.tolist() == hmm.transition_.tolist()
    for learn in (hmm.fit, hmm.partial_fit, loaded.partial_fit):
        with refusal(bb.BadOption, found=["hail"]):
            learn(["walk"], ["hail"])
    open_ = bb.HiddenMarkovModel().fit(["walk", "shop"], ["dry", "rain"])
    open_.save(tmp_path / "open.bayes")
    more = bb.HiddenMarkovModel.load(tmp_path / "open.bayes").partial_fit(["walk"], ["hail"])
    assert more.states_.tolist() == ["dry", "hail", "rain"]
    with refusal(bb.BadOption, found=1.5):
        bb.HiddenMarkovModel(1.5)


def test_the_number_of_states_is_that_of_the_labels():
    days, weather = ["walk", "shop", "clean"], ["dry", "rain", "snow"]
    for states in (None, 3, np.int64(3), "auto", "2..3"):
        assert bb.HiddenMarkovModel(states).fit(days, weather).states_.tolist() == weather
    for states in (2, 5, "4..6", "1..2"):
        with refusal(bb.BadOption, found=f"states={states}", remedy="states=[...]"):
            bb.HiddenMarkovModel(states).fit(days, weather)
    partly = ["dry", "rain", None]
    assert bb.HiddenMarkovModel().fit(days, partly).states_.tolist() == ["dry", "rain"]
    assert len(bb.HiddenMarkovModel().fit([*days, "walk"], [*weather, None]).states_) == 3
    assert len(bb.HiddenMarkovModel().fit(days).states_) == 2
    with refusal(bb.BadOption, found="states=1..2"):
        bb.HiddenMarkovModel("1..2").fit([*days, "walk"], [*weather, None])
    many = [f"s{place}" for place in range(10)]  # more than `auto` tries
    assert len(bb.HiddenMarkovModel("auto").fit(["a"] * 11, [*many, None]).states_) == 10
    hmm = bb.HiddenMarkovModel(2).partial_fit(days[:1], weather[:1]).partial_fit(days[1:2], weather[1:2])
    with refusal(bb.BadOption, found="states=2"):
        hmm.partial_fit(days[2:], weather[2:])


def test_labels_of_a_frame_that_was_filtered():
    """Its categories may be more than its rows have."""
    labels = pd.Series(pd.Categorical(["dry", None, "rain"], categories=["snow", "rain", "dry"]))
    for states in (2, ["dry", "rain"]):
        hmm = bb.HiddenMarkovModel(states).fit(["walk", "walk", "shop"], labels)
        assert hmm.states_.tolist() == ["dry", "rain"]


def test_arrays_of_another_width():
    hmm = bb.HiddenMarkovModel(2).fit(np.random.default_rng(0).normal(size=(20, 3)))
    for columns in (2, 4):
        with refusal(bb.BadData, found=columns):
            hmm.predict(np.zeros((5, columns)))


def test_tables_as_frames(weather):
    frames = {name: pd.DataFrame(WEATHER[name]) for name in ("transition", "emission")}
    same = bb.HiddenMarkovModel.from_tables(**{**WEATHER, **frames, "start": pd.Series(WEATHER["start"])})
    assert same.emission_.tolist() == weather.emission_.tolist()
    assert same.transition_.tolist() == weather.transition_.tolist()


def test_an_infinite_number_is_refused():
    hmm = bb.HiddenMarkovModel(2).fit([1.0, 2.0, 3.0, 4.0])
    for asked in (hmm.predict, hmm.predict_proba, hmm.score):
        with refusal(bb.BadData, column="0", where="row 2", found=float("inf")):
            asked([1.0, float("inf")])


def test_texts_are_learned_without_labels():
    random = np.random.default_rng(0)
    hidden = np.repeat([0, 1, 0, 1], 30)
    words = [["beach", "warm", "bright"], ["umbrella", "grey", "storm"]]
    texts = pd.DataFrame({"diary": [" ".join(random.choice(words[state], size=5)) for state in hidden]})
    path = bb.HiddenMarkovModel(2, columns={"diary": bb.Words()}).fit(texts).predict(texts)
    assert (path == hidden).all() or (path != hidden).all()


def test_a_first_model_of_another_size(weather):
    with refusal(bb.BadOption, found=["rain", "dry"]):
        bb.HiddenMarkovModel(3).fit(["walk", "shop", "clean"], initial=weather)


def test_errors_say_what(weather):
    with refusal(bb.BadData, found="steps [2, 1], labels [3]"):
        bb.HiddenMarkovModel().fit([["a", "b"], ["a"]], ["x", "y", "x"])
    with refusal(bb.BadOption, found=-1):
        bb.HiddenMarkovModel(seed=-1)
    with refusal(bb.BadData, remedy="fit"):
        bb.HiddenMarkovModel().predict(["a"])
    with refusal(bb.BadOption, found=0):
        bb.HiddenMarkovModel(0)
    with refusal(bb.BadData, what="step"):
        bb.HiddenMarkovModel().fit([[]])
    with pytest.raises(bb.CannotForget):
        weather.forget(["walk"], ["rain"])
    with pytest.raises(bb.CannotMerge):
        weather + weather
