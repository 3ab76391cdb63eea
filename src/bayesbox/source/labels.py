"""A target as one column of labels in their original types."""

from __future__ import annotations

import decimal
import enum
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayesbox.errors import BadData
from bayesbox.schema.arrays import plain_texts
from bayesbox.schema.columns import Column
from bayesbox.schema.levels import is_missing, level_text
from bayesbox.source.cells import plain, values_column
from bayesbox.source.frames import numpy_column, pandas_column, polars_column, table_of
from bayesbox.source.shapes import is_dask, is_pandas_series, is_polars_series, shape_of

MIXED = "Convert them to one type: [str(label) for label in y]"


def labels_of(y: object) -> Column:
    """One column of labels from a list, an array, a Series, or a table of one column.

    >>> labels_of(["high", "low", None]).to_pylist()
    ['high', 'low', None]
    """
    if y is None:
        raise BadData("requires y to be passed, but the target y is None", remedy="Pass the labels: fit(X, y)")
    if is_dask(y):
        return labels_of(y.compute())  # type: ignore[attr-defined]
    loose = _loose_values(y)
    texts = plain_texts(loose) if loose else None
    if texts is not None:
        return texts
    _refuse_odd_labels(loose)
    _refuse_same_text(loose)
    if _has_wide_integer(loose):
        return _wide_integers(loose)
    if isinstance(y, list | tuple) and _is_flat(y):
        return values_column(y, "y")
    if isinstance(y, str | bytes | Mapping) or np.isscalar(y):
        remedy = (
            "Pass the values, such as frame['class'], and drop them from X; or bayesbox.train(frame, target='class')"
        )
        raise BadData("y must be one label per row", found=y, remedy=remedy if isinstance(y, str) else None)
    if isinstance(y, pa.Array | pa.ChunkedArray):
        return plain(y, "y")
    if is_polars_series(y):
        return polars_column(y, "y")
    if is_pandas_series(y):
        return pandas_column(y, "y")
    if isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.names is None:
        return numpy_column(y, "y")
    return _only_column(y)


def _loose_values(y: Any) -> Sequence[Any]:
    """The values of a list or an object array, which may have mixed types; empty for other data."""
    if isinstance(y, list | tuple):
        return y
    is_array = (isinstance(y, np.ndarray) and y.ndim == 1) or is_pandas_series(y)
    return y.tolist() if is_array and (y.dtype == object or y.dtype.kind == "S") else ()


def _refuse_odd_labels(values: Sequence[Any]) -> None:
    """Raise an error for labels that would be returned as another type, such as bytes and decimals."""
    for kind in sorted(set(map(type, values)), key=str):
        if issubclass(kind, bytes | decimal.Decimal):
            raise BadData(
                f"labels of type {kind.__name__} would be returned as text",
                where="y",
                remedy="Convert them to texts or integers: [str(label) for label in y], or label.decode() for bytes",
            )
        if issubclass(kind, enum.Enum) and not issubclass(kind, str | int):
            raise BadData(
                f"labels of the enumeration {kind.__name__} would be returned as text",
                where="y",
                remedy="Convert them to texts: [label.name for label in y]; members of a StrEnum or an IntEnum equal "
                "the returned texts and integers",
            )


def _refuse_same_text(values: Sequence[Any]) -> None:
    """Raise an error for labels of different types with the same text, such as 1 and "1"."""
    kinds = set(map(type, values))
    if len(kinds) < 2 or not any(issubclass(kind, str) for kind in kinds):
        return
    texts = {str(value) for value in values if isinstance(value, str)}
    for value in values:
        if not isinstance(value, str) and not is_missing(value) and level_text(value) in texts:
            raise BadData(
                f"the labels {value!r} and {level_text(value)!r} have different types but the same text, so they "
                "would be one class",
                where="y",
                found=value,
                remedy=MIXED,
            )


def _has_wide_integer(y: Sequence[Any]) -> bool:
    return int in set(map(type, y)) and any(type(value) is int and not -(1 << 63) <= value < 1 << 63 for value in y)


def _wide_integers(y: Sequence[Any]) -> NDArray[np.uint64]:
    """Integers beyond 63 bits, without conversion to doubles, which would merge some of them."""
    for value in y:
        if type(value) is not int or not 0 <= value < 1 << 64:
            raise BadData(
                "labels beyond 63 bits must all be integers from 0 to 2^64 - 1",
                where="y",
                found=value,
                remedy="Convert them to texts: [str(label) for label in y]",
            )
    return np.array(y, dtype=np.uint64)


def _only_column(y: object) -> Column:
    shape = shape_of(y)
    try:
        _, columns, _ = table_of(y)
    except BadData:
        columns = ()
    if len(columns) != 1:
        raise BadData(
            "the labels must be one column",
            found=f"shape {shape}" if shape is not None else type(y).__name__,
            remedy="Pass one label per row: a list, a one-dimensional array or a series",
        )
    return columns[0]


def _is_flat(values: Sequence[object]) -> bool:
    return not any(issubclass(kind, list | tuple | dict | np.ndarray) for kind in set(map(type, values)))
