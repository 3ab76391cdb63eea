"""Columns encoded as codes: small integers in the order of the sorted level texts, -1 if missing."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from bayesbox import _core
from bayesbox.schema.arrays import AnyArray, IntegerArray, flag_array, numbers_array, text_array, without_nulls
from bayesbox.schema.columns import Column
from bayesbox.schema.compute import pc
from bayesbox.schema.levels import level_text

Codes = AnyArray  # of any integer type
MISSING = -1
FEW = 1_000  # values


class Encoded(NamedTuple):
    """The codes of a column (MISSING if it has no value), with their levels.

    `levels` are distinct texts in no particular order; `values` are the distinct values behind them.
    """

    codes: Codes
    levels: list[str]
    values: Sequence[object]

    def occurring(self) -> list[int]:
        """The codes that occur in rows: the dictionary of a filtered DataFrame may contain others.

        >>> Encoded(np.array([2, -1, 0]), ["sports", "suv", "truck"], []).occurring()
        [0, 2]
        """
        seen = np.zeros(len(self.levels) + 1, dtype=bool)
        seen[self.codes] = True
        return np.flatnonzero(seen[:-1]).tolist()


def encode(column: Column) -> Encoded:
    """A column of discrete values as codes.

    >>> encode(pa.array(["suv", None, "sports", "suv"]))
    Encoded(codes=array([ 0, -1,  1,  0], dtype=int32), levels=['suv', 'sports'], values=['suv', 'sports'])
    """
    found = encode_narrow(column)
    return found._replace(codes=_as_int32(found.codes))


def encode_narrow(column: Column) -> Encoded:
    """The same with the column's own integer width, for the core, which reads every width."""
    if isinstance(column, np.ndarray):
        if column.dtype.kind in "iub" and not _beyond_signed(column):
            codes, distinct = _core.factorize_integers(column)
            values = distinct.astype(bool).tolist() if column.dtype.kind == "b" else distinct.tolist()
            return Encoded(codes, [level_text(value) for value in values], values)
        column = pa.array(column, from_pandas=True)
    return _encode_arrow(as_dictionary(column))


def _beyond_signed(column: AnyArray) -> bool:
    """Whether integers exceed signed 64 bits, which the core sorts."""
    return column.dtype == np.uint64 and len(column) > 0 and int(column.max()) > np.iinfo(np.int64).max


def as_dictionary(column: pa.Array | pa.ChunkedArray) -> pa.DictionaryArray:
    """An Arrow column as one dictionary-encoded array."""
    if isinstance(column, pa.ChunkedArray):
        if pa.types.is_dictionary(column.type):
            column = column.unify_dictionaries()
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    if pa.types.is_dictionary(column.type):
        return column
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.nulls(len(column), column.type), column)
    elif len(column) <= FEW and column.type in (pa.string(), pa.bool_()) and "pyarrow.compute" not in sys.modules:
        return _few_coded(column)
    return column.dictionary_encode()


def _few_coded(column: pa.Array) -> pa.DictionaryArray:
    """Dictionary encoding without Arrow's compute functions, whose import dominates the time for a small table."""
    numbers: dict[Any, int] = {}
    values = column.to_pylist()
    codes = np.array([0 if each is None else numbers.setdefault(each, len(numbers)) for each in values], dtype=np.int32)
    present = np.array([each is not None for each in values], dtype=bool)
    texts = text_array(list(numbers)) if column.type == pa.string() else flag_array(list(numbers))
    return pa.DictionaryArray.from_arrays(numbers_array(codes, present), texts)


def _encode_arrow(column: pa.DictionaryArray) -> Encoded:
    codes = without_nulls(column.indices)
    values = column.dictionary.to_pylist()
    if column.dictionary.null_count == 0 and pa.types.is_string(column.dictionary.type):
        if len(set(values)) == len(values):
            return Encoded(codes, list(values), values)
        return _merge_equal(codes, values, values)
    levels = [level_text(value) if value is not None and value == value else None for value in values]
    if None in levels or len(set(levels)) < len(levels):
        return _merge_equal(codes, levels, values)
    return Encoded(codes, [text for text in levels if text is not None], values)


def _as_int32(codes: IntegerArray) -> Codes:
    return codes if codes.dtype == np.int32 else codes.astype(np.int32)


def _merge_equal(codes: IntegerArray, levels: Sequence[str | None], values: Sequence[object]) -> Encoded:
    """Merge values with the same text into one level; a null in a dictionary becomes missing."""
    position: dict[str, int] = {}
    kept: list[object] = []
    target = np.full(len(levels) + 1, MISSING, dtype=np.int32)  # the last entry is for the code -1
    for index, text in enumerate(levels):
        if text is None:
            continue
        if text not in position:
            position[text] = len(kept)
            kept.append(values[index])
        target[index] = position[text]
    return Encoded(target[codes], list(position), kept)
