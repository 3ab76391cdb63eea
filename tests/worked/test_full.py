"""Worked example 7: full Bayes, of numbers and of categories."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import bayesbox as bb

SHAPES = {
    "shape": ["circle"] * 3 + ["square"] * 5 + ["triangle"] * 3,
    "colour": ["blue", "red", "red", "blue", "red", "red", "blue", "blue", "red", "red", "blue"],
    "size": ["large", "medium", "large", "small", "small", "medium", "medium", "large", "small", "large", "medium"],
}
SIGNS = ["+", "-", "-", "-", "-", "+", "+", "-", "-", "+", "+"]

AGE_AND_WEIGHT = np.array([[25.0, 61], [20, 58], [31, 75], [45, 80], [22, 54], [25, 77], [38, 66], [52, 90]])
RISK = np.array(["L", "H", "L", "H", "H", "H", "L", "L"])


def test_the_density_is_that_of_mean_and_covariance_divided_by_n():
    clf = bb.FullBayes().fit(AGE_AND_WEIGHT, RISK)
    joint = clf.joint_log_proba(AGE_AND_WEIGHT)
    for place, label in enumerate(clf.classes_):
        rows = AGE_AND_WEIGHT[label == RISK]
        density = multivariate_normal(rows.mean(axis=0), np.cov(rows.T, ddof=0)).logpdf(AGE_AND_WEIGHT)
        np.testing.assert_allclose(joint[:, place], np.log(0.5) + density, rtol=1e-12)


def test_without_covariances_it_is_naive_bayes():
    full = bb.FullBayes(covariance="diagonal").fit(AGE_AND_WEIGHT, RISK)
    naive = bb.NaiveBayes(numeric="gaussian").fit(AGE_AND_WEIGHT, RISK)
    np.testing.assert_allclose(
        full.joint_log_proba(AGE_AND_WEIGHT), naive.joint_log_proba(AGE_AND_WEIGHT), rtol=1e-12, atol=1e-12
    )


def test_the_joint_table_counts_tuples():
    clf = bb.FullBayes(smoothing="mle").fit(SHAPES, SIGNS)
    rows = list(zip(*SHAPES.values(), strict=True))
    for row in sorted(set(rows)):
        joint = np.exp(clf.joint_log_proba([dict(zip(SHAPES, row, strict=True))])[0])
        for place, sign in enumerate(clf.classes_):
            times = sum(each == row and own == sign for each, own in zip(rows, SIGNS, strict=True))
            n = SIGNS.count(sign)
            assert joint[place] == pytest.approx(float(Fraction(n, 11) * Fraction(times, n)), abs=1e-15)


def test_laplace_counts_every_tuple_there_can_be():
    clf = bb.FullBayes().fit(SHAPES, SIGNS)
    joint = np.exp(clf.joint_log_proba([{"shape": "circle", "colour": "blue", "size": "large"}])[0])
    cells = 3 * 2 * 3
    expected = [Fraction(5, 11) * Fraction(2, 5 + cells), Fraction(6, 11) * Fraction(1, 6 + cells)]
    np.testing.assert_allclose(joint, [float(p) for p in expected], rtol=1e-13)


@pytest.mark.parametrize("columns", [3, 6])
def test_it_needs_a_cell_for_every_tuple(columns):
    random = np.random.default_rng(0)
    X, y = random.integers(0, 2, (60, columns)), random.integers(0, 2, 60)
    classifier = bb.FullBayes().fit(X, y).classifier_
    model = classifier.model
    assert len(model.table.log_p) * len(model.classes) == 2**columns * 2
    size = classifier.size()
    assert (size.parameters, size.naive) == (2 * (2**columns - 1) + 1, 2 * columns + 1)


def test_one_category_and_one_number_are_naive_bayes():
    cars = {"age": [25, 20, 25, 45, 20, 25], "car": ["sports", "vintage", "sports", "suv", "sports", "suv"]}
    columns = {"car": bb.Category(["sports", "vintage", "suv", "truck"])}
    y = ["L", "H", "L", "H", "H", "H"]
    full = bb.FullBayes(columns=columns).fit(cars, y)
    naive = bb.NaiveBayes(numeric="gaussian", columns=columns).fit(cars, y)
    case = [{"age": 23, "car": "truck"}]
    np.testing.assert_allclose(full.joint_log_proba(case), naive.joint_log_proba(case), rtol=1e-12)
