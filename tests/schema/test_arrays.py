"""Arrays built by their buffers are the ones pyarrow builds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesbox.schema.arrays import (
    double_array,
    flag_array,
    integer_array,
    is_present,
    numpy_values,
    text_array,
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


@given(st.lists(st.one_of(st.none(), st.floats(allow_nan=False))), st.integers(0, 3))
def test_values_and_presence_of_slices(values: list[float | None], start: int) -> None:
    array = pa.array(values, type=pa.float64())[start:]
    present = is_present(array)
    assert present.tolist() == [value is not None for value in values[start:]]
    found = numpy_values(array)[present].tolist()
    assert found == [value for value in values[start:] if value is not None]


def test_presence_of_nulls() -> None:
    assert is_present(pa.nulls(2)).tolist() == [False, False]
    assert is_present(pa.array(["suv"])).tolist() == [True]


def test_integers_that_do_not_fit() -> None:
    with pytest.raises(OverflowError):
        integer_array([2**63])


def test_a_view_is_no_copy() -> None:
    array = pa.array([1.0, 2.0])
    assert np.shares_memory(numpy_values(array), np.frombuffer(array.buffers()[1]))
