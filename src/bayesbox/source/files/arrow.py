"""Parquet, Arrow IPC and Feather files: stored batches, validated before use.

An untrusted file may contain offsets outside its buffers, so every batch is checked in full first.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa

from bayesbox.errors import BadData
from bayesbox.file.wrong_file import unavailable
from bayesbox.schema.arrays import ArrowColumn, numpy_values, text_array
from bayesbox.schema.columns import Column
from bayesbox.schema.compute import pc
from bayesbox.source.cells import plain, refuse_nested
from bayesbox.source.files.inflation import CheckedMessages, require_bounded_file, require_growth
from bayesbox.source.files.reading import (
    FLAG,
    NUMBER,
    TEXT,
    UNREAD,
    OpenedFile,
    Reading,
    check_names,
    contradiction,
    place,
)
from bayesbox.source.files.scan import NUMBER_PATTERN, PLAIN
from bayesbox.source.files.streams import ByteStream

ROWS = 98_304  # in one batch
BUFFER = 1 << 19  # bytes read ahead a column, instead of whole column chunks
BUFFERED_FROM = 32 << 20  # bytes of a file; of smaller ones all that a group holds is read at once


@contextlib.contextmanager
def _damage_named(file: str, format_name: str) -> Iterator[None]:
    """A context that translates Arrow's errors about a damaged file."""
    try:
        yield
    except BadData:
        raise
    except OSError as error:
        if error.errno is not None:
            raise unavailable(error, file) from None
        raise _damaged(error, file, format_name) from None
    except (pa.ArrowException, ValueError, KeyError, OverflowError) as error:
        raise _damaged(error, file, format_name) from None


def _damaged(error: Exception, file: str, format_name: str) -> BadData:
    lines = str(error).splitlines()
    return BadData(
        f"is not a valid {format_name} file",
        where=file,
        found=lines[0] if lines else type(error).__name__,
        remedy="Write it again, or specify its format",
    )


def _validate(column: pa.Array) -> None:
    """A full check. Codes within their dictionary are seen at a glance, which Arrow looks up one by one."""
    if pa.types.is_dictionary(column.type) and pa.types.is_int32(column.indices.type):
        codes = numpy_values(column.indices).view(np.uint32)
        if codes.max(initial=0) < len(column.dictionary):
            column.dictionary.validate(full=True)
            return
    column.validate(full=True)


def _require_dates(column: ArrowColumn, name: str, file: str) -> None:
    """Raise an error for dates and times that Python does not support: a year beyond 9999, or an unknown time zone.

    Only the smallest and the largest value need to be checked.
    """
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not pa.types.is_temporal(kind) or pa.types.is_interval(kind):
        return
    values = column.dictionary if pa.types.is_dictionary(column.type) else column
    try:
        for bound in pc.min_max(values).values():
            bound.as_py()
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise BadData(
            f"has a value that is not a valid {kind}",
            where=f"{file}, column `{name}`",
            found=str(error).splitlines()[0],
            remedy="Write the column again, as dates of the years 1 to 9999 or as text",
            column=name,
        ) from None


