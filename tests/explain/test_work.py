"""The Bayes box says what the model says, however small its numbers are."""

import random

import numpy as np
import pytest

import bayesbox as bb
from bayesbox.dist.factor import Logged
from bayesbox.explain.work import bayes_box
from bayesbox.source.frames import batch_of


def box_of(clf, case):
    classifier = clf.classifier_
    columns = classifier.columns_of(batch_of(case))
    return bayes_box(classifier.schema, classifier.book, classifier.rules, classifier.model, columns)


def test_densities_too_small_for_a_double():
    clf = bb.NaiveBayes().fit({"x": [-1.0, 1.0, -2.0, 2.5]}, ["a", "a", "b", "b"])
    case = {"x": [300.0]}
    box = box_of(clf, case)
    assert [float(share) for share in box.posterior] == pytest.approx(clf.predict_proba(case)[0].tolist(), rel=1e-9)
    low, high = (clf.joint_log_proba(case)[0, k] / np.log(10) for k in range(2))
    for log, text in zip(
        (low, high), [cell.decimal() for cell in box.work("").step("joint").rows[0].cells], strict=True
    ):
        mantissa, exponent = text.split("e")
        assert np.log10(float(mantissa)) + float(exponent) == pytest.approx(log, abs=1e-6)
    assert "the joint of" not in str(box.work(""))


def test_the_joint_of_many_densities():
    draw = np.random.default_rng(0)
    rows = {f"v{k}": draw.normal(size=20) * 1e6 for k in range(80)}
    clf = bb.NaiveBayes().fit(rows, ["a", "b"] * 10)
    case = {name: column[:1] for name, column in rows.items()}
    box = box_of(clf, case)
    shares = clf.predict_proba(case)[0]
    assert float(box.odds()[0]) == pytest.approx(max(shares) / min(shares), rel=1e-6)


@pytest.mark.filterwarnings("ignore::bayesbox.errors.DataWarning")
def test_point_masses_and_impossible_cases_have_the_answer_of_the_model():
    draw = random.Random(2)
    for _ in range(60):
        rows = {
            "a": [draw.choice([1.0, 1.0, 2.0]) for _ in range(12)],
            "b": [draw.choice([5.0, 5.0, 6.0]) for _ in range(12)],
            "c": [draw.choice("xy") for _ in range(12)],
        }
        point = bb.Real(floor=0)
        clf = bb.NaiveBayes(smoothing="mle", columns={"a": point, "b": point})
        clf.fit(rows, [draw.choice("pqr") for _ in range(12)])
        case = {"a": [draw.choice([1.0, 2.0, 3.0])], "b": [draw.choice([5.0, 6.0])], "c": [draw.choice("xy")]}
        box = box_of(clf, case)
        assert [float(share) for share in box.posterior] == pytest.approx(clf.predict_proba(case)[0].tolist(), rel=1e-9)
        assert f"so the class is {clf.predict(case)[0]}" in str(box.work(""))
        assert "nan" not in str(box.work(""))


def test_numbers_by_their_logarithms():
    assert Logged(-np.inf).text() == "0"
    assert Logged(np.inf).text() == "inf"
    assert Logged(np.log(10) * 1000).text() == "1e1000"
    assert Logged(np.log(0.25)).text() == "0.25"
