"""Labels come back in the type in which they were given, sorted as that type sorts."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pytest
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.errors import BadData, LabelContradiction

X = {"x": [1.0, 2.0, 8.0, 9.0, 5.0, 5.5]}
EARLY, LATE = datetime.date(2024, 2, 29), datetime.date(2025, 1, 1)

LABELS = {
    "str": (["lo", "lo", "hi", "hi", "hi", "lo"], ["hi", "lo"], "U"),
    "int": ([2, 2, 10, 10, 10, 2], [2, 10], "i"),
    "negative int": ([-1, -1, 1, 1, 1, -1], [-1, 1], "i"),
    "bool": ([False, False, True, True, True, False], [False, True], "b"),
    "float": ([2.0, 2.0, 10.0, 10.0, 10.0, 2.0], [2.0, 10.0], "f"),
    "date": ([EARLY, EARLY, LATE, LATE, LATE, EARLY], [EARLY, LATE], "O"),
    "int8": (np.array([2, 2, 10, 10, 10, 2], dtype=np.int8), [2, 10], "i"),
    "numpy bool": (np.array([0, 0, 1, 1, 1, 0], dtype=bool), [False, True], "b"),
    "categorical": (pd.Categorical(["lo", "lo", "hi", "hi", "hi", "lo"], ["lo", "hi", "mid"]), ["hi", "lo"], "U"),
    "categorical int": (pd.Series([2, 2, 10, 10, 10, 2]).astype("category"), [2, 10], "i"),
    "digits as text": (["2", "2", "10", "10", "10", "2"], ["10", "2"], "U"),
}
LABELS["beyond 63 bits"] = (
    [2**63 + 1, 2**63 + 1, 2**63 + 2, 2**63 + 2, 2**63 + 2, 2**63 + 1],
    [2**63 + 1, 2**63 + 2],
    "u",
)
each = pytest.mark.parametrize(("y", "classes", "kind"), LABELS.values(), ids=LABELS)


@each
def test_type_and_order(y, classes, kind):
    clf = bb.NaiveBayes().fit(X, y)
    assert clf.classes_.dtype.kind == kind
    assert clf.classes_.tolist() == classes
    found = clf.predict(X)
    assert found.dtype.kind == kind
    assert found.tolist()[:2] == list(y)[:2]
    assert found.tolist()[2:4] == list(y)[2:4]
    best = [classes[index] for index in np.argmax(clf.predict_proba(X), axis=1)]
    assert found.tolist() == best


@each
def test_learned_forgotten_and_merged(y, classes, kind):
    half = [list(y)[:4], list(y)[4:]]
    parts = [{"x": X["x"][:4]}, {"x": X["x"][4:]}]
    whole = bb.NaiveBayes().fit(X, y)
    clf = bb.NaiveBayes().partial_fit(parts[0], half[0], classes=classes)
    assert clf.classes_.tolist() == classes
    clf.partial_fit(parts[1], half[1])
    assert clf.book_.digest() == whole.book_.digest()
    assert clf.classes_.dtype.kind == kind
    assert clf.forget(parts[1], half[1]).classes_.tolist() == classes
    assert clf.log_likelihood(X, y) == pytest.approx(
        sum(row[classes.index(c)] for row, c in zip(clf.joint_log_proba(X), list(y), strict=True))
    )


@each
def test_priors_by_label(y, classes, kind):
    prior = dict(zip(classes, [0.25, 0.75], strict=True))
    clf = bb.NaiveBayes(prior=prior).fit(X, y)
    assert np.exp(clf.class_log_prior_).tolist() == pytest.approx([0.25, 0.75])
    assert np.exp(bb.NaiveBayes().fit(X, y).with_prior(prior).class_log_prior_).tolist() == pytest.approx([0.25, 0.75])


def test_integers_and_whole_doubles_are_one_type():
    one, other = bb.NaiveBayes().fit(X, [1, 1, 2, 2, 2, 1]), bb.NaiveBayes().fit(X, [1.0, 1.0, 2.0, 2.0, 2.0, 1.0])
    assert one.book_.digest() == other.book_.digest()
    assert (one + other).classes_.dtype.kind == "f"


def test_labels_of_two_types_do_not_mix():
    clf = bb.NaiveBayes().fit(X, [1, 1, 2, 2, 2, 1])
    before = clf.book_.digest()
    with pytest.raises(LabelContradiction):
        clf.partial_fit(X, ["a", "b", "a", "b", "a", "b"])
    assert clf.book_.digest() == before


@pytest.mark.parametrize("model", [bb.NaiveBayes, bb.TextClassifier])
@pytest.mark.parametrize(
    ("y", "classes"), [([1, 2], ["x", "y"]), (["a", "b"], [1, 2]), ([EARLY, LATE], ["early"]), ([True, False], [0, 1])]
)
def test_declared_classes_are_of_the_type_of_the_labels(model, y, classes):
    rows = {"x": [1.0, 2.5]} if model is bb.NaiveBayes else ["one kiwi", "two sheep"]
    with pytest.raises(LabelContradiction):
        model().partial_fit(rows, y, classes=classes)
    clf = model().partial_fit(rows, y)
    before = clf.book_.digest()
    with pytest.raises(LabelContradiction):
        clf.partial_fit(rows, y, classes=classes)
    assert clf.book_.digest() == before


def test_declared_classes_that_are_measurements():
    with refusal(bb.BadData, what="continuous"):
        bb.NaiveBayes().partial_fit(X, [1, 1, 2, 2, 2, 1], classes=[1, 2, 2.5])
    assert bb.NaiveBayes().partial_fit(X, [1, 1, 2, 2, 2, 1], classes=[1.0, 2.0, 3.0]).classes_.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "pair",
    [
        (2**64, 2**64 + 1),
        (-1, 2**63 + 1),
        (2.5, 2**63 + 1),
        (None, 2**63 + 1),
        (-(2**63) - 1, 0),
        (decimal.Decimal("1.5"), decimal.Decimal(2)),
        (decimal.Decimal(1), 1),
        (b"a", b"b"),
        (b"a", "a"),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "make", [list, tuple, lambda y: np.array(y, dtype=object), lambda y: pd.Series(y, dtype=object)]
)
def test_labels_that_would_come_back_as_others_are_refused(pair, make):
    with refusal(BadData, where="y"):
        bb.NaiveBayes().fit(X, make([pair[0]] * 3 + [pair[1]] * 3))


def test_wide_labels_in_arrays_of_objects_stay_apart():
    y = [2**64 - 1, 2**64 - 2] * 3
    for given in (np.array(y, dtype=object), pd.Series(y, dtype=object)):
        assert bb.NaiveBayes().fit(X, given).classes_.tolist() == [2**64 - 2, 2**64 - 1]


def test_labels_of_fixed_width_bytes_are_refused():
    with refusal(BadData, where="y"):
        bb.NaiveBayes().fit(X, np.array([b"a", b"b"] * 3))
