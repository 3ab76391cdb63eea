"""Scottish or English: five flags, and a decision that is a hyperplane."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from tests.oracle.near import joint, near, posterior
from tests.tables import HABITS, SCOTS

import bayesbox as bb

ENGLISH = [Fraction(1, 2), Fraction(1, 2), Fraction(1, 3), Fraction(1, 2), Fraction(1, 2)]
SCOTTISH = [Fraction(1), Fraction(4, 7), Fraction(3, 7), Fraction(5, 7), Fraction(3, 7)]


def person(*habits):
    return dict(zip(HABITS, habits, strict=True))


VECTORS = [person(*bits) for bits in itertools.product([0, 1], repeat=5)]


def test_probabilities_of_each_habit():
    book = bb.NaiveBayes().fit(*SCOTS).book_
    for habit, english, scottish in zip(HABITS, ENGLISH, SCOTTISH, strict=True):
        counts, n = book[habit].counts, book[habit].n
        assert [Fraction(int(counts[c, 1]), int(n[c])) for c in (0, 1)] == [english, scottish]
    assert book.n.tolist() == [6, 7]


def test_porridge_and_whiskey():
    clf = bb.NaiveBayes(smoothing="mle").fit(*SCOTS)
    assert posterior(clf, person(1, 0, 1, 1, 0))["S"] == near(Fraction(1440, 1783))


def test_no_shortbread_no_scot():
    clf = bb.NaiveBayes(smoothing="mle").fit(*SCOTS)
    assert joint(clf, person(0, 1, 1, 1, 1))["S"] == 0.0
    assert posterior(clf, person(0, 1, 1, 1, 1)) == {"E": 1.0, "S": 0.0}


def test_no_shortbread_with_one_added_to_both_counts():
    clf = bb.NaiveBayes(smoothing="laplace").fit(*SCOTS)
    assert posterior(clf, person(0, 1, 1, 1, 1))["S"] == near(Fraction(71680, 248827))


def as_is(value):
    return value


@pytest.mark.parametrize("convert", [as_is, bool, float], ids=["integers", "bools", "doubles"])
def test_linear_weights(convert):
    X = {habit: [convert(value) for value in values] for habit, values in SCOTS.X.items()}
    clf = bb.NaiveBayes(smoothing="laplace").fit(X, SCOTS.y)
    w, a = clf.linear_weights()
    theta0 = [(6 * p + 1) / 8 for p in ENGLISH]
    theta1 = [(7 * p + 1) / 9 for p in SCOTTISH]
    expected = [math.log(t1 * (1 - t0) / (t0 * (1 - t1))) for t0, t1 in zip(theta0, theta1, strict=True)]
    shift = math.prod((1 - t1) / (1 - t0) for t0, t1 in zip(theta0, theta1, strict=True)) * Fraction(7, 6)
    assert w.tolist() == near(expected)
    assert a == near(math.log(shift))
    inputs = np.array([list(vector.values()) for vector in VECTORS])
    scores = inputs @ w + a
    asked = [{habit: convert(value) for habit, value in vector.items()} for vector in VECTORS]
    assert clf.predict(asked).tolist() == ["S" if score > 0 else "E" for score in scores]
    log_odds = clf.predict_log_proba(asked) @ np.array([-1, 1])
    np.testing.assert_allclose(scores, log_odds, rtol=1e-12, atol=1e-13)


def test_the_other_side_of_the_hyperplane():
    clf = bb.NaiveBayes().fit(*SCOTS)
    w, a = clf.linear_weights()
    turned, b = clf.linear_weights(positive="E")
    assert (turned.tolist(), b) == ((-w).tolist(), -a)


def test_a_zero_probability_has_no_hyperplane():
    with pytest.raises(bb.NotLinear):
        bb.NaiveBayes(smoothing="mle").fit(*SCOTS).linear_weights()
