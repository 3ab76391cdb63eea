"""Rows that can be parsed but not used: infinite numbers, and invalid weights.

They are skipped like malformed rows; otherwise counting or predicting them is an error.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayesbox.errors import BadData, BadWeight
from bayesbox.schema.columns import as_numbers
from bayesbox.source.base import Batch, taken
from bayesbox.source.files.reading import FLAG, TEXT, UNREAD, Reading, place


def usable(batch: Batch, reading: Reading, file: str) -> Batch:
    """The rows with finite numbers and a non-negative weight; the others are counted as skipped."""
    first: NDArray[np.int64] = np.full(batch.rows, -1)  # the invalid column of each row
    column: pa.Array  # columns read from a file are Arrow arrays
    for index, (name, column) in enumerate(zip(batch.names, batch.columns, strict=True)):
        if name == reading.weight:
            weights = np.asarray(as_numbers(column, name=name, where=file), dtype=np.float64)
            wrong = ~(np.isfinite(weights) & (weights >= 0))
        elif pa.types.is_floating(column.type) and reading.kind_of(name) not in (TEXT, FLAG, UNREAD):
            wrong = np.isinf(as_numbers(column))
        else:
            continue
        first[wrong & (first < 0)] = index
    broken = np.flatnonzero(first >= 0)
    if not len(broken):
        return batch
    errors = (_error(batch, int(row), int(first[row]), reading, file) for row in broken)
    reading.skipped.add_all(len(broken), errors)
    kept = np.flatnonzero(first < 0)
    return Batch(batch.names, tuple(taken(column, kept) for column in batch.columns), len(kept), batch.first_row)


def _error(batch: Batch, row: int, index: int, reading: Reading, file: str) -> BadData:
    column: pa.Array = batch.columns[index]
    name, value = batch.names[index], column[row].as_py()
    where = place(file, row=batch.first_row + row + 1, column=name)
    if name == reading.weight:
        return BadWeight(
            "a weight must be a finite non-negative number", where=where, found="" if value is None else value
        )
    return BadData("an infinite value", where=where, found=value)
