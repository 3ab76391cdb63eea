"""Remarks about columns: what is said of many of them is said once."""

import warnings

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayesbox as bb
from bayesbox.classifier.hints import MOST_ALIKE, said_once
from bayesbox.errors import DataWarning


def constant(name):
    return f"column `{name}` holds one value only. Leave it out: --ignore {name}, or columns={{'{name}': 'ignore'}}"


@given(st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=4), unique=True, max_size=8))
def test_nothing_is_lost_and_few_remarks_stay_as_they_are(names):
    found = [(name, constant(name)) for name in names]
    said = said_once([*found, ("other", "column `other` numbers the rows")])
    assert said[-1] == "column `other` numbers the rows"
    assert said_once([("", "the same")] * 5) == ["the same"] * 5  # about no column
    if len(names) <= MOST_ALIKE:
        assert said[:-1] == [text for _, text in found]


def test_many_alike_are_one_sentence_in_the_place_of_the_first():
    names = [f"x{place}" for place in range(6)]
    found = [("id", "column `id` numbers the rows"), *((name, constant(name)) for name in names), ("y", constant("y"))]
    assert said_once(found) == [
        "column `id` numbers the rows",
        f"{constant('x0')}. So it is with 6 other columns: `x1`, `x2`, `x3` ...",
    ]


def test_an_estimator_warns_once_of_many_constant_columns():
    X = pd.DataFrame({"size": [1.5, 2.5, 3.5, 4.5] * 5, **{f"same {place}": ["a"] * 20 for place in range(9)}})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        bb.NaiveBayes().fit(X, ["p", "q"] * 10)
    assert [str(each.message).count("8 other columns") for each in told] == [1]
    with pytest.warns(DataWarning, match="holds one value only") as told:
        bb.NaiveBayes().fit(X[["size", "same 0", "same 1"]], ["p", "q"] * 10)
    assert len(told) == 2


def test_decimal_commas_are_seen():
    X = pd.DataFrame({"size": [f"{place % 7},5" for place in range(20)], "one": ["a", "b"] * 10})
    with pytest.warns(DataWarning, match="`size`"):
        bb.NaiveBayes().fit(X, ["p", "q"] * 10)
