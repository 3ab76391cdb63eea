"""Conversions between Python values, Arrow arrays and numpy arrays, through buffers.

`pa.array`, `pa.scalar` and `Array.to_numpy` import pandas if it is installed, which takes longer than training on a
small file. The command uses these functions instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayesbox import _core

IntegerArray: TypeAlias = NDArray[np.integer[Any]]
"""Integers of any width: codes, positions, offsets."""
NumberArray: TypeAlias = NDArray[np.integer[Any] | np.floating[Any] | np.bool_]
"""Numbers that the core reads: integers of any width, floats, flags."""
CountArray: TypeAlias = NDArray[np.int64 | np.float64]
"""Counts: integers, or doubles if they are sums of weights."""
AnyArray: TypeAlias = NDArray[Any]
"""An array whose type is checked."""
ArrowColumn: TypeAlias = pa.Array | pa.ChunkedArray
"""A column of Arrow."""
PlainColumn: TypeAlias = AnyArray | ArrowColumn
"""One column, a numpy or an Arrow array."""

FEW = 10_000  # texts
NUMBERS = ("b", "h", "i", "q", "B", "H", "I", "Q", "e", "f", "d")
DTYPES = {pa.from_numpy_dtype(np.dtype(code)): np.dtype(code) for code in NUMBERS}
"""The numpy type of each Arrow type of numbers; Arrow's own `to_pandas_dtype` imports pandas before version 26."""


def text_array(texts: Sequence[str | None]) -> pa.Array:
    """An Arrow array of texts; None is null.

    >>> text_array(["sports", None, "suv"]).to_pylist()
    ['sports', None, 'suv']
    """
    letters, offsets = _core.text_bytes(texts)
    present = _validity(np.array([text is not None for text in texts], dtype=bool)) if None in texts else None
    return _texts_over(letters, offsets, present)


def plain_texts(values: Sequence[object]) -> pa.Array | None:
    """The values of a list or tuple if all are `str` and valid Unicode; else None.

    >>> plain_texts(["suv", ""]).to_pylist(), plain_texts(["suv", None])
    (['suv', ''], None)
    """
    found = _core.plain_text_bytes(values)
    return None if found is None else _texts_over(*found)


def wide_texts(array: AnyArray) -> pa.Array | None:
    """The texts of a numpy array of type U, of any stride; None if one is not valid Unicode.

    >>> wide_texts(np.array(["suv", "", "sports"])).to_pylist()
    ['suv', '', 'sports']
    """
    found = _core.wide_text_bytes(array)
    return None if found is None else _texts_over(*found)


def _texts_over(letters: AnyArray, offsets: NDArray[np.int64], present: pa.Buffer | None = None) -> pa.Array:
    fits = offsets[-1] < 1 << 31
    places = offsets.astype(np.int32) if fits else offsets
    kind = pa.string() if fits else pa.large_string()
    return pa.Array.from_buffers(kind, len(places) - 1, [present, pa.py_buffer(places), pa.py_buffer(letters)])


def repeated_texts(texts: Sequence[str], places: np.ndarray) -> pa.Array:
    """The text at each of these positions.

    >>> repeated_texts(["H", "L"], np.array([1, 1, 0])).to_pylist()
    ['L', 'L', 'H']
    """
    if len(places) <= FEW:  # importing Arrow's functions would take longer
        return text_array([texts[place] for place in places.tolist()])
    return text_array(texts).take(numbers_array(places))


def double_array(numbers: Sequence[float | None]) -> pa.Array:
    """An Arrow array of doubles; None is null.

    >>> double_array([25.0, None]).to_pylist()
    [25.0, None]
    """
    values = np.array([0.0 if number is None else number for number in numbers], dtype=np.float64)
    return numbers_array(values, np.array([number is not None for number in numbers], dtype=bool))


def integer_array(numbers: Sequence[int | None]) -> pa.Array:
    """An Arrow array of 64-bit integers; None is null; OverflowError if one is larger."""
    values = np.array([0 if number is None else number for number in numbers], dtype=np.int64)
    return numbers_array(values, np.array([number is not None for number in numbers], dtype=bool))


def flag_array(flags: Sequence[bool | None]) -> pa.Array:
    """An Arrow array of booleans; None is null."""
    values = np.array([bool(flag) for flag in flags], dtype=bool)
    present = np.array([flag is not None for flag in flags], dtype=bool)
    bits = pa.py_buffer(np.packbits(values, bitorder="little"))
    return pa.Array.from_buffers(pa.bool_(), len(values), [_validity(present), bits])


def numbers_array(values: np.ndarray, present: np.ndarray | None = None) -> pa.Array:
    """A contiguous numpy array of numbers as an Arrow array, without a copy; null where `present` is False."""
    kind = pa.from_numpy_dtype(values.dtype)
    validity = None if present is None else _validity(present)
    return pa.Array.from_buffers(kind, len(values), [validity, pa.py_buffer(values)])


def _validity(present: np.ndarray) -> pa.Buffer:
    return None if present.all() else pa.py_buffer(np.packbits(present, bitorder="little"))


def numpy_values(array: pa.Array) -> np.ndarray:
    """The values of a numeric Arrow array as a numpy view; the values of nulls are undefined.

    >>> numpy_values(double_array([25.0, 40.0])[1:])
    array([40.])
    """
    dtype = DTYPES[array.type]
    buffer = array.buffers()[1]
    if buffer is None:
        return np.empty(0, dtype=dtype)
    return np.frombuffer(buffer, dtype=dtype, count=len(array) + array.offset)[array.offset :]


def without_nulls(array: pa.Array) -> np.ndarray:
    """The values of an Arrow array of doubles or integers, with NaN or -1 for null.

    >>> without_nulls(pa.array([25.0, None, 40.0])).tolist(), without_nulls(pa.array([3, None])[1:]).tolist()
    ([25.0, nan, 40.0], [-1])
    """
    values, bitmap = numpy_values(array), array.buffers()[0]
    if bitmap is None or array.null_count == 0:
        return values
    return _core.without_holes(values, np.frombuffer(bitmap, dtype=np.uint8), array.offset)
