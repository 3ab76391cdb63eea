"""The base of sources of rows: batches of named columns.

A `Batch` holds Arrow arrays or numpy views, so that an array or a DataFrame is counted in place, without a copy. A
`Source` yields batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayesbox.errors import BayesboxError
from bayesbox.schema.columns import Column, CountMatrix
from bayesbox.schema.compute import pc

if TYPE_CHECKING:
    from bayesbox.source.reduce import Addable

T = TypeVar("T", bound="Addable")

CLASS, TEXT, FILE = "class", "text", "file"  # the columns of a source of documents
EXAMPLES = 5  # skipped rows whose messages are kept
ADDING = Lock()


@dataclass(frozen=True)
class Batch:
    """Some rows: named columns of equal length, and the number of the first row (from 0).

    >>> import pyarrow as pa
    >>> batch = Batch(("age",), (pa.array([25, 20, 45]),), 3)
    >>> batch["age"].to_pylist(), batch.slice(1, 3).rows
    ([25, 20, 45], 2)
    """

    names: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: int
    first_row: int = 0
    watched: bool = False  # whether the model warns about unseen levels when it predicts

    def __getitem__(self, name: str) -> Column:
        return self.columns[self.names.index(name)]

    def slice(self, start: int, stop: int) -> Batch:
        """The rows from `start` up to `stop`, without a copy."""
        cut = tuple(column[start:stop] for column in self.columns)
        return Batch(self.names, cut, min(stop, self.rows) - start, self.first_row + start, self.watched)

    def select(self, names: tuple[str, ...]) -> Batch:
        """The named columns only."""
        columns = dict(zip(self.names, self.columns, strict=True))
        return Batch(names, tuple(columns[name] for name in names), self.rows, self.first_row)

    @classmethod
    def from_arrow(cls, table: pa.RecordBatch | pa.Table, first_row: int = 0) -> Batch:
        """The batch of an Arrow record batch or table, without a copy."""
        return cls(tuple(table.schema.names), tuple(table.columns), table.num_rows, first_row)


def taken(column: Column, rows: NDArray[np.int64]) -> Column:
    """These rows of a column."""
    if isinstance(column, np.ndarray):
        return column[rows]
    if isinstance(column, CountMatrix):
        return column.take(rows)
    wanted = np.ascontiguousarray(rows, dtype=np.int64)
    # as a buffer: pa.array would import pandas to check for its types
    places = pa.Array.from_buffers(pa.int64(), len(wanted), [None, pa.py_buffer(wanted)])
    found = column.take(places)
    if not pa.types.is_dictionary(found.type):
        return found
    return _compact(found.unify_dictionaries().combine_chunks() if isinstance(found, pa.ChunkedArray) else found)


def _compact(column: pa.DictionaryArray) -> pa.DictionaryArray:
    """The column with a dictionary of only the levels that occur."""
    used = pc.drop_null(pc.unique(column.indices))
    return pa.DictionaryArray.from_arrays(pc.index_in(column.indices, value_set=used), column.dictionary.take(used))


@dataclass
class Skipped:
    """Malformed rows that were skipped: their number, and the first few messages."""

    count: int = 0
    first: list[str] = field(default_factory=list)

    def add(self, error: BayesboxError) -> None:
        """Add one malformed row and its error."""
        self.add_all(1, iter([error]))

    def add_all(self, count: int, errors: Iterator[BayesboxError]) -> None:
        """Add `count` malformed rows and their errors; thread-safe."""
        with ADDING:
            self.count += count
            self.first += [str(error) for error in islice(errors, EXAMPLES - len(self.first))]


@dataclass
class Part:
    """A part of the rows of a source that can be read separately."""

    name: str
    batches: Callable[[], Iterator[Batch]]


class Source:
    """The base class of sources. A custom source must define `batches`; everything else has a default.

    >>> import pyarrow as pa
    >>> class Dice(Source):
    ...     name = "dice"
    ...
    ...     def batches(self):
    ...         for first_row in (0, 3):
    ...             yield Batch(("eyes",), (pa.array([1, 2, 6]),), 3, first_row)
    >>> Dice().reduce(lambda batch: sum(batch["eyes"].to_pylist()), threads=2)
    18
    """

    name: str = "data"
    """The name in messages: that of a file, or `data`."""

    names: tuple[str, ...] = ()
    """The names of the columns, if they are known before the first batch."""

    untyped: bool = False
    """Whether a column read as text may have numbers, so that labels such as 1 and 2 may be integers."""

    rereadable: bool = True
    """Whether `batches` can be called again for another pass."""

    remote: bool = False
    """Whether `reduce` counts on other machines: its function is pickled, and the rows are not sent here."""

    @property
    def progress(self) -> float | None:
        """The share of the current pass that is done, from 0 to 1; None if unknown."""
        return None

    @property
    def skipped(self) -> Skipped:
        """The malformed rows skipped in the last pass."""
        return Skipped()

    def batches(self) -> Iterator[Batch]:
        """Iterate over all rows in order, in batches with the same columns."""
        raise NotImplementedError(f"{type(self).__name__} does not define `batches`")

    def parts(self, threads: int) -> Iterator[Part] | None:  # noqa: ARG002
        """The rows in parts that threads read concurrently; None if they can only be read as one stream."""
        return None

    def reduce(self, function: Callable[[Batch], T], *, threads: int = 1) -> T | None:
        """The sum of `function(batch)` over all batches, the same for any number of threads; None if there are none."""
        from bayesbox.source.reduce import reduce_batches

        return reduce_batches(self, function, threads=threads)


class OneBatch(Source):
    """A source of one batch in memory."""

    def __init__(self, batch: Batch, name: str = "data") -> None:
        self.batch = batch
        self.name = name
        self.names = batch.names

    def batches(self) -> Iterator[Batch]:
        yield self.batch
