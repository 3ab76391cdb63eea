"""Rows in files: CSV, TSV, JSON lines, Parquet, Arrow and Feather, compressed or not, one file or many, or standard
input, read in one pass as batches of bounded size.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from bayesbox.errors import BadData, BadOption, SourceUnavailable
from bayesbox.file.known_file import SEEN, refuse_others
from bayesbox.schema.columns import Column
from bayesbox.source.base import Batch, Part, Skipped, Source
from bayesbox.source.files.dialect import AS_WRITTEN, TextDialect
from bayesbox.source.files.reading import OpenedFile, Reading, same_columns
from bayesbox.source.files.streams import CODECS, STDIN, ByteStream, name_of
from bayesbox.source.registry import registered_source
from bayesbox.source.wrapped import peek

if TYPE_CHECKING:
    from bayesbox.source.files.arrow import ParquetRows

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

EXTENSIONS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".ipc": "arrow",
    ".feather": "arrow",
    ".xlsx": "excel",
    ".xlsm": "excel",
}
FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow", "excel")
MOST_LISTED = 12  # columns listed in a message
OTHER_NAMES = {"ndjson": "jsonl", "feather": "arrow", "ipc": "arrow", "xlsx": "excel", "xlsm": "excel"}


def open_source(
    paths: Paths,
    *,
    text: frozenset[str] = frozenset(),
    number: frozenset[str] = frozenset(),
    documents: frozenset[str] = frozenset(),
    unread: frozenset[str] = frozenset(),
    only: frozenset[str] | None = None,
    as_text: bool = False,
    na: Sequence[str] = (),
    bad_rows: str = "error",
    format: str | None = None,
    threads: int = 1,
    refuse_mixed: bool = False,
    finite: bool = False,
    weight: str | None = None,
    dialect: TextDialect = AS_WRITTEN,
) -> Source:
    """A source of rows from a path, a glob pattern, a folder, a list of these, or `-` for standard input; or from an
    address or file of a kind registered by `register_source`.

    `text` lists columns that are read as text (the target, declared categories), `number` numeric columns; the types of
    others are detected from their first values, unless `as_text` reads them as text. Texts of the columns in
    `documents` may have up to 256 MB each, others up to 1 MB. The columns in `unread`, or all that are not in `only`,
    are not parsed: their values are missing. `na` adds texts that mean missing. `bad_rows="skip"` skips malformed rows
    and counts them in `source.skipped`. `format` overrides the extension. With `refuse_mixed`, a few texts among many
    numbers are malformed rows rather than a category; with `finite`, rows with an infinite number are malformed too,
    and those whose `weight` (a column) is missing or negative. `dialect` is the text format: encoding, delimiter,
    decimal mark and so on.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "people.csv")
    >>> _ = path.write_text("age,car\\n25,sports\\n,vintage\\n")
    >>> [batch["age"].to_pylist() for batch in open_source(path).batches()]
    [[25.0, None]]
    """
    if bad_rows not in ("error", "skip"):
        raise BadOption("bad_rows must be 'error' or 'skip'", found=bad_rows)
    if isinstance(na, str):
        raise BadOption("na must be a list of values", found=na, remedy=f"Write na=[{na!r}]")
    options: dict[str, Any] = {
        "text": frozenset(text),
        "number": frozenset(number),
        "documents": frozenset(documents),
        "unread": frozenset(unread),
        "only": only,
        "as_text": as_text,
        "na": tuple(na),
        "skip": bad_rows == "skip",
        "threads": threads,
        "refuse_mixed": refuse_mixed,
        "finite": finite,
        "weight": weight,
        "dialect": dialect,
        "noted": set(),
    }

    def open_files(paths: Paths) -> FileSource:
        return FileSource(expand(paths), format=_format_option(format), options=options)

    registered = registered_source(paths, open_files)
    if registered is None:
        return open_files(paths)
    if na or format is not None or bad_rows != "error" or dialect.given:
        raise BadOption("na, bad_rows, format and similar parameters apply to files", where=registered.name)
    return registered


def _format_option(given: str | None) -> str | None:
    if given is None:
        return None
    name = given.lower().lstrip(".")
    name = OTHER_NAMES.get(name, name)
    if name not in FORMATS:
        raise BadOption(f"the format must be one of {', '.join(FORMATS)}", found=given)
    return name


class FileSource(Source):
    """The rows of one or more files, in order. `names` are known once a file is opened, even if it has no rows.

    Files can be read again; standard input only once.
    """

    def __init__(self, paths: Sequence[str], *, format: str | None, options: dict[str, Any]) -> None:
        self.paths = tuple(paths)
        self.name = name_of(paths[0]) if len(paths) == 1 else f"{name_of(paths[0])} and {len(paths) - 1} more"
        self.rereadable = STDIN not in self.paths
        self._skipped = Skipped()
        self._format = format
        self._options = options
        self._finished = 0  # files read to the end
        self._stream: ByteStream | None = None
        self._rows: OpenedFile | None = None

    @property
    def skipped(self) -> Skipped:
        return self._skipped

    @property
    def progress(self) -> float | None:
        """The share of the files read in the current pass, from 0 to 1; None for standard input."""
        if STDIN in self.paths:
            return None
        sizes = [os.path.getsize(path) for path in self.paths]
        done = float(sum(sizes[: self._finished]))
        if self._stream is not None and self._rows is not None and self._finished < len(sizes):
            share = self._rows.share_read
            done += self._stream.position if share is None else share * sizes[self._finished]
        return min(done / max(sum(sizes), 1), 1.0)

    def batches(self) -> Iterator[Batch]:
        """The rows of all files, with the columns in the order of the first."""
        self._skipped = Skipped()
        reading = Reading(**self._options, skipped=self._skipped)
        first_row = 0
        for index, path in enumerate(self.paths):
            self._finished = index
            for batch in self._file_batches(path, reading, first_row):
                first_row += batch.rows
                yield batch
        self._finished = len(self.paths)

    def parts(self, threads: int) -> Iterator[Part] | None:
        """The rows in parts that any thread can read: the row groups of Parquet files. None if there are none, or too
        few for the threads.
        """
        if any((self._format or format_of_name(path)) != "parquet" for path in self.paths) or not self.rereadable:
            return None
        if len(self.paths) < threads:
            with ByteStream(self.paths[0]) as stream:
                if len(_parquet_rows(stream, Reading(**self._options)).groups()) < threads:
                    return None
        return self._parts()

    def _parts(self) -> Iterator[Part]:
        self._skipped = Skipped()
        reading = Reading(**self._options, skipped=self._skipped)
        first_row = 0
        for index, path in enumerate(self.paths):
            self._finished = index
            with ByteStream(path) as stream:
                rows = _parquet_rows(stream, reading)
                order = self._take(stream, rows, reading)
                groups = rows.groups()
            if not groups:
                yield Part(name_of(path), partial(self._file_batches, path, reading, first_row))
                first_row += rows.row_count
            row = 0
            for group, count in enumerate(groups):
                tables = partial(rows.group_tables, group, row)
                yield Part(name_of(path), partial(_ordered, tables, order, first_row, reading, name_of(path)))
                row, first_row = row + count, first_row + count
                rows.share_read = row / rows.row_count if rows.row_count else 1.0
        self._finished = len(self.paths)

    def _file_batches(self, path: str, reading: Reading, first_row: int) -> Iterator[Batch]:
        with ByteStream(path) as stream:
            rows = open_rows(stream, reading, self._format)
            order = self._take(stream, rows, reading)
            yield from _ordered(rows.tables, order, first_row, reading, stream.name)

    def _take(self, stream: ByteStream, rows: OpenedFile, reading: Reading) -> list[int | None]:
        """Continue with the next file, which must have the columns of the first; None for one that is not read."""
        self._stream, self._rows, self.untyped = stream, rows, rows.untyped
        same_columns(rows.names, stream.name, reading)
        self.names = reading.names or ()
        place = {name: index for index, name in enumerate(rows.names)}
        return [place.get(name) for name in self.names]


def _ordered(
    tables: Callable[[], Iterator[tuple[tuple[Column, ...], int]]],
    order: list[int | None],
    first_row: int,
    reading: Reading,
    file: str,
) -> Iterator[Batch]:
    for columns, count in tables():
        taken = tuple(pa.nulls(count) if index is None else columns[index] for index in order)
        batch = Batch(reading.names or (), taken, count, first_row)
        first_row += count
        if reading.skip and reading.finite:
            from bayesbox.source.files.usable import usable

            batch = usable(batch, reading, file)
        if batch.rows:
            yield batch
        del batch, taken, columns


def _parquet_rows(stream: ByteStream, reading: Reading) -> ParquetRows:
    from bayesbox.source.files.arrow import ParquetRows

    return ParquetRows(stream, reading)


REFUSED = {".xls", ".xlsb", ".ods", ".numbers"}
"""Workbooks of other makes."""


def open_rows(stream: ByteStream, reading: Reading, format: str | None = None) -> OpenedFile:
    """A file opened in its format: as given, by its extension, or by its first bytes."""
    if format is None and (ending := os.path.splitext(stream.path)[1].lower()) in REFUSED:
        raise BadData(
            f"workbooks with the extension {ending} are not supported",
            where=stream.name,
            remedy="Save it as .xlsx or CSV",
        )
    format = format or format_of_name(stream.path) or _format_of_bytes(stream)
    dialect = reading.dialect
    if not dialect.skip_rows:
        refuse_others(stream.peek(SEEN), stream.name, text=format in ("csv", "tsv", "jsonl"))
    if dialect.given:
        dialect.require_for(format, stream.name)
    if format in ("csv", "tsv"):
        from bayesbox.source.files.delimited import DelimitedRows
        from bayesbox.source.files.encodings import decoded

        delimiter = dialect.delimiter or ("\t" if format == "tsv" else None)
        text = decoded(stream, dialect.encoding)
        return DelimitedRows(text, reading, delimiter=delimiter.encode() if delimiter else None)
    if format == "jsonl":
        from bayesbox.source.files.encodings import decoded
        from bayesbox.source.files.jsonl import JsonRows

        return JsonRows(decoded(stream, dialect.encoding), reading)
    if format == "excel":
        from bayesbox.source.files.excel import ExcelRows

        return ExcelRows(stream, reading)
    from bayesbox.source.files.arrow import ArrowRows, ParquetRows

    return ParquetRows(stream, reading) if format == "parquet" else ArrowRows(stream, reading)


def format_of_name(path: str) -> str | None:
    """The format of a table by its extension; None if it is unknown.

    >>> format_of_name("people.csv.gz"), format_of_name("letter.eml")
    ('csv', None)
    """
    stem, suffix = os.path.splitext(path.lower())
    if suffix in CODECS:
        suffix = os.path.splitext(stem)[1]
    return EXTENSIONS.get(suffix)


def _format_of_bytes(stream: ByteStream) -> str:
    beginning = stream.peek()
    if beginning.startswith(b"PAR1"):
        return "parquet"
    if beginning.startswith((b"ARROW1", b"\xff\xff\xff\xff", b"FEA1")):
        return "arrow"
    bare = beginning.removeprefix(b"\xef\xbb\xbf").removeprefix(b"\xff\xfe").removeprefix(b"\xfe\xff")
    if bare.lstrip(b" \t\r\n\0")[:1] in (b"{", b"["):
        return "jsonl"
    return "csv"


def expand(paths: Paths) -> list[str]:
    """The files of paths, glob patterns and folders, each folder and pattern sorted by name."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not given:
        raise BadOption("no files: pass at least one")
    found = [file for path in given for file in _expand_one(os.fspath(path))]
    if found.count(STDIN) > 1:
        raise BadOption("standard input can be read only once", found=given)
    return found


