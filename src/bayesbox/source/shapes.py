"""Data of other libraries, recognised by their shape so that none of them is imported to find out.

This is the only place that looks at the module or at the attributes of what a user hands over: pandas, polars, Dask,
Ray, xarray, scipy, Spark, whatever exports Arrow data or a numpy array. What is a source of rows is a `Source`, and is
not asked here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TypeGuard

PathLike = str | os.PathLike[str]


def package_of(data: object) -> str:
    """The package that a value's type is from.

    >>> import pathlib
    >>> package_of(pathlib.Path("people.csv")), package_of([1])
    ('pathlib', 'builtins')
    """
    return type(data).__module__.partition(".")[0]


def is_pandas_frame(data: object) -> bool:
    """Whether this is a DataFrame of pandas."""
    return package_of(data) == "pandas" and hasattr(data, "columns")


def is_pandas_series(data: object) -> bool:
    """Whether this is one column of pandas: a Series, an Index or an array of its own."""
    return package_of(data) == "pandas" and hasattr(data, "dtype") and not hasattr(data, "columns")


def is_polars(data: object) -> bool:
    """Whether this is a frame, a lazy frame or a series of polars."""
    return package_of(data) == "polars"


def is_polars_frame(data: object) -> bool:
    """Whether this is a frame or a lazy frame of polars."""
    return is_polars(data) and hasattr(data, "collect_schema")


def is_polars_series(data: object) -> bool:
    """Whether this is a series of polars."""
    return is_polars(data) and type(data).__name__ == "Series"


def is_sparse(data: object) -> bool:
    """Whether this is a sparse matrix or sparse array of scipy.

    >>> is_sparse([[0, 1]])
    False
    """
    return type(data).__module__.startswith("scipy.sparse") and hasattr(data, "tocsr")


def is_dask(data: object) -> bool:
    """Whether this is a frame, a series or an index of Dask, which has partitions."""
    return package_of(data) == "dask" and hasattr(data, "map_partitions")


def is_dask_frame(data: object) -> bool:
    """Whether this is a DataFrame of Dask."""
    return is_dask(data) and getattr(data, "ndim", 0) == 2


def is_ray_dataset(data: object) -> bool:
    """Whether this is a Dataset of Ray."""
    return package_of(data) == "ray" and hasattr(data, "map_batches")


def is_xarray_dataset(data: object) -> bool:
    """Whether this is a Dataset of xarray."""
    return package_of(data) == "xarray" and hasattr(data, "data_vars")


def is_xarray_array(data: object) -> bool:
    """Whether this is a DataArray of xarray, which would export a row for each cell."""
    return package_of(data) == "xarray" and hasattr(data, "to_numpy")


def is_named_tuple(data: object) -> bool:
    """Whether this is a tuple whose values have names.

    >>> from collections import namedtuple
    >>> is_named_tuple(namedtuple("Person", "age")(34)), is_named_tuple((34,))
    (True, False)
    """
    return isinstance(data, tuple) and hasattr(data, "_fields") and hasattr(data, "_asdict")


def is_spark_frame(data: object) -> bool:
    """Whether this is a DataFrame of Spark."""
    return package_of(data) == "pyspark" and hasattr(data, "mapInArrow")


def is_duckdb_connection(data: object) -> bool:
    """Whether this is an open connection of DuckDB."""
    return hasattr(data, "execute") and hasattr(data, "cursor")


def exports_arrow_stream(data: object) -> bool:
    """Whether this hands over a stream of Arrow data, as frames do."""
    return hasattr(data, "__arrow_c_stream__")


def exports_arrow(data: object) -> bool:
    """Whether this hands over Arrow data, as a stream or at once."""
    return exports_arrow_stream(data) or hasattr(data, "__arrow_c_array__")


def exports_interchange(data: object) -> bool:
    """Whether this hands over a frame by the interchange protocol."""
    return hasattr(data, "__dataframe__")


def exports_array(data: object) -> bool:
    """Whether this hands over a numpy array."""
    return hasattr(data, "__array__")


def has_columns(data: object) -> bool:
    """Whether this names its columns, as frames of several libraries do."""
    return hasattr(data, "columns")


def shape_of(data: object) -> tuple[int, ...] | None:
    """The shape that an array or a frame says it has."""
    shape: tuple[int, ...] | None = getattr(data, "shape", None)
    return shape


def holds_values(value: object) -> bool:
    """Whether this holds several values by their place: a list, an array, a column; not a text and not a mapping.

    >>> holds_values([1, 2]), holds_values("ab"), holds_values({"a": 1}), holds_values(3)
    (True, False, False, False)
    """
    return hasattr(value, "__len__") and not isinstance(value, str | bytes | Mapping)


def is_path(data: object) -> TypeGuard[PathLike | list[PathLike] | tuple[PathLike, ...]]:
    """Whether data are named by a path, or by several.

    >>> is_path("people.csv"), is_path(["a.csv", "b.csv"]), is_path([]), is_path([[1, 2]])
    (True, True, False, False)
    """
    if isinstance(data, str | os.PathLike):
        return True
    return isinstance(data, list | tuple) and bool(data) and all(isinstance(item, str | os.PathLike) for item in data)
