"""Arrays built by their buffers are the ones pyarrow builds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesbox import _core
from bayesbox.schema.arrays import (
    double_array,
    flag_array,
    integer_array,
    numpy_values,
    plain_texts,
    text_array,
    wide_texts,
    without_nulls,
)

texts = st.text(st.characters(exclude_categories=["Cs"]))
BUILDERS: list[tuple[Callable[[Any], pa.Array], st.SearchStrategy[Any], pa.DataType]] = [
    (text_array, texts, pa.string()),
    (double_array, st.floats(allow_nan=False), pa.float64()),
    (integer_array, st.integers(-(2**63), 2**63 - 1), pa.int64()),
    (flag_array, st.booleans(), pa.bool_()),
]


@pytest.mark.parametrize(("build", "cells", "kind"), BUILDERS)
@given(data=st.data())
def test_built_as_pyarrow_builds(
    build: Callable[[Any], pa.Array], cells: st.SearchStrategy[Any], kind: pa.DataType, data: st.DataObject
) -> None:
    values = data.draw(st.lists(st.one_of(st.none(), cells)))
    built = build(values)
    built.validate(full=True)
    assert built.equals(pa.array(values, type=kind))


@given(st.lists(st.one_of(st.none(), st.floats(allow_nan=False)), max_size=200), st.integers(0, 70))
def test_doubles_without_nulls(values: list[float | None], start: int) -> None:
    found = without_nulls(pa.array(values, type=pa.float64())[start:])
    np.testing.assert_array_equal(found, [np.nan if value is None else value for value in values[start:]])


@pytest.mark.parametrize("name", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"])
@given(values=st.lists(st.one_of(st.none(), st.integers(0, 127)), max_size=200), start=st.integers(0, 70))
def test_codes_without_nulls(name: str, values: list[int | None], start: int) -> None:
    found = without_nulls(pa.array(values, type=getattr(pa, name)())[start:])
    assert found.tolist() == [-1 if value is None else value for value in values[start:]]


def test_a_bitmap_that_is_too_short_is_refused() -> None:
    with pytest.raises(ValueError, match="too short"):
        _core.without_holes(np.zeros(9), np.zeros(1, dtype=np.uint8), 0)
    with pytest.raises(ValueError, match="too short"):
        _core.without_holes(np.zeros(8), np.zeros(1, dtype=np.uint8), 1)
    with pytest.raises(ValueError, match="gaps"):
        _core.without_holes(np.zeros(8)[::2], np.zeros(1, dtype=np.uint8), 0)


def test_integers_that_do_not_fit() -> None:
    with pytest.raises(OverflowError):
        integer_array([2**63])


def test_a_view_is_no_copy() -> None:
    array = pa.array([1.0, 2.0])
    assert np.shares_memory(numpy_values(array), np.frombuffer(array.buffers()[1]))


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=6)), st.integers(-3, 3).filter(bool))
def test_texts_of_arrays_and_lists_are_those_of_pyarrow(values: list[str], step: int) -> None:
    array = np.array(values, dtype=np.str_)[::step]
    expected = pa.array(array.tolist(), pa.string())  # numpy has no zeros at the end of a text
    for column in (wide_texts(array), wide_texts(np.column_stack([array, array])[:, 1]), plain_texts(array.tolist())):
        column.validate(full=True)
        assert column.equals(expected)
    assert plain_texts(tuple(values)).equals(pa.array(values, pa.string()))


def test_texts_with_gaps_are_read_where_they_stand() -> None:
    rows = np.zeros(4, dtype=[("flag", "u1"), ("car", "U6")])
    rows["car"] = ["suv", "a\0b", "", "m\u00fcnch\U0001f600"]
    assert wide_texts(rows["car"]).to_pylist() == ["suv", "a\0b", "", "m\u00fcnch\U0001f600"]
    assert wide_texts(np.broadcast_to(np.str_("suv"), 3)).to_pylist() == ["suv"] * 3
    assert wide_texts(np.array(["x" * 1000, "\u20ac" * 1000])).to_pylist() == ["x" * 1000, "\u20ac" * 1000]


@pytest.mark.parametrize("half", [0xD800, 0xDFFF])
def test_half_a_character_is_left_to_the_caller(half: int) -> None:
    assert wide_texts(np.array(["a", "b" + chr(half)])) is None
    assert plain_texts(["a", "b" + chr(half)]) is None


@pytest.mark.parametrize("values", [["a", None], [np.str_("a")], [1], ["a", float("nan")], [b"a"]])
def test_other_values_than_texts_are_left_to_the_caller(values: list[Any]) -> None:
    assert plain_texts(values) is None


@pytest.mark.parametrize(
    "wrong", [np.zeros(2), np.array(["a"], ">U1"), np.array([["a"]]), np.array([b"a"]), "ab", None]
)
def test_only_columns_of_wide_texts_are_read(wrong: Any) -> None:
    with pytest.raises(TypeError):
        _core.wide_text_bytes(wrong)
