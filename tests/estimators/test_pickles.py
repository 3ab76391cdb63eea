"""Estimators in the hands of pickle, joblib, skops, copy, clone and other processes."""

from __future__ import annotations

import copy
import io
import multiprocessing
import pickle

import joblib
import numpy as np
import pytest
import skops.io
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import bayesbox as bb

SEED = 3


def table(rows=60):
    generator = np.random.default_rng(SEED)
    label = generator.choice(["no", "yes"], rows)
    car = np.where(generator.random(rows) < 0.6, np.where(label == "yes", "sports", "suv"), "truck")
    age = generator.normal(np.where(label == "yes", 30, 45), 8)
    return {"car": car.tolist(), "age": age.tolist(), "member": (age > 40).tolist()}, label.tolist()


X, Y = table()
TEXTS = ["buy cheap pills now", "meeting at noon", "cheap pills", "lunch at noon"] * 5
CATEGORY = {"car": bb.Category(["sports", "suv", "truck", "vintage"])}
LEVELS = {"car": X["car"], "member": [str(each) for each in X["member"]]}


def network():
    return bb.BayesianNetwork({"car": ["label"], "member": ["label"]}).fit({**LEVELS, "label": Y})


CASES = {
    "naive": (lambda: bb.NaiveBayes(columns=CATEGORY, prior={"no": 0.3, "yes": 0.7}).fit(X, Y), X),
    "naive-calibrated": (lambda: bb.NaiveBayes(calibration="isotonic", ledger=True).fit(X, Y), X),
    "naive-rule": (lambda: bb.NaiveBayes(smoothing=bb.rules.MEstimate(2), numeric="mdl").fit(X, Y), X),
    "naive-words": (lambda: bb.NaiveBayes(columns={"text": "words"}).fit({"text": TEXTS}, ["a", "b"] * 10), None),
    "tables": (lambda: bb.NaiveBayes.from_tables({"a": 0.4, "b": 0.6}, {"x": {"a": {"u": 1}, "b": {"v": 1}}}), None),
    "averaged": (lambda: bb.AveragedNaiveBayes().fit(X, Y), X),
    "aode": (lambda: bb.AODE().fit(X, Y), X),
    "tan": (lambda: bb.TAN(score="bic").fit(X, Y), X),
    "kdb": (lambda: bb.KDB(k=2).fit(X, Y), X),
    "full": (lambda: bb.FullBayes().fit(X, Y), X),
    "auto": (lambda: bb.AutoBayes(budget=1).fit(X, Y), X),
    "text": (lambda: bb.TextClassifier().fit(TEXTS, ["spam", "ham"] * 10), TEXTS),
    "optimal": (lambda: bb.BayesOptimal([bb.NaiveBayes().fit(X, Y), bb.AODE().fit(X, Y)]), X),
    "network": (lambda: network().classifier("label"), LEVELS),
}
NAMES = list(CASES)


def by_pickle(model):
    return pickle.loads(pickle.dumps(model))


