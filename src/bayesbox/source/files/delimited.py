"""Comma- and tab-separated text: blocks of whole rows, each parsed by Arrow into numbers and coded
categories.

A column is numeric if every value of the first block is a number, or if all but a few are and there are many distinct
ones; a flag if every value is true or false; else text. A column without values is undecided until its first value. A
block that Arrow rejects goes through the careful reader, which reports the line, the column and the value, or skips the
row.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.csv as arrow_csv

from bayesbox import _core
from bayesbox.errors import BadData, BadRow
from bayesbox.file.known_file import TABLE
from bayesbox.schema.arrays import FEW, text_array
from bayesbox.schema.columns import Column
from bayesbox.schema.compute import pc
from bayesbox.schema.flags import FALSE_WORDS, TRUE_WORDS
from bayesbox.source.files.comments import blank_comments
from bayesbox.source.files.encodings import likely_encoding, not_encoded
from bayesbox.source.files.numerals import Numerals
from bayesbox.source.files.reading import (
    COLUMN_LIMIT,
    FLAG,
    NUMBER,
    ROW_LIMIT,
    SKIP,
    TEXT,
    UNREAD,
    OpenedFile,
    Reading,
    check_names,
    is_broken_number,
)
from bayesbox.source.files.reading import place as place_of
from bayesbox.source.files.scan import (
    DOUBLE,
    Checker,
    Record,
    end_of_rows,
    records,
)
from bayesbox.source.files.spelled import find_spelled, spelled_numbers
from bayesbox.source.files.window import BLOCK, Bytes, Window

PEEK = 1 << 16  # bytes used to detect an encoding
WIDE = 256  # rows of a very wide table per block, by the length of its header
UTF8_MARK = b"\xef\xbb\xbf"
ARROW_TYPES = {
    NUMBER: pa.float64(),
    FLAG: pa.bool_(),
    TEXT: pa.dictionary(pa.int32(), pa.string()),
    UNREAD: pa.binary(),
    None: pa.string(),
}
FLAG_WORDS = text_array([*TRUE_WORDS, *FALSE_WORDS])
FEW_FLAG_WORDS = frozenset(FLAG_WORDS.to_pylist())


class DelimitedRows(OpenedFile):
    """The rows of a CSV or TSV file. The default delimiter is detected from the header: comma, tab, semicolon."""

    untyped = True

    def __init__(self, stream: Bytes, reading: Reading, *, delimiter: bytes | None = None) -> None:
        self._file = stream.name
        self._reading = reading
        self._window = Window(stream, row_limit=reading.row_limit)
        self._delimiter = delimiter or b","
        self._numerals = Numerals.of(reading.dialect)
        mark = reading.dialect.comment
        self._comment = None if mark is None else mark.encode()
        self.names = self._read_header(guess=delimiter is None)
        check_names(self.names, self._file)

    def _read_header(self, *, guess: bool) -> tuple[str, ...]:
        self._skip_mark()
        skipped = self._reading.dialect.skip_rows
        if not self._window.skip_lines(skipped):
            raise BadData(f"has only the {skipped} lines that are skipped", where=self._file)
        if guess:
            self._delimiter = _delimiter_of(self._header_record())
        record = self._header_record()
        if record.fault is not None:
            where = place_of(self._file, line=record.fault.line)
            raise BadRow(f"in the header {record.fault.what}", where=where, found=record.fault.shown, remedy=DOUBLE)
        names = tuple(self._name(field, record.line) for field in record.fields)
        self._window.advance(record.end)
        self._window.widen(min(ROW_LIMIT, max(BLOCK, WIDE * record.end)))
        return names

    def _skip_mark(self) -> None:
        if bytes(self._window.view[:3]) == UTF8_MARK:
            self._window.advance(3)

    def _header_record(self) -> Record:
        """The first complete row that is not blank."""
        window = self._window
        while True:
            text = bytes(window.view)
            first = next(self._records(text, most_fields=COLUMN_LIMIT + 1), None)
            if first is not None and len(first.fields) > COLUMN_LIMIT:
                raise BadData(f"has more than {COLUMN_LIMIT} columns", where=self._file)
            if first is not None and (window.finished or (first.end < len(text) and not first.is_open)):
                return first
            if window.finished:
                raise BadData("the file is empty", where=self._file, remedy="A header row is needed")
            window.widen()

    def _records(self, text: bytes, *, most_fields: int | None = None) -> Iterator[Record]:
        return records(
            text,
            delimiter=self._delimiter,
            newline=self._window.newline,
            first_line=self._window.line,
            most_fields=most_fields,
            comment=self._comment,
        )

    def _name(self, field: bytes, line: int) -> str:
        where = place_of(self._file, line=line)
        if b"\0" in field:
            text = bytes(self._window.view[:200])
            if (likely_encoding(text) or "").startswith(("utf-16", "utf-32")):
                raise not_encoded("utf-8", text, where=where, found=field, what="the header")
            raise BadRow("this is not a text table: the header has a NUL byte", where=where, found=field, remedy=TABLE)
        try:
            return field.decode("utf-8")
        except UnicodeDecodeError:
            text = bytes(self._window.view[:PEEK])
            raise not_encoded("utf-8", text, where=where, found=field, what="the header") from None

    def tables(self) -> Iterator[tuple[tuple[Column, ...], int]]:
        """The rows, a block of bytes at a time."""
        while self._window.fill():
            self._blank_comments()
            table, end = self._next_table()
            self._window.advance(end)
            if table is not None and table.num_rows:
                yield self._columns(table), table.num_rows

    def _next_table(self) -> tuple[pa.Table | None, int]:
        """The table of the complete rows in view, and where they end; no table if all were malformed."""
        window = self._window
        while True:
            end = window.last_line_end()
            has_quotes = window.find(b'"') >= 0
            whole = not has_quotes or self._is_strict(end)
            if not whole and (exact := self._exact_end()) != end:
                end, whole = exact, self._is_strict(exact)
            if end:
                table = self._fast(end, has_quotes=has_quotes) if whole and window.find(b"\0") < 0 else None
                return (table if table is not None else self._careful(end)), end
            end = self._endless_row()
            if end:
                return None, end
            window.widen()
            self._blank_comments()

    def _blank_comments(self) -> None:
        if self._comment is not None:
            blank_comments(self._window, self._comment, self._delimiter)

    def _is_strict(self, end: int) -> bool:
        """Whether these bytes are complete rows in which every quoted field ends with its closing quote."""
        return _core.quotes_enclose_fields(self._window.view[:end], self._delimiter.decode())

    def _exact_end(self) -> int:
        window = self._window
        if window.finished:
            return len(window.view)
        return end_of_rows(window.view, delimiter=self._delimiter, newline=window.newline)

    def _endless_row(self) -> int:
        """Handle a row that does not end in view; an unclosed quote shows as a cell over the limit.

        If malformed rows are skipped, more bytes are read, up to the longest row, in case the quote is closed. Returns
        the end of the skipped line, or 0 while there is more to read.
        """
        window, reading, width = self._window, self._reading, len(self.names)
        if reading.skip and len(window.view) < reading.row_limit:
            return 0
        record = next(self._records(bytes(window.view), most_fields=width + 1), None)
        if record is None or (reading.skip and not (record.is_open and record.end < len(window.view))):
            return 0
        if len(record.fields) > width:
            where = place_of(self._file, line=record.line)
            what = f"the row has more fields than the header, which has {width}"
            reading.report(BadRow(what, where=where, remedy=SKIP))
            return record.end
        for name, field in zip(self.names, record.fields, strict=False):
            if len(field) > reading.cell_limit(name):
                problem = BadRow(
                    f"a cell over the limit of {reading.cell_limit(name)} bytes",
                    where=place_of(self._file, line=record.line, column=name),
                    found=field[:200].decode("utf-8", errors="replace"),
                    remedy="Look for an opening quote that is never closed",
                )
                reading.report(problem)
                return record.end
        return 0

    def _fast(self, end: int, *, has_quotes: bool) -> pa.Table | None:
        """The table parsed by Arrow; None if Arrow rejects it."""
        block = self._window.view[:end]
        newline = self._window.newline
        if bytes(block[:3]) == UTF8_MARK or (has_quotes and bytes(block[-1:]) != newline):
            block = memoryview(newline + bytes(block) + newline)
        try:
            table = self._parse(block)
        except pa.ArrowInvalid:
            return None
        if table.num_rows == 0:
            return table
        return None if _has_long_cell(table, self._reading) else table

    def _careful(self, end: int) -> pa.Table | None:
        """The table parsed row by row: the first malformed row is an error, or malformed rows are skipped."""
        window, reading = self._window, self._reading
        text = bytes(window.view[:end])
        kinds = [reading.kind_of(name) for name in self.names]
        limits = [reading.cell_limit(name) for name in self.names]
        checker = Checker(
            self.names,
            kinds,
            limits,
            reading.na,
            self._file,
            weight=reading.weight,
            numerals=self._numerals,
            declared=reading.number,
        )
        kept = []
        for record in self._records(text):
            problem = checker.problem(record)
            if problem is not None:
                reading.report(problem)
            else:
                kept.append(text[record.start : record.end])
        if not kept:
            return None
        try:
            return self._parse(memoryview(b"".join(kept)))
        except pa.ArrowInvalid as error:
            where = place_of(self._file, line=window.line)
            raise BadData("the rows from here on cannot be read", where=where, found=str(error)) from None

    def _parse(self, block: memoryview) -> pa.Table:
        try:
            table = self._read(block)
            if self._decide(table):
                table = self._read(block)
        except pa.ArrowInvalid:
            if not self._finds_spelled(block):
                raise
            return self._parse(block)
        return table

    def _finds_spelled(self, block: memoryview) -> bool:
        """Whether numeric columns that Arrow cannot parse are numbers in the format of this file."""
        texts = [name for name in self.names if self._reading.kind_of(name) == NUMBER]
        texts = [name for name in texts if name not in self._reading.spelled]
        if not texts or (self._numerals.thousands is None and not self._reading.number.intersection(texts)):
            return False
        try:
            table = self._table(block, dict.fromkeys(texts, pa.string()), only=texts)
        except pa.ArrowInvalid:
            return False
        return find_spelled(table, self._numerals, self._reading, self._file)

    def _read(self, block: memoryview) -> pa.Table:
        reading = self._reading
        types = {name: ARROW_TYPES[reading.kind_of(name)] for name in self.names}
        types |= dict.fromkeys(reading.spelled.intersection(types), pa.string())
        if not bytes(block[:2]).strip(b"\r\n") and not bytes(block).strip(b"\r\n"):
            return pa.schema(list(types.items())).empty_table()
        table = self._table(block, types)
        return spelled_numbers(table, self._numerals, reading) if reading.spelled else table

    def _table(self, block: memoryview, types: dict[str, pa.DataType], only: list[str] | None = None) -> pa.Table:
        reading = self._reading
        return arrow_csv.read_csv(
            pa.BufferReader(pa.py_buffer(block)),
            read_options=arrow_csv.ReadOptions(
                column_names=self.names, use_threads=reading.threads > 1, block_size=len(block) + 1
            ),
            parse_options=arrow_csv.ParseOptions(delimiter=self._delimiter.decode(), newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                column_types=types,
                null_values=["", *reading.na],
                strings_can_be_null=True,
                true_values=TRUE_WORDS,
                false_values=FALSE_WORDS,
                decimal_point=self._numerals.decimal,
                include_columns=only,
            ),
        )

    def _decide(self, table: pa.Table) -> bool:
        """Decide the types of undecided columns that have values now; returns whether any was decided."""
        settled = False
        for name in self.names:
            if self._reading.kind_of(name) is None:
                kind = _kind_of_texts(table.column(name), self._numerals, refuse_mixed=self._reading.refuse_mixed)
                if kind is not None:
                    self._reading.kinds[name] = kind
                    settled = True
        return settled

    def _columns(self, table: pa.Table) -> tuple[Column, ...]:
        def column(name: str) -> Column:
            if self._reading.kind_of(name) in (None, UNREAD):
                return pa.nulls(table.num_rows)
            pieces = table.column(name)
            return pieces.chunk(0) if pieces.num_chunks == 1 else pieces

        return tuple(column(name) for name in self.names)


def _delimiter_of(header: Record) -> bytes:
    """The delimiter of a header that was split at commas."""
    if len(header.fields) == 1:
        for delimiter in (b"\t", b";"):
            if delimiter in header.fields[0]:
                return delimiter
    return b","


def _kind_of_texts(texts: pa.ChunkedArray, numerals: Numerals, *, refuse_mixed: bool) -> str | None:
    """The type of a column by its first texts; None if there are none yet."""
    if len(texts) <= FEW:
        return _kind_of_few(texts, numerals, refuse_mixed=refuse_mixed)
    values = texts.drop_null()
    if len(values) == 0:
        return None
    if pc.all(pc.is_in(values, value_set=FLAG_WORDS)).as_py():
        return FLAG
    if not pc.any(pc.match_substring_regex(values[:10], numerals.plain)).as_py():  # this decides most text columns
        return TEXT
    numbers = pc.match_substring_regex(values, numerals.plain)
    others = len(values) - pc.sum(numbers).as_py()
    if others and refuse_mixed and is_broken_number(others, len(values), len(values.filter(numbers).unique())):
        return NUMBER
    return TEXT if others else NUMBER


def _kind_of_few(texts: pa.ChunkedArray, numerals: Numerals, *, refuse_mixed: bool) -> str | None:
    """The same without Arrow's compute functions, whose import dominates the time for a small table."""
    values = [value for value in texts.to_pylist() if value is not None]
    if not values:
        return None
    if all(value in FEW_FLAG_WORDS for value in values):
        return FLAG
    if not any(map(numerals.is_number, values[:10])):
        return TEXT
    numbers = [value for value in values if numerals.is_number(value)]
    others = len(values) - len(numbers)
    if others and refuse_mixed and is_broken_number(others, len(values), len(set(numbers))):
        return NUMBER
    return TEXT if others else NUMBER


def _has_long_cell(table: pa.Table, reading: Reading) -> bool:
    """Whether a cell exceeds the length limit; the buffer sizes are enough to decide nearly all blocks."""
    for name, column in zip(table.column_names, table.columns, strict=True):
        limit = reading.cell_limit(name)
        for chunk in column.chunks:
            values = chunk.dictionary if pa.types.is_dictionary(chunk.type) else chunk
            if not pa.types.is_string(values.type) or len(values) == 0:
                continue
            if values.nbytes > limit and pc.max(pc.binary_length(values)).as_py() > limit:
                return True
    return False
