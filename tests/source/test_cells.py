"""Python values built without pandas are those built with it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesbox.source.cells import _built, values_column

plain_cells = [
    st.text(st.characters(exclude_categories=["Cs"])),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.one_of(st.floats(), st.integers(-(2**53), 2**53)),
]


@pytest.mark.parametrize("cells", plain_cells)
@given(data=st.data())
def test_built_alike(cells: st.SearchStrategy[Any], data: st.DataObject) -> None:
    values = data.draw(st.lists(st.one_of(st.none(), cells)))
    built = _built(values)
    assert built is not None
    assert built.equals(pa.array(values, from_pandas=True))


@pytest.mark.parametrize("values", [[1, "one"], [1, True], [b"suv"], [[1]], [2**70], ["\ud800"]])
def test_the_rest_is_left_to_arrow(values: list[Any]) -> None:
    assert _built(values) is None


def test_any_order_of_a_mixture_has_one_type() -> None:
    assert values_column([True, 2], "x").type == values_column([2, True], "x").type == pa.float64()
    assert values_column(["a", 2], "x").to_pylist() == values_column([2, "a"], "x").to_pylist()[::-1]
