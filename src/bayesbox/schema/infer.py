"""Detection of the kind of a column from its type and, for text, from its length."""

from __future__ import annotations

from math import isnan
from typing import Any

import numpy as np
import pyarrow as pa

from bayesbox.errors import BadData
from bayesbox.schema.arrays import PlainColumn
from bayesbox.schema.columns import Column, Columns, CountMatrix, as_numbers
from bayesbox.schema.kinds import Category, CountGroup, Flag, Kind, Number, Unknown, Words

LONG = 40  # the mean length of free text in bytes
SEVERAL = 5  # the mean length of free text in words
LOOKED_AT = 1000  # texts
GLANCE = 64  # texts that decide most columns
NUMBER, CATEGORY, FLAG = Number(), Category(), Flag()  # shared by all columns, of which there may be thousands
MOSTLY = 0.5  # the minimum share of distinct free texts


def kind_of(column: Column, *, name: str = "", dates: bool = False, where: str | None = None) -> Kind:
    """The kind of a column by its type: text is a Category, bool a Flag, a number a Number; Unknown without values.

    Free text is Words: several words each, and hardly any text occurs twice. With `dates`, dates, times and durations
    are a Date, including text with a detected format; otherwise they are a Category.

    >>> kind_of(pa.array(["suv", None])), kind_of(np.array([1.5, 2.0]))
    (Category(missing=None, levels=None), Number(missing=None))
    """
    if isinstance(column, CountMatrix):
        return CountGroup(width=column.width)
    if isinstance(column, np.ndarray):
        kind = _kind_of_numpy(column, name)
    else:
        kind = _kind_of_arrow(column.type, name)
    if _has_no_value(column):
        return Unknown()
    if dates and kind.reads_text and _may_be_dates(column):
        from bayesbox.schema.date_columns import date_of

        found = date_of(column, name=name, where=where)
        if found is not None:
            return found
    return Words() if kind.reads_text and is_free_text(column) else kind


def beginning_with_number(columns: Columns) -> dict[str, Kind]:
    """The arrays of doubles whose first value is not missing, with their kind: thousands are recognised quickly."""
    names = [
        name
        for name, column in columns.items()
        if isinstance(column, np.ndarray) and column.dtype.char == "d" and len(column) and not isnan(column.item(0))
    ]
    return dict.fromkeys(names, NUMBER)


def _may_be_dates(column: PlainColumn) -> bool:
    """A quick check before the date modules are imported: texts without digits are not dates."""
    if isinstance(column, np.ndarray):
        return True
    first = first_values(column)
    return not first or any(not isinstance(value, str) or any(map(str.isdigit, value)) for value in first)


def first_values(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """The non-missing values of the first rows of an Arrow column."""
    first = column[:GLANCE]
    if pa.types.is_dictionary(first.type) and isinstance(first, pa.Array):  # converting each row to text is slower
        codes = [code for code in first.indices.to_pylist() if code is not None]
        distinct = sorted(set(codes))
        values = dict(zip(distinct, (first.dictionary[code].as_py() for code in distinct), strict=True))
        first_rows = [values[code] for code in codes]
    else:
        first_rows = first.to_pylist()
    return [value for value in first_rows if value is not None]


def _has_no_value(column: PlainColumn) -> bool:
    """Whether every value is null or NaN, whatever the type: pandas reads an empty column as numbers."""
    if isinstance(column, np.ndarray):
        if column.dtype.kind != "f":
            return False
        return not len(column) or (column.item(0) != column.item(0) and bool(np.isnan(column).all()))
    if column.null_count == len(column):
        return True
    if not pa.types.is_floating(column.type) or (column[0].is_valid and column[0].as_py() == column[0].as_py()):
        return False
    return bool(np.isnan(as_numbers(column)).all())


def is_free_text(column: PlainColumn) -> bool:
    """Whether a text column has sentences rather than levels. Short texts are recognised quickly by their bytes.

    >>> is_free_text(pa.array(["suv", "truck"]))
    False
    >>> is_free_text(pa.array([f"the {k}th guest liked the room but not the noise" for k in range(9)]))
    True
    """
    if isinstance(column, np.ndarray):
        return False
    texts: pa.Array | None = column
    if isinstance(column, pa.ChunkedArray):
        texts = next((chunk for chunk in column.chunks if len(chunk)), None)
    if texts is None or not len(texts):
        return False
    rows = len(texts) - texts.null_count
    if pa.types.is_dictionary(texts.type):
        if len(texts.dictionary) <= MOSTLY * rows:
            return False
        texts = texts.dictionary
    if not (pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type)) or not rows:
        return False
    kind = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    places = np.frombuffer(texts.buffers()[1], dtype=kind)[texts.offset : texts.offset + len(texts) + 1]
    if places[-1] - places[0] < LONG * min(rows, len(texts)):
        return False
    some = [text for text in texts.slice(0, LOOKED_AT).to_pylist() if text]
    words = sum(len(text.split()) for text in some)
    return bool(some) and words >= SEVERAL * len(some) and len(set(some)) > MOSTLY * len(some)


def _kind_of_numpy(column: np.ndarray, name: str) -> Kind:
    kind = column.dtype.kind
    if kind == "b":
        return FLAG
    if kind in "iuf":
        return NUMBER
    if kind in "UOSMT":
        return CATEGORY
    raise BadData(f"column `{name}` has a type that is not supported", found=str(column.dtype), column=name)


_kinds_of_types: dict[int, Kind] = {}  # by the number of an Arrow type: every batch of a file asks again


def _kind_of_arrow(kind: pa.DataType, name: str) -> Kind:
    known = _kinds_of_types.get(kind.id)
    if known is None:
        known = _kinds_of_types[kind.id] = _kind_of_type(kind, name)
    return known


def _kind_of_type(kind: pa.DataType, name: str) -> Kind:
    types = pa.types
    if types.is_null(kind):
        return Unknown()
    if types.is_boolean(kind):
        return FLAG
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return NUMBER
    if types.is_dictionary(kind) or types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return CATEGORY
    if types.is_temporal(kind) or types.is_binary(kind) or types.is_large_binary(kind):
        return CATEGORY
    raise BadData(
        f"column `{name}` has the nested type {kind}, which is not supported",
        remedy="Flatten it into columns, or ignore it",
        column=name,
    )
