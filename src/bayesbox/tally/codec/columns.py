"""The columns of tally tables: names, classes and exact numbers, sorted and validated."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox._core import ExactArray
from bayesbox.file.arrow import TEXT, WHOLE
from bayesbox.schema.arrays import FEW, numbers_array, numpy_values, repeated_texts
from bayesbox.schema.compute import pc
from bayesbox.schema.tokens import text_buffers, text_column
from bayesbox.tally.base import positions

SPARSE = 8  # positions per row; with more, sorting is faster than a lookup table
BLOCK = 4096  # rows validated together, sharing a window of exact digits

Index = NDArray[np.int64]


class RowGatherer:
    """Collects the rows of a table, tally by tally: the column and the class of each."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.labels: list[Index] = []

    def add(self, name: str, labels: Index) -> None:
        self.names.append(name)
        self.labels.append(labels)

    def columns(self, classes: tuple[str, ...]) -> dict[str, pa.Array]:
        repeated = np.repeat(np.arange(len(self.names)), [len(labels) for labels in self.labels])
        return {
            "column": repeated_texts(self.names, repeated),
            "class": repeated_texts(classes, np.concatenate(self.labels)),
        }


class TableRows(NamedTuple):
    """The rows of a table: the names of the columns, where the rows of each start (and the last stop), and the column
    and class of each row."""

    names: list[str]
    starts: Index
    column: Index
    label: Index

    @classmethod
    def of(cls, table: Mapping[str, Any], classes: tuple[str, ...]) -> TableRows:
        """The rows of a table with the columns `column` and `class`; `labels` are the classes that have rows."""
        names, column = _coded(table["column"])
        require_ordered(names, "columns")
        labels, label = _coded(table["class"])
        place = positions(labels, classes)
        if (place < 0).any():
            raise ValueError(f"the class {labels[int(np.argmin(place))]!r} has no rows")
        starts = np.searchsorted(column, np.arange(len(names) + 1))
        return cls(names, starts, column, place[label])

    def columns(self) -> Iterator[tuple[str, int, int]]:
        """Each column with where its rows start and stop."""
        starts = self.starts.tolist()
        return zip(self.names, starts, starts[1:], strict=False)

    def blocks(self) -> Iterator[tuple[int, int, int, int]]:
        """Blocks of columns: the first and one past the last, and where their rows start and stop."""
        starts, first = self.starts, 0
        while first < len(self.names):
            last = int(np.searchsorted(starts, starts[first] + BLOCK, side="right")) - 1
            last = max(last, first + 1)
            yield first, last, int(starts[first]), int(starts[last])
            first = last


def _coded(column: pa.Array) -> tuple[list[str], Index]:
    """The distinct texts of a column, in order of appearance, and the code of each row's text."""
    if len(column) <= FEW:
        numbers: dict[str, int] = {}
        codes = [numbers.setdefault(text, len(numbers)) for text in column.to_pylist()]
        return list(numbers), np.array(codes, dtype=np.int64)
    runs = pc.run_end_encode(column, run_end_type=pa.int64())
    if 2 * len(runs.values) > len(column):
        coded = column.dictionary_encode()
        return coded.dictionary.to_pylist(), numpy_values(coded.indices).astype(np.int64)
    coded = runs.values.dictionary_encode()
    lengths = np.diff(numpy_values(runs.run_ends), prepend=0)
    return coded.dictionary.to_pylist(), np.repeat(numpy_values(coded.indices).astype(np.int64), lengths)


def exact_column(parts: Sequence[ExactArray]) -> pa.Array:
    """Exact numbers as int64 if all of them fit, else as text."""
    try:
        return numbers_array(np.concatenate([part.to_integers() for part in parts]))
    except OverflowError:
        return _lines(b"".join([part.text() for part in parts]))


def _lines(text: bytes) -> pa.Array:
    """The lines of a text, each ended by a newline, as an Arrow column."""
    ends = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == ord("\n"))
    offsets = np.zeros(len(ends) + 1, dtype=np.int64)
    offsets[1:] = ends - np.arange(len(ends))
    if offsets[-1] >= 1 << 31:
        raise ValueError("its numbers have too many digits")
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(text.replace(b"\n", b""))]
    return pa.Array.from_buffers(TEXT, len(ends), buffers)


class Exact:
    """A column of exact numbers, read slice by slice, so that each tally has its own window of digits."""

    def __init__(self, column: pa.Array) -> None:
        self.integers = numpy_values(column) if column.type == WHOLE else None
        if self.integers is None:
            self.lines = "".join([f"{line}\n" for line in column.to_pylist()]).encode()
            _, places = text_buffers(column)
            self.starts = places - places[0] + np.arange(len(places))  # a newline ends each

    def __getitem__(self, rows: slice) -> ExactArray:
        if self.integers is not None:
            return ExactArray.from_integers(self.integers[rows])
        cells = ExactArray.from_text(self.lines[int(self.starts[rows.start]) : int(self.starts[rows.stop])])
        _require_lines([cells], rows.stop - rows.start)
        return cells

    def slices(self, starts: Index) -> list[ExactArray]:
        """The rows from each start up to the next, each with its own window of digits."""
        if self.integers is not None:
            return ExactArray.slices_of_integers(self.integers, starts)
        found = ExactArray.slices_of_text(self.lines, self.starts[starts])
        _require_lines(found, int(starts[-1] - starts[0]))
        return found


def _require_lines(cells: Sequence[ExactArray], rows: int) -> None:
    if sum(map(len, cells)) != rows:
        raise ValueError("a number has several lines")


def ranked(column: pa.Array) -> tuple[tuple[str, ...], Index]:
    """The sorted distinct texts, and the rank of each row's text."""
    letters, ends, ranks = _core.rank_texts(*text_buffers(column))
    return tuple(text_column(letters, ends).to_pylist()), ranks


def distinct(keys: Index, most: int) -> tuple[Index, Index]:
    """The sorted distinct keys (from 0 to below `most`), and the position of each row's key among them."""
    if most > SPARSE * len(keys):
        slots, places = np.unique(keys, return_inverse=True)
        return slots, places
    present = np.zeros(most, dtype=bool)
    present[keys] = True
    return np.flatnonzero(present), (np.cumsum(present) - 1)[keys]


def require_ordered(texts: Sequence[str], what: str) -> None:
    """Raise an error if texts are unsorted or repeated."""
    if not all(map(operator.lt, texts, itertools.islice(texts, 1, None))):
        raise ValueError(f"the {what} are not sorted")


def require_increasing(*keys: Index) -> None:
    """Raise an error if rows are unsorted or repeated."""
    later = np.zeros(max(len(keys[0]) - 1, 0), dtype=bool)
    for key in reversed(keys):
        before, after = key[:-1], key[1:]
        later &= before == after
        later |= before < after
    if not later.all():
        raise ValueError(f"row {int(np.argmin(later)) + 2} is out of order or repeated")
