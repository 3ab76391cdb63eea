"""Rows that were never learned are refused where the tallies show it; where they do not, the ledger does."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws.rows import FORMS, TOGETHER, Row, book_of, rows_of, value_of

import bayesbox as bb
from bayesbox.errors import NeverLearned
from bayesbox.tally.base import TALLIES, Impossible, impossible_part

each_form = pytest.mark.parametrize("form", FORMS)


@each_form
@given(data=st.data())
@settings(max_examples=100)
def test_what_is_left_is_possible_or_refused(form, data):
    """No subtraction of a book leaves a tally that says of itself that no rows have it."""
    learned, other = book_of(form, data.draw(rows_of(form))), book_of(form, data.draw(rows_of(form, min_size=1)))
    before = learned.digest()
    try:
        left = learned - other
    except NeverLearned:
        assert learned.digest() == before
    else:
        tallies = [*left.columns.values(), *([] if left.joint is None else [left.joint])]
        assert all(impossible_part(tally) is None and tally.fits(left.class_counts) for tally in tallies)
        assert (left + other).digest() == before


@each_form
def test_the_place_is_named(form):
    book = book_of(
        form, [Row("x", value_of(form), 1.0), Row("x", value_of(form), 1.0), Row("y", without_value(form), 1.0)]
    )
    with pytest.raises(NeverLearned) as refused:
        book - book_of(form, [Row("y", value_of(form), 1.0)])
    assert refused.value.label == "y"
    assert refused.value.column is not None


def without_value(form):
    return (None, None, None) if form in TOGETHER else (0, 0, 0) if form == "words" else None


@each_form
def test_every_tally_of_the_package_names_the_place(form):
    assert hasattr(TALLIES[form], "impossible")


@pytest.mark.parametrize(
    ("learned", "gone"),
    [
        ([1.0, 2.0], [5.0]),  # squares below 0
        ([3.0, 3.0], [2.0]),  # a variance below 0
        ([1.0, 0.0, 1.0, 0.0], [2.0]),  # squares below the sum: no integers
        ([-3.0, 3.0, 0.0], [2.0, 2.0]),  # the same with a sum below 0
        ([2.0, 4.0, 6.0], [2.5]),  # fewer than no fractions
        ([0.5, 0.5], [1.0]),  # more fractions than values
        ([7.0], [6.0]),  # a sum without a value
    ],
)
def test_sums_that_no_rows_could_leave(learned, gone):
    rows, others = [Row("x", value, 1.0) for value in learned], [Row("x", value, 1.0) for value in gone]
    with pytest.raises(NeverLearned) as refused:
        book_of("moments", rows) - book_of("moments", others)
    assert (refused.value.column, refused.value.label) == ("column", "x")


def test_the_level_is_named():
    clf = bb.NaiveBayes().fit({"car": ["suv", "van", "suv"]}, ["H", "L", "H"])
    digest = clf.book_.digest()
    with pytest.raises(NeverLearned) as refused:
        clf.forget({"car": ["van"]}, ["H"])
    assert (refused.value.column, refused.value.label, refused.value.found) == ("car", "H", "van")
    assert clf.book_.digest() == digest


def test_the_value_of_a_number_is_named_where_values_are_kept():
    clf = bb.NaiveBayes(numeric="kernel").fit({"age": [20.0, 30.0, 40.0]}, ["H", "L", "H"])
    with pytest.raises(NeverLearned) as refused:
        clf.forget({"age": [30.0]}, ["H"])
    assert (refused.value.column, refused.value.label, refused.value.found) == ("age", "H", "30")


def test_pairs_name_both_levels():
    rows = {"size": ["S", "S", "L", "L"], "hue": ["red", "red", "blue", "blue"]}
    clf = bb.TAN().fit(rows, ["a", "a", "a", "b"])
    with pytest.raises(NeverLearned) as refused:
        clf.forget({"size": ["S"], "hue": ["blue"]}, ["a"])
    assert refused.value.label == "a"
    assert set(refused.value.found.split(", ")) == {"size=S", "hue=blue"}


def test_an_impossible_place_without_a_name_is_refused_too():
    assert Impossible() == (None, None)


# -- documents --------------------------------------------------------------------------------------------------------

DOCUMENTS = ["kiwi sheep", "kiwi bird", "sheep sheep sheep", "beer"]
LABELS = ["NZ", "NZ", "NZ", "DE"]


@pytest.mark.parametrize("occurrence", ["count", "table"])
@pytest.mark.parametrize(
    "gone",
    [
        "kiwi kiwi",  # two documents hold it once: one would hold it without an occurrence
        "sheep sheep sheep sheep",  # one document would hold it without an occurrence
        "sheep sheep",  # one document would hold it three times, and none twice
    ],
)
def test_documents_that_were_never_learned(occurrence, gone):
    clf = bb.TextClassifier(occurrence=occurrence).fit(DOCUMENTS, LABELS)
    digest = clf.book_.digest()
    if gone == "sheep sheep" and occurrence == "count":
        clf.forget([gone], ["NZ"])  # 2 in 1 document are left: the tallies do not show that there is none
        return
    with pytest.raises(NeverLearned) as refused:
        clf.forget([gone], ["NZ"])
    assert refused.value.label == "NZ"
    assert refused.value.found in ("kiwi", "sheep")
    assert clf.book_.digest() == digest


def test_documents_that_were_learned_are_forgotten_one_by_one():
    for occurrence in ("count", "table", "binary"):
        clf = bb.TextClassifier(occurrence=occurrence).fit(DOCUMENTS, LABELS)
        for text, label in zip(DOCUMENTS[:3], LABELS[:3], strict=True):
            clf.forget([text], [label])


# -- the ledger -------------------------------------------------------------------------------------------------------

values = st.tuples(st.integers(0, 3).map(float), st.sampled_from("pq"), st.sampled_from("uv"), st.sampled_from("+-"))


def fitted(rows):
    columns = {name: np.array([row[place] for row in rows]) for place, name in enumerate(("n", "a", "b"))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bb.NaiveBayes(ledger=True).fit(columns, [row[3] for row in rows])


@given(st.lists(values, min_size=2, max_size=7), values)
@settings(max_examples=100)
def test_a_row_that_was_never_learned_is_refused_or_shows_in_the_ledger(rows, other):
    clf = fitted(rows)
    before = clf.book_.digest(), clf.book_.ledger
    gone = {"n": [other[0]], "a": [other[1]], "b": [other[2]]}, [other[3]]
    possible = {tuple(rows[:place] + rows[place + 1 :]) for place in range(len(rows))}
    try:
        left = copy.deepcopy(clf).forget(*gone).classifier_.book.ledger
    except NeverLearned:
        assert other not in rows
        assert (clf.book_.digest(), clf.book_.ledger) == before
    else:
        assert (left in [fitted(list(rest)).book_.ledger for rest in possible if rest]) == (other in rows)
