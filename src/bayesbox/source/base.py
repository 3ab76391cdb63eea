"""Where rows come from: batches of named columns.

A `Batch` holds Arrow arrays or numpy views side by side, so that a row-major array or a frame is counted
where it lies, without a copy. A `Source` yields batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayesbox.schema.columns import CountMatrix
from bayesbox.schema.compute import pc

Column = Any  # pa.Array, pa.ChunkedArray or a one-dimensional np.ndarray of any stride


@dataclass(frozen=True)
class Batch:
    """Some rows: columns of equal length under their names, and the number of the first row (from 0).

    >>> import pyarrow as pa
    >>> batch = Batch(("age",), (pa.array([25, 20, 45]),), 3)
    >>> batch["age"].to_pylist(), batch.slice(1, 3).rows
    ([25, 20, 45], 2)
    """

    names: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: int
    first_row: int = 0

    def __getitem__(self, name: str) -> Column:
        return self.columns[self.names.index(name)]

    def slice(self, start: int, stop: int) -> Batch:
        """The rows from `start` up to `stop`, without a copy."""
        cut = tuple(column[start:stop] for column in self.columns)
        return Batch(self.names, cut, min(stop, self.rows) - start, self.first_row + start)

    def select(self, names: tuple[str, ...]) -> Batch:
        """The named columns only."""
        columns = dict(zip(self.names, self.columns, strict=True))
        return Batch(names, tuple(columns[name] for name in names), self.rows, self.first_row)

    @classmethod
    def from_arrow(cls, table: pa.RecordBatch | pa.Table, first_row: int = 0) -> Batch:
        """An Arrow record batch or table as it is."""
        return cls(tuple(table.schema.names), tuple(table.columns), table.num_rows, first_row)


def taken(column: Any, rows: NDArray[np.int64]) -> Any:
    """These rows of a column."""
    if isinstance(column, np.ndarray):
        return column[rows]
    if isinstance(column, CountMatrix):
        return column.take(rows)
    wanted = np.ascontiguousarray(rows, dtype=np.int64)
    # as a buffer: pa.array would load pandas to see whether these are some of its values
    places = pa.Array.from_buffers(pa.int64(), len(wanted), [None, pa.py_buffer(wanted)])
    found = column.take(places)
    if not pa.types.is_dictionary(found.type):
        return found
    return _compact(found.unify_dictionaries().combine_chunks() if isinstance(found, pa.ChunkedArray) else found)


def _compact(column: pa.DictionaryArray) -> pa.DictionaryArray:
    """A dictionary of the levels that occur: one that does not is no level these rows bring."""
    used = pc.drop_null(pc.unique(column.indices))
    return pa.DictionaryArray.from_arrays(pc.index_in(column.indices, value_set=used), column.dictionary.take(used))


class Source(Protocol):
    """Rows that can be read once from the beginning to the end."""

    name: str
    """What messages call it: a file's name, or `data`."""

    def batches(self) -> Iterator[Batch]:
        """The rows, batch after batch; every batch has the same columns."""
        ...


@dataclass
class Part:
    """Some of the rows of a source, read by themselves."""

    name: str
    batches: Callable[[], Iterator[Batch]]


class OneBatch:
    """A source that is in memory already: one batch."""

    def __init__(self, batch: Batch, name: str = "data") -> None:
        self.batch = batch
        self.name = name

    def batches(self) -> Iterator[Batch]:
        yield self.batch


class Recorded:
    """A source that remembers the batches it gave."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.name = source.name
        self.given: list[Batch] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.source, name)

    def parts(self, threads: int) -> None:
        """None: the batches are wanted in their order."""

    def batches(self) -> Iterator[Batch]:
        self.given = []
        for batch in self.source.batches():
            self.given.append(batch)
            yield batch
