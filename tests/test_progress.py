"""Progress: one protocol for all that takes long. And what an interrupt leaves behind: the model as it was."""

from __future__ import annotations

import copy
import signal
import time

import numpy as np
import pytest

import bayesbox as bb
from bayesbox.errors import BadOption

SEED = 1


def table(rows):
    generator = np.random.default_rng(SEED)
    label = generator.choice(["no", "yes"], rows)
    columns = {f"c{k}": generator.choice(["a", "b", "c"], rows) for k in range(6)}
    columns["x"] = generator.normal(np.where(label == "yes", 0, 1), 1)
    columns["c0"] = np.where(generator.random(rows) < 0.5, label, columns["c0"])
    return columns, label


X, Y = table(300)
LEVELS = {name: values.tolist() for name, values in X.items() if name != "x"}
HOLES = {**LEVELS, "c1": [None if place % 5 == 0 else value for place, value in enumerate(LEVELS["c1"])]}
SEQUENCES = [["walk", "shop", "walk", "clean"] * 5] * 4


def trained(path, progress):
    path.write_text("\n".join(["c0,c1,y", *(f"{a},{b},{y}" for a, b, y in zip(X["c0"], X["c1"], Y, strict=True))]))
    return bb.train(str(path), target="y", progress=progress)


WAYS = {
    "train": lambda path, progress: trained(path / "rows.csv", progress),
    "auto": lambda path, progress: bb.AutoBayes(budget=1, progress=progress).fit(X, Y),
    "hill": lambda path, progress: bb.learn_network(LEVELS, progress=progress),
    "bootstrap": lambda path, progress: bb.learn_network(LEVELS, method="pc", bootstrap=3, progress=progress),
    "em": lambda path, progress: bb.BayesianNetwork({"c0": [], "c1": ["c0"]}).fit(
        {name: HOLES[name] for name in ("c0", "c1")}, progress=progress
    ),
    "counted": lambda path, progress: bb.BayesianNetwork({"c0": [], "c1": ["c0"]}).fit(
        {name: LEVELS[name] for name in ("c0", "c1")}, progress=progress
    ),
    "hmm": lambda path, progress: bb.HiddenMarkovModel(2, iterations=15).fit(SEQUENCES, progress=progress),
    "hmm-auto": lambda path, progress: bb.HiddenMarkovModel("2..3", iterations=5).fit(SEQUENCES, progress=progress),
    "hmm-labelled": lambda path, progress: bb.HiddenMarkovModel().fit(SEQUENCES, SEQUENCES, progress=progress),
}


@pytest.mark.parametrize("way", WAYS)
def test_one_protocol(way, tmp_path):
    news = []
    WAYS[way](tmp_path, lambda *each: news.append(each))
    shares = [share for share, _, _ in news if share is not None]
    assert shares == sorted(shares)
    assert all(0 <= share <= 1 for share in shares)
    assert shares[-1] == 1
    assert all(left is None or left >= 0 for _, left, _ in news)
    assert all(isinstance(what, str) and what for _, _, what in news)


@pytest.mark.parametrize("way", [way for way in WAYS if way != "bootstrap"])
def test_what_is_no_function_is_refused(way, tmp_path):
    with pytest.raises(BadOption):
        WAYS[way](tmp_path, "loud")


# -- interrupts --------------------------------------------------------------------------------------------------


class Interrupted:
    """Raises KeyboardInterrupt at the third report."""

    def __init__(self):
        self.calls = 0

    def __call__(self, *news):
        self.calls += 1
        if self.calls == 3:
            raise KeyboardInterrupt


def test_a_hidden_markov_model_is_as_it_was():
    model = bb.HiddenMarkovModel(2, iterations=5).fit(SEQUENCES)
    before, history = model.digest(), list(model.history_)
    with pytest.raises(KeyboardInterrupt):
        model.fit([["swim", "walk"] * 9], progress=Interrupted())
    assert model.digest() == before
    assert model.history_ == history


def test_a_network_is_as_it_was():
    net = bb.BayesianNetwork({"c0": [], "c1": ["c0"]}).fit({name: LEVELS[name] for name in ("c0", "c1")})
    before, report = net.tables().to_dict(), net.fit_
    with pytest.raises(KeyboardInterrupt):
        net.fit({"c0": HOLES["c0"], "c1": HOLES["c1"]}, progress=Interrupted())
    assert net.tables().to_dict() == before
    assert net.fit_ is report


def test_auto_bayes_is_as_it_was():
    model = bb.AutoBayes(budget=1, progress=Interrupted())
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert not hasattr(model, "classifier_")


class Alarm:
    """While it lasts, SIGALRM after some seconds is a KeyboardInterrupt, as Ctrl-C is."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __enter__(self):
        self.rang = False
        self.before = signal.signal(signal.SIGALRM, self.ring)
        signal.setitimer(signal.ITIMER_REAL, self.seconds)
        return self

    def ring(self, number, frame):
        self.rang = True
        signal.default_int_handler(number, frame)

    def __exit__(self, *ended):
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)


@pytest.mark.parametrize("model", [bb.NaiveBayes(), bb.TAN(), bb.FullBayes()], ids=repr)
@pytest.mark.parametrize("change", ["fit", "partial_fit", "forget"])
def test_an_estimator_is_as_it_was_or_as_it_would_be(model, change):
    many, labels = table(30_000)
    fitted = model.fit(many, labels)
    many, labels = {name: values[::2] for name, values in many.items()}, labels[::2]
    before = fitted.book_.digest()
    wanted = copy.deepcopy(fitted)
    begun = time.perf_counter()
    getattr(wanted, change)(many, labels)
    took = time.perf_counter() - begun
    after, interrupted = wanted.book_.digest(), 0
    for share in (0.15, 0.5, 0.85):
        now = copy.deepcopy(fitted)
        alarm = Alarm(took * share)
        try:
            with alarm:
                getattr(now, change)(many, labels)
        except (KeyboardInterrupt, TypeError):  # numpy makes a TypeError of it while it compares records
            assert alarm.rang
            interrupted += 1
        assert now.book_.digest() in (before, after)
        assert now.predict({name: values[:5] for name, values in many.items()}).shape == (5,)
    assert interrupted
