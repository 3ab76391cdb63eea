"""Tables written as CSV, TSV, JSON lines or Parquet, to standard output or to a file that appears when it is whole."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import IO, Any

import numpy as np
import pyarrow as pa

from bayesbox.errors import BadOption, BayesboxError, SourceUnavailable
from bayesbox.schema.compute import pc

FORMATS = ("csv", "tsv", "jsonl", "parquet")
BEGINS_FORMULA = r"^[=+\-@]."
IS_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"

Write = Callable[[pa.Table], None]


def format_of(path: str | None, given: str | None) -> str:
    """The format asked for, else that of the file's name, else CSV.

    >>> format_of("out.parquet", None), format_of(None, None)
    ('parquet', 'csv')
    """
    if given is not None:
        return given
    suffix = os.path.splitext(path or "")[1].lower().lstrip(".")
    return {"ndjson": "jsonl", "json": "jsonl", "pq": "parquet", "tab": "tsv"}.get(
        suffix, suffix if suffix in FORMATS else "csv"
    )


@contextlib.contextmanager
def output_file(path: str | None) -> Iterator[IO[bytes]]:
    """Bytes to standard output, or to a file that takes the name `path` when all is written."""
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
    from bayesbox.model.atomic import replacing

    with replacing(path) as file:
        yield file


@contextlib.contextmanager
def table_writer(file: IO[bytes], format: str, names: tuple[str, ...], *, escape: bool = True) -> Iterator[Write]:
    """A function that writes one table after another."""
    if format == "parquet":
        yield from _parquet(file)
    elif format == "jsonl":
        yield lambda table: _write_json_lines(file, table)
    else:
        delimiter = "\t" if format == "tsv" else ","
        file.write(_lines(pa.table([pa.array([name]) for name in names], names=list(names)), delimiter, escape=escape))
        yield lambda table: _write(file, _lines(table, delimiter, escape=escape))


def _write(file: IO[bytes], data: bytes) -> None:
    file.write(data)


def _parquet(file: IO[bytes]) -> Iterator[Write]:
    if file is getattr(sys.stdout, "buffer", None) and sys.stdout.isatty():
        raise BadOption("Parquet is no text for a terminal", remedy="Give a file: -o out.parquet")
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

    from bayesbox.cli.output import plain
    from bayesbox.schema.levels import level_text

    lines = (json.dumps(plain(row), ensure_ascii=False, default=level_text) for row in table.to_pylist())
    file.write("".join(f"{line}\n" for line in lines).encode("utf-8", errors="surrogateescape"))


def _lines(table: pa.Table, delimiter: str, *, escape: bool) -> bytes:
    """The rows as delimited text, all columns at a time."""
    if table.num_rows == 0:
        return b""
    cells = [_cells(column, delimiter, escape=escape) for column in table.columns]
    if len(cells) == 1:  # an empty line is no row
        cells[0] = pc.if_else(pc.equal(cells[0], ""), pa.scalar('""', pa.large_string()), cells[0])
    between, ending, nothing = (pa.scalar(text, pa.large_string()) for text in (delimiter, "\n", ""))
    lines = pc.binary_join_element_wise(pc.binary_join_element_wise(*cells, between), nothing, ending)
    return b"".join(_bytes(chunk) for chunk in (lines.chunks if isinstance(lines, pa.ChunkedArray) else [lines]))


def _bytes(texts: pa.Array) -> bytes:
    """The texts of an array one after another."""
    _, offsets, values = texts.buffers()
    places = np.frombuffer(offsets, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return memoryview(values)[int(places[0]) : int(places[-1])].tobytes()


def _cells(column: pa.ChunkedArray, delimiter: str, *, escape: bool) -> pa.Array:
    array = column.combine_chunks()
    array = array.chunk(0) if isinstance(array, pa.ChunkedArray) else array
    is_text = pa.types.is_string(array.type) or pa.types.is_large_string(array.type)
    if pa.types.is_temporal(array.type):
        from bayesbox.schema.levels import level_text

        array = pa.array(
            [None if value is None else level_text(value) for value in array.to_pylist()], pa.large_string()
        )
    texts = array.cast(pa.large_string()).fill_null("")
    if not is_text:
        return texts
    return _quoted(_escaped(texts) if escape else texts, delimiter)


def _escaped(texts: pa.Array) -> pa.Array:
    """An apostrophe before what a spreadsheet would run as a formula; single characters and numbers stay."""
    risky = pc.match_substring_regex(texts, BEGINS_FORMULA)
    if not pc.any(risky).as_py():
        return texts
    risky = pc.and_(risky, pc.invert(pc.match_substring_regex(texts, IS_NUMBER)))
    empty = pa.scalar("", pa.large_string())
    return pc.if_else(risky, pc.binary_join_element_wise(pa.scalar("'", pa.large_string()), texts, empty), texts)


def _quoted(texts: pa.Array, delimiter: str) -> pa.Array:
    """Quotes around the cells that need them."""
    needs = pc.match_substring_regex(texts, f'["\\r\\n{delimiter}]')
    if not pc.any(needs).as_py():
        return texts
    quote, empty = pa.scalar('"', pa.large_string()), pa.scalar("", pa.large_string())
    doubled = pc.replace_substring(texts, pattern='"', replacement='""')
    return pc.if_else(needs, pc.binary_join_element_wise(quote, doubled, quote, empty), texts)
