"""partial_fit, forget, merge and given tables: what they accept, what they refuse, and that refusal changes nothing."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.errors import BadWeight, KindContradiction, MissingTarget, NeverLearned, UnknownColumn

X = {"car": ["suv", "van", "suv", "bus"], "age": [20.0, 30.0, 40.0, 55.0]}
Y = ["a", "b", "a", "b"]
TABLES = {"car": {"a": {"suv": 0.75, "van": 0.25}, "b": {"suv": 0.5, "van": 0.5}}}


@pytest.fixture
def clf():
    return bb.NaiveBayes().fit(X, Y)


def test_declared_classes_are_there_before_their_rows(clf):
    fresh = bb.NaiveBayes(prior_smoothing="laplace").partial_fit(X, Y, classes=["c", "a", "b"])
    assert fresh.classes_.tolist() == ["a", "b", "c"]
    assert fresh.book_.n.tolist() == [2, 2, 0]
    p = fresh.predict_proba(X)
    assert (p[:, 2] > 0).all()
    assert fresh.book_.digest() == clf.book_.digest()


def test_a_declared_class_without_a_row_is_impossible_unless_the_prior_is_smoothed():
    fresh = bb.NaiveBayes().partial_fit(X, Y, classes=["a", "b", "c"])
    assert fresh.predict_proba(X)[:, 2].tolist() == [0.0] * 4


def test_new_classes_may_come_later(clf):
    clf.partial_fit({"car": ["tram"], "age": [3.0]}, ["new"])
    assert clf.classes_.tolist() == ["a", "b", "new"]
    assert clf.predict_proba(X).shape == (4, 3)


NEVER = {
    "a level": ({"car": ["tram"], "age": [20.0]}, ["a"]),
    "a level of the other class": ({"car": ["suv"], "age": [30.0]}, ["b"]),
    "a number": ({"car": ["suv"], "age": [1000.0]}, ["a"]),
    "a number that leaves a single one": ({"car": ["suv"], "age": [40.5]}, ["a"]),
    "a row without its number": ({"car": ["suv"]}, ["a"]),
    "a class": ({"car": ["suv"], "age": [20.0]}, ["z"]),
    "more often than learned": ({"car": ["suv"] * 3, "age": [20.0, 40.0, 20.0]}, ["a"] * 3),
    "missing numbers": ({"car": ["suv", "suv"], "age": [20.0, None]}, ["a", "a"]),
}


@pytest.mark.parametrize(("rows", "labels"), NEVER.values(), ids=NEVER)
def test_rows_never_learned_cannot_be_forgotten(clf, rows, labels):
    before, p = clf.book_.digest(), clf.predict_proba(X).tobytes()
    with pytest.raises(NeverLearned):
        clf.forget(rows, labels)
    assert clf.book_.digest() == before
    assert clf.predict_proba(X).tobytes() == p


def test_a_weight_that_was_not_learned_cannot_be_forgotten(clf):
    with pytest.raises(bb.CannotForget):
        clf.forget({"car": ["suv"], "age": [20.0]}, ["a"], sample_weight=[1.5])
    clf.forget({"car": ["bus"], "age": [55.0]}, ["b"], sample_weight=[0.25])
    assert clf.book_.n.tolist() == [2, 1.75]


def test_all_rows_can_be_forgotten(clf):
    clf.forget(X, Y)
    assert clf.book_.classes == ()
    clf.partial_fit(X, Y)
    assert clf.book_.digest() == bb.NaiveBayes().fit(X, Y).book_.digest()


@pytest.mark.parametrize(
    ("parameters", "rows", "error"),
    [
        ({"smoothing": "mle"}, X, bb.CannotMerge),
        ({"prior": {"a": 0.5, "b": 0.5}}, X, bb.CannotMerge),
        ({"missing": "level"}, X, bb.CannotMerge),
        ({}, X | {"car": [1.5, 2.5, 3.5, 4.5]}, KindContradiction),
        ({}, X | {"age": ["x", "y", "x", "y"]}, KindContradiction),
    ],
    ids=["rule", "prior", "missing", "text and number", "number and text"],
)
def test_models_that_do_not_fit_together(clf, parameters, rows, error):
    other = bb.NaiveBayes(**parameters).fit(rows, Y)
    before = clf.book_.digest()
    with pytest.raises(error):
        clf + other
    assert clf.book_.digest() == before


def test_a_sum_leaves_its_parts_alone(clf):
    other = bb.NaiveBayes().fit(X, Y)
    total = clf + other
    assert total.book_.n.tolist() == [4, 4]
    assert clf.book_.n.tolist() == other.book_.n.tolist() == [2, 2]
    total.partial_fit(X, Y)
    assert clf.book_.n.tolist() == [2, 2]


def test_given_tables_have_no_counts_behind_them(clf):
    given = bb.NaiveBayes.from_tables(prior={"a": 0.5, "b": 0.5}, tables=TABLES)
    rows = {"car": ["suv"]}
    before = given.predict_proba(rows).tolist()
    with pytest.raises(bb.CannotForget):
        given.forget(rows, ["a"])
    with pytest.raises(bb.CannotForget):
        given.partial_fit(rows, ["a"])
    with pytest.raises(bb.CannotMerge):
        given + clf
    with pytest.raises(bb.CannotMerge):
        clf + given
    assert given.predict_proba(rows).tolist() == before == [pytest.approx([0.6, 0.4])]
    assert given.with_prior({"a": 0.8, "b": 0.2}).predict_proba(rows).tolist() == [pytest.approx([6 / 7, 1 / 7])]


BAD_TABLES = {
    "a class without a row": {"car": {"a": {"suv": 1.0}}},
    "a row that does not sum to one": {"car": {"a": {"suv": 0.9}, "b": {"suv": 1.0}}},
    "a negative probability": {"car": {"a": {"suv": 1.5, "van": -0.5}, "b": {"suv": 1.0}}},
    "a probability in words": {"car": {"a": {"suv": "all"}, "b": {"suv": 1.0}}},
    "a row that is a list": {"car": {"a": [0.5, 0.5], "b": [1.0]}},
    "a table that is a list": {"car": [0.5, 0.5]},
    "no dict": ["car"],
}


@pytest.mark.parametrize("tables", BAD_TABLES.values(), ids=BAD_TABLES)
def test_given_tables_are_checked(tables):
    with pytest.raises(bb.BadOption):
        bb.NaiveBayes.from_tables(prior={"a": 0.5, "b": 0.5}, tables=tables)


BAD_PRIORS = {
    "sum": {"a": 0.5, "b": 0.6},
    "negative": {"a": 1.5, "b": -0.5},
    "a class left out": {"a": 1.0},
    "an unknown class": {"a": 0.5, "b": 0.25, "z": 0.25},
    "not a number": {"a": float("nan"), "b": 0.5},
    "a list of another length": [0.5, 0.25, 0.25],
    "a list of another sum": [0.5, 0.6],
    "a list with a negative": [1.5, -0.5],
    "a list of words": ["half", "half"],
    "another word": "equal",
}


@pytest.mark.parametrize("prior", BAD_PRIORS.values(), ids=BAD_PRIORS)
def test_priors_are_checked(clf, prior):
    with pytest.raises(bb.BadOption):
        clf.with_prior(prior)
    with pytest.raises(bb.BadOption):
        bb.NaiveBayes(prior=prior).fit(X, Y)
    with pytest.raises(bb.BadOption):
        bb.NaiveBayes.from_tables(prior=prior, tables=TABLES)


def test_with_prior_keeps_the_likelihoods(clf):
    other = clf.with_prior({"a": 0.1, "b": 0.9})
    expected = clf.joint_log_proba(X) - clf.class_log_prior_ + np.log([0.1, 0.9])
    np.testing.assert_allclose(other.joint_log_proba(X), expected, rtol=1e-13)
    assert np.exp(clf.class_log_prior_).tolist() == pytest.approx([0.5, 0.5])
    assert other.get_params()["prior"] == {"a": 0.1, "b": 0.9}


@pytest.mark.parametrize("weights", [[1, 1, -1, 1], [1, float("nan"), 1, 1], [1, float("inf"), 1, 1], [1, 1, 1]])
def test_bad_weights(clf, weights):
    before = clf.book_.digest()
    for attempt in (bb.NaiveBayes().fit, clf.partial_fit, clf.forget):
        with pytest.raises(BadWeight):
            attempt(X, Y, sample_weight=weights)
    assert clf.book_.digest() == before


@pytest.mark.parametrize("gap", [None, float("nan"), np.nan])
def test_missing_target(clf, gap):
    with refusal(MissingTarget, where="row 3"):
        bb.NaiveBayes().fit(X, ["a", "b", gap, "b"])
    with refusal(MissingTarget, where="row 2"):
        clf.partial_fit({"car": ["suv", "van"], "age": [1.0, 2.0]}, ["a", gap])


@pytest.mark.parametrize("value", [float("inf"), -float("inf")])
def test_infinite_value(clf, value):
    before = clf.book_.digest()
    with refusal(bb.BadData, column="age", where="row 3") as caught:
        clf.partial_fit(X | {"age": [1.0, 2.0, value, 4.0]}, Y)
    assert "row 3" in str(caught.value)
    assert clf.book_.digest() == before


CONTRADICTIONS = {
    "number in a text column": {"car": [1.5, 2.5, 3.5, 4.5]},
    "text in a number column": {"age": ["old", "young", "old", "old"]},
}


@pytest.mark.parametrize("change", CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_contradiction_in_a_later_batch(clf, change):
    before = clf.book_.digest()
    with refusal(KindContradiction, column=next(iter(change))):
        clf.partial_fit(X | change, Y)
    assert clf.book_.digest() == before


def test_an_unknown_column_in_a_later_batch(clf):
    with refusal(UnknownColumn, column="agee"):
        clf.partial_fit({"car": ["suv"], "agee": [3.0]}, ["a"])


EMPTY = {
    "floats": np.full(3, np.nan),
    "doubles of Arrow": pa.array([np.nan, None, np.nan]),
    "text of Arrow": pa.nulls(3, pa.string()),
    "flags of Arrow": pa.nulls(3, pa.bool_()),
    "nullable integers": pd.array([pd.NA] * 3, dtype="Int64"),
    "dates of pandas": pd.Series([pd.NaT] * 3),
    "objects": [None] * 3,
}


@pytest.mark.filterwarnings("ignore::bayesbox.DataWarning")
@pytest.mark.parametrize("model", [bb.NaiveBayes, bb.FullBayes])
@pytest.mark.parametrize("empty", EMPTY.values(), ids=EMPTY)
@pytest.mark.parametrize("values", [["red", "blue", "red"], [2.5, 3.0, 4.5], [True, False, True]])
def test_a_batch_without_a_value_says_nothing_of_the_kind(model, empty, values):
    first, second = {"x": empty, "size": [1.5, 2.5, 3.0]}, {"x": values, "size": [2.0, 3.5, 1.0]}
    whole = model().fit({"x": [None] * 3 + values, "size": [1.5, 2.5, 3.0, 2.0, 3.5, 1.0]}, list("ababab"))
    parts = [(first, list("aba")), (second, list("bab"))]
    for ordered in (parts, parts[::-1]):
        clf = model()
        for X, y in ordered:
            clf.partial_fit(X, y)
        assert clf.book_.digest() == whole.book_.digest()
        np.testing.assert_array_equal(clf.predict_proba(second), whole.predict_proba(second))