def _expand_one(path: str) -> list[str]:
    if path == STDIN or os.path.isfile(path):
        return [path]
    if os.path.isdir(path):
        return _files_of_folder(path)
    if glob.has_magic(path):
        files = sorted(file for file in glob.glob(path, recursive=True) if os.path.isfile(file))
        if not files:
            raise SourceUnavailable("no file matches the pattern", where=path)
        return files
    return [path]  # the error is raised when it is opened


def _files_of_folder(folder: str) -> list[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise SourceUnavailable(f"the folder cannot be read ({error.strerror})", where=folder) from None
    visible = [name for name in names if not name.startswith((".", "_")) and format_of_name(name)]
    files = [file for name in visible if os.path.isfile(file := os.path.join(folder, name))]
    if not files:
        endings = ", ".join(EXTENSIONS)
        raise SourceUnavailable(
            "the folder contains no data files", where=folder, remedy=f"Their extensions are {endings}"
        )
    return files


def file_columns(paths: Paths, *, format: str | None = None, dialect: TextDialect = AS_WRITTEN) -> dict[str, Any]:
    """The columns of the (first) file, without reading its rows: names, with Arrow types if the file has them.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "people.csv")
    >>> _ = path.write_text("age,car\\n25,sports\\n")
    >>> file_columns(path)
    {'age': None, 'car': None}
    """
    registered = registered_source(paths, lambda path: open_source(path, format=format, dialect=dialect))
    if registered is not None:
        return dict.fromkeys(registered.names or _first_names(registered))
    first = expand(paths)[0]
    if first == STDIN:
        raise BadOption("standard input can be read only once", remedy="Use peek")
    with ByteStream(first) as stream:
        rows = open_rows(stream, Reading(only=frozenset(), dialect=dialect), _format_option(format))
        return {name: None if rows.schema is None else rows.schema.field(name).type for name in rows.names}


def listed_columns(paths: Paths, *, format: str | None = None, dialect: TextDialect = AS_WRITTEN) -> str:
    """The columns of the (first) file as a sentence for messages."""
    names = list(file_columns(paths, format=format, dialect=dialect))
    return "The columns are " + ", ".join(names[:MOST_LISTED]) + (", ..." if len(names) > MOST_LISTED else "")


def _first_names(source: Source) -> tuple[str, ...]:
    first, _ = peek(source)
    return () if first is None else first.names
