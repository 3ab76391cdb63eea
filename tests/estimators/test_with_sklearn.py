"""The estimator among scikit-learn's tools."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bayesbox as bb


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 120)
    X = pd.DataFrame(
        {
            "age": random.normal(40 + 8 * y, 10),
            "car": np.where(random.random(120) < 0.3 + 0.4 * y, "suv", "sports"),
            "smoker": random.random(120) < 0.5,
        }
    )
    X.loc[::7, "age"] = np.nan
    return X, pd.Series(np.where(y, "high", "low"), name="risk")


def test_pipeline(frame):
    X, y = frame
    numbers = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), make_column_selector(dtype_include=float)),
        remainder="passthrough",
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    pipeline = make_pipeline(numbers, bb.NaiveBayes()).fit(X, y)
    assert pipeline.score(X, y) > 0.6
    assert list(pipeline[-1].feature_names_in_) == ["age", "car", "smoker"]
    assert list(pipeline[-1].book_["car"].levels) == ["sports", "suv"]


def test_grid_search(frame):
    X, y = frame
    grid = {
        "smoothing": ["mle", "laplace", bb.rules.Lidstone(0.1), bb.rules.MEstimate(2)],
        "missing": ["ignore", "level"],
    }
    search = GridSearchCV(bb.NaiveBayes(), grid, cv=3, error_score="raise").fit(X, y)
    assert len(search.cv_results_["params"]) == 8
    assert search.best_estimator_.get_params()["smoothing"] == search.best_params_["smoothing"]
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_cross_validation(frame):
    X, y = frame
    labels = cross_val_predict(bb.NaiveBayes(), X, y, cv=4)
    p = cross_val_predict(bb.NaiveBayes(), X, y, cv=4, method="predict_proba")
    assert labels.tolist() == np.where(p[:, 0] >= p[:, 1], "high", "low").tolist()
    for scoring in ("accuracy", "neg_log_loss", "roc_auc"):
        assert np.isfinite(cross_val_score(bb.NaiveBayes(), X, y, cv=3, scoring=scoring)).all()


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibration(frame, method):
    X, y = frame
    clf = CalibratedClassifierCV(bb.NaiveBayes(), method=method, cv=3).fit(X, y)
    p = clf.predict_proba(X)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)


def test_ensembles(frame):
    X, y = frame
    voting = VotingClassifier([("a", bb.NaiveBayes()), ("b", bb.NaiveBayes(smoothing="mle"))], voting="soft")
    assert voting.fit(X, y).score(X, y) > 0.6
    numbers = X[["age", "smoker"]].to_numpy(dtype=float)
    assert BaggingClassifier(bb.NaiveBayes(), n_estimators=3, random_state=0).fit(numbers, y).score(numbers, y) > 0.5


def test_clone_keeps_the_parameters_and_nothing_learned(frame):
    rule = bb.rules.PriorCounts({"suv": 2})
    columns = {"age": bb.Real(floor=0), "car": bb.Category(smoothing=rule)}
    clf = bb.NaiveBayes(smoothing="m:2", prior={"high": 0.3, "low": 0.7}, columns=columns).fit(*frame)
    other = clone(clf)
    assert other.get_params() == clf.get_params()
    assert not hasattr(other, "classifier_")
    assert not hasattr(other, "classes_")
    assert is_classifier(clf)


def round_trip(clf):
    return pickle.loads(pickle.dumps(clf))


@pytest.mark.parametrize("copied", [round_trip, copy.deepcopy, copy.copy], ids=["pickle", "deepcopy", "copy"])
def test_copies_answer_alike(frame, copied):
    X, y = frame
    clf = bb.NaiveBayes(columns={"car": bb.Category(["suv", "sports", "truck"])}).fit(X, y)
    other = copied(clf)
    assert other.predict_proba(X).tobytes() == clf.predict_proba(X).tobytes()
    assert other.book_.digest() == clf.book_.digest()
    assert other.get_params() == clf.get_params()


@pytest.mark.parametrize("copied", [round_trip, copy.deepcopy], ids=["pickle", "deepcopy"])
def test_copies_learn_on_their_own(frame, copied):
    X, y = frame
    clf = bb.NaiveBayes().fit(X[:80], y[:80])
    before = clf.book_.digest()
    other = copied(clf).partial_fit(X[80:], y[80:])
    assert clf.book_.digest() == before
    assert other.book_.digest() == bb.NaiveBayes().fit(X, y).book_.digest()
    assert other.forget(X[80:], y[80:]).book_.digest() == before


def test_set_params_changes_the_rules_of_the_next_fit(frame):
    X, y = frame
    clf = bb.NaiveBayes().set_params(smoothing="mle", missing="level")
    assert clf.get_params()["smoothing"] == "mle"
    same = bb.NaiveBayes(smoothing="mle", missing="level").fit(X, y)
    assert clf.fit(X, y).predict_proba(X).tobytes() == same.predict_proba(X).tobytes()


def test_not_fitted():
    from sklearn.exceptions import NotFittedError

    for method in ("predict", "predict_proba", "predict_log_proba", "joint_log_proba", "log_density", "explain"):
        with pytest.raises(NotFittedError):
            getattr(bb.NaiveBayes(), method)([[1.0]])


@pytest.mark.parametrize("model", [bb.NaiveBayes, bb.FullBayes, bb.AODE, bb.TAN, bb.KDB])
def test_weights_are_routed_to_fit_and_score(frame, model):
    X, y = frame
    weights = np.where(y == "high", 5.0, 1.0)
    with config_context(enable_metadata_routing=True):
        asking = model().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        found = cross_validate(asking, X, y, cv=2, params={"sample_weight": weights})["test_score"]
        plain = cross_validate(model(), X, y, cv=2)["test_score"]
    assert found.shape == plain.shape == (2,)
    assert (found != plain).any()
