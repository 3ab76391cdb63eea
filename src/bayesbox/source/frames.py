"""Data in memory as one batch: DataFrames, arrays, tables, records, without unnecessary copies."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from bayesbox.errors import BadData
from bayesbox.schema.arrays import wide_texts
from bayesbox.schema.columns import Column, names_by_position
from bayesbox.source.base import Batch, OneBatch
from bayesbox.source.cells import plain, values_column
from bayesbox.source.shapes import (
    exports_array,
    exports_arrow,
    exports_arrow_stream,
    exports_interchange,
    has_columns,
    holds_values,
    is_dask,
    is_named_tuple,
    is_pandas_frame,
    is_pandas_series,
    is_polars,
    is_polars_frame,
    is_sparse,
    is_xarray_array,
    is_xarray_dataset,
    package_of,
)

MANY_COLUMNS = 64  # of a pandas frame whose values are looked at as one matrix
NUMBER_CODES = "?bhilqBHILQfd"  # numpy's, of types that are counted as they are
TWO_DIMENSIONS = (
    "Reshape your data: X.reshape(-1, 1) if it is one column, X.reshape(1, -1) if it is one row; or pass a data "
    "frame, a list of dicts or a dict of columns"
)


def batch_of(data: object, *, names: Sequence[object] | None = None) -> Batch:
    """Rows in memory as one batch.

    Supported are pandas, polars and Dask DataFrames, pyarrow tables, objects that export an Arrow stream or have
    `__dataframe__`, numpy arrays, lists of dicts (an absent key is missing) or of named tuples, dicts of columns, and
    lists of rows. `names` replaces the names in the data; the columns of arrays and lists of rows are "0", "1", ...

    >>> batch = batch_of([{"age": 25, "car": "sports"}, {"age": 40}])
    >>> batch.names, batch["age"].to_pylist(), batch["car"].to_pylist()
    (('age', 'car'), [25, 40], ['sports', None])
    """
    found, columns, rows = table_of(data)
    texts = _names_of(found if names is None else names)
    if len(texts) != len(columns):
        raise BadData(f"{len(texts)} names for {len(columns)} columns", found=list(texts))
    return Batch(texts, tuple(columns), rows)


def frame_source(data: object) -> OneBatch:
    """Rows in memory as a source."""
    return OneBatch(batch_of(data))


def column_names(data: Any) -> list[str] | None:
    """The column names in the data, without reading the columns; None for arrays and lists of rows, which have none.

    >>> column_names({"age": [25, 40]}), column_names([{"age": 25}, {"car": "suv"}]), column_names([[25]])
    (['age'], ['age', 'car'], None)
    """
    if isinstance(data, Batch):
        return list(data.names)
    if isinstance(data, pa.Table | pa.RecordBatch):
        return list(data.schema.names)
    if isinstance(data, np.ndarray):
        return list(data.dtype.names) if data.dtype.names else None
    if isinstance(data, Mapping):
        return [str(name) for name in data]
    if isinstance(data, list | tuple):
        records = _records(data)
        return None if not records else list(dict.fromkeys(str(name) for row in records for name in row))
    if is_polars_frame(data):
        return list(data.collect_schema().names())
    if has_columns(data):
        return [str(name) for name in data.columns]
    return list(batch_of(data).names) if exports_arrow_stream(data) or exports_interchange(data) else None


def only_columns(data: Any, names: Iterable[str]) -> Any:
    """The data with only these columns, so that the others are not read; or the data as is.

    >>> only_columns({"age": [25], "car": ["suv"]}, ["car"])
    {'car': ['suv']}
    """
    wanted = set(names)
    if isinstance(data, pa.Table | pa.RecordBatch):
        return data.select([name for name in data.schema.names if name in wanted])
    if isinstance(data, Mapping):
        return {name: column for name, column in data.items() if str(name) in wanted} or data
    if is_polars_frame(data):
        found = [name for name in data.collect_schema().names() if name in wanted]
        return data.select(found) if found else data
    if is_pandas_frame(data):
        found = [name for name in data.columns if str(name) in wanted]
        if found and len(set(found)) == len(found):  # one series at a time, which is much faster
            return {name: data[name] for name in found}
        return data[found]
    if is_dask(data) and has_columns(data):
        return data[[name for name in data.columns if str(name) in wanted]]
    return data


Table = tuple[Iterable[object], Sequence[Column], int]  # names, columns, number of rows


def table_of(data: Any) -> Table:
    if isinstance(data, Batch):
        return data.names, data.columns, data.rows
    if isinstance(data, pa.Table | pa.RecordBatch):
        return _from_arrow(data)
    if is_sparse(data):
        raise BadData("a sparse matrix cannot be used as a table", remedy="Pass a dense array or a data frame")
    if is_pandas_frame(data) or is_pandas_series(data):
        return _from_pandas(data)
    if is_polars(data):
        return _from_polars(data)
    if is_dask(data):
        return table_of(data.compute())
    if isinstance(data, np.ndarray) or is_xarray_array(data):
        return _from_numpy(np.asanyarray(data))
    if is_xarray_dataset(data):
        raise BadData(
            "an xarray Dataset has variables over dimensions, not rows and columns",
            found=type(data).__name__,
            remedy="Give dataset.to_dataframe().reset_index()",
        )
    if isinstance(data, Mapping):
        return _from_columns(data)
    if isinstance(data, list | tuple):
        return _from_rows(data)
    return _from_protocol(data)


def _names_of(names: Iterable[object]) -> tuple[str, ...]:
    """Column names as text; an error if two columns have the same name."""
    if isinstance(names, range):
        return names_by_position(len(names))
    owner: dict[str, object] = {}
    for name in names:
        text = str(name)
        if text in owner:
            raise BadData(
                f"two columns are named `{text}`",
                found=[owner[text], name],
                remedy="Rename one of them: column names are compared as text",
            )
        owner[text] = name
    return tuple(owner)


def _from_arrow(table: pa.Table | pa.RecordBatch) -> Table:
    names = table.schema.names
    columns = [plain(column, name) for name, column in zip(names, table.columns, strict=True)]
    return names, columns, table.num_rows


def _from_protocol(data: object) -> Table:
    """Columns of objects that export Arrow data, a numpy array, or the interchange protocol."""
    if exports_arrow(data):
        return _from_arrow_export(data)
    if isinstance(data, pa.RecordBatchReader):
        return _from_arrow(data.read_all())
    if exports_interchange(data):
        return _from_interchange(data)
    if exports_array(data):
        return _from_numpy(np.asarray(data))
    if isinstance(data, str | os.PathLike):
        raise BadData(
            "X must be rows, not the name of a file",
            found=str(data),
            remedy="bayesbox.train and bayesbox.predict read files",
        )
    raise BadData(
        f"rows of type {type(data).__name__} cannot be read",
        remedy="Pass a pandas or polars data frame, an Arrow table, an array, or a list of dicts or rows",
    )


def _from_arrow_export(data: object) -> Table:
    """The columns of an exported Arrow table, or of one unnamed column."""
    try:
        return _from_arrow(pa.table(data))
    except pa.ArrowInvalid:  # it does not export a struct of columns
        column = pa.chunked_array(data) if exports_arrow_stream(data) else pa.array(data)
        return ["0"], [plain(column, "0")], len(column)


def _from_interchange(data: object) -> Table:
    from pyarrow.interchange import from_dataframe

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the protocol is deprecated, but these data have no other
            return _from_arrow(from_dataframe(data))
    except (RuntimeError, TypeError, NotImplementedError, AttributeError, pa.ArrowException) as error:
        raise BadData(
            f"the frame cannot be read by the interchange protocol ({error})",
            found=type(data).__name__,
            remedy="Convert it to Arrow, pandas or polars first",
        ) from error


def _from_pandas(data: Any) -> Table:
    if is_pandas_series(data):
        name = "0" if data.name is None else data.name
        return [name], [_pandas_attribute(data, str(name))], len(data)
    matrix = matrix_of(data)
    if matrix is not None:
        return list(data.columns), list(matrix.T), len(data)
    columns = [_pandas_attribute(series, str(name)) for name, series in data.items()]
    return list(data.columns), columns, len(data)


def matrix_of(frame: Any) -> np.ndarray | None:
    """The values of a pandas frame of numbers of one type as they are in memory; None if they are in several places.

    A frame makes its columns one by one, which takes longer than counting them if there are thousands.
    """
    if frame.shape[1] < MANY_COLUMNS or len(frame) == 0:
        return None
    types = set(frame.dtypes)
    kind = types.pop()
    if types or not isinstance(kind, np.dtype) or kind.char not in NUMBER_CODES or not kind.isnative:
        return None
    if not np.shares_memory(frame.iloc[:1].to_numpy(), frame.iloc[:, 0].to_numpy()):
        return None  # all of it would be copied
    found: np.ndarray = frame.to_numpy()
    return found


def _pandas_attribute(series: Any, name: str) -> Column:
    """A pandas column that is not a target; a period is the timestamp of its start."""
    if type(series.dtype).__name__ == "PeriodDtype":
        return numpy_column(series.array.to_timestamp().to_numpy(), name)
    return pandas_column(series, name)


def pandas_column(series: Any, name: str) -> Column:
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return numpy_column(series.to_numpy(), name)
    values = getattr(series, "array", series)
    kind = type(dtype).__name__
    if kind == "CategoricalDtype":
        return _pandas_categorical(values, name)
    if kind == "SparseDtype":
        return numpy_column(np.asarray(values), name)
    if kind == "DatetimeTZDtype":
        return _zoned_times(values)
    if kind in ("IntervalDtype", "PeriodDtype"):
        return values_column(values.astype(object), name)
    if hasattr(values, "__arrow_array__"):
        return plain(values.__arrow_array__(), name)
    try:
        return plain(pa.array(series, from_pandas=True), name)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return values_column(values.astype(object), name)


def _zoned_times(values: Any) -> pa.Array:
    """Timestamps with a zone as an Arrow array, without deprecated pandas methods."""
    utc = values.tz_convert("UTC").tz_localize(None).to_numpy()
    zone = pa.timestamp("us", tz=values.dtype.tz).tz
    return pa.array(utc, from_pandas=True).cast(pa.timestamp(values.dtype.unit, tz=zone))


def _pandas_categorical(values: Any, name: str) -> pa.DictionaryArray:
    codes = np.asarray(values.codes)
    levels = pandas_column(values.categories, name)
    if isinstance(levels, pa.ChunkedArray):
        levels = levels.combine_chunks()
    holes = {"mask": codes < 0} if len(codes) and codes.min() < 0 else {}  # without them the codes are not copied
    return pa.DictionaryArray.from_arrays(pa.array(codes, **holes), levels, ordered=bool(values.ordered), safe=False)


def _from_polars(data: Any) -> Table:
    if type(data).__name__ == "LazyFrame":
        data = data.collect()
    if type(data).__name__ == "Series":
        name = data.name or "0"
        return [name], [polars_column(data, name)], len(data)
    columns = [polars_column(series, series.name) for series in data.get_columns()]
    return data.columns, columns, data.height


def polars_column(series: Any, name: str) -> Column:
    if str(series.dtype) in ("Object", "Int128", "UInt128"):  # values without an Arrow type
        return values_column(series.to_list(), name)
    return plain(series.to_arrow(), name)


def _from_numpy(array: np.ndarray) -> Table:
    if array.dtype.names is not None and array.ndim == 1:
        fields = array.dtype.names
        return fields, [numpy_column(array[field], field) for field in fields], len(array)
    if array.ndim != 2:
        raise BadData(f"Expected 2D array, got {array.ndim}D array instead", remedy=TWO_DIMENSIONS)
    width = array.shape[1]
    if isinstance(array, np.matrix):  # its columns would be matrices again
        array = np.asarray(array)
    if array.dtype.kind == "O":
        array = np.asfortranarray(array)
    if type(array) is np.ndarray and array.dtype.char in NUMBER_CODES and array.dtype.isnative:
        return range(width), list(array.T), len(array)  # each a view that `numpy_column` would return as it is
    return range(width), [numpy_column(array[:, index], str(index)) for index in range(width)], len(array)


def numpy_column(column: np.ndarray, name: str) -> Column:
    """A numpy column: numbers and booleans remain views of any stride; others become Arrow arrays."""
    if column.ndim != 1:
        raise BadData("has arrays", where=f"column `{name}`", remedy="Give each part its own column", column=name)
    kind = column.dtype.kind
    if kind == "c":
        raise BadData("Complex data not supported", where=f"column `{name}`", column=name)
    column = _in_units_of_arrow(column, name) if kind in "mM" else _native(column)
    if isinstance(column, np.ma.MaskedArray):
        return pa.array(np.ascontiguousarray(column.data), mask=np.ma.getmaskarray(column), from_pandas=True)
    if kind in "biuf":
        return column
    if kind == "S":
        return plain(pa.array(column), name)
    if kind in "OTV":
        return values_column(column, name)
    if kind == "U":
        texts = wide_texts(column)
        return values_column(column.tolist(), name) if texts is None else texts  # which rejects invalid Unicode
    return pa.array(column, from_pandas=True)


UNITS = {"Y": "D", "M": "D", "W": "D", "D": "D", "h": "s", "m": "s", "s": "s", "ms": "ms", "us": "us", "ns": "ns"}
"""The Arrow unit for each numpy unit of dates; durations have no unit above a second."""


def _in_units_of_arrow(column: np.ndarray, name: str) -> np.ndarray:
    """Dates and durations in a unit that Arrow supports."""
    given, _ = np.datetime_data(column.dtype)
    is_duration = column.dtype.kind == "m"
    unit = UNITS.get(given)
    if unit is None or (is_duration and given in ("Y", "M")):
        what = "durations" if is_duration else "dates"
        raise BadData(
            f"{what} in an unsupported unit",
            where=f"column `{name}`",
            found=str(column.dtype),
            remedy="Convert them, for example with .astype('timedelta64[s]')"
            if is_duration
            else "Convert them, for example with .astype('datetime64[ns]')",
            column=name,
        )
    wanted = f"=m8[{'s' if unit == 'D' else unit}]" if is_duration else f"=M8[{unit}]"
    return column.astype(wanted, copy=False)


def _native(column: np.ndarray) -> np.ndarray:
    """The column in native byte order, and no wider than a double."""
    if column.dtype.itemsize > 8 and column.dtype.kind == "f":
        return column.astype(np.float64)
    if not column.dtype.isnative:
        return column.astype(column.dtype.newbyteorder("="))
    return column


def _from_columns(data: Mapping[object, object]) -> Table:
    columns = [_any_column(values, str(name)) for name, values in data.items()]
    lengths = [len(column) for column in columns]
    if len(set(lengths)) > 1:
        found = {str(name): length for name, length in zip(data, lengths, strict=True)}
        raise BadData("the columns have different lengths", found=found)
    return list(data), columns, lengths[0] if lengths else 0


def _any_column(values: Any, name: str) -> Column:
    if not holds_values(values):
        raise BadData("is a single value, not a column", where=f"column `{name}`", found=values, column=name)
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return plain(values, name)
    if package_of(values) == "pandas":
        return _pandas_attribute(values, name)
    if is_polars(values):
        return polars_column(values, name)
    if isinstance(values, np.ndarray):
        return numpy_column(values, name)
    if exports_array(values) and not isinstance(values, list | tuple):
        return numpy_column(np.asarray(values), name)
    return values_column(list(values), name)


def _from_rows(rows: Sequence[Any]) -> Table:
    if not rows:
        return (), (), 0
    records = _records(rows)
    if records:
        return _from_records(records)
    if not all(map(holds_values, rows)):
        raise BadData("Expected 2D array, got a list of single values instead", remedy=TWO_DIMENSIONS)
    width = len(rows[0])
    for number, row in enumerate(rows):
        if len(row) != width:
            raise BadData(f"row {number} has {len(row)} values where row 0 has {width}", found=row)
    columns = [values_column(column, str(index)) for index, column in enumerate(zip(*rows, strict=True))]
    return range(width), columns, len(rows)


def _records(rows: Sequence[Any]) -> list[Mapping[object, object]] | None:
    """Rows with named values (dicts or named tuples) as mappings; None for others."""
    if rows and all(map(is_named_tuple, rows)):
        return [row._asdict() for row in rows]
    return list(rows) if rows and all(isinstance(row, Mapping) for row in rows) else None


def _from_records(rows: Sequence[Mapping[object, object]]) -> Table:
    names = list(dict.fromkeys(key for row in rows for key in row))
    columns = [values_column([row.get(name) for row in rows], str(name)) for name in names]
    return names, columns, len(rows)
