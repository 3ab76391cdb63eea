"""Heavy, size and colour: Laplace on the priors too, and a value that is missing."""

from fractions import Fraction

import numpy as np
import pytest
from tests.oracle.near import joint, near, posterior
from tests.tables import HEAVY

import bayesbox as bb

PLAIN = {"smoothing": "mle"}
SMOOTHED = {"smoothing": "laplace", "prior_smoothing": "laplace"}


@pytest.mark.parametrize(
    ("parameters", "colour", "ratio"),
    [
        (PLAIN, "R", Fraction(9, 64)),
        (PLAIN, None, Fraction(3, 16)),
        (SMOOTHED, "B", Fraction(125, 189)),
        (SMOOTHED, None, Fraction(125, 324)),
    ],
)
def test_ratio_of_plus_to_minus(parameters, colour, ratio):
    clf = bb.NaiveBayes(**parameters).fit(*HEAVY)
    row = {"heavy": "Yes", "size": "M", "colour": colour}
    found = joint(clf, row)
    assert found["+"] / found["-"] == near(ratio)
    assert posterior(clf, row)["-"] == near(1 / (1 + ratio))
    assert clf.predict([row]).tolist() == ["-"]


def test_rounded_as_printed():
    clf = bb.NaiveBayes(**SMOOTHED).fit(*HEAVY)
    rows = [{"heavy": "Yes", "size": "M", "colour": colour} for colour in ("B", None)]
    assert clf.predict_proba(rows)[:, 1] == pytest.approx([0.6019108, 0.7216036], abs=5e-8)


def test_a_zero_without_smoothing():
    clf = bb.NaiveBayes(**PLAIN).fit(*HEAVY)
    row = {"heavy": "Yes", "size": "M", "colour": "B"}
    assert joint(clf, row)["-"] == 0.0
    assert clf.predict([row]).tolist() == ["+"]


def test_an_absent_column_is_a_missing_value():
    clf = bb.NaiveBayes(**SMOOTHED).fit(*HEAVY)
    row = {"heavy": "Yes", "size": "M"}
    assert posterior(clf, row) == posterior(clf, row | {"colour": None})


def test_prior_smoothed():
    clf = bb.NaiveBayes(**SMOOTHED).fit(*HEAVY)
    assert np.exp(clf.class_log_prior_).tolist() == near([Fraction(5, 9), Fraction(4, 9)])
