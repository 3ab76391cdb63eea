"""Writers of tables as CSV, TSV, JSON lines or Parquet, to standard output or atomically to a file."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

import numpy as np
import pyarrow as pa

from bayesbox import _core
from bayesbox.errors import BadOption, BayesboxError, SourceUnavailable
from bayesbox.schema.arrays import numpy_values, text_array
from bayesbox.schema.tokens import text_buffers
from bayesbox.source.files.open import EXTENSIONS
from bayesbox.source.files.streams import CODECS

FORMATS = ("csv", "tsv", "jsonl", "parquet")

Write = Callable[[pa.Table], None]


def format_of(path: str | None, given: str | None) -> str:
    """The given format, else that of the file name, else CSV.

    >>> format_of("out.parquet", None), format_of(None, None)
    ('parquet', 'csv')
    """
    suffix = os.path.splitext(path or "")[1].lower()
    if suffix in CODECS:
        remedy = f"Remove -o and compress the output: | gzip > {path}"
        raise BadOption("predictions cannot be written compressed", found=path, remedy=remedy)
    if given is not None:
        return given
    known = EXTENSIONS.get(suffix, "csv")
    if known not in FORMATS:
        remedy = "Use another extension, or pass --format"
        raise BadOption(f"the output format must be one of {', '.join(FORMATS)}", found=path, remedy=remedy)
    return known


@contextlib.contextmanager
def output_file(path: str | None) -> Iterator[IO[bytes]]:
    """A context that writes bytes to standard output, or to a temporary file that is renamed to `path` at the end."""
    if path is None or path == "-":
        try:
            sys.stdout.flush()
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        except OSError as error:
            if isinstance(error, (BayesboxError, BrokenPipeError)):
                raise
            raise SourceUnavailable(f"cannot be written ({error.strerror})", where="standard output") from None
        return
    from bayesbox.file.atomic import replacing

    with replacing(path) as file:
        yield file


@contextlib.contextmanager
def table_writer(file: IO[bytes], format: str, names: tuple[str, ...], *, escape: bool = True) -> Iterator[Write]:
    """A function that writes tables one after another."""
    if format == "parquet":
        yield from _parquet(file)
    elif format == "jsonl":
        yield lambda table: _write_json_lines(file, table)
    else:
        delimiter = "\t" if format == "tsv" else ","
        file.write(_lines([text_array([name]) for name in names], 1, delimiter, escape=escape))
        yield lambda table: _write(file, _lines(table.columns, table.num_rows, delimiter, escape=escape))


def _write(file: IO[bytes], data: bytes) -> None:
    file.write(data)


def _parquet(file: IO[bytes]) -> Iterator[Write]:
    if file is getattr(sys.stdout, "buffer", None) and sys.stdout.isatty():
        raise BadOption("Parquet is binary and cannot be printed on a terminal", remedy="Pass a file: -o out.parquet")
    from pyarrow import parquet

    writers: list[Any] = []

    def write(table: pa.Table) -> None:
        if not writers:
            writers.append(parquet.ParquetWriter(pa.PythonFile(file, mode="w"), table.schema))
        writers[0].write_table(table)

    try:
        yield write
    finally:
        for writer in writers:
            writer.close()


def _write_json_lines(file: IO[bytes], table: pa.Table) -> None:
    import json

    from bayesbox.cli.print.output import plain
    from bayesbox.schema.levels import level_text

    lines = (json.dumps(plain(row), ensure_ascii=False, default=level_text) for row in table.to_pylist())
    file.write("".join(f"{line}\n" for line in lines).encode("utf-8", errors="surrogateescape"))


def _lines(columns: Sequence[pa.Array | pa.ChunkedArray], rows: int, delimiter: str, *, escape: bool) -> bytes:
    """The rows as delimited text."""
    return _core.delimited_lines([_written(column) for column in columns], rows, delimiter, escape)


def _written(column: pa.Array | pa.ChunkedArray) -> tuple[Any, Any, Any]:
    """(numbers, None, present) or (bytes of texts, offsets, present)."""
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):  # more text than one array can hold
        column = column.cast(pa.large_string()).combine_chunks()
    if pa.types.is_temporal(column.type):
        from bayesbox.schema.levels import level_text

        column = text_array([None if value is None else level_text(value) for value in column.to_pylist()])
    is_number = pa.types.is_integer(column.type) or pa.types.is_float64(column.type)
    if not is_number and not pa.types.is_string(column.type) and not pa.types.is_large_string(column.type):
        column = column.cast(pa.large_string())
    present = None
    if column.null_count:
        bits = np.frombuffer(column.buffers()[0], dtype=np.uint8)
        present = np.unpackbits(bits, bitorder="little")[column.offset : column.offset + len(column)]
    if is_number:
        return numpy_values(column), None, present
    return *text_buffers(column), present