class _TypedRows(OpenedFile):
    """What the typed formats share: names and types from the schema, columns checked batch by batch."""

    format_name = ""
    schema: pa.Schema

    def __init__(self, stream: ByteStream, reading: Reading) -> None:
        self._file = stream.name
        self._reading = reading
        self.share_read = 0.0
        with _damage_named(self._file, self.format_name):
            self.schema = self._open(stream)
            self.names = tuple(self.schema.names)
        check_names(self.names, self._file)
        self._read = [name for name in self.names if reading.kind_of(name) != UNREAD]
        for name in self._read:
            kind = self.schema.field(name).type
            refuse_nested(kind, name, where=self._file)
            self._check_kind(name, kind_of_type(kind))

    def _open(self, stream: ByteStream) -> pa.Schema:
        raise NotImplementedError

    def _stored_batches(self) -> Iterator[pa.RecordBatch]:
        """The stored batches; reading them updates `share_read`."""
        raise NotImplementedError

    def tables(self) -> Iterator[tuple[tuple[Column, ...], int]]:
        """The rows, at most `ROWS` at a time."""
        return self._tables(self._stored_batches(), 0)

    def _tables(self, batches: Iterator[pa.RecordBatch], row: int) -> Iterator[tuple[tuple[Column, ...], int]]:
        while True:
            with _damage_named(self._file, self.format_name):
                batch = next(batches, None)
                if batch is None:
                    return
                batch = batch.select(self._read)
                batch.validate()
                for column in batch.columns:
                    _validate(column)
            rows = batch.num_rows
            for start in range(0, rows, ROWS):
                piece = batch.slice(start, ROWS)
                yield self._columns(piece, row + start), piece.num_rows
            row += rows
            del batch, piece  # their memory is free before the next batch is read

    def _columns(self, batch: pa.RecordBatch, row: int) -> tuple[Column, ...]:
        columns = {
            name: self._column(name, column, row) for name, column in zip(self._read, batch.columns, strict=True)
        }
        unread = pa.nulls(batch.num_rows)
        return tuple(columns.get(name, unread) for name in self.names)

    def _column(self, name: str, column: ArrowColumn, row: int) -> Column:
        reading = self._reading
        column = plain(column, name, where=self._file)
        _require_dates(column, name, self._file)
        if reading.na:
            column = without_tokens(column, reading.na)
        kind = kind_of_type(column.type)
        if name in reading.number and kind == TEXT:
            return numbers_of_texts(column, name, file=self._file, row=row, weight=reading.weight)
        return column

    def _check_kind(self, name: str, kind: str | None) -> None:
        """Raise an error unless a column has the same type in every file."""
        reading = self._reading
        if kind is None or name in reading.text or name in reading.number:
            return
        known = reading.kinds.setdefault(name, kind)
        if TEXT in (known, kind) and known != kind:
            what = f"is {kind} here, but {known} in {reading.first_file}"
            raise _mixed_files(what, place(self._file, column=name), name)


def _mixed_files(what: str, where: str, name: str) -> BadData:
    error = contradiction(NUMBER, name, None, where)
    error.what = what
    return error


class ParquetRows(_TypedRows):
    """The rows of a Parquet file; texts stay dictionary-encoded."""

    format_name = "Parquet"

    def _open(self, stream: ByteStream) -> pa.Schema:
        import pyarrow.parquet as pq

        self._stream = stream
        self._source = random_access(stream)
        opened = pq.ParquetFile(self._source)
        self._metadata = opened.metadata
        self.row_count: int = opened.metadata.num_rows
        for group in map(opened.metadata.row_group, range(opened.metadata.num_row_groups)):
            # not by columns: where the metadata of one are damaged, Arrow ends the process when they are looked at
            require_growth(group.total_byte_size, self._source.size(), self._file)
        # A buffered reader fills the memory of a page by the size that its header names, which may be a lie
        self._buffer = BUFFER if self._source.size() > BUFFERED_FROM else 0
        return opened.schema_arrow

    def _stored_batches(self) -> Iterator[pa.RecordBatch]:
        done = 0
        for batch in self._batches(self._source, None, use_threads=self._reading.threads > 1):
            yield batch
            done += batch.num_rows
            self.share_read = done / max(self.row_count, 1)

    def _batches(self, source: object, groups: list[int] | None, *, use_threads: bool) -> Iterator[pa.RecordBatch]:
        import pyarrow.parquet as pq

        texts = [field.name for field in self.schema if _is_text(field.type)]
        wanted = self._read or None  # where none is, their number still is
        with _lasting_memory():
            file = pq.ParquetFile(
                source, metadata=self._metadata, read_dictionary=texts, buffer_size=self._buffer, pre_buffer=False
            )
        yield from file.iter_batches(ROWS, row_groups=groups, columns=wanted, use_threads=use_threads)

    def groups(self) -> list[int]:
        """The row groups, which can be read separately; none if the file is a temporary copy."""
        if self._stream.file is None:
            return []
        return [self._metadata.row_group(index).num_rows for index in range(self._metadata.num_row_groups)]

    def group_tables(self, group: int, row: int) -> Iterator[tuple[tuple[Column, ...], int]]:
        """The rows of one group, whose first row is `row`; callable from any thread."""
        batches = self._batches(pa.OSFile(self._stream.path), [group], use_threads=False)
        return self._tables(_with_little_memory(batches), row)


