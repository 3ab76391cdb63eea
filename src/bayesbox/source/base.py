"""Where rows come from: batches of named columns, and the fold that counts them.

A `Batch` holds Arrow arrays or numpy views side by side, so that a row-major array or a frame is counted
where it lies, without a copy. A `Source` yields batches; `fold` turns each into a tally and adds them up. As
tallies form a commutative algebra, neither the cut into batches nor the number of threads changes the result.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import pyarrow as pa

Column = Any  # pa.Array, pa.ChunkedArray or a one-dimensional np.ndarray of any stride


class Addable(Protocol):
    """What a fold gathers."""

    def __add__(self, other: Any, /) -> Any: ...


T = TypeVar("T", bound=Addable)


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
        return Batch(names, tuple(self[name] for name in names), self.rows, self.first_row)

    @classmethod
    def from_arrow(cls, table: pa.RecordBatch | pa.Table, first_row: int = 0) -> Batch:
        """An Arrow record batch or table as it is."""
        return cls(tuple(table.schema.names), tuple(table.columns), table.num_rows, first_row)


class Source(Protocol):
    """Rows that can be read once from the beginning to the end."""

    name: str
    """What messages call it: a file's name, or `data`."""

    def batches(self) -> Iterator[Batch]:
        """The rows, batch after batch; every batch has the same columns."""
        ...


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

    def batches(self) -> Iterator[Batch]:
        self.given = []
        for batch in self.source.batches():
            self.given.append(batch)
            yield batch


ROWS_A_PIECE = 65_536  # what one thread takes of a large batch; a cut costs one small tally


def pieces(source: Source, *, rows: int) -> Iterator[Batch]:
    """The batches of a source, each cut into pieces of at most `rows` rows."""
    for batch in source.batches():
        if batch.rows <= rows:
            yield batch
            continue
        for start in range(0, batch.rows, rows):
            yield batch.slice(start, min(start + rows, batch.rows))


def fold(source: Source, tally_of: Callable[[Batch], T], *, threads: int = 1) -> T | None:
    """The sum of `tally_of(batch)` over the batches; None where there is no batch.

    A source with a `fold` of its own counts where its rows are; `tally_of` can then be pickled. Else, with one thread
    each batch is counted whole. With more, large batches are cut into pieces; at most two pieces a thread are under
    way, so memory stays flat.
    """
    if hasattr(source, "fold"):
        elsewhere: T | None = source.fold(tally_of)
        return elsewhere
    total: T | None = None
    if threads <= 1:
        for batch in source.batches():
            tally = tally_of(batch)
            total = tally if total is None else total + tally
        return total
    waiting: deque[Future[T]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for piece in pieces(source, rows=ROWS_A_PIECE):
            waiting.append(pool.submit(tally_of, piece))
            while len(waiting) >= 2 * threads:
                tally = waiting.popleft().result()
                total = tally if total is None else total + tally
        while waiting:
            tally = waiting.popleft().result()
            total = tally if total is None else total + tally
    return total
