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
    text_array,
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
