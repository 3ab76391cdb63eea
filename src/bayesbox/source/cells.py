"""Conversion of Python values to an Arrow column: of their common type, else as text."""

from __future__ import annotations

import datetime
import decimal
import math
import numbers
import sys
from collections.abc import Iterable, Sequence, Sized
from typing import Any

import numpy as np
import pyarrow as pa

from bayesbox.errors import BadData
from bayesbox.schema.arrays import ArrowColumn, double_array, flag_array, integer_array, plain_texts, text_array
from bayesbox.schema.compute import pc
from bayesbox.schema.levels import is_missing, level_text

MANY = 100_000  # the number of values from which `pa.array`, which imports pandas, is faster
PLAIN = frozenset(
    kind.id
    for kind in (
        *(pa.float64(), pa.float32(), pa.bool_(), pa.string(), pa.large_string()),
        *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
    )
)
"""Arrow's types, by number, whose columns are used as they are: nearly all are of one of these."""
REFUSED = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError, TypeError)
"""The errors that Arrow raises for values without a common type."""


def _has_text(value: object) -> bool:
    """Whether a value has a meaningful text; containers and plain objects do not."""
    if isinstance(value, str | bytes | numbers.Real | decimal.Decimal | datetime.date | np.generic):
        return True
    if isinstance(value, numbers.Number | Iterable | Sized):
        return False
    return type(value).__str__ is not object.__str__ or type(value).__repr__ is not object.__repr__


def values_column(values: Sequence[object] | np.ndarray, name: str) -> pa.Array:
    """Python values of one column as an Arrow array; None, NaN and the like are null.

    >>> values_column([25, None, 40], "age").type, values_column([1, "one"], "size").to_pylist()
    (DataType(int64), ['1', 'one'])
    """
    if isinstance(values, list | tuple):
        texts = plain_texts(values)
        if texts is not None and len(texts):
            return texts
    if "pandas" not in sys.modules and len(values) < MANY:
        column = _built(values)
        if column is not None:
            return column
    try:
        column = pa.array(values, from_pandas=True)
    except REFUSED:
        return _mixed_column(values, name)
    except UnicodeEncodeError as error:
        raise BadData(
            "text that is not valid Unicode", where=f"column `{name}`", found=error.object, column=name
        ) from None
    if pa.types.is_date(column.type) and any(isinstance(value, datetime.datetime) for value in values):
        return _moments_column(values)
    if isinstance(column, pa.ChunkedArray):  # more than 2 GiB of text
        return column.cast(pa.large_string()).combine_chunks()
    return plain(column, name)


def _built(values: Iterable[Any]) -> pa.Array | None:
    """An array of values of one plain type, without `pa.array`, which imports pandas; None for others."""
    present = [None if is_missing(value) else value for value in values]
    types = {type(value) for value in present} - {type(None)}
    try:
        if types == {str}:
            return text_array(present)
        if types == {bool}:
            return flag_array(present)
        if types == {int}:
            return integer_array(present)
        if types and types <= {int, float}:
            return double_array(present)
    except (OverflowError, UnicodeEncodeError):
        return None
    return None if types else pa.nulls(len(present))


def _moments_column(values: Iterable[object]) -> pa.Array:
    """Mixed dates and timestamps: a date is midnight. Arrow alone would truncate the times."""
    midnight = datetime.time()

    def moment(value: Any) -> object:
        if is_missing(value):
            return None
        is_date = not isinstance(value, datetime.datetime)
        return datetime.datetime.combine(value, midnight) if is_date else value

    return pa.array([moment(value) for value in values], type=pa.timestamp("us"))


def _mixed_column(values: Iterable[object], name: str) -> pa.Array:
    """Values without a common Arrow type: doubles if all are numbers, else the text of each."""
    present = [None if is_missing(value) else value for value in values]
    if all(value is None or isinstance(value, numbers.Real | decimal.Decimal | np.bool_) for value in present):
        return pa.array([None if value is None else _as_double(value) for value in present], type=pa.float64())
    return pa.array([None if value is None else _own_text(value, name) for value in present], type=pa.string())


def _as_double(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _own_text(value: object, name: str) -> str:
    if isinstance(value, complex | np.complexfloating):
        raise BadData("Complex data not supported", where=f"column `{name}`", found=value, column=name)
    if not _has_text(value):
        raise BadData(
            f"a value of type {type(value).__name__}, but a number, a text or a date is needed",
            where=f"column `{name}`",
            found=value,
            remedy="Convert it to numbers or text first, or ignore the column",
            column=name,
        )
    if isinstance(value, bytes):
        return _bytes_text(value, name)
    return level_text(value)


def _bytes_text(value: bytes, name: str) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        raise BadData("bytes that are not UTF-8 text", where=f"column `{name}`", found=value, column=name) from None


def refuse_nested(kind: pa.DataType, name: str, *, where: str = "") -> None:
    """Raise an error, with the name of the column, for lists, structs, maps and unions.

    >>> refuse_nested(pa.list_(pa.int64()), "visits")
    Traceback (most recent call last):
    ...
    bayesbox.errors.BadData: column `visits`: has nested values (list<item: int64>). Give each part ...
    """
    inner = kind.value_type if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind) else kind
    if pa.types.is_nested(inner):
        prefix = f"{where}, " if where else ""
        raise BadData(
            f"has nested values ({kind})",
            where=f"{prefix}column `{name}`",
            remedy="Give each part its own column, or ignore the column",
            column=name,
        )


def plain(column: ArrowColumn, name: str, *, where: str = "") -> ArrowColumn:
    """An Arrow column in a plain layout; most columns are returned unchanged."""
    kind = column.type
    if kind.id in PLAIN:
        return column
    refuse_nested(kind, name, where=where)
    if isinstance(kind, pa.BaseExtensionType):
        return _without_extension(column, name, where=where)
    if pa.types.is_run_end_encoded(kind):
        return plain(pc.run_end_decode(column), name, where=where)
    if pa.types.is_string_view(kind):
        return column.cast(pa.large_string())
    if pa.types.is_binary_view(kind) or pa.types.is_fixed_size_binary(kind):
        return plain(column.cast(pa.large_binary()), name, where=where)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return _decoded(column, name, where=where)
    if pa.types.is_dictionary(kind):
        return _plain_dictionary(column, name, where=where)
    return column


def _decoded(column: ArrowColumn, name: str, *, where: str) -> ArrowColumn:
    text = pa.large_string() if pa.types.is_large_binary(column.type) else pa.string()
    try:
        return column.cast(text)
    except pa.ArrowInvalid:
        prefix = f"{where}, " if where else ""
        raise BadData(
            "bytes that are not UTF-8 text",
            where=f"{prefix}column `{name}`",
            remedy="Decode them first, or ignore the column",
            column=name,
        ) from None


def _without_extension(column: ArrowColumn, name: str, *, where: str) -> ArrowColumn:
    if column.type.extension_name == "arrow.uuid":
        texts = [None if value is None else str(value) for value in column.to_pylist()]
        return pa.array(texts, type=pa.string())
    return plain(column.cast(column.type.storage_type), name, where=where)


def _plain_dictionary(column: ArrowColumn, name: str, *, where: str) -> ArrowColumn:
    values = column.type.value_type
    simple = pa.types.is_string(values) or pa.types.is_large_string(values) or pa.types.is_primitive(values)
    return column if simple else plain(column.cast(values), name, where=where)
