"""`predict_one`, `predict_proba_one` and `scorer()`: what a row may be, and what a scorer is."""

from __future__ import annotations

import copy
import os
import pickle
import warnings
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import bayesbox as bb
from bayesbox.errors import BadData, ImpossibleRows, KindContradiction, UnknownColumn, UnseenLevel

X = {"age": [25, 20, 25, 45, 20, 25], "car": ["sports", "vintage", "sports", "suv", "sports", "suv"]}
Y = ["L", "H", "L", "H", "H", "H"]
ROW = {"age": 23, "car": "vintage"}


@pytest.fixture
def clf() -> bb.NaiveBayes:
    return bb.NaiveBayes(numeric="gaussian").fit(X, Y)


Person = namedtuple("Person", ["age", "car"])


@pytest.mark.parametrize(
    "row",
    [
        ROW,
        pd.Series(ROW),
        Person(**ROW),
        {"age": np.int64(23), "car": np.str_("vintage")},
        {"age": np.float64(23), "car": "vintage"},
        {"age": np.float32(23), "car": "vintage", "other": object()},
        [23, "vintage"],
        np.array([23, "vintage"], dtype=object),
    ],
    ids=lambda row: type(row).__name__,
)
def test_what_a_row_may_be(clf: bb.NaiveBayes, row: Any) -> None:
    expected = clf.predict_proba([ROW])[0]
    assert clf.predict_proba_one(row) == dict(zip(["H", "L"], expected.tolist(), strict=True))
    assert clf.predict_one(row) == "H"
    np.testing.assert_array_equal(clf.scorer().proba(row), expected)


def test_labels_are_of_their_own_type() -> None:
    clf = bb.NaiveBayes().fit({"car": ["suv", "van", "van"]}, [1, 2, 2])
    assert list(clf.predict_proba_one({"car": "van"})) == [1, 2]
    assert type(clf.predict_one({"car": "van"})) is int


def test_few_keys_and_unseen_levels_do_not_warn(clf: bb.NaiveBayes) -> None:
    assert clf.predict_proba_one({"car": "tram"}) == pytest.approx({"H": 4 / 6, "L": 2 / 6}, abs=1e-15)
    assert clf.predict_proba_one({}) == pytest.approx({"H": 4 / 6, "L": 2 / 6}, abs=1e-15)
    answer = clf.scorer().answer({"car": "tram", "colour": "red"})
    assert (answer.absent, answer.unseen) == (1, 1)
    answer = clf.scorer().answer({"age": 23, "car": None})
    assert (answer.absent, answer.unseen) == (0, 0)


def test_rows_that_are_refused(clf: bb.NaiveBayes) -> None:
    strict = bb.NaiveBayes(unseen="error").fit(X, Y)
    with pytest.raises(UnknownColumn):
        clf.predict_one({"colour": "red"})
    with pytest.raises(BadData, match="infinite"):
        clf.predict_proba_one({"age": float("inf")})
    with pytest.raises(BadData, match="3 values"):
        clf.predict_one([1, 2, 3])
    with pytest.raises(BadData, match="a row must be a dict"):
        clf.predict_one("vintage")
    with pytest.raises(UnseenLevel):
        strict.predict_one({"car": "tram"})
    with pytest.raises(KindContradiction):
        strict.predict_one({"age": "old"})


def test_a_row_that_no_class_allows_gets_the_prior_with_a_warning() -> None:
    clf = bb.NaiveBayes(smoothing="mle").fit({"a": ["x", "y", "x"], "b": ["p", "q", "p"]}, ["1", "2", "1"])
    with pytest.warns(ImpossibleRows):
        found = clf.predict_proba_one({"a": "x", "b": "q"})
    assert found == pytest.approx({"1": 2 / 3, "2": 1 / 3})


def test_a_scorer_is_a_snapshot(clf: bb.NaiveBayes) -> None:
    scorer, before = clf.scorer(), clf.predict_proba([ROW])[0]
    clf.partial_fit({"age": [23.0] * 5, "car": ["vintage"] * 5}, ["L"] * 5)
    np.testing.assert_array_equal(scorer.proba(ROW), before)
    assert clf.predict_proba_one(ROW)["L"] > before[1] + 0.1
    np.testing.assert_array_equal(clf.scorer().proba(ROW), clf.predict_proba([ROW])[0])
    assert list(scorer.classes) == ["H", "L"]
    assert repr(scorer) == "CompiledScorer(classes=['H' 'L'], columns=2)"


