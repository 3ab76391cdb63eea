"""What a Python user holds becomes one batch with the same values, and nothing is copied without need."""

from __future__ import annotations

import datetime
import decimal
import fractions
import math
import uuid
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.refusal import refusal

from bayesbox.errors import BadData
from bayesbox.source.base import Batch
from bayesbox.source.frames import batch_of
from bayesbox.source.labels import labels_of

NAN = math.nan


def values(column: Any) -> list[Any]:
    """The values of a column as Python objects, None where missing."""
    found = column.tolist() if isinstance(column, np.ndarray) else column.to_pylist()
    return [None if isinstance(value, float) and math.isnan(value) else value for value in found]


PEOPLE = {"age": [25.0, None, 45.5], "car": ["sports", "suv", None], "young": [True, False, None]}

HOLDERS = {
    "dict": lambda: PEOPLE,
    "records": lambda: [dict(zip(PEOPLE, row, strict=True)) for row in zip(*PEOPLE.values(), strict=True)],
    "pandas": lambda: pd.DataFrame(PEOPLE),
    "pandas objects": lambda: pd.DataFrame(PEOPLE, dtype=object),
    "pandas arrow": lambda: pd.DataFrame(PEOPLE).convert_dtypes(dtype_backend="pyarrow"),
    "pandas nullable": lambda: pd.DataFrame(PEOPLE).convert_dtypes(),
    "polars": lambda: pl.DataFrame(PEOPLE),
    "polars lazy": lambda: pl.DataFrame(PEOPLE).lazy(),
    "table": lambda: pa.table(PEOPLE),
    "record batch": lambda: pa.RecordBatch.from_pydict(PEOPLE),
    "reader": lambda: pa.table(PEOPLE).to_reader(),
    "chunked": lambda: pa.concat_tables([pa.table(PEOPLE).slice(0, 1), pa.table(PEOPLE).slice(1)]),
    "dict of arrays": lambda: {name: np.array(column, dtype=object) for name, column in PEOPLE.items()},
    "dict of series": lambda: {name: pd.Series(column) for name, column in PEOPLE.items()},
    "dict of polars": lambda: {name: pl.Series(column) for name, column in PEOPLE.items()},
    "dict of arrow": lambda: {name: pa.array(column) for name, column in PEOPLE.items()},
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_every_holder_gives_the_same_batch(holder: str) -> None:
    batch = batch_of(HOLDERS[holder]())
    assert batch.names == ("age", "car", "young")
    assert batch.rows == 3
    assert {name: values(batch[name]) for name in batch.names} == PEOPLE


@pytest.mark.parametrize("holder", ["rows", "tuples", "object array"])
def test_rows_without_names_are_numbered(holder: str) -> None:
    rows = [list(row) for row in zip(*PEOPLE.values(), strict=True)]
    data = {"rows": rows, "tuples": [tuple(row) for row in rows], "object array": np.array(rows, dtype=object)}
    batch = batch_of(data[holder])
    assert batch.names == ("0", "1", "2")
    assert [values(column) for column in batch.columns] == list(PEOPLE.values())
    assert batch_of(data[holder], names=list(PEOPLE)).names == tuple(PEOPLE)


class Exporter:
    """Hands over an Arrow stream and nothing else."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


class ArrayLike:
    """Hands over a numpy array and nothing else."""

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return np.array([[1.0, 2.0]])


def test_objects_that_export_are_read() -> None:
    assert values(batch_of(Exporter(pa.table(PEOPLE)))["car"]) == PEOPLE["car"]
    assert batch_of(ArrayLike()).columns[1].tolist() == [2.0]


def test_a_batch_stays_itself() -> None:
    batch = batch_of(PEOPLE)
    assert batch_of(batch) == batch


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "u1", "?"])
def test_numeric_arrays_stay_views(dtype: str) -> None:
    array = np.arange(12).reshape(4, 3).astype(dtype)
    batch = batch_of(array)
    for index, column in enumerate(batch.columns):
        assert np.shares_memory(column, array)
        assert column.tolist() == array[:, index].tolist()


def test_numeric_columns_of_a_frame_stay_views() -> None:
    frame = pd.DataFrame({"age": [25.0, NAN], "visits": [1, 2], "young": [True, False]})
    batch = batch_of(frame)
    for name in frame:
        assert isinstance(batch[name], np.ndarray)
        assert np.shares_memory(batch[name], frame[name].to_numpy())


def test_texts_of_a_frame_are_not_copied() -> None:
    frame = pd.DataFrame({"car": ["sports", "suv", None]})
    held = frame["car"].array.__arrow_array__()
    column = batch_of(frame)["car"]
    assert column.chunk(0).buffers()[2].address == held.chunk(0).buffers()[2].address


def test_arrow_columns_are_not_copied() -> None:
    column = pa.array(["sports", "suv"])
    assert batch_of(pa.table({"car": column}))["car"].chunk(0).buffers()[2].address == column.buffers()[2].address


def test_other_numbers_become_native() -> None:
    assert batch_of(np.array([[1.5]], dtype=">f8"))["0"].dtype == np.dtype("f8")
    wide = batch_of(np.array([[1.5]], dtype=np.longdouble))["0"]
    assert (wide.dtype, wide.tolist()) == (np.dtype("f8"), [1.5])


def test_masked_values_are_missing() -> None:
    data = np.ma.masked_array([[1, 2], [3, 4]], mask=[[True, False], [False, False]])
    assert [values(column) for column in batch_of(data).columns] == [[None, 3], [2, 4]]


def test_text_arrays() -> None:
    batch = batch_of(np.array([["sports", "red"], ["suv", "blue"]]))
    assert [values(column) for column in batch.columns] == [["sports", "suv"], ["red", "blue"]]
    assert values(batch_of(np.array([[b"sports"], [b"suv"]]))["0"]) == ["sports", "suv"]


def test_structured_arrays_go_by_field() -> None:
    data = np.array([(25.0, "suv"), (30.0, "sports")], dtype=[("age", "f8"), ("car", "U8")])
    batch = batch_of(data)
    assert batch.names == ("age", "car")
    assert batch["age"].tolist() == [25.0, 30.0]
    assert values(batch["car"]) == ["suv", "sports"]


def test_absent_keys_are_missing() -> None:
    batch = batch_of([{"age": 25}, {"car": "suv"}, {}])
    assert {name: values(batch[name]) for name in batch.names} == {
        "age": [25, None, None],
        "car": [None, "suv", None],
    }


CATEGORICALS = {
    "pandas": lambda: pd.DataFrame({"car": pd.Categorical(["suv", None, "sports"])}),
    "polars": lambda: pl.DataFrame({"car": pl.Series(["suv", None, "sports"], dtype=pl.Categorical)}),
    "enum": lambda: pl.DataFrame({"car": pl.Series(["suv", None, "sports"], dtype=pl.Enum(["sports", "suv"]))}),
    "arrow": lambda: pa.table({"car": pa.array(["suv", None, "sports"]).dictionary_encode()}),
}


@pytest.mark.parametrize("make", CATEGORICALS)
def test_categoricals_stay_coded(make: str) -> None:
    column = batch_of(CATEGORICALS[make]())["car"]
    assert pa.types.is_dictionary(column.type)
    assert values(column) == ["suv", None, "sports"]


def test_categories_of_any_type() -> None:
    cut = pd.cut(pd.Series([1.0, 5.0, NAN]), [0, 2, 6])
    assert values(batch_of(pd.DataFrame({"age": cut}))["age"]) == ["(0, 2]", "(2, 6]", None]
    numbers = pd.Categorical([3, 1, None])
    assert values(batch_of(pd.DataFrame({"size": numbers}))["size"]) == [3, 1, None]
    mixed = pd.Categorical([1, "one", 1])
    assert values(batch_of(pd.DataFrame({"size": mixed}))["size"]) == ["1", "one", "1"]
    empty = pd.Categorical([None, None])
    assert values(batch_of(pd.DataFrame({"size": empty}))["size"]) == [None, None]


DAY = datetime.date(2024, 5, 1)
MOMENT = datetime.datetime(2024, 5, 1, 12, 30)

OBJECT_COLUMNS: dict[str, tuple[list[Any], list[Any]]] = {
    "text and holes": (["suv", None, NAN, pd.NA, pd.NaT], ["suv", None, None, None, None]),
    "integers": ([3, None, 4], [3, None, 4]),
    "numbers": ([1, 2.5, None], [1.0, 2.5, None]),
    "flags": ([True, None], [True, None]),
    "flags and numbers": ([True, 2, 0.5], [1.0, 2.0, 0.5]),
    "numbers and flags": ([1, True], [1.0, 1.0]),
    "numpy scalars": ([np.int8(1), np.int64(2)], [1, 2]),
    "integers beyond 64 bits": ([2**70, -1], [2.0**70, -1.0]),
    "integers beyond a double": ([10**400, -(10**400), "x"], [str(10**400), str(-(10**400)), "x"]),
    "integers beyond a double, alone": ([10**400, -(10**400)], [math.inf, -math.inf]),
    "decimals": ([decimal.Decimal("1.5"), None], [decimal.Decimal("1.5"), None]),
    "decimals and floats": ([decimal.Decimal("1.5"), 2.5], [1.5, 2.5]),
    "fractions": ([fractions.Fraction(1, 4), 1], [0.25, 1.0]),
    "mixed": (
        ["one", 1, 1.0, 0.1, True, np.bool_(False), None, NAN, DAY, MOMENT, b"suv"],
        ["one", "1", "1", "0.1", "true", "false", None, None, "2024-05-01", "2024-05-01T12:30:00", "suv"],
    ),
    "number first": ([1, "one"], ["1", "one"]),
    "bytes": ([b"suv", None], ["suv", None]),
    "text and bytes": (["suv", b"sports"], ["suv", "sports"]),
    "dates": ([DAY, None], [DAY, None]),
    "moments": ([MOMENT, None], [MOMENT, None]),
    "dates and moments": ([DAY, MOMENT, None], [datetime.datetime(2024, 5, 1), MOMENT, None]),
    "durations": ([datetime.timedelta(1)], [datetime.timedelta(1)]),
    "uuids": ([uuid.UUID(int=5), None], ["00000000-0000-0000-0000-000000000005", None]),
    "intervals": ([pd.Interval(0, 1)], ["(0, 1]"]),
    "nothing": ([None, NAN], [None, None]),
}


@pytest.mark.parametrize("case", OBJECT_COLUMNS)
@pytest.mark.parametrize("holder", ["list", "array", "series", "frame", "records", "rows"])
def test_python_objects(case: str, holder: str) -> None:
    given_values, expected = OBJECT_COLUMNS[case]
    array = np.empty(len(given_values), dtype=object)
    array[:] = given_values
    data = {
        "list": lambda: {"x": given_values},
        "array": lambda: {"x": array},
        "series": lambda: pd.Series(array, name="x", dtype=object),
        "frame": lambda: pd.DataFrame({"x": array}, dtype=object),
        "records": lambda: [{"x": value} for value in given_values],
        "rows": lambda: [[value] for value in given_values],
    }
    found = values(batch_of(data[holder]()).columns[0])
    assert found == expected
    assert [type(value) for value in found] == [type(value) for value in expected]


TYPED_SERIES: dict[str, tuple[Any, list[Any]]] = {
    "datetime": (pd.Series(pd.to_datetime(["2024-05-01", None])), [pd.Timestamp("2024-05-01"), None]),
    "zoned": (
        pd.Series(pd.to_datetime(["2024-05-01"]).tz_localize("UTC")),
        [pd.Timestamp("2024-05-01", tz="UTC")],
    ),
    "timedelta": (pd.Series(pd.to_timedelta([1, None], unit="D")), [pd.Timedelta(days=1), None]),
    "nullable integers": (pd.Series([1, None], dtype="Int64"), [1, None]),
    "nullable flags": (pd.Series([True, None], dtype="boolean"), [True, None]),
    "nullable text": (pd.Series(["suv", None], dtype="string"), ["suv", None]),
    "python text": (pd.Series(["suv", None], dtype="string[python]"), ["suv", None]),
    "arrow decimals": (
        pd.Series([decimal.Decimal("1.5")], dtype=pd.ArrowDtype(pa.decimal128(5, 2))),
        [decimal.Decimal("1.50")],
    ),
    "sparse": (pd.Series(pd.arrays.SparseArray([0, 0, 3])), [0, 0, 3]),
    "months": (np.array(["2024-05", "NaT"], dtype="M8[M]"), [datetime.date(2024, 5, 1), None]),
    "years": (np.array(["2024"], dtype=">M8[Y]"), [datetime.date(2024, 1, 1)]),
    "hours": (np.array(["2024-05-01T07"], dtype="M8[h]"), [datetime.datetime(2024, 5, 1, 7)]),
    "days that passed": (np.array([1, "NaT"], dtype="m8[D]"), [datetime.timedelta(days=1), None]),
    "masked and swapped": (np.ma.masked_array(np.array([25, 40], dtype=">i4"), mask=[False, True]), [25, None]),
    "polars": (pl.Series("x", [1, None]), [1, None]),
    "polars objects": (pl.Series("x", [1, "one"], dtype=pl.Object), ["1", "one"]),
    "polars nulls": (pl.Series("x", [None, None]), [None, None]),
    "run ends": (pa.compute.run_end_encode(pa.array(["a", "a", None])), ["a", "a", None]),
    "string views": (pa.array(["suv", None], type=pa.string_view()), ["suv", None]),
    "binary views": (pa.array([b"suv"], type=pa.binary_view()), ["suv"]),
    "fixed binary": (pa.array([b"suv"], type=pa.binary(3)), ["suv"]),
    "uuids": (
        pa.array([uuid.UUID(int=5).bytes, None], type=pa.uuid()),
        ["00000000-0000-0000-0000-000000000005", None],
    ),
    "coded bytes": (pa.array([b"suv", b"suv"]).dictionary_encode(), ["suv", "suv"]),
}


def test_periods_are_their_beginnings_in_columns_and_texts_as_labels() -> None:
    series = pd.Series(pd.period_range("2024-05", periods=2, freq="M"))
    assert values(labels_of(series)) == ["2024-05", "2024-06"]
    assert values(batch_of({"x": series})["x"]) == [datetime.datetime(2024, 5, 1), datetime.datetime(2024, 6, 1)]


@pytest.mark.parametrize("case", TYPED_SERIES)
def test_typed_columns(case: str) -> None:
    series, expected = TYPED_SERIES[case]
    assert values(labels_of(series)) == expected
    assert values(batch_of({"x": series})["x"]) == expected


def test_a_series_is_one_column() -> None:
    assert batch_of(pd.Series([1.0], name="age")).names == ("age",)
    assert batch_of(pd.Series([1.0])).names == ("0",)
    assert batch_of(pl.Series("age", [1.0])).names == ("age",)


REFUSED: dict[str, tuple[Any, list[str]]] = {
    "names collide": (pd.DataFrame([[1, 2]], columns=[1, "1"]), ["two columns are named `1`", "[1, '1']"]),
    "names twice": (pd.DataFrame([[1, 2]], columns=["age", "age"]), ["two columns are named `age`", "Rename"]),
    "arrow names twice": (pa.Table.from_arrays([pa.array([1])] * 2, ["age", "age"]), ["named `age`"]),
    "record keys collide": ([{1: 2, "1": 3}], ["two columns are named `1`"]),
    "list column": (pa.table({"visits": [[1, 2]]}), ["column `visits`", "nested", "list"]),
    "struct column": (pa.table({"who": [{"age": 1}]}), ["column `who`", "nested", "struct"]),
    "polars list": (pl.DataFrame({"visits": [[1, 2]]}), ["column `visits`", "nested"]),
    "lists as objects": (pd.DataFrame({"visits": [[1, 2], [3]]}), ["column `visits`", "nested"]),
    "nested records": ([{"who": {"age": 1}}], ["column `who`", "nested"]),
    "lists among texts": ({"visits": ["one", [1, 2]]}, ["column `visits`", "type list", "[1, 2]"]),
    "bare objects": ({"x": ["one", object()]}, ["column `x`", "type object"]),
    "bad bytes": ({"x": [b"\xff"]}, ["column `x`", "not UTF-8"]),
    "bad bytes among texts": ({"x": [1, "one", b"\xff"]}, ["column `x`", "not UTF-8"]),
    "lone surrogate": ({"x": ["\ud800"]}, ["column `x`", "Unicode"]),
    "complex array": (np.array([[1j]]), ["Complex data not supported"]),
    "complex objects": ({"x": [1j, "one"]}, ["Complex data not supported", "column `x`"]),
    "durations in months": (
        {"x": np.array([1], dtype="m8[M]")},
        ["column `x`: durations in an unsupported unit", "'timedelta64[M]'", "astype"],
    ),
    "one-dimensional": (np.array([1.0, 2.0]), ["Expected 2D array, got 1D", "Reshape your data"]),
    "three dimensions": (np.zeros((1, 1, 1)), ["Expected 2D array, got 3D"]),
    "flat list": ([1, 2, 3], ["Expected 2D array", "Reshape your data"]),
    "flat texts": (["sports", "suv"], ["Expected 2D array", "Reshape your data"]),
    "ragged rows": ([[1, 2], [3]], ["row 1 has 1 values where row 0 has 2", "[3]"]),
    "ragged columns": ({"age": [1, 2], "car": ["suv"]}, ["different lengths", "'age': 2, 'car': 1"]),
    "a single value": ({"age": 25}, ["column `age`", "a single value", "25"]),
    "one text": ({"car": "suv"}, ["column `car`", "a single value", "'suv'"]),
    "a number": (25, ["type int cannot be read", "polars data frame"]),
    "none": (None, ["type NoneType cannot be read"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_say_what_and_where(case: str) -> None:
    data, pieces = REFUSED[case]
    with pytest.raises(BadData) as caught:
        batch_of(data)
    for piece in pieces:
        assert piece in str(caught.value)


def test_names_must_fit() -> None:
    with refusal(BadData, found=["age", "car", "size"]):
        batch_of(np.zeros((1, 2)), names=["age", "car", "size"])
    with refusal(BadData, found=["age", "age"]):
        batch_of(np.zeros((1, 2)), names=["age", "age"])


@pytest.mark.parametrize("empty", [[], {}, pd.DataFrame(), pa.table({})])
def test_nothing_is_an_empty_batch(empty: Any) -> None:
    batch = batch_of(empty)
    assert (batch.names, batch.rows) == ((), 0)


def test_no_rows() -> None:
    batch = batch_of(pd.DataFrame({"age": [], "car": []}))
    assert (batch.names, batch.rows) == (("age", "car"), 0)
    assert batch_of(np.zeros((0, 2))).rows == 0


LABELS: dict[str, Any] = {
    "list": ["high", "low", None],
    "tuple": ("high", "low", None),
    "objects": np.array(["high", "low", None], dtype=object),
    "column vector": np.array([["high"], ["low"], [None]], dtype=object),
    "series": pd.Series(["high", "low", None]),
    "frame": pd.DataFrame({"risk": ["high", "low", None]}),
    "categorical": pd.Categorical(["high", "low", None]),
    "extension array": pd.array(["high", "low", None]),
    "index": pd.Index(["high", "low", None]),
    "polars": pl.Series(["high", "low", None]),
    "polars data frame": pl.DataFrame({"risk": ["high", "low", None]}),
    "arrow": pa.array(["high", "low", None]),
    "chunked": pa.chunked_array([["high"], ["low", None]]),
    "table": pa.table({"risk": ["high", "low", None]}),
}


@pytest.mark.parametrize("holder", LABELS)
def test_labels(holder: str) -> None:
    assert values(labels_of(LABELS[holder])) == ["high", "low", None]


def test_numeric_labels_stay_numbers() -> None:
    array = np.array([1, 0, 1])
    assert np.shares_memory(labels_of(array), array)
    assert labels_of(array.reshape(-1, 1)).tolist() == [1, 0, 1]
    assert values(labels_of([True, False])) == [True, False]
    assert values(labels_of([2, 0])) == [2, 0]


@pytest.mark.parametrize(
    ("y", "piece"),
    [
        (None, "requires y to be passed, but the target y is None"),
        ("high", "one label per row"),
        (3, "one label per row"),
        ({"a": [1]}, "one label per row"),
        (np.zeros((2, 2)), "must be one column, got 'shape (2, 2)'"),
        (pd.DataFrame({"a": [1], "b": [2]}), "must be one column"),
        ([[1, 2], [3, 4]], "must be one column"),
        (np.zeros((2, 1, 1)), "must be one column"),
        (np.array([1j]), "Complex data not supported"),
    ],
)
def test_labels_must_be_one_column(y: Any, piece: str) -> None:
    with pytest.raises(BadData) as caught:
        labels_of(y)
    assert piece in str(caught.value)


cells = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=True),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.dates(),
)


@given(st.lists(cells))
def test_any_mixture_of_plain_values_is_read(column: list[Any]) -> None:
    batch: Batch = batch_of({"x": column})
    found = values(batch["x"])
    assert len(found) == len(column)
    for value, given_value in zip(found, column, strict=True):
        lost = given_value is None or given_value != given_value
        assert (value is None) == lost
        if isinstance(given_value, str):
            assert value == given_value


@given(st.lists(st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"])))))
def test_texts_come_back_as_they_are(column: list[str | None]) -> None:
    assert values(batch_of({"x": column})["x"]) == column
