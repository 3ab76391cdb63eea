"""Parsing of the texts of a column by its kind."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from bayesbox.errors import KindContradiction
from bayesbox.schema.arrays import ArrowColumn, numbers_array, text_array
from bayesbox.schema.columns import Column, CountMatrix
from bayesbox.schema.encode import encode_narrow
from bayesbox.schema.kind import Kind


def translated(kind: Kind, column: Column, *, name: str, where: str | None = None, first_row: int = 0) -> Column:
    """A text column as numbers or levels, each distinct text parsed by `Kind.value_of`; other columns as is."""
    if isinstance(column, CountMatrix) or not _holds_texts(column):
        return column
    found = encode_narrow(column)
    values: list[float | str] = []
    for code, text in enumerate(found.levels):
        try:
            values.append(kind.value_of(text))
        except ValueError:
            row = first_row + int(np.argmax(found.codes == code)) + 1
            raise KindContradiction(
                f"column `{name}` must be a {kind.name}",
                where=f"{where}, row {row}" if where else f"row {row}",
                found=text,
                column=name,
            ) from None
    if kind.is_number:
        numbers: np.ndarray = np.array([*values, np.nan], dtype=np.float64)[found.codes]  # the code of missing is -1
        return numbers
    present = found.codes >= 0
    codes = numbers_array(np.where(present, found.codes, 0), present)
    return pa.DictionaryArray.from_arrays(codes, text_array([str(value) for value in values]))


def _holds_texts(column: np.ndarray | ArrowColumn) -> bool:
    if isinstance(column, np.ndarray):
        return column.dtype.kind in "UO"
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