def test_a_scorer_answers_many_rows(clf: bb.NaiveBayes) -> None:
    scorer = clf.scorer()
    records = [{"age": age, "car": car} for age, car in zip(X["age"], X["car"], strict=True)]
    expected = clf.predict_proba(X)
    for rows in (records, records * 200, pd.DataFrame(X)):
        np.testing.assert_array_equal(scorer.proba_many(rows)[:6], expected)
    terms = scorer.terms(ROW)
    joint = np.log([4 / 6, 2 / 6]) + sum(terms.values())
    np.testing.assert_allclose(joint, clf.joint_log_proba([ROW])[0], rtol=1e-14)


def test_a_scorer_is_not_pickled_and_the_estimator_is(clf: bb.NaiveBayes) -> None:
    expected = clf.predict_proba_one(ROW)  # compiles
    for change in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be pickled"):
            change(clf.scorer())  # type: ignore[operator]
    for other in (pickle.loads(pickle.dumps(clf)), copy.deepcopy(clf), copy.copy(clf)):
        assert other.predict_proba_one(ROW) == expected


def test_threads_share_a_scorer(clf: bb.NaiveBayes) -> None:
    scorer = clf.scorer()
    rows = [{"age": age, "car": car} for age in range(18, 60) for car in ("sports", "suv", None)]
    expected = [scorer.proba(row).tolist() for row in rows]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda place: scorer.proba(rows[place % len(rows)]).tolist(), range(20 * len(rows))))
    assert found == expected * 20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_scorer_answers_after_a_fork(clf: bb.NaiveBayes) -> None:
    scorer = clf.scorer()
    expected = scorer.proba(ROW)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads that other tests have started
        child = os.fork()
    if child == 0:
        os._exit(0 if (scorer.proba(ROW) == expected).all() and clf.predict_one(ROW) == "H" else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_small_table_of_arrow_is_answered_as_a_large_one_is() -> None:
    """By the compiled model where its rows are plain, and with the warnings of a table where they are not."""
    table = pa.table(
        {
            "age": [23.0, None, 40.0] * 20,
            "car": pa.array(["suv", "truck", None] * 20).dictionary_encode(),
            "wed": [True, False, None] * 20,
        }
    )
    clf = bb.NaiveBayes().fit(table, ["H", "L", "H"] * 20)
    expected = clf.predict_proba(table)
    for few in (table.slice(0, 3), table.slice(0, 3).select(["wed", "car", "age"])):
        np.testing.assert_array_equal(clf.predict_proba(few), expected[:3])
        np.testing.assert_array_equal(clf.predict(few), clf.predict(table)[:3])
    with pytest.warns(bb.errors.MissingColumns):
        clf.predict_proba(table.slice(0, 1).drop_columns(["car"]))
    with pytest.warns(bb.errors.UnseenLevels):
        clf.predict_proba(pa.table({"age": [1.0], "car": ["tank"], "wed": [True]}))


@pytest.mark.parametrize("numeric", ["robust", "gaussian"])
def test_many_questions_after_the_last_row_are_put_to_a_model_made_once(numeric):
    random = np.random.default_rng(5)
    rows = [{"x": float(x), "car": str(random.choice(["suv", "van"]))} for x in random.normal(size=60)]
    clf = bb.NaiveBayes(numeric=numeric)
    for place, row in enumerate(rows[:50]):
        clf.learn_one(row, "ab"[place % 2])
    first = clf.predict_proba_one(rows[50])
    waiting = clf._waiting
    assert waiting.is_live
    for _ in range(200):
        assert clf.predict_proba_one(rows[50]) == pytest.approx(first, rel=1e-14)
    assert waiting.core.proba_by_label(rows[50]) is None
    clf.learn_one(rows[51], "a")
    assert waiting.core.proba_by_label(rows[50]) is not None  # it has the new row at once
    labels = ["ab"[place % 2] for place in range(50)]
    again = bb.NaiveBayes(numeric=numeric).fit([*rows[:50], rows[51]], [*labels, "a"])
    assert clf.predict_proba_one(rows[50]) == pytest.approx(again.predict_proba_one(rows[50]), rel=1e-14)
    assert clf.book_.digest() == again.book_.digest()
