"""Explanations that show themselves: rows in every form, counts behind terms, intervals, shap."""

from __future__ import annotations

import json
from collections import namedtuple
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta
from tests.refusal import refusal
from tests.tables import CARS, HEAVY

import bayesbox as bb
from bayesbox.errors import BadData, MissingExtra, UnseenLevels

ROW = {"age": 30.0, "car": "suv"}
X = {"age": CARS.X["age"], "car": CARS.X["car"]}


@pytest.fixture(scope="module")
def clf():
    return bb.NaiveBayes(numeric="gaussian").fit(X, CARS.y)


def test_a_row_comes_in_every_form(clf):
    Row = namedtuple("Row", ["age", "car"])
    rows = [ROW, pd.Series(ROW), Row(**ROW), pd.DataFrame([ROW]), [ROW]]
    found = [clf.explain(row) for row in rows]
    assert all(each.terms.tolist() == found[0].terms.tolist() for each in found)
    assert {str(each) for each in found} == {str(found[0])}


def test_a_row_adds_up(clf):
    row = clf.explain(ROW)[0]
    total = row.prior_log_odds + sum(term.log_odds for term in row.terms)
    log_p = clf.predict_log_proba([ROW])[0]
    assert total == pytest.approx(row.log_odds, rel=1e-12)
    assert row.log_odds == pytest.approx(abs(log_p[0] - log_p[1]), rel=1e-12)
    assert row.prediction == clf.predict([ROW])[0]
    assert row.posterior[row.prediction] == clf.predict_proba([ROW]).max()


def test_a_calibration_is_a_term_of_its_own():
    random = np.random.default_rng(0)
    age = random.normal(size=200)
    y = np.where(age + random.normal(size=200) > 0, "a", "b")
    clf = bb.NaiveBayes(calibration="temperature").fit({"age": age, "copy": age}, y)
    row = clf.explain({"age": 1.0, "copy": 1.0})[0]
    assert row.calibration_log_odds is not None
    total = row.prior_log_odds + sum(term.log_odds for term in row.terms) + row.calibration_log_odds
    log_p = clf.predict_log_proba([{"age": 1.0, "copy": 1.0}])[0]
    assert total == pytest.approx(abs(log_p[0] - log_p[1]), rel=1e-9)
    assert "(calibration)" in str(row)
    assert "(calibration)" in row.to_frame()["column"].tolist()


def test_the_counts_behind_a_level(clf):
    term = next(each for each in clf.explain(ROW)[0].terms if each.column == "car")
    tally = clf.book_["car"]
    for place, label in enumerate(clf.classes_):
        behind = term.behind[label]
        assert behind.count == tally.counts[place, tally.levels.index("suv")]
        assert behind.n == tally.n[place]
        assert behind.probability == pytest.approx((behind.count + 1) / (behind.n + len(tally.levels)), rel=1e-12)
        a, b = behind.count + 1, behind.n - behind.count + len(tally.levels) - 1
        assert (behind.low, behind.high) == pytest.approx(beta.interval(0.95, a, b), rel=1e-9)
        assert f"{behind.count} of {behind.n}, smoothed to" in str(behind)


def test_the_interval_of_counts_that_are_not_smoothed():
    row = bb.NaiveBayes(smoothing="mle").fit(*HEAVY).explain({"heavy": "Yes", "size": None})[0]
    behind = next(each for each in row.terms if each.column == "heavy").behind["+"]
    assert str(behind).startswith(f"{behind.count} of {behind.n} = ")
    assert (behind.low, behind.high) == pytest.approx(beta.interval(0.95, behind.count, behind.n - behind.count))


def test_the_density_behind_a_number(clf):
    term = next(each for each in clf.explain(ROW)[0].terms if each.column == "age")
    tally = clf.book_["age"]
    for place, label in enumerate(clf.classes_):
        behind = term.behind[label]
        assert (behind.mean, behind.std) == (tally.mean[place], tally.std[place])
        assert behind.parameters["mean"] == tally.mean[place]
        assert "mean" in str(behind)


def test_models_of_pairs_tell_the_counts_alone():
    clf = bb.TAN().fit(*HEAVY)
    row = clf.explain({name: values[0] for name, values in HEAVY.X.items()})[0]
    for term in row.terms:
        for label, behind in term.behind.items():
            assert behind.probability is None
            tally, place = clf.book_[term.column], list(clf.classes_).index(label)
            assert behind.count == tally.counts[place, tally.levels.index(term.value)]


def test_values_outside_what_was_learned_are_named():
    clf = bb.NaiveBayes().fit({"tenure": [0.0, 72.0, 30.0, 12.0], "car": list("abab")}, ["y", "n", "y", "n"])
    with pytest.warns(UnseenLevels):
        row = clf.explain({"tenure": 999.0, "car": "zebra"})[0]
    tenure, car = row.notes
    assert "tenure" in tenure
    assert "999" in tenure
    assert "0 to 7" in tenure
    assert "car" in car
    assert "zebra" in car
    assert "note: " in str(row)
    values = bb.NaiveBayes(numeric="kernel").fit({"tenure": [0.0, 72.0, 30.0, 12.0]}, ["y", "n", "y", "n"])
    assert "training range 0 to 72" in values.explain({"tenure": 999.0})[0].notes[0]


