"""The terms of an explanation add up to what the classifier says."""

import numpy as np
import pytest
from tests.laws.mixed import estimator, table
from tests.refusal import refusal
from tests.tables import CARS, DOCUMENTS, HEAVY

import bayesbox as bb
from bayesbox.errors import BadOption

X, Y = table()

MODELS = {
    "mixed": (lambda: bb.NaiveBayes().fit({"age": CARS.X["age"], "car": CARS.X["car"]}, CARS.y), CARS.X),
    "every kind": (lambda: estimator().set_params(columns={"visits": "count", "calls": "count"}).fit(X, Y), X),
    "missing as a level": (lambda: estimator(missing="level").set_params(columns=None).fit(X, Y), X),
    "counts": (lambda: bb.NaiveBayes(columns=dict.fromkeys(DOCUMENTS.X, "count")).fit(*DOCUMENTS), DOCUMENTS.X),
    "zeros": (lambda: bb.NaiveBayes(smoothing="mle").fit(*HEAVY), HEAVY.X),
}


@pytest.fixture(params=MODELS)
def model(request):
    make, rows = MODELS[request.param]
    return make(), rows


def test_terms_and_prior_sum_to_the_joint(model):
    clf, rows = model
    found = clf.explain(rows)
    assert found.terms.shape == (len(found), len(clf.classes_), len(rows))
    assert found.columns == tuple(rows)
    assert found.prior.tolist() == clf.class_log_prior_.tolist()
    total = found.prior + found.terms.sum(axis=2)
    np.testing.assert_allclose(total, clf.joint_log_proba(rows), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.joint(), clf.joint_log_proba(rows), rtol=1e-12, atol=1e-12)


def test_log_odds_are_a_difference_of_log_posteriors(model):
    clf, rows = model
    found, log_p = clf.explain(rows), clf.predict_log_proba(rows)
    possible = np.isfinite(log_p).all(axis=1)
    assert possible.any()
    for i, one in enumerate(clf.classes_):
        for j, other in enumerate(clf.classes_):
            odds = found.log_odds(one, against=other)
            np.testing.assert_allclose(odds[possible], log_p[possible, i] - log_p[possible, j], rtol=1e-9, atol=1e-9)
            share = found.column_odds(one, other)
            np.testing.assert_allclose(share.sum(axis=1) + found.prior[i] - found.prior[j], odds, rtol=1e-12)


def test_what_is_missing_has_no_term():
    clf = bb.NaiveBayes().fit(*HEAVY)
    found = clf.explain([{"heavy": "Yes", "size": None}])
    assert found.terms[0, :, 1].tolist() == [0.0, 0.0]
    assert found.terms[0, :, 2].tolist() == [0.0, 0.0]
    assert (found.terms[0, :, 0] < 0).all()


def test_labels_may_be_numbers():
    clf = bb.NaiveBayes().fit({"x": [1.0, 2.0, 8.0, 9.0]}, [2, 2, 10, 10])
    assert clf.explain({"x": [1.0]}).log_odds(2, 10)[0] > 0
    with refusal(BadOption, found=3):
        clf.explain({"x": [1.0]}).log_odds(3, 10)


def test_a_sparse_group_has_one_term():
    from scipy import sparse

    matrix = sparse.csr_matrix(np.array(list(DOCUMENTS.X.values())).T)
    clf = bb.NaiveBayes().fit(matrix, DOCUMENTS.y)
    found = clf.explain(matrix)
    assert found.terms.shape == (4, 2, 1)
    np.testing.assert_allclose(found.joint(), clf.joint_log_proba(matrix), rtol=1e-12)


def test_density_and_likelihood(model):
    clf, rows = model
    joint = clf.joint_log_proba(rows)
    total = np.exp(joint - joint.max(axis=1, keepdims=True)).sum(axis=1)
    np.testing.assert_allclose(clf.log_density(rows), np.log(total) + joint.max(axis=1), rtol=1e-12, atol=1e-12)
    labels = clf.classes_[np.argmax(joint, axis=1)]
    assert clf.log_likelihood(rows, labels) == pytest.approx(joint.max(axis=1).sum(), rel=1e-12)


def test_likelihood_of_a_label_never_seen():
    clf = bb.NaiveBayes().fit(*HEAVY)
    assert clf.log_likelihood(HEAVY.X, ["never"] * len(HEAVY.y)) == -np.inf


def test_far_from_all_rows_is_no_underflow():
    clf = bb.NaiveBayes(numeric="gaussian").fit({"x": [1.0, 2.0, 3.0, 5.0]}, list("abab"))
    density = clf.log_density({"x": [1e6]})
    assert np.isfinite(density).all()
    assert density[0] < -1e9


def test_log_odds_where_classes_are_impossible():
    rows = {"x": ["a", "a", "b", "b", "c"], "z": ["p", "q", "q", "q", "q"]}
    clf = bb.NaiveBayes(smoothing="mle").fit(rows, ["one", "one", "two", "two", "three"])
    asked = {"x": ["a", "b", "c", "b"], "z": ["q", "p", "q", "q"]}
    explained = clf.explain(asked)
    assert explained.log_odds("one", against="two").tolist() == [np.inf, 0.0, 0.0, -np.inf]  # equal priors
    np.testing.assert_allclose(explained.log_odds("one", against="three")[1], np.log(2))  # the prior's share
    texts = bb.TextClassifier(smoothing="mle").fit(["red", "red", "blue"], ["one", "one", "two"])
    found = texts.explain(["red blue", "red", "blue", "green"]).log_odds("one", against="two")
    np.testing.assert_allclose(found, [np.log(2), np.inf, -np.inf, np.log(2)])


def test_log_odds_where_two_classes_hit_a_point_mass():
    rows = {"x": [1.0, 1.0, 1.0, 1.0, 2.0, 3.0], "z": ["p", "q", "q", "q", "q", "q"]}
    y = ["one", "one", "two", "two", "three", "three"]
    clf = bb.NaiveBayes(columns={"x": bb.Real(floor=0)}).fit(rows, y)
    found = clf.explain({"x": [1.0], "z": ["p"]}).log_odds("one", against="two")
    shares = clf.predict_proba({"x": [1.0], "z": ["p"]})[0]
    np.testing.assert_allclose(found, np.log(shares[0] / shares[2]))
