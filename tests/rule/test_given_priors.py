"""Priors that are given: by class, in class order, or balanced; for every kind of model, in Python and the command."""

import numpy as np
import pytest
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.cli.main import run
from bayesbox.errors import BadOption

X = {"age": [21.0, 32, 33, 44, 55, 46, 67, 28], "car": list("stststst")}
Y = list("nnnnnnyy")
MODELS = [
    bb.NaiveBayes(),
    bb.AveragedNaiveBayes(),
    bb.AODE(),
    bb.TAN(),
    bb.KDB(k=1),
    bb.FullBayes(),
    bb.AutoBayes(budget=0.1),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda each: type(each).__name__)
def test_three_ways_to_say_the_same(model, tmp_path):
    def fitted(prior):
        return type(model)(**model.get_params() | {"prior": prior}).fit(X, Y)

    found = fitted({"n": 0.5, "y": 0.5}).predict_proba(X)
    for prior, kept in (("balanced", "balanced"), ([0.5, 0.5], (0.5, 0.5)), (np.array([0.5, 0.5]), (0.5, 0.5))):
        clf = fitted(prior)
        assert np.array_equal(clf.predict_proba(X), found)
        clf.save(tmp_path / "m.bayes", overwrite=True)
        loaded = bb.load(tmp_path / "m.bayes")
        assert loaded.prior == kept
        assert np.array_equal(loaded.predict_proba(X), found)
        assert np.array_equal(fitted(None).with_prior(prior).predict_proba(X), found)


def test_a_balanced_prior_leaves_the_likelihoods():
    plain = bb.NaiveBayes().fit(X, Y)
    joint = plain.joint_log_proba(X) - plain.class_log_prior_ + np.log(0.5)
    assert np.allclose(plain.with_prior("balanced").joint_log_proba(X), joint, rtol=1e-14)
    texts = bb.TextClassifier(prior="balanced").fit(["aa", "aa bb", "cc"], list("nny"))
    assert np.allclose(texts.class_log_prior_, np.log(0.5))


@pytest.mark.parametrize("prior", ["even", [0.5], [0.5, 0.6], [-0.5, 1.5], 3, ["a", "b"], [0.2, 0.3, 0.5]])
def test_priors_that_do_not_fit(prior):
    with refusal(BadOption):
        bb.NaiveBayes(prior=prior).fit(X, Y)
    with refusal(BadOption):
        bb.NaiveBayes().fit(X, Y).with_prior(prior)


def test_by_command(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    lines = zip(X["age"], X["car"], Y, strict=True)
    (tmp_path / "rows.csv").write_text("age,car,y\n" + "".join(f"{a},{c},{y}\n" for a, c, y in lines))
    assert run(["train", "rows.csv", "-t", "y", "--prior", "balanced", "-o", "even.bayes"]) == 0
    assert bb.load("even.bayes").prior == "balanced"
    assert run(["train", "rows.csv", "-t", "y", "-o", "m.bayes"]) == 0
    capfd.readouterr()
    answers = []
    for arguments in (["even.bayes", "rows.csv"], ["m.bayes", "rows.csv", "--prior", "balanced"]):
        assert run(["predict", *arguments, "--proba"]) == 0
        answers.append(capfd.readouterr().out)
    assert answers[0] == answers[1]
    assert run(["train", "rows.csv", "-t", "y", "--prior", "even", "-o", "other.bayes"]) == 2


def test_a_switch_may_be_true():
    assert bb.NaiveBayes(column_weights=True).fit(X, Y).classifier_.rules.column_weights == "learned"
    assert bb.NaiveBayes(column_weights=False).fit(X, Y).classifier_.rules.column_weights is None
    with refusal(BadOption, what='"learned"', found="yes"):
        bb.NaiveBayes(column_weights="yes").fit(X, Y)
