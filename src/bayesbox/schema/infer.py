"""From the type of a column to its kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from bayesbox.errors import BadData
from bayesbox.schema.columns import CountMatrix
from bayesbox.schema.kinds import Category, CountGroup, Flag, Kind, Number, Unknown


def kind_of(column: Any, *, name: str = "") -> Kind:
    """What a column is by its type: text is a Category, bool a Flag, a number a Number, all null Unknown.

    >>> kind_of(pa.array(["suv", None])), kind_of(np.array([1.5, 2.0]))
    (Category(missing=None, levels=None), Number(missing=None))
    """
    if isinstance(column, CountMatrix):
        return CountGroup(width=column.width)
    if isinstance(column, np.ndarray):
        return _kind_of_numpy(column, name)
    return _kind_of_arrow(column.type, name)


def _kind_of_numpy(column: np.ndarray, name: str) -> Kind:
    kind = column.dtype.kind
    if kind == "b":
        return Flag()
    if kind in "iuf":
        return Number()
    if kind in "UOSMT":
        return Category()
    raise BadData(f"column `{name}` has a type that cannot be classified by", found=str(column.dtype))


def _kind_of_arrow(kind: pa.DataType, name: str) -> Kind:
    types = pa.types
    if types.is_null(kind):
        return Unknown()
    if types.is_boolean(kind):
        return Flag()
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return Number()
    if types.is_dictionary(kind) or types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return Category()
    if types.is_temporal(kind) or types.is_binary(kind) or types.is_large_binary(kind):
        return Category()
    raise BadData(
        f"column `{name}` has the nested type {kind}, which cannot be classified by",
        remedy="Flatten it into columns, or leave it out",
    )
