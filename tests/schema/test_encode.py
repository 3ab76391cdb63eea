"""Columns to codes and numbers."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.refusal import refusal

from bayesbox.errors import KindContradiction
from bayesbox.schema.columns import CountMatrix, as_numbers
from bayesbox.schema.encode import MISSING, _few_coded, as_dictionary, encode

LEVELS = ["suv", None, "van", "suv"]
EXPECTED = ["suv", None, "van", "suv"]

COLUMNS = {
    "strings": pa.array(LEVELS),
    "large strings": pa.array(LEVELS, pa.large_string()),
    "dictionary": pa.array(LEVELS).dictionary_encode(),
    "narrow dictionary": pa.array(LEVELS).dictionary_encode().cast(pa.dictionary(pa.uint8(), pa.string())),
    "chunks": pa.chunked_array([["suv"], [None, "van", "suv"]]),
    "chunks with dictionaries": pa.chunked_array(
        [pa.array(["suv"]).dictionary_encode(), pa.array([None, "van", "suv"]).dictionary_encode()]
    ),
    "a slice": pa.array(["x", *LEVELS, "y"])[1:5],
    "a slice of a dictionary": pa.array(["x", *LEVELS, "y"]).dictionary_encode()[1:5],
    "null in the dictionary": pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), pa.array(["suv", None, "van"])),
    "repeats in the dictionary": pa.DictionaryArray.from_arrays(
        pa.array([0, None, 1, 2]), pa.array(["suv", "van", "suv"])
    ),
    "objects": np.array(LEVELS, dtype=object),
}


def decoded(column):
    codes, levels, values = encode(column)
    assert codes.dtype == np.int32
    assert len(set(levels)) == len(levels)
    assert len(values) >= len([level for level in levels if level is not None])
    return [None if code == MISSING else levels[code] for code in codes]


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_levels(column):
    assert decoded(column) == EXPECTED


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (np.array([3, 1, 3], dtype=np.int8), ["3", "1", "3"]),
        (np.array([2**63 - 1, -(2**63)]), ["9223372036854775807", "-9223372036854775808"]),
        (np.array([True, False]), ["true", "false"]),
        (np.array([1.0, np.nan, 0.5]), ["1", None, "0.5"]),
        (pa.array([1.0, float("nan"), None]), ["1", None, None]),
        (pa.array([1, None, 2]), ["1", None, "2"]),
        (pa.array([True, None]), ["true", None]),
        (pa.array([0.0, -0.0]), ["0", "0"]),
        (pa.array([], pa.string()), []),
        (np.arange(10)[::3], ["0", "3", "6", "9"]),
    ],
)
def test_numbers_as_levels(column, expected):
    assert decoded(column) == expected


@given(
    values=st.lists(st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"]), max_size=3)), max_size=12)
)
def test_any_text(values):
    assert decoded(pa.array(values, pa.string())) == values
    assert decoded(pa.array(values, pa.string()).dictionary_encode()) == values


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([25, None, 3]), [25, np.nan, 3]),
        (pa.array([True, None]), [1, np.nan]),
        (pa.array(["2.5", None, " ", "-1e3"]), [2.5, np.nan, np.nan, -1000]),
        (pa.array(["2.5", "1"]).dictionary_encode(), [2.5, 1]),
        (pa.chunked_array([[1.5], [None]]), [1.5, np.nan]),
        (np.array([1, 2], dtype=np.float16), [1, 2]),
        (np.array(["1.5", None], dtype=object), [1.5, np.nan]),
    ],
)
def test_as_numbers(column, expected):
    np.testing.assert_array_equal(np.asarray(as_numbers(column), dtype=float), expected)


def test_integers_stay_integers():
    assert as_numbers(pa.array([2**62 + 1, 1])).tolist() == [2**62 + 1, 1]
    view = np.arange(6, dtype=np.int32)[::2]
    assert as_numbers(view) is view


def test_text_that_is_no_number():
    with refusal(KindContradiction, column="age", where="people.csv, row 2", found="old"):
        as_numbers(pa.array(["25", "old"]), name="age", where="people.csv")


DENSE = np.array([[0, 2, 0], [0, 0, 0], [1, 0, 3], [4, 0, 0]])
MATRIX = CountMatrix(np.array([0, 1, 1, 3, 4]), np.array([1, 0, 2, 0]), np.array([2, 1, 3, 4]), 3)


@pytest.mark.parametrize("rows", [slice(0, 4), slice(1, 3), slice(2, 2), slice(3, 9)])
def test_product_of_a_count_matrix(rows):
    weights = np.array([[0.5, 1.0], [2.0, -1.0], [0.25, 3.0]])
    part = MATRIX[rows]
    assert part.rows == len(DENSE[rows])
    np.testing.assert_array_equal(part.times(weights), DENSE[rows] @ weights)


@given(
    st.lists(st.sampled_from(["suv", "", "é", "truck", None])).map(lambda cells: pa.array(cells, pa.string()))
    | st.lists(st.sampled_from([True, False, None])).map(lambda cells: pa.array(cells, pa.bool_()))
)
def test_few_values_are_coded_as_many_are(column):
    coded = as_dictionary(column)
    expected = column.dictionary_encode()
    assert coded.dictionary.equals(expected.dictionary)
    assert coded.indices.equals(expected.indices)


@given(st.one_of(st.lists(st.none() | st.sampled_from(["suv", "van", ""])), st.lists(st.none() | st.booleans())))
def test_few_values_have_the_codes_that_arrow_gives_them(values):
    column = pa.array(values, pa.bool_() if any(isinstance(value, bool) for value in values) else pa.string())
    assert _few_coded(column).equals(column.dictionary_encode())