def by_joblib(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


def by_skops(model):
    data = skops.io.dumps(model)
    unknown = skops.io.get_untrusted_types(data=data)
    assert all(name.startswith(("bayesbox.", "builtins.")) for name in unknown), unknown
    return skops.io.loads(data, trusted=unknown)


@pytest.fixture(scope="module")
def fitted():
    """Each model fitted once."""
    made = {}

    def get(name):
        if name not in made:
            made[name] = CASES[name][0]()
        return made[name]

    return get


@pytest.mark.parametrize("way", [by_pickle, by_joblib, by_skops, copy.copy, copy.deepcopy])
@pytest.mark.parametrize("name", NAMES)
def test_a_copy_is_the_model(name, way, fitted):
    model, rows = fitted(name), CASES[name][1]
    again = way(model)
    assert type(again) is type(model)
    assert repr(again) == repr(model)
    assert np.array_equal(again.classes_, model.classes_)
    if rows is not None:
        assert np.array_equal(again.predict_proba(rows), model.predict_proba(rows))
    if hasattr(model, "digest"):
        assert again.digest() == model.digest()
    if hasattr(model, "feature_names_in_"):
        assert again.feature_names_in_.tolist() == model.feature_names_in_.tolist()


@pytest.mark.parametrize("name", ["naive", "naive-calibrated", "tan", "text"])
def test_a_copy_goes_on_learning(name, fitted):
    model = fitted(name)
    rows, labels = (TEXTS, ["spam", "ham"] * 10) if name == "text" else (X, Y)
    ways = [by_pickle, by_skops, copy.copy]
    digests = {way(model).partial_fit(rows, labels).book_.digest() for way in ways}
    assert digests == {copy.deepcopy(model).partial_fit(rows, labels).book_.digest()}
    assert model.book_.n.sum() == len(labels)  # the first one has not learned


@pytest.mark.parametrize("name", ["naive", "tan", "aode", "full", "averaged"])
def test_skops_has_nothing_to_distrust_but_the_estimator(name, fitted):
    model = clone(fitted(name)).set_params(columns=None).fit(X, Y)
    kind = type(model)
    assert skops.io.get_untrusted_types(data=skops.io.dumps(model)) == [f"{kind.__module__}.{kind.__qualname__}"]


def test_estimators_that_have_not_learned_are_copied_too(fitted):
    for model in (bb.NaiveBayes(smoothing="m:2"), bb.AutoBayes(), bb.TextClassifier(top=5), bb.HiddenMarkovModel(3)):
        for way in (by_pickle, by_skops):
            assert repr(way(model)) == repr(model)


@pytest.mark.parametrize("labelled", [True, False])
def test_hidden_markov_models(labelled):
    seqs = [["walk", "shop", "walk"], ["shop", "shop", "clean"]] * 3
    labels = [["dry", "rain", "dry"], ["rain", "rain", "rain"]] * 3
    model = bb.HiddenMarkovModel(states=2).fit(seqs, labels if labelled else None)
    for way in (by_pickle, by_joblib, by_skops, copy.copy, copy.deepcopy):
        again = way(model)
        assert again.score(seqs[0]) == model.score(seqs[0])
        assert again.digest() == model.digest()
        assert again.history_ == model.history_
        assert again.converged_ == model.converged_


def _answers(model, rows):
    return model.predict_proba(rows)


def test_other_processes(fitted):
    models = [fitted(name) for name in ("naive", "tan")]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.starmap(_answers, [(model, X) for model in models])
    for model, proba in zip(models, found, strict=True):
        assert np.array_equal(proba, model.predict_proba(X))


def test_jobs_of_scikit_learn():
    import pandas as pd

    frame = pd.DataFrame(X)
    assert np.array_equal(
        cross_val_score(bb.NaiveBayes(), frame, Y, cv=3, n_jobs=2), cross_val_score(bb.NaiveBayes(), frame, Y, cv=3)
    )


class Unregistered(bb.rules.Lidstone):
    """A rule that no registry knows, so that a model with it has no file."""


def test_a_model_that_has_no_file_is_pickled_as_it_is():
    model = bb.NaiveBayes(smoothing=Unregistered(0.5)).fit(X, Y)
    with pytest.raises(bb.BayesboxError):
        model.save("never.bayes")
    for way in (by_pickle, copy.copy, copy.deepcopy):
        assert np.array_equal(way(model).predict_proba(X), model.predict_proba(X))


def test_a_damaged_pickle_is_refused(fitted):
    model = fitted("naive")
    state = model.__getstate__()
    assert isinstance(state["classifier_"], bytes)
    damaged = bytearray(state["classifier_"])
    damaged[len(damaged) // 2] ^= 1
    with pytest.raises(bb.BadModelFile):
        bb.NaiveBayes().__setstate__({**state, "classifier_": bytes(damaged)})
