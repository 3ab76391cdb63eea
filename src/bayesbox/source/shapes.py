"""Recognition of data of other libraries by their attributes, without importing these libraries.

Only this module inspects the module or the attributes of data: pandas, polars, Dask, Ray, xarray, scipy, Spark, and
objects that export Arrow data or a numpy array. Sources of rows are `Source` objects and are not handled here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TypeGuard

PathLike = str | os.PathLike[str]


def package_of(data: object) -> str:
    """The package of the type of a value.

    >>> import pathlib
    >>> package_of(pathlib.Path("people.csv")), package_of([1])
    ('pathlib', 'builtins')
    """
    return type(data).__module__.partition(".")[0]


def is_pandas_frame(data: object) -> bool:
    """Whether this is a pandas DataFrame."""
    return package_of(data) == "pandas" and hasattr(data, "columns")


def is_pandas_series(data: object) -> bool:
    """Whether this is a pandas Series, Index or extension array."""
    return package_of(data) == "pandas" and hasattr(data, "dtype") and not hasattr(data, "columns")


def is_polars(data: object) -> bool:
    """Whether this is a polars DataFrame, LazyFrame or Series."""
    return package_of(data) == "polars"


def is_polars_frame(data: object) -> bool:
    """Whether this is a polars DataFrame or LazyFrame."""
    return is_polars(data) and hasattr(data, "collect_schema")


def is_polars_series(data: object) -> bool:
    """Whether this is a polars Series."""
    return is_polars(data) and type(data).__name__ == "Series"


def is_sparse(data: object) -> bool:
    """Whether this is a scipy sparse matrix or sparse array.

    >>> is_sparse([[0, 1]])
    False
    """
    return type(data).__module__.startswith("scipy.sparse") and hasattr(data, "tocsr")


def is_dask(data: object) -> bool:
    """Whether this is a Dask DataFrame, Series or Index, which has partitions."""
    return package_of(data) == "dask" and hasattr(data, "map_partitions")


def is_dask_frame(data: object) -> bool:
    """Whether this is a Dask DataFrame."""
    return is_dask(data) and getattr(data, "ndim", 0) == 2


def is_ray_dataset(data: object) -> bool:
    """Whether this is a Ray Dataset."""
    return package_of(data) == "ray" and hasattr(data, "map_batches")


def is_xarray_dataset(data: object) -> bool:
    """Whether this is an xarray Dataset."""
    return package_of(data) == "xarray" and hasattr(data, "data_vars")


def is_xarray_array(data: object) -> bool:
    """Whether this is an xarray DataArray, which would export one row per cell."""
    return package_of(data) == "xarray" and hasattr(data, "to_numpy")


def is_named_tuple(data: object) -> bool:
    """Whether this is a named tuple.

    >>> from collections import namedtuple
    >>> is_named_tuple(namedtuple("Person", "age")(34)), is_named_tuple((34,))
    (True, False)
    """
    return isinstance(data, tuple) and hasattr(data, "_fields") and hasattr(data, "_asdict")


def is_spark_frame(data: object) -> bool:
    """Whether this is a Spark DataFrame."""
    return package_of(data) == "pyspark" and hasattr(data, "mapInArrow")


def is_duckdb_connection(data: object) -> bool:
    """Whether this is an open DuckDB connection."""
    return hasattr(data, "execute") and hasattr(data, "cursor")


def exports_arrow_stream(data: object) -> bool:
    """Whether this exports an Arrow stream, as DataFrames do."""
    return hasattr(data, "__arrow_c_stream__")


def exports_arrow(data: object) -> bool:
    """Whether this exports Arrow data, as a stream or an array."""
    return exports_arrow_stream(data) or hasattr(data, "__arrow_c_array__")


def exports_interchange(data: object) -> bool:
    """Whether this supports the DataFrame interchange protocol."""
    return hasattr(data, "__dataframe__")


def exports_array(data: object) -> bool:
    """Whether this exports a numpy array."""
    return hasattr(data, "__array__")


def has_columns(data: object) -> bool:
    """Whether this has named columns, as DataFrames of several libraries do."""
    return hasattr(data, "columns")


def shape_of(data: object) -> tuple[int, ...] | None:
    """The shape of an array or DataFrame."""
    shape: tuple[int, ...] | None = getattr(data, "shape", None)
    return shape


def holds_values(value: object) -> bool:
    """Whether this is a sequence of values: a list, an array or a column, but not a text or a mapping.

    >>> holds_values([1, 2]), holds_values("ab"), holds_values({"a": 1}), holds_values(3)
    (True, False, False, False)
    """
    return hasattr(value, "__len__") and not isinstance(value, str | bytes | Mapping)


def is_path(data: object) -> TypeGuard[PathLike | list[PathLike] | tuple[PathLike, ...]]:
    """Whether data are a path or several paths.

    >>> is_path("people.csv"), is_path(["a.csv", "b.csv"]), is_path([]), is_path([[1, 2]])
    (True, True, False, False)
    """
    if isinstance(data, str | os.PathLike):
        return True
    return isinstance(data, list | tuple) and bool(data) and all(isinstance(item, str | os.PathLike) for item in data)
