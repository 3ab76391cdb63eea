"""Which columns matter: against models fitted without each column, and against permutation importance."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.inspection import permutation_importance
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from tests.refusal import refusal
from tests.tables import HEAVY

import bayesbox as bb
from bayesbox.classifier.answer.importance import BY_WORD
from bayesbox.errors import BadOption


def test_information_is_that_of_the_first_question():
    clf = bb.NaiveBayes().fit(*HEAVY)
    found = clf.importance()
    assert {each.column: each.information for each in found} == clf.ask_next().bits
    assert found.log_loss is None
    bits = [each.information for each in found]
    assert bits == sorted(bits, reverse=True)
    assert found["heavy"] is next(each for each in found if each.column == "heavy")
    with pytest.raises(KeyError):
        found["weight"]


@pytest.mark.parametrize("calibration", [None, "temperature"])
def test_a_column_without_its_term_is_a_model_without_the_column(calibration):
    X, y = load_wine(return_X_y=True, as_frame=True)
    X = X.iloc[:, :5]
    clf = bb.NaiveBayes().fit(X, y)
    if calibration is not None:
        clf.calibrate(X, y, calibration)
    found = clf.importance(X, y)
    assert found.log_loss == pytest.approx(log_loss(y, clf.predict_proba(X)), rel=1e-9)
    assert found.accuracy == clf.score(X, y)
    assert found.rows == len(y)
    for name in X:
        other = bb.NaiveBayes().fit(X.drop(columns=name), y)
        p = other.predict_proba(X.drop(columns=name))
        if calibration is not None:
            map_of = clf.classifier_.calibrated.calibration
            p = np.exp(map_of.applied(np.log(p)))
        assert found[name].loss == pytest.approx(log_loss(y, p) - found.log_loss, abs=1e-9)
        right = np.mean(other.classes_[p.argmax(axis=1)] == y)
        assert found[name].accuracy_drop == pytest.approx(found.accuracy - right)


def test_marginalised_is_not_missing_where_missing_is_a_level():
    X = {"car": ["suv", None, "van", "suv", None, "van"] * 4, "size": list("smssms") * 4}
    y = list("abaabb") * 4
    clf = bb.NaiveBayes(missing="level").fit(X, y)
    other = bb.NaiveBayes(missing="level").fit({"size": X["size"]}, y)
    found = clf.importance(X, y)
    expected = log_loss(y, other.predict_proba({"size": X["size"]})) - found.log_loss
    assert found["car"].loss == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("model", [bb.TAN, bb.AODE, bb.KDB, bb.FullBayes, bb.AveragedNaiveBayes])
def test_other_models_are_asked_with_the_column_missing(model):
    X, y = load_iris(return_X_y=True, as_frame=True)
    clf = model().fit(X, y)
    found = clf.importance(X, y)
    name = X.columns[2]
    p = clf.predict_proba(X.assign(**{name: np.nan}))
    assert found[name].loss == pytest.approx(log_loss(y, p) - found.log_loss, abs=1e-9)
    assert all(each.information is not None for each in found)


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine, load_iris])
def test_losses_agree_with_permutation_importance(load):
    X, y = load(return_X_y=True, as_frame=True)
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
    clf = bb.NaiveBayes().fit(train, y_train)
    found = clf.importance(test, y_test)
    other = permutation_importance(clf, test, y_test, scoring="neg_log_loss", n_repeats=5, random_state=0)
    ranks = spearmanr(other.importances_mean, [found[name].loss for name in X])
    assert ranks.statistic >= 0.8


def test_words_count_by_the_word():
    X = {"note": ["good red car", "bad old van", "good van", "bad car"] * 5, "age": [1.0, 2.0, 1.5, 2.5] * 5}
    y = ["a", "b", "a", "b"] * 5
    clf = bb.NaiveBayes(columns={"note": "words"}).fit(X, y)
    found = clf.importance(X, y)
    assert found["note"].information > 0
    assert found["note"].loss > 0
    assert BY_WORD in found.notes


def test_documents_have_the_importance_of_their_words():
    texts = ["good red car", "bad old car", "good car red", "bad car old"] * 5
    clf = bb.TextClassifier(occurrence="count").fit(texts, ["a", "b", "a", "b"] * 5)
    found = clf.importance()
    assert found.of == "word"
    assert {each.column for each in found.columns[:4]} == {"bad", "good", "old", "red"}
    assert found["car"].information == pytest.approx(0, abs=1e-9)
    judged = clf.importance(texts, ["a", "b", "a", "b"] * 5)
    assert judged["good"].loss > judged["car"].loss == pytest.approx(0, abs=1e-9)
    log_p = clf.predict_log_proba(texts)
    place = np.array([0, 1] * 10)
    assert judged.log_loss == pytest.approx(-log_p[np.arange(20), place].mean())
    word = clf.words_.index("good")
    weights = clf.word_weights_.copy()
    weights[word] = 0
    counts = np.array([[text.split().count(each) for each in clf.words_] for text in texts])
    joint = clf.class_log_prior_ + counts @ weights
    p = np.exp(joint - joint.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    assert judged["good"].loss == pytest.approx(log_loss(["a", "b"] * 10, p) - judged.log_loss, abs=1e-9)


def test_a_class_that_is_not_known_is_said():
    clf = bb.NaiveBayes().fit(*HEAVY)
    found = clf.importance(HEAVY.X, ["other", *HEAVY.y[1:]])
    assert found.rows == len(HEAVY.y) - 1
    assert any("unknown to the model" in note for note in found.notes)


def test_rows_need_their_classes():
    clf = bb.NaiveBayes().fit(*HEAVY)
    with refusal(BadOption, what="both"):
        clf.importance(HEAVY.X)


def test_results_show_themselves():
    clf = bb.NaiveBayes().fit(*HEAVY)
    for found in (clf.importance(), clf.importance(*HEAVY)):
        assert "\n" not in repr(found)
        assert "<table>" in found._repr_html_()
        assert json.loads(json.dumps(found.to_dict()))["columns"]
        assert len(found.to_frame()) == 3
    assert "loss" in found.to_frame()
    assert "bits" in clf._repr_html_()
