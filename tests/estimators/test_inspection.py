"""Estimators in the hands of `sklearn.inspection`, pipelines and scikit-learn's pictures of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

import bayesbox as bb
from bayesbox.estimators.shared import doc_link

SEED = 5


@pytest.fixture(scope="module")
def rows():
    generator = np.random.default_rng(SEED)
    strong = generator.normal(size=400)
    label = np.where(strong + 0.4 * generator.normal(size=400) > 0, "up", "down")
    flag = np.where(generator.random(400) < 0.7, label == "up", generator.random(400) < 0.5)
    noise = generator.normal(size=400)
    return pd.DataFrame({"strong": strong, "flag": np.where(flag, "yes", "no"), "noise": noise}), label


@pytest.mark.parametrize("model", [bb.NaiveBayes(), bb.TAN(), bb.AODE(), bb.FullBayes()], ids=repr)
def test_permutation_importance(model, rows):
    X, y = rows
    found = permutation_importance(model.fit(X, y), X, y, n_repeats=4, random_state=0, scoring="neg_log_loss")
    importance = dict(zip(X.columns, found.importances_mean, strict=True))
    assert importance["strong"] > importance["flag"] > importance["noise"] - 0.01
    assert abs(importance["noise"]) < 0.05


@pytest.mark.parametrize("model", [bb.NaiveBayes(numeric="gaussian"), bb.TAN()], ids=repr)
def test_partial_dependence(model, rows):
    X, y = rows
    clf = model.fit(X, y)
    found = partial_dependence(clf, X, ["strong"], kind="average", grid_resolution=15)
    curve = found["average"][0]
    assert curve[-1] > 0.9 > 0.1 > curve[0]  # P(up) rises with what it is made of
    levels = partial_dependence(clf, X, ["flag"], categorical_features=["flag"], kind="both")
    by_level = dict(zip(levels["grid_values"][0], levels["average"][0], strict=True))
    assert by_level["yes"] > by_level["no"]
    assert levels["individual"].shape == (1, len(X), 2)


def test_partial_dependence_of_a_pipeline(rows):
    X, y = rows
    pipeline = make_pipeline(StandardScaler(), bb.NaiveBayes()).fit(X[["strong", "noise"]], y)
    curve = partial_dependence(pipeline, X[["strong", "noise"]], ["strong"], grid_resolution=5)["average"][0]
    assert curve[0] < curve[-1]


def test_pictures_link_to_the_documentation(monkeypatch):
    monkeypatch.setattr(doc_link, "documentation", lambda: "https://docs.example")
    for model in (bb.NaiveBayes(), bb.TextClassifier(), bb.AutoBayes(), bb.BayesOptimal([])):
        assert model._get_doc_link() == f"https://docs.example/reference/api/{type(model).__name__}.html"
    shown = estimator_html_repr(make_pipeline(StandardScaler(), bb.NaiveBayes()))
    assert "https://docs.example/reference/api/NaiveBayes.html" in shown

    class Mine(bb.NaiveBayes):
        """A class of somebody else has no page here."""

    assert Mine()._get_doc_link() == ""


def test_without_an_address_there_is_no_link(monkeypatch):
    monkeypatch.setattr(doc_link, "documentation", lambda: "")
    assert bb.NaiveBayes()._get_doc_link() == ""
    assert "NaiveBayes" in estimator_html_repr(make_pipeline(bb.NaiveBayes()))


@pytest.mark.parametrize(
    ("urls", "address"),
    [
        (["Documentation, https://docs.example/"], "https://docs.example"),
        (["Source, https://code.example", "documentation, https://docs.example"], "https://docs.example"),
        (["Source, https://code.example"], ""),
        (None, ""),
    ],
)
def test_the_address_is_that_of_the_installed_package(monkeypatch, urls, address):
    class Described:
        def get_all(self, name):
            assert name == "Project-URL"
            return urls

    monkeypatch.setattr(doc_link, "metadata", lambda name: Described())
    assert doc_link.documentation.__wrapped__() == address