def test_several_rows_are_a_table_of_them(clf):
    found = clf.explain(X)
    assert len(found) == len(CARS.y)
    frame = found.to_frame()
    assert len(frame) == len(CARS.y) * 2
    one = frame[(frame["row"] == 3) & (frame["column"] == "age")].iloc[0]
    term = next(each for each in found[3].terms if each.column == "age")
    assert one["log_odds"] == pytest.approx(term.log_odds)
    assert one["prediction"] == found[3].prediction
    assert "explanation[i]" in str(found)
    assert len(found.to_dict()["rows"]) == len(CARS.y)
    with refusal(BadData, remedy="explanation[0]"):
        found.svg()
    with pytest.raises(IndexError):
        found[len(CARS.y)]
    assert found[-1].prediction == found[len(CARS.y) - 1].prediction


def test_log_odds_have_a_default_class_and_reference():
    iris = {"x": [1.0, 1.2, 2.0, 2.2, 3.0, 3.3]}
    clf = bb.NaiveBayes(numeric="gaussian").fit(iris, ["a", "a", "b", "b", "c", "c"])
    rows = {"x": [1.1, 2.1, 3.1, 1.6]}
    found, log_p = clf.explain(rows), clf.predict_log_proba(rows)
    ranked = np.sort(log_p, axis=1)
    np.testing.assert_allclose(found.log_odds(), ranked[:, -1] - ranked[:, -2], rtol=1e-9)
    others = np.where(np.arange(3) == 1, -np.inf, log_p).max(axis=1)
    np.testing.assert_allclose(found.log_odds("b"), log_p[:, 1] - others, rtol=1e-9)
    np.testing.assert_allclose(found.log_odds("b", "a"), log_p[:, 1] - log_p[:, 0], rtol=1e-9)


def test_results_show_themselves(clf):
    found = clf.explain(ROW)
    assert repr(found).startswith("Explanation(")
    assert "\n" not in repr(found)
    ElementTree.fromstring(found.svg())
    assert "<table>" in found._repr_html_()
    assert "<script" not in found._repr_html_()
    assert json.loads(json.dumps(found[0].to_dict()))["prediction"] == found[0].prediction
    other = found.row(0, against=next(c for c in clf.classes_ if c != found[0].prediction))
    assert other.against != other.prediction


def test_terms_become_a_shap_explanation(clf):
    found = clf.explain(X).to_shap()

    import shap  # by now without its warnings

    assert isinstance(found, shap.Explanation)
    log_p = clf.predict_log_proba(X)
    np.testing.assert_allclose(found.base_values + found.values.sum(axis=1), log_p[:, 1] - log_p[:, 0], rtol=1e-9)
    np.testing.assert_allclose(found.base_values, np.subtract(*clf.class_log_prior_[::-1]))
    assert found.feature_names == ["age", "car"]
    assert found.data[0].tolist() == [X["age"][0], X["car"][0]]
    other = clf.explain(X).to_shap(label=clf.classes_[0])
    np.testing.assert_allclose(other.values, -found.values)


def test_shap_of_many_classes_and_of_calibrated_models():
    random = np.random.default_rng(3)
    y = random.choice(["a", "b", "c"], 150)
    rows = {"x": random.normal(size=150) + (y == "b"), "z": random.normal(size=150) + 2 * (y == "c")}
    for calibration in (None, "temperature"):
        clf = bb.NaiveBayes(calibration=calibration).fit(rows, y)
        found = clf.explain(rows).to_shap()
        log_p = clf.predict_log_proba(rows)
        total = found.base_values + found.values.sum(axis=1)
        np.testing.assert_allclose(total, log_p - log_p.mean(axis=1, keepdims=True), atol=1e-9)
        assert found.output_names == ["a", "b", "c"]
        pair = clf.explain(rows).to_shap("c", "a")
        np.testing.assert_allclose(pair.base_values + pair.values.sum(axis=1), log_p[:, 2] - log_p[:, 0], atol=1e-9)
        assert (found.feature_names[-1] == "(calibration)") is (calibration is not None)
    with refusal(BadData, remedy="against="):
        clf.explain(rows).to_shap("a")
    with refusal(BadData, remedy="label="):
        clf.explain(rows).to_shap(against="a")


def test_shap_takes_no_infinite_terms():
    clf = bb.NaiveBayes(smoothing="mle").fit({"car": ["suv", "van", "suv", "bus"]}, ["a", "b", "a", "b"])
    with refusal(BadData, remedy="laplace"):
        clf.explain({"car": "suv"}).to_shap()


def test_without_shap_the_remedy_is_said(clf, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "shap", None)
    with refusal(MissingExtra, what="shap"):
        clf.explain(ROW).to_shap()
