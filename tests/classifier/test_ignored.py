"""Columns that are ignored: those with one value only, and identifiers where these are to be."""

import numpy as np
import pandas as pd
import pytest

import bayesbox as bb
from bayesbox.errors import SuspiciousData

ROWS = 40
RANDOM = np.random.default_rng(5)
AGE = pd.DataFrame({"age": RANDOM.normal(40, 10, ROWS)})
OLD = np.where(AGE["age"] > 42, "old", "young")
CONSTANTS = {
    "zeros": np.zeros(ROWS, dtype=int),
    "ones": np.ones(ROWS),
    "false": np.zeros(ROWS, dtype=bool),
    "text": ["no"] * ROWS,
    "seven": np.full(ROWS, 7.0),
}
ESTIMATORS = [bb.NaiveBayes, bb.AveragedNaiveBayes, bb.TAN, bb.AODE, bb.KDB, bb.FullBayes]


def made(estimator, **given):
    return estimator(1, **given) if estimator is bb.KDB else estimator(**given)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_column_with_one_value_says_nothing_whatever_its_kind(estimator):
    frame = AGE.assign(**CONSTANTS)
    plain = made(estimator).fit(AGE, OLD)
    with pytest.warns(SuspiciousData) as warned:
        clf = made(estimator).fit(frame, OLD)
    assert [(each.message.reason, each.message.columns) for each in warned] == [("constant", tuple(CONSTANTS))]
    np.testing.assert_allclose(clf.predict_proba(frame), plain.predict_proba(AGE), rtol=1e-12)
    assert set(clf.ignored_) == set(CONSTANTS)


def test_twenty_columns_of_zeros_do_not_move_a_rare_class():
    """Laplace's rule gave (n + 1) / (n + 2) to each, which differs by class: 20 of them moved the odds by 40 points."""
    rare = pd.DataFrame({"age": RANDOM.normal(size=200)})
    y = np.array(["common"] * 190 + ["rare"] * 10)
    wide = rare.assign(**{f"zero{place}": 0 for place in range(20)})
    with pytest.warns(SuspiciousData) as warned:
        clf = bb.NaiveBayes().fit(wide, y)
    assert len(warned) == 1
    np.testing.assert_array_equal(clf.predict_proba(wide), bb.NaiveBayes().fit(rare, y).predict_proba(rare))


def test_a_declared_domain_is_kept():
    kinds = {"car": bb.Category(["suv", "van"]), "sick": "flag"}
    rows = AGE.assign(car="suv", sick=False)
    clf = bb.NaiveBayes(columns=kinds).fit(rows, OLD)
    assert clf.ignored_ == {}
    assert clf.classifier_.model.conditional("sick").levels == ("false", "true")
    other = clf.predict_proba(rows.assign(car="van"))
    assert not np.array_equal(other, clf.predict_proba(rows))


def test_partial_fit_never_warns_and_a_second_value_brings_the_column_back():
    first, second = AGE.assign(sick=0), AGE.assign(sick=np.arange(ROWS) % 2)
    clf = bb.NaiveBayes().partial_fit(first, OLD)
    assert set(clf.ignored_) == {"sick"}
    clf.partial_fit(second, OLD)
    whole = bb.NaiveBayes().fit(pd.concat([first, second]), np.concatenate([OLD, OLD]))
    assert clf.ignored_ == whole.ignored_ == {}
    np.testing.assert_array_equal(clf.predict_proba(second), whole.predict_proba(second))
    clf.forget(second, OLD)
    assert set(clf.ignored_) == {"sick"}


@pytest.mark.filterwarnings("ignore::bayesbox.errors.SuspiciousData", "ignore::bayesbox.errors.UnseenLevels")
@pytest.mark.parametrize("estimator", [bb.NaiveBayes, bb.AveragedNaiveBayes, bb.FullBayes])  # which derive nothing
@pytest.mark.parametrize("unseen", ["ignore", "smooth"])
@pytest.mark.parametrize(
    "column", [[0, 0, 0, 1, 0, 0], [False, True, False, False, False, False], ["n", "n", "n", "n", "n", "y"]]
)
def test_leave_one_out_where_the_only_other_value_is_gone(estimator, unseen, column):
    rows = {"car": ["suv", "van", "suv", "van", "suv", "suv"], "sick": column}
    y = np.array(["a", "b", "a", "a", "b", "b"])
    clf = made(estimator, unseen=unseen).fit(rows, y)
    found = clf.leave_one_out(rows, y)
    for place in range(len(y)):
        others = {name: values[:place] + values[place + 1 :] for name, values in rows.items()}
        refit = clf.__class__(**clf.get_params()).fit(others, np.delete(y, place))
        row = {name: values[place : place + 1] for name, values in rows.items()}
        np.testing.assert_allclose(found[place], refit.predict_proba(row)[0], rtol=1e-10)


# -- identifiers -------------------------------------------------------------------------------------------------------

IDENTIFIED = AGE.assign(
    number=np.arange(ROWS), code=[f"c{place}" for place in range(ROWS)], zip=[str(place % 4) for place in range(ROWS)]
)


@pytest.mark.parametrize("estimator", [*ESTIMATORS, bb.AutoBayes])
def test_identifiers_are_ignored_if_that_is_asked_for(estimator, tmp_path):
    given = {"budget": 0.1} if estimator is bb.AutoBayes else {}
    without = IDENTIFIED.drop(columns=["number", "code"])
    clf = made(estimator, ignore="auto", **given).fit(IDENTIFIED, OLD)
    plain = made(estimator, **given).fit(without, OLD)
    assert {"number", "code"} <= set(clf.ignored_)
    np.testing.assert_allclose(clf.predict_proba(IDENTIFIED), plain.predict_proba(without), rtol=1e-10)
    clf.predict(without)  # what is ignored is not missed
    clf.save(tmp_path / "m.bayes")
    again = bb.load(tmp_path / "m.bayes")
    assert (again.ignore, again.ignored_) == ("auto", clf.ignored_)
    np.testing.assert_array_equal(again.predict_proba(IDENTIFIED), clf.predict_proba(IDENTIFIED))


def test_identifiers_are_warned_of_otherwise():
    with pytest.warns(SuspiciousData) as warned:
        bb.NaiveBayes().fit(IDENTIFIED, OLD)
    found = {each.message.columns: each.message for each in warned}
    assert {key: each.reason for key, each in found.items()} == {("number",): "row-numbers", ("code",): "identifier"}
    assert all("--" not in each.remedy and "ignore='auto'" in each.remedy for each in found.values())


def test_identifiers_in_a_stream_of_rows():
    clf = bb.NaiveBayes(ignore="auto")
    for first in range(0, ROWS, 8):
        clf.partial_fit(IDENTIFIED[first : first + 8], OLD[first : first + 8])
    assert set(clf.ignored_) == {"number", "code"}
    clf.forget(IDENTIFIED[10:12], OLD[10:12])  # a gap in the numbers makes them no better
    assert set(clf.ignored_) == {"number", "code"}
    half = bb.NaiveBayes(ignore="auto").fit(IDENTIFIED[:20], OLD[:20])
    other = bb.NaiveBayes(ignore="auto").fit(IDENTIFIED[20:].assign(number=np.arange(20)), OLD[20:])
    assert set((half + other).ignored_) == {"number", "code"}


@pytest.mark.filterwarnings("ignore::bayesbox.errors.SuspiciousData")
def test_a_column_that_is_declared_is_not_an_identifier():
    clf = bb.NaiveBayes(ignore="auto", columns={"code": "category", "number": "real"}).fit(IDENTIFIED, OLD)
    assert clf.ignored_ == {}
