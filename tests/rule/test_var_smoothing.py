"""Variances made larger by a share of the largest, beside scikit-learn's GaussianNB."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.errors import BadOption


@pytest.mark.parametrize("share", [1e-9, 1e-2, 0.3])
def test_gaussian_naive_bayes(share):
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, np.where(y == 0, 5.0, X[:, 0])])  # a class without spread, which has no floor here
    clf = bb.NaiveBayes(numeric="gaussian", var_smoothing=share).fit(X, y)
    peer = GaussianNB(var_smoothing=share).fit(X, y)
    np.testing.assert_allclose(clf.joint_log_proba(X), peer.predict_joint_log_proba(X), rtol=1e-9)


def test_tuned_by_grid_search():
    X, y = load_digits(return_X_y=True)
    X = X[:, X[:600].std(axis=0) > 1]
    search = GridSearchCV(bb.NaiveBayes(numeric="gaussian"), {"var_smoothing": [1e-9, 0.1]}, cv=3).fit(X[:600], y[:600])
    assert search.best_params_ == {"var_smoothing": 0.1}


@pytest.mark.parametrize("weights", [None, "learned"])
def test_leave_one_out(weights):
    X, y = load_iris(return_X_y=True)
    X, y = X[::6], y[::6]
    clf = bb.NaiveBayes(numeric="gaussian", var_smoothing=0.1, column_weights=weights).fit(X, y)
    found = clf.leave_one_out(X, y)
    for row in range(0, len(X), 5):
        other = bb.NaiveBayes(numeric="gaussian", var_smoothing=0.1, column_weights=weights).fit(X, y)
        other.forget(X[row : row + 1], y[row : row + 1])
        np.testing.assert_allclose(found[row], other.predict_proba(X[row : row + 1])[0], rtol=1e-12)


def test_file_and_floor(tmp_path):
    X, y = load_iris(return_X_y=True)
    clf = bb.NaiveBayes(numeric="gaussian", var_smoothing=0.1).fit(X, y)
    clf.save(tmp_path / "m.bayes")
    np.testing.assert_array_equal(bb.load(tmp_path / "m.bayes").predict_proba(X), clf.predict_proba(X))
    floored = bb.NaiveBayes(columns={0: bb.Real("gaussian", floor=0.5)}, numeric="gaussian", var_smoothing=0.1).fit(
        X, y
    )
    assert not np.allclose(floored.predict_proba(X), clf.predict_proba(X))


def test_nothing_to_smooth():
    X, y = load_iris(return_X_y=True)
    with refusal(BadOption, remedy="gaussian"):
        bb.NaiveBayes(numeric="mdl", var_smoothing=0.1).fit(X, y).predict(X)
    with refusal(BadOption):
        bb.NaiveBayes(var_smoothing=-1).fit(X, y)
    bb.NaiveBayes(var_smoothing=0.1).fit({"a": ["x", "y"]}, ["p", "q"])
