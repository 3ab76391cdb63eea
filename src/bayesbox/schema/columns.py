"""Columns of numbers and groups of counts in the forms that the core reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayesbox.described import declaring
from bayesbox.errors import KindContradiction
from bayesbox.schema.arrays import ArrowColumn, IntegerArray, NumberArray, PlainColumn, numpy_values, without_nulls
from bayesbox.schema.levels import level_text

DOUBLE = pa.float64()


@dataclass(frozen=True)
class CountMatrix:
    """A group of count columns as compressed sparse rows, made from a scipy sparse matrix."""

    indptr: IntegerArray
    indices: IntegerArray
    data: NumberArray
    width: int

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, rows: slice) -> CountMatrix:
        start, stop, _ = rows.indices(self.rows)
        cut = self.indptr[start : stop + 1]
        inside = slice(cut[0], cut[-1])
        return CountMatrix(cut - cut[0], self.indices[inside], self.data[inside], self.width)

    def take(self, rows: IntegerArray) -> CountMatrix:
        """These rows, in this order."""
        lengths = np.diff(self.indptr)[rows]
        ends = np.cumsum(lengths)
        cells = np.repeat(self.indptr[:-1][rows] - (ends - lengths), lengths) + np.arange(lengths.sum())
        return CountMatrix(np.concatenate([[0], ends]), self.indices[cells], self.data[cells], self.width)

    @property
    def rows(self) -> int:
        return len(self.indptr) - 1

    def times(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The matrix product with words x classes."""
        product = np.zeros((self.rows, weights.shape[1]))
        filled = np.flatnonzero(np.diff(self.indptr))
        if len(filled):
            data = np.asarray(self.data, dtype=np.float64)
            for column in range(weights.shape[1]):
                terms = data * weights[self.indices, column]
                product[filled, column] = np.add.reduceat(terms, self.indptr[filled])
        return product


Column: TypeAlias = PlainColumn | CountMatrix
"""A column of a batch: a numpy array of any stride, an Arrow array, or a group of counts."""

Columns: TypeAlias = Mapping[str, Column]
"""Columns by name."""


@lru_cache(maxsize=8)
def names_by_position(width: int) -> tuple[str, ...]:
    """The names of the columns of an array, the same objects each time: thousands are compared and looked up faster.

    >>> names_by_position(3)
    ('0', '1', '2')
    """
    return tuple(map(str, range(width)))


def named_views(names: Sequence[str], columns: Sequence[Column]) -> dict[str, Column]:
    """The columns by name, each as `as_view` gives it."""
    found = dict(zip(names, columns, strict=True))
    if {*map(type, columns)} <= {np.ndarray}:
        return found
    return {name: as_view(column) for name, column in found.items()}


def as_view(column: Column) -> Column:
    """An Arrow column of integers or flags without nulls as a numpy view; any other column as is.

    >>> as_view(pa.array([True, False]))
    array([ True, False])
    """
    if isinstance(column, (np.ndarray, CountMatrix)) or column.null_count:
        return column
    if not (pa.types.is_integer(column.type) or pa.types.is_boolean(column.type)):
        return column
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    if pa.types.is_integer(column.type):
        return numpy_values(column)
    buffer = column.buffers()[1]
    if buffer is None:
        return np.zeros(0, dtype=bool)
    bits = np.unpackbits(np.frombuffer(buffer, dtype=np.uint8), count=len(column) + column.offset, bitorder="little")
    return bits[column.offset :].view(bool)


def as_numbers(column: Column, *, name: str = "", where: str | None = None) -> NumberArray:
    """A column as numbers that the core reads: integers and bools unchanged, else doubles with NaN for missing.

    >>> as_numbers(pa.array([25.0, None]))
    array([25., nan])
    """
    if isinstance(column, np.ndarray) and column.dtype.kind in "fiub":
        return column if column.dtype.itemsize <= 8 and column.dtype != np.float16 else column.astype(np.float64)
    assert not isinstance(column, CountMatrix), "a matrix is counted as a whole"
    if isinstance(column, np.ndarray):
        column = pa.array(column, from_pandas=True)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if kind == DOUBLE:
        return without_nulls(column)
    if pa.types.is_integer(kind) and not column.null_count:
        return numpy_values(column)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return _numbers_in_text(column, name=name, where=where)
    if not _is_numeric(kind):
        if column.null_count == len(column):
            return np.full(len(column), np.nan)
        row = int(np.argmax(column.is_valid().to_numpy(zero_copy_only=False)))
        raise _no_number(name, where, row, column[row].as_py())
    try:
        return without_nulls(nearest_doubles(column))
    except pa.ArrowInvalid as error:  # a decimal with a scale that Arrow cannot write as text
        raise KindContradiction(f"column `{name}` must be a number", where=where, found=str(kind)) from error


def _is_numeric(kind: pa.DataType) -> bool:
    types = pa.types
    numbers: bool = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    return numbers or bool(types.is_boolean(kind) or types.is_null(kind))


def _no_number(name: str, where: str | None, row: int, value: object) -> KindContradiction:
    return KindContradiction(
        f"column `{name}` must be a number",
        where=f"{where}, row {row + 1}" if where else f"row {row + 1}",
        found=value if isinstance(value, str) else level_text(value),
        remedy="If it is a category, declare it: " + declaring(name, "category"),
        column=name,
    )


def whole_numbers(column: NumberArray) -> NumberArray:
    """Doubles as integers if all are integral, with the same level texts; others as is."""
    with np.errstate(invalid="ignore"):
        integers = column.astype(np.int64)
    return integers if np.array_equal(integers, column) else column


def nearest_doubles(column: ArrowColumn) -> ArrowColumn:
    """An Arrow column of numbers as float64. Decimals are parsed from text: Arrow would convert 0.3 to
    0.30000000000000004.

    >>> from decimal import Decimal
    >>> nearest_doubles(pa.array([Decimal("0.3"), None])).to_pylist()
    [0.3, None]
    """
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.string())
    return column.cast(pa.float64(), safe=False)


def _numbers_in_text(column: pa.Array, *, name: str, where: str | None) -> NDArray[np.float64]:
    """The numbers of a text column that is declared numeric; an error if a value is not a number."""
    values = np.full(len(column), np.nan)
    for row, text in enumerate(column.to_pylist()):
        if text is None or not text.strip():
            continue
        try:
            values[row] = float(text)
        except ValueError:
            raise _no_number(name, where, row, text) from None
    return values