class ArrowRows(_TypedRows):
    """The rows of an Arrow IPC file, an Arrow stream or a Feather file."""

    format_name = "Arrow"

    def _open(self, stream: ByteStream) -> pa.Schema:
        beginning = stream.peek(6)
        if beginning[:4] == b"FEA1":
            remedy = "Write it again with a current version of pyarrow or pandas"
            raise BadData("is a Feather file of version 1", where=self._file, remedy=remedy)
        if beginning == b"ARROW1":
            require_bounded_file(stream.spooled(), self._file)
            self._reader = pa.ipc.open_file(random_access(stream))
        else:
            self._reader = pa.ipc.open_stream(pa.PythonFile(CheckedMessages(stream), mode="r"))
        return self._reader.schema

    def _stored_batches(self) -> Iterator[pa.RecordBatch]:
        if not isinstance(self._reader, pa.RecordBatchFileReader):
            self.share_read = None
            yield from self._reader
            return
        total = self._reader.num_record_batches
        for index in range(total):
            yield self._reader.get_batch(index)
            self.share_read = float((index + 1) / total)


_pool_lock = Lock()


@contextlib.contextmanager
def _lasting_memory() -> Iterator[None]:
    """Readers opened here take their memory from an allocator that keeps it between batches.

    Others hand the memory of each batch back at once, and two threads then wait for the kernel to clear it again. A
    Parquet reader keeps the pool that was the default when it was opened, and cannot be given one.
    """
    with _pool_lock:
        before = pa.default_memory_pool()
        pa.set_memory_pool(_lasting_pool())
        try:
            yield
        finally:
            pa.set_memory_pool(before)


def _lasting_pool() -> pa.MemoryPool:
    try:
        return pa.jemalloc_memory_pool()
    except NotImplementedError:  # not built into every pyarrow
        return pa.system_memory_pool()


def _with_little_memory(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches of a group that one of several threads reads.

    Pages are read into memory of Arrow's default allocator. After the dictionaries at the beginning of a group, it
    keeps as much again as is in use, for every thread.
    """
    yield from itertools.islice(batches, 1)
    pa.default_memory_pool().release_unused()
    yield from batches


def random_access(stream: ByteStream) -> Any:
    """The file with random access for Arrow: itself, or a temporary copy of a stream."""
    if stream.file is not None:
        return pa.OSFile(stream.path)
    return pa.PythonFile(stream.spooled(), mode="r")


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def kind_of_type(kind: pa.DataType) -> str | None:
    """NUMBER, FLAG or TEXT for an Arrow type; None for nulls and dates."""
    if pa.types.is_dictionary(kind):
        return TEXT
    if pa.types.is_boolean(kind):
        return FLAG
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return NUMBER
    return TEXT if _is_text(kind) else None


def without_tokens(column: ArrowColumn, tokens: tuple[str, ...]) -> ArrowColumn:
    """A text column with null for values that mean missing; other columns as is.

    >>> without_tokens(pa.array(["suv", "?"]), ("?",)).to_pylist()
    ['suv', None]
    """
    if pa.types.is_dictionary(column.type):
        if not _is_text(column.type.value_type):
            return column
        dictionary = column.dictionary
        missing = pc.is_in(dictionary, value_set=text_array(tokens).cast(dictionary.type))
        if not pc.any(missing).as_py():
            return column
        codes = column.indices
        kept = pc.if_else(missing.take(codes), pa.nulls(len(codes), codes.type), codes)
        return pa.DictionaryArray.from_arrays(kept, dictionary)
    if not _is_text(column.type):
        return column
    missing = pc.is_in(column, value_set=text_array(tokens).cast(column.type))
    return pc.if_else(missing, pa.nulls(len(column), column.type), column)


def numbers_of_texts(column: ArrowColumn, name: str, *, file: str, row: int = 0, weight: str | None = None) -> pa.Array:
    """The numbers of a text column that is declared numeric; an error at the first value that is not a number.

    >>> numbers_of_texts(pa.array(["25", None, " +3"]), "age", file="people.parquet").to_pylist()
    [25.0, None, 3.0]
    """
    texts = column.cast(pa.string())
    fits = pc.match_substring_regex(texts, NUMBER_PATTERN)
    if not pc.all(fits).as_py() and pc.all(fits := pc.match_substring_regex(texts, PLAIN.marked)).as_py():
        return PLAIN.doubles(texts)
    if not pc.all(fits).as_py():
        index = fits.to_pylist().index(False)
        where = place(file, row=row + index + 1, column=name)
        raise contradiction(NUMBER, name, texts[index].as_py(), where, weight=weight)
    bare = pc.replace_substring_regex(texts, r"^[ \t]*\+?|[ \t]+$", "")
    return bare.cast(pa.float64())
