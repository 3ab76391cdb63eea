"""Remarks about columns: what is said of many of them is said once."""

import pickle
from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayesbox as bb
from bayesbox.classifier.hints import MOST_ALIKE, Hint, Reason, said_once
from bayesbox.errors import SuspiciousData


def constant(name: str) -> Hint:
    return Hint(Reason.CONSTANT, (name,), f"column `{name}` holds one value only", f"Remove it: --ignore {name}")


NUMBERED = Hint(Reason.ROW_NUMBERS, ("other",), "column `other` numbers the rows")


@given(st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=4), unique=True, max_size=8))
def test_nothing_is_lost_and_few_remarks_stay_as_they_are(names: list[str]) -> None:
    found = [constant(name) for name in names]
    said = said_once([*found, NUMBERED])
    assert said[-1] == NUMBERED
    assert [name for hint in said[:-1] for name in (*hint.columns, *hint.others)] == names
    if len(names) <= MOST_ALIKE:
        assert said[:-1] == found
    about_none = [Hint(Reason.SHRUNK, (), "the same")] * 5
    assert said_once(about_none) == about_none


def test_many_alike_are_one_sentence_in_the_place_of_the_first() -> None:
    names = [f"x{place}" for place in range(6)]
    said = said_once([NUMBERED, *map(constant, names), constant("y")])
    assert said == [NUMBERED, replace(constant("x0"), others=(*names[1:], "y"))]
    assert all(f"`{name}`" in str(said[1]) for name in ("x0", "x1", "x2", "x3"))
    assert "6 more columns" in str(said[1])


def test_hints_are_grouped_by_their_fields_and_not_by_their_sentences() -> None:
    """Column names that are words of the sentence, and shares that differ, were told apart by the text alone."""
    names = ["column", "value", "one", "only", "holds"]
    assert [hint.others for hint in said_once(map(constant, names))] == [tuple(names[1:])]
    empty = [
        Hint(Reason.MOSTLY_MISSING, (name,), "mostly missing", found=(share,))
        for name, share in zip("abcdef", ["91%"] * 5 + ["97%"], strict=True)
    ]
    assert [(hint.columns, hint.others) for hint in said_once(empty)] == [(("a",), tuple("bcde")), (("f",), ())]


def test_an_estimator_warns_once_of_many_constant_columns() -> None:
    X = pd.DataFrame({"size": [1.5, 2.5, 3.5, 4.5] * 5, **{f"same {place}": ["a"] * 20 for place in range(9)}})
    with pytest.warns(SuspiciousData) as told:
        bb.NaiveBayes().fit(X, ["p", "q"] * 10)
    assert [(each.message.reason, len(each.message.columns)) for each in told] == [("constant", 9)]
    assert pickle.loads(pickle.dumps(told[0].message)).columns == told[0].message.columns
    with pytest.warns(SuspiciousData) as told:
        bb.NaiveBayes().fit(X[["size", "same 0", "same 1"]], ["p", "q"] * 10)
    assert [each.message.columns for each in told] == [("same 0", "same 1")]


def test_decimal_commas_are_seen() -> None:
    X = pd.DataFrame({"size": [f"{place % 7},5" for place in range(20)], "one": ["a", "b"] * 10})
    with pytest.warns(SuspiciousData) as told:
        bb.NaiveBayes().fit(X, ["p", "q"] * 10)
    assert (told[0].message.reason, told[0].message.columns) == (Reason.DECIMAL_COMMA, ("size",))
