"""One node of a network as the class: against the network's own posteriors, and as scikit-learn expects."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from tests.oracle.enumeration import random_network
from tests.refusal import refusal, warning

import bayesbox as bb
from bayesbox.errors import ImpossibleRows, UnknownNode


@pytest.fixture
def network():
    return random_network(np.random.default_rng(3), nodes=7, zeros=0, least_states=2)


def rows_of(network, count, *, missing=0.0, seed=0):
    frame = network.sample(count, seed=seed).to_pandas()
    holes = np.random.default_rng(seed).random(frame.shape) < missing
    return frame.mask(holes, None)


@pytest.mark.parametrize("missing", [0.0, 0.05, 1.0])
def test_is_the_posterior_of_the_network(network, missing):
    for target in network.nodes:
        rows = rows_of(network, 200, missing=missing).drop(columns=[target])
        classifier = network.classifier(target)
        expected = network.posteriors(rows)[target]
        found = classifier.predict_proba(rows)
        for place, label in enumerate(classifier.classes_):
            assert found[:, place] == pytest.approx(expected[label], abs=1e-12)
        assert classifier.predict_log_proba(rows) == pytest.approx(np.log(found), abs=1e-9)
        assert (classifier.predict(rows) == classifier.classes_[found.argmax(axis=1)]).all()


def test_takes_frames_of_every_make(network):
    target = network.nodes[2]
    rows = rows_of(network, 50, missing=0.1).drop(columns=[target])
    classifier = network.classifier(target)
    expected = classifier.predict_proba(rows)
    for other in (
        pl.from_pandas(rows),
        pl.from_pandas(rows).lazy(),
        rows.to_dict("list"),
        rows.to_dict("records"),
        rows.astype("category"),
        rows[[name for name in network.nodes if name != target]].to_numpy(),
    ):
        assert classifier.predict_proba(other) == pytest.approx(expected, abs=1e-15)


def test_columns_may_be_left_out_or_hold_states_never_heard_of(network):
    target, *others = network.nodes
    classifier = network.classifier(target)
    rows = rows_of(network, 20)
    some = rows[others[:2]]
    expected = network.posteriors(some)[target]
    label = classifier.classes_[0]
    assert classifier.predict_proba(some)[:, 0] == pytest.approx(expected[label], abs=1e-12)
    unheard = pd.DataFrame({name: ["martian"] for name in others})
    assert classifier.predict_proba(unheard)[0, 0] == pytest.approx(network.posteriors({})[target][label])
    assert (classifier.predict_proba(rows) == classifier.predict_proba(rows[others])).all()  # the class is not read
    with refusal(UnknownNode, kind="node", name="n99", where="the columns"):
        classifier.predict(rows.assign(n99="a"))
    with refusal(bb.BadData, what="2"):
        classifier.predict(np.array([["s0", "s1"]]))
    with pytest.raises(UnknownNode):
        network.classifier("nobody")


def test_impossible_rows_get_the_prior():
    network = bb.BayesianNetwork(
        {"b": ["a"], "c": ["a"]},
        {"a": 0.3, "b": {"true": 1.0, "false": 0.0}, "c": {"true": 0.0, "false": 1.0}},
    )
    classifier = network.classifier("a")
    rows = {"b": ["true", "true"], "c": ["true", None]}
    with warning(ImpossibleRows, count=1, rows=2):
        assert classifier.predict_proba(rows)[:, 1] == pytest.approx([0.3, 1.0])
    with pytest.warns(bb.DataWarning):
        assert classifier.predict_log_proba({"b": ["true"], "c": ["true"]})[0, 1] == pytest.approx(np.log(0.3))


def test_many_tables_do_not_underflow():
    names = [f"c{place}" for place in range(2000)]
    tables = {name: {"true": 0.1, "false": 0.1 + 1e-4} for name in names}
    network = bb.BayesianNetwork({name: ["class"] for name in names}, {"class": 0.5, **tables})
    odds = np.exp(2000 * (np.log(0.1) - np.log(0.1 + 1e-4)))
    found = network.classifier("class").predict_proba({name: ["true"] for name in names})
    assert found[0, 1] == pytest.approx(odds / (1 + odds), rel=1e-9)


def test_fit_learns_the_tables_of_a_copy(network):
    target = network.nodes[0]
    rows = rows_of(network, 3000)
    X, y = rows.drop(columns=[target]), rows[target]
    classifier = network.classifier(target)
    before = copy.deepcopy(network)
    classifier.fit(X, y)
    assert network == before
    expected = copy.deepcopy(network).fit(rows)
    assert classifier.network_ == expected
    again = network.classifier(target).fit(X[[n for n in network.nodes if n != target]].to_numpy(), y.tolist())
    assert again.predict_proba(X) == pytest.approx(classifier.predict_proba(X), abs=1e-12)
    for wrong, labels in ((X.iloc[:0], y.iloc[:0]), (X, y.iloc[:5]), (X, None), (X, [None] * len(X))):
        with pytest.raises(bb.BadData):
            network.classifier(target).fit(wrong, labels)


def test_follows_scikit_learn(network):
    target = network.nodes[1]
    rows = rows_of(network, 300)
    X, y = rows.drop(columns=[target]), rows[target]
    classifier = network.classifier(target)
    assert is_classifier(classifier)
    assert clone(classifier).get_params()["target"] == target
    assert classifier.n_features_in_ == len(classifier.feature_names_in_) == 6
    other = pickle.loads(pickle.dumps(classifier))
    assert (other.predict_proba(X) == classifier.predict_proba(X)).all()
    assert classifier.score(X, y) == np.mean(classifier.predict(X) == y)
    pipeline = make_pipeline(FunctionTransformer(), classifier)
    assert (pipeline.predict(X) == classifier.predict(X)).all()
    assert len(cross_val_score(classifier, X, y, cv=3)) == 3
    search = GridSearchCV(classifier, {"smoothing": ["laplace", "lidstone:0.1"]}, cv=2).fit(X, y)
    assert search.best_score_ > 0
    classifier.set_params(target=network.nodes[2])
    assert classifier.classes_.tolist() == sorted(network.states(network.nodes[2]))
    untaught = bb.BayesianNetwork({"b": ["a"]}).classifier("a")
    with pytest.raises(NotFittedError):
        untaught.predict({"b": ["true"]})
    untaught.fit({"b": ["x", "y", "y"]}, ["p", "q", "q"])
    assert untaught.predict({"b": ["x", "y"]}).tolist() == ["p", "q"]


def test_threads_give_the_same_answers(network):
    rows = rows_of(network, 2000, missing=0.3)
    alone, together = (network.posteriors(rows, threads=count) for count in (1, 3))
    for name in network.nodes:
        for state in network.states(name):
            assert (alone[name][state] == together[name][state]).all()
