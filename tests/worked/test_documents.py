"""Four documents of six words: a multinomial over counts, dense and sparse."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from tests.oracle.near import near
from tests.tables import DOCUMENTS, WORDS

import bayesbox as bb

ASKED = {"Auckland": 0, "Bird": 0, "Kiwi": 3, "Munich": 1, "Oktoberfest": 1, "Sheep": 0}
EACH = {  # P(word | class) by Laplace
    "NZ": {
        "Auckland": Fraction(1, 7),
        "Bird": Fraction(1, 7),
        "Kiwi": Fraction(3, 7),
        "Munich": Fraction(1, 14),
        "Sheep": Fraction(1, 7),
    },
    "DE": {
        "Auckland": Fraction(1, 9),
        "Kiwi": Fraction(2, 9),
        "Munich": Fraction(2, 9),
        "Oktoberfest": Fraction(2, 9),
        "Sheep": Fraction(1, 9),
    },
}


def as_matrix(X):
    return np.array([X[word] for word in WORDS]).T


def as_columns(X):
    return X


FORMS = {
    "columns": as_columns,
    "frame": pd.DataFrame,
    "array": as_matrix,
    "csr": lambda X: sparse.csr_matrix(as_matrix(X)),
    "csc array": lambda X: sparse.csc_array(as_matrix(X).astype(float)),
    "coo": lambda X: sparse.coo_matrix(as_matrix(X)),
}


@pytest.fixture(params=FORMS)
def fitted(request):
    form = FORMS[request.param]
    X = form(DOCUMENTS.X)
    columns = None
    if request.param in ("columns", "frame"):
        columns = dict.fromkeys(WORDS, bb.Count())
    elif request.param == "array":
        columns = dict.fromkeys(range(len(WORDS)), "count")
    return bb.NaiveBayes(columns=columns).fit(X, DOCUMENTS.y), form


def test_kiwi_kiwi_kiwi_munich_oktoberfest(fitted):
    clf, form = fitted
    X = form({word: [count] for word, count in ASKED.items()})
    assert clf.classes_.tolist() == ["DE", "NZ"]
    de, nz = Fraction(8, 59049), Fraction(81, 268912)
    assert np.exp(clf.joint_log_proba(X))[0].tolist() == near([de, nz])
    assert clf.predict_proba(X)[0].tolist() == near([de / (de + nz), nz / (de + nz)])
    assert clf.predict_proba(X)[0, 1] == pytest.approx(0.6897586, abs=5e-8)
    assert clf.predict(X).tolist() == ["NZ"]


def test_each_word(fitted):
    clf, form = fitted
    prior = {"NZ": Fraction(3, 4), "DE": Fraction(1, 4)}
    for label, words in EACH.items():
        for word, p in words.items():
            X = form({each: [int(each == word)] for each in WORDS})
            place = clf.classes_.tolist().index(label)
            assert np.exp(clf.joint_log_proba(X))[0, place] == near(prior[label] * p)


def test_an_empty_document_has_the_prior(fitted):
    clf, form = fitted
    assert clf.predict_proba(form({word: [0] for word in WORDS}))[0].tolist() == near([Fraction(1, 4), Fraction(3, 4)])
