"""Counting rows into a book: every column by the class of its row, in one pass of the core's kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox._core import ExactArray
from bayesbox.collector import collector_paused
from bayesbox.described import declaring
from bayesbox.errors import BadData, BadWeight
from bayesbox.schema.arrays import IntegerArray, NumberArray, without_nulls
from bayesbox.schema.columns import Column, Columns, CountMatrix, as_numbers
from bayesbox.schema.encode import Encoded, as_dictionary, encode_narrow
from bayesbox.schema.flags import FLAG_LEVELS, flag_codes
from bayesbox.schema.kinds import Kind
from bayesbox.schema.levels import label_order, label_type_of
from bayesbox.schema.schema import Schema
from bayesbox.schema.tokens import Documents, Tokens
from bayesbox.tally.base import Tally, Weights
from bayesbox.tally.book import Book, require_few_levels
from bayesbox.tally.counts import Counts
from bayesbox.tally.grid import Grid
from bayesbox.tally.moments import Moments, infinite_value
from bayesbox.tally.room import require_room_for_levels, require_room_for_numbers
from bayesbox.tally.sparse_counts import SparseCounts, is_sparse
from bayesbox.tally.unsorted_counts import MANY_LEVELS, UnsortedCounts
from bayesbox.tally.values import Values
from bayesbox.tally.words import WordCounts, count_words

DIRECT_RANGE = 65_536  # integers within a range up to this are counted by value, without a dictionary
MANY_CLASSES = 512
DIRECT_CELLS = 1 << 21  # of such a table, classes x range: many classes allow narrower ranges only

COUNTED_TYPES = "?bBhHiIlLqQfd"  # the core counts integers, bools and integral floats


@collector_paused()
def count(
    columns: Columns,
    labels: Encoded,
    schema: Schema,
    *,
    weights: Weights = None,
    where: str | None = None,
    first_row: int = 0,
    label_type: str | None = None,
) -> Book:
    """The book of these rows. A row with a missing label is dropped."""
    kind_of_labels = label_type or label_type_of(labels.values)
    target, classes = _in_order(labels, kind_of_labels)
    weights = checked_weights(weights, len(target), where=where, first_row=first_row)
    counter = _Counter(target, classes, weights, where, first_row)
    tallies: dict[str, Tally] = {}
    numbers: dict[str, NumberArray] = {}
    plain_numbers = schema.those(lambda kind: kind.is_number and not kind.is_count)
    for name, column in columns.items():
        if name in plain_numbers and isinstance(column, np.ndarray) and column.dtype.char == "d":
            numbers[name] = column
            continue
        kind = schema.kinds[name]
        if kind.tally is None or _is_null(column):
            continue
        if kind.is_matrix:
            assert isinstance(column, CountMatrix)
            tallies[name] = counter.words(column)
        elif kind.tokens is not None:
            tallies[name] = counter.text(name, column, kind.tokens)
        elif kind.has_levels:
            counter.levels(name, column, kind)
        else:
            numbers[name] = as_numbers(column, name=name, where=where)
            if kind.is_count:
                counter.require_counts(name, numbers[name])
    tallies |= counter.counts()
    for name, tally in tallies.items():
        require_few_levels(name, tally)
    tallies |= counter.moments(numbers, schema.tally_forms(numbers))
    return Book(classes, counter.class_counts(), tallies, label_type=kind_of_labels).pruned()


def _in_order(labels: Encoded, label_type: str) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """The codes and names of the classes, sorted: cheaper here than in every tally."""
    ordered = label_order(labels.levels, label_type)
    if ordered == labels.levels:
        return labels.codes, tuple(ordered)
    place = {name: index for index, name in enumerate(ordered)}
    moved = np.array([*(place[name] for name in labels.levels), -1], dtype=np.int32)  # the last entry is for code -1
    return moved[labels.codes], tuple(ordered)


def checked_weights(weights: object, rows: int, *, where: str | None = None, first_row: int = 0) -> Weights:
    """Weights as floats: one per row, finite and non-negative."""
    if weights is None:
        return None
    try:
        array = np.ascontiguousarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadWeight("a weight must be a number", found=weights) from None
    if array.ndim == 0:
        array = np.full(rows, float(array))
    if array.shape != (rows,):
        raise BadWeight("there must be one weight per row", found=f"{array.shape} for {rows} rows")
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise BadWeight(
            "a weight must be a finite non-negative number",
            where=_place(where, first_row + row),
            found=float(array[row]),
        )
    return array


def _is_null(column: Column) -> bool:
    return not isinstance(column, (np.ndarray, CountMatrix)) and pa.types.is_null(column.type)


class _Counter:
    """Collects columns by form, so that the core counts them together and reads each block of rows once."""

    def __init__(
        self,
        target: NDArray[np.int32],
        classes: tuple[str, ...],
        weights: Weights,
        where: str | None,
        first_row: int,
    ) -> None:
        self.target = target
        self.classes = classes
        self.weights = weights
        self.where = where
        self.first_row = first_row
        self.coded: dict[str, tuple[IntegerArray, list[str]]] = {}
        self.unsorted: dict[str, tuple[IntegerArray, pa.Array]] = {}  # with many levels, which stay in their dictionary
        self.integers: dict[str, tuple[NumberArray, Kind]] = {}  # floats too, which may be integral

    def class_counts(self) -> ExactArray:
        size = len(self.classes)
        if self.weights is None:
            return ExactArray.from_integers(_core.count_labels(self.target, size))
        zeros = np.zeros(len(self.target), dtype=np.uint8)
        return _core.count_codes_weighted([zeros], [1], self.target, size, self.weights)[0]

    def levels(self, name: str, column: Column, kind: Kind) -> None:
        """Add a column of levels."""
        if isinstance(column, np.ndarray) and column.dtype.char in COUNTED_TYPES and self.weights is None:
            self.integers[name] = (column, kind)
        else:
            self._coded(name, column, kind)

    def _coded(self, name: str, column: Column, kind: Kind) -> None:
        if not isinstance(column, np.ndarray):
            column = as_dictionary(column)
            if not kind.is_flag and self._has_many_texts(column.dictionary):
                self.unsorted[name] = (without_nulls(column.indices), column.dictionary)
                return
        codes, texts, _ = encode_narrow(column)
        self.coded[name] = (codes, self._flag_texts(name, texts, lambda: codes) if kind.is_flag else texts)

    def _has_many_texts(self, levels: pa.Array) -> bool:
        """Whether there are many levels that are texts, counted in a dense table."""
        return (
            len(levels) >= MANY_LEVELS
            and (pa.types.is_string(levels.type) or pa.types.is_large_string(levels.type))
            and levels.null_count == 0
            and not is_sparse(len(self.classes) * len(levels), len(self.target))
        )

    def _flag_texts(self, name: str, texts: list[str], codes: Callable[[], IntegerArray]) -> list[str]:
        """The texts as false and true; `codes` has the position of each row's text."""
        flags = flag_codes(texts, codes, name=name, where=self.where, first_row=self.first_row)
        return [FLAG_LEVELS[flag] for flag in flags]

    def counts(self) -> dict[str, Tally]:
        """The tallies of the columns of levels."""
        tallies = self._counted_directly()
        size = len(self.classes)
        rare = {
            name
            for name, (_, texts) in self.coded.items()
            if is_sparse(size * len(texts), len(self.target)) and len(set(texts)) == len(texts)
        }
        for name in rare:
            codes, texts = self.coded[name]
            tallies[name] = SparseCounts.of_rows(self.classes, texts, codes, self.target, self.weights)
        names = [name for name in (*self.coded, *self.unsorted) if name not in rare]
        found = {**self.coded, **self.unsorted}
        require_room_for_levels(size, {name: len(found[name][1]) for name in names}, where=self.where)
        columns = [found[name][0] for name in names]
        sizes = [len(found[name][1]) for name in names]
        if self.weights is None:
            tables = _core.count_codes(columns, sizes, self.target, size)
            cells = [
                ExactArray.from_table(table) if name in self.unsorted else ExactArray.from_integers(table.ravel())
                for name, table in zip(names, tables, strict=True)
            ]
        else:
            cells = _core.count_codes_weighted(columns, sizes, self.target, size, self.weights)
        for name, array in zip(names, cells, strict=True):
            if name not in self.unsorted:
                tallies[name] = _merged(self.classes, self.coded[name][1], array)
                continue
            levels = self.unsorted[name][1]
            if self.weights is not None:
                array = array.take(np.arange(len(array)).reshape(size, len(levels)).T.ravel())
            tallies[name] = UnsortedCounts.of_dictionary(self.classes, levels, array)
        return tallies

    def _counted_directly(self) -> dict[str, Tally]:
        tallies: dict[str, Tally] = {}
        names = list(self.integers)
        columns = [self.integers[name][0] for name in names]
        widest = min(DIRECT_RANGE, DIRECT_CELLS // max(len(self.classes), 1))
        found = _core.count_integers(columns, self.target, len(self.classes), widest)
        for name, column, result in zip(names, columns, found, strict=True):
            kind = self.integers[name][1]
            if result is None:
                self._coded(name, column, kind)
                continue
            lowest, table = result
            seen = np.flatnonzero(table.any(axis=0))
            texts = [str(lowest + int(index)) for index in seen]
            if kind.is_flag or column.dtype.kind == "b":
                texts = self._flag_texts(name, texts, partial(_places, lowest + seen, column))
            cells = ExactArray.from_integers(np.ascontiguousarray(table[:, seen]).ravel())
            tallies[name] = _merged(self.classes, texts, cells)
        return tallies

    def moments(self, columns: Mapping[str, NumberArray], forms: Mapping[str, str | None]) -> dict[str, Tally]:
        """The tallies of the columns of numbers: moments, and for some the distinct values or a grid."""
        require_room_for_numbers(len(self.classes), len(columns), where=self.where)
        if len(self.classes) > MANY_CLASSES:  # the core counts integers by value, classes x values
            columns = {name: np.asarray(column, dtype=np.float64) for name, column in columns.items()}
        found = set(forms.values())
        on_grid: Mapping[str, NumberArray] = {}
        if Grid.form in found:
            on_grid = {name: column for name, column in columns.items() if forms[name] == Grid.form}
        others = {name: column for name, column in columns.items() if name not in on_grid} if on_grid else columns
        with self._naming_infinite(on_grid):
            grids = Grid.of_columns(self.classes, list(on_grid.values()), self.target, self.weights)
        with self._naming_infinite(others):
            sums = _core.moments(list(others.values()), self.target, len(self.classes), self.weights)
        tallies: dict[str, Tally] = dict(zip(on_grid, grids, strict=True))
        tallies.update(zip(others, [Moments(self.classes, each) for each in sums], strict=True))
        if Values.form in found:
            for (name, values), each in zip(others.items(), sums, strict=True):
                if forms[name] == Values.form:
                    tallies[name] = Values.beside(self.classes, each, values, self.target, self.weights)
        return {name: tallies[name] for name in columns} if on_grid and others else tallies

    @contextmanager
    def _naming_infinite(self, columns: Mapping[str, NumberArray]) -> Iterator[None]:
        """Turn the core's error about an infinite value into one with the name of the column."""
        try:
            yield
        except ValueError as error:
            place = infinite_value(error)
            if place is None:
                raise
            name, values = list(columns.items())[place.column]
            raise BadData(
                f"column `{name}` contains an infinite value (inf)",
                where=_place(self.where, self.first_row + place.row),
                found=float(values[place.row]),
                remedy="Replace it with a number or a missing value",
                column=name,
            ) from None

    def require_counts(self, name: str, column: NumberArray) -> None:
        """Raise an error for a negative number in a column of counts."""
        negative = np.flatnonzero(column < 0)
        if len(negative):
            row = int(negative[0])
            raise BadData(
                f"column `{name}` must be a non-negative count",
                where=_place(self.where, self.first_row + row),
                found=column[row].item(),
                remedy="Declare it a number: " + declaring(name, "real"),
                column=name,
            )

    def words(self, matrix: CountMatrix) -> WordCounts:
        """The tally of a group of counts."""
        if len(matrix.data) and matrix.data.min() < 0:
            raise BadData("a count must not be negative", where=self.where, found=float(matrix.data.min()))
        cells = _core.count_sparse(
            matrix.indptr,
            matrix.indices,
            matrix.data,
            matrix.width,
            self.target,
            len(self.classes),
            self.weights,
        )
        return WordCounts.of(self.classes, [str(index) for index in range(matrix.width)], cells)

    def text(self, name: str, column: Column, tokens: Tokens) -> WordCounts:
        """The tally of the words of a column of texts."""
        where = f"{self.where}, column `{name}`" if self.where else f"column `{name}`"
        target = self.target
        if self.weights is not None:
            target = np.where(self.weights > 0, target, np.int32(-1)).astype(np.int32)
        documents = Documents.of(column, where=where)
        words, cells, _ = count_words(documents, target, len(self.classes), tokens, self.weights)
        return WordCounts.of(self.classes, list(words), cells)


def _places(values: NDArray[np.int64], column: NumberArray) -> NDArray[np.int64]:
    """The position of each number in a sorted list; -1 if absent."""
    at = np.minimum(np.searchsorted(values, column), len(values) - 1)
    return np.where(values[at] == column, at, -1)


def _place(where: str | None, row: int) -> str:
    return f"{where}, row {row + 1}" if where else f"row {row + 1}"


def _merged(classes: tuple[str, ...], texts: list[str], cells: ExactArray) -> Counts:
    """The counts with equal texts merged (such as 1 and true in a flag)."""
    distinct = list(dict.fromkeys(texts))
    if len(distinct) < len(texts):
        place = np.array([distinct.index(text) for text in texts], dtype=np.int64)
        index = (np.arange(len(classes))[:, None] * len(distinct) + place[None, :]).ravel()
        cells = cells.sum_groups(index, len(classes) * len(distinct))
    return Counts.of(classes, distinct, cells)
