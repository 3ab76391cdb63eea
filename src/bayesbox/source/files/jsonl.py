"""JSON lines: one object per line; an absent key or null is missing.

Arrow parses the blocks; a block that it rejects is read line by line, to report what is wrong or to read what Arrow
does not mix, such as numbers and texts in one category.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.json as arrow_json

from bayesbox.errors import BadData, BadRow
from bayesbox.schema.arrays import ArrowColumn, double_array, flag_array, text_array
from bayesbox.schema.columns import Column
from bayesbox.schema.compute import pc
from bayesbox.schema.levels import is_missing, level_text
from bayesbox.source.files.arrow import kind_of_type, without_tokens
from bayesbox.source.files.encodings import not_encoded
from bayesbox.source.files.nesting import MOST_DEPTH, deep_key, has_deep_list, is_deep
from bayesbox.source.files.reading import (
    FLAG,
    NUMBER,
    SKIP,
    TEXT,
    UNREAD,
    OpenedFile,
    Reading,
    check_names,
    contradiction,
    is_broken_number,
    place,
)
from bayesbox.source.files.window import Bytes, Window

EXACT = 2.0**53  # beyond this, a double may differ from the integer in the file
UTF8_MARK = b"\xef\xbb\xbf"
ARROW_TYPES = {NUMBER: pa.float64(), FLAG: pa.bool_(), TEXT: pa.string(), None: pa.null()}

Row = dict[str, Any]


class JsonRows(OpenedFile):
    """The rows of a JSON-lines file. Its columns are the keys of the first block of lines."""

    def __init__(self, stream: Bytes, reading: Reading) -> None:
        self._file = stream.name
        self._reading = reading
        self._window = Window(stream, row_limit=reading.row_limit)
        self._stored: dict[str, pa.DataType] = {}  # the JSON type of columns converted to text
        if bytes(self._window.view[:3]) == UTF8_MARK:
            self._window.advance(3)
        if bytes(self._window.view[:64]).lstrip()[:1] == b"[":
            remedy = "Write one object per line, for example: jq -c '.[]'"
            raise BadData("is a JSON array, not JSON lines", where=self._file, remedy=remedy)
        self.names: tuple[str, ...] = reading.names or ()
        self._learn()
        if not self.names:
            raise BadData("has no rows", where=self._file, remedy="One JSON object per line is needed")
        check_names(self.names, self._file)

    @property
    def untyped(self) -> bool:
        """Whether a column declared as text has numbers or flags, which are converted to text."""
        stored = [self._stored.get(name, pa.string()) for name in self._reading.text]
        return not all(pa.types.is_string(kind) for kind in stored)

    def _learn(self) -> None:
        """Find the names and types of the columns from the first block of lines."""
        end = self._end()
        table = self._parse(end, None)
        if table is None or any(self._is_nested(field) for field in table.schema):
            skipped = self._reading.skipped
            before = skipped.count, list(skipped.first)
            self._settle(self._careful_rows(end), refuse_mixed=self._reading.refuse_mixed)
            skipped.count, skipped.first = before  # the rows are read again
            return
        self.names = self.names or tuple(table.schema.names)
        for name, stored in zip(table.schema.names, table.schema.types, strict=True):
            kind = self._kind_of_column(table.column(name))
            if self._reading.kind_of(name) == UNREAD:
                self._stored[name] = stored
                continue
            self._stored[name] = pa.string() if kind in (TEXT, None) else stored
            if kind is not None and self._reading.kind_of(name) is None:
                self._reading.kinds[name] = kind

    def _is_nested(self, field: pa.Field) -> bool:
        return pa.types.is_nested(field.type) and self._reading.kind_of(field.name) != UNREAD

    def _kind_of_column(self, column: pa.ChunkedArray) -> str | None:
        """The type of a column by its Arrow type; dates are text."""
        if pa.types.is_string(column.type):
            present = [without_tokens(chunk, self._reading.na) for chunk in column.chunks]
            return TEXT if any(chunk.null_count < len(chunk) for chunk in present) else None
        return TEXT if pa.types.is_temporal(column.type) else kind_of_type(column.type)

    def _settle(self, rows: list[Row], *, refuse_mixed: bool = False) -> None:
        """Set the names, if there are none yet, and decide the types of undecided columns.

        With `refuse_mixed`, the rows are read again, and a few texts among many numbers are then an error.
        """
        self.names = self.names or tuple(dict.fromkeys(name for row in rows for name in row))
        for name in self.names:
            if self._reading.kind_of(name) is None:
                kind = kind_of_values([row.get(name) for row in rows], self._reading.na)
                if kind == TEXT and refuse_mixed and _is_broken_number([row.get(name) for row in rows]):
                    kind = NUMBER
                if kind is not None:
                    self._reading.kinds[name] = kind

    def _end(self) -> int:
        """The end of the complete lines in view."""
        while not (end := self._window.last_line_end()) and not self._window.finished:
            self._window.widen()
        return end

    def tables(self) -> Iterator[tuple[tuple[Column, ...], int]]:
        """The rows, one block of bytes at a time."""
        while self._window.fill():
            end = self._end()
            columns = self._fast(end)
            if columns is None:
                columns = self._careful(end)
            self._window.advance(end)
            if columns and len(columns[0]):
                yield columns, len(columns[0])

    def _fast(self, end: int) -> tuple[Column, ...] | None:
        types = [(name, self._type_of(name)) for name in self.names]
        table = self._parse(end, pa.schema(types))
        if table is None:
            return None
        columns = [self._column(name, table.column(name).combine_chunks()) for name in self.names]
        return None if any(column is None for column in columns) else tuple(columns)

    def _type_of(self, name: str) -> pa.DataType:
        kind = self._reading.kind_of(name)
        return self._stored.get(name, pa.string()) if kind in (TEXT, UNREAD) else ARROW_TYPES[kind]

    def _parse(self, end: int, schema: pa.Schema | None) -> pa.Table | None:
        """The table parsed by Arrow; None if Arrow rejects it, or if lines and objects do not match one to one."""
        block = bytes(self._window.view[:end])
        lines = block.count(self._window.newline) + (not block.endswith(self._window.newline))
        if not _is_one_object_a_line(block, self._window.newline, lines) or has_deep_list(block, self._window.newline):
            return None
        try:
            table = arrow_json.read_json(
                pa.BufferReader(block),
                read_options=arrow_json.ReadOptions(use_threads=self._reading.threads > 1, block_size=len(block) + 1),
                parse_options=arrow_json.ParseOptions(
                    explicit_schema=schema, unexpected_field_behavior="infer" if schema is None else self._unexpected
                ),
            )
            names = table.schema.names  # read here, since a name may not be UTF-8
        except (pa.ArrowException, UnicodeDecodeError):
            return None
        return table if names and table.num_rows == lines and b"\0" not in block else None

    @property
    def _unexpected(self) -> str:
        """How keys that are absent in the first lines are handled: an error if they may be needed."""
        return "error" if self._reading.only is None else "ignore"

    def _column(self, name: str, column: ArrowColumn) -> Column | None:
        """The converted column; None if reading line by line is more exact."""
        kind = self._reading.kind_of(name)
        if kind == UNREAD:
            return pa.nulls(len(column))
        if kind != TEXT:
            return column
        if pa.types.is_floating(column.type) and (pc.max(pc.abs(column)).as_py() or 0) >= EXACT:
            return None
        coded = without_tokens(column.dictionary_encode(), self._reading.na)
        if pa.types.is_string(column.type):
            longest = pc.max(pc.binary_length(coded.dictionary)).as_py() or 0
            return None if longest > self._reading.cell_limit(name) or not _is_unicode(coded.dictionary) else coded
        texts = [None if is_missing(value) else level_text(value) for value in coded.dictionary.to_pylist()]
        return pa.DictionaryArray.from_arrays(coded.indices, text_array(texts))

    def _careful(self, end: int) -> tuple[Column, ...]:
        rows = self._careful_rows(end)
        self._settle(rows)
        return tuple(
            json_column(self._reading.kind_of(name), [row.get(name) for row in rows], self._reading.na)
            for name in self.names
        )

    def _careful_rows(self, end: int) -> list[Row]:
        """The rows parsed line by line: the first malformed line is an error, or malformed lines are skipped."""
        window = self._window
        rows = []
        for line, text in enumerate(bytes(window.view[:end]).split(window.newline), start=window.line):
            if not text.strip():
                continue
            try:
                rows.append(self._row(text, line))
            except BadData as error:
                self._reading.report(error)
        return rows

    def _row(self, text: bytes, line: int) -> Row:
        where = place(self._file, line=line)
        shown = text[:200].decode("utf-8", errors="backslashreplace")
        if is_deep(text):
            where = place(self._file, line=line, column=deep_key(text))
            raise BadRow(f"values nested more than {MOST_DEPTH} levels deep", where=where, found=shown, remedy=SKIP)
        try:
            row = json.loads(text.decode("utf-8"), object_pairs_hook=lambda pairs: _object(pairs, where))
        except UnicodeDecodeError:
            raise not_encoded("utf-8", text, where=where, found=text[:200]) from None
        except json.JSONDecodeError as error:
            what = f"is not a JSON object: {error.msg} at character {error.colno}"
            raise BadRow(what, where=where, found=shown, remedy=SKIP) from None
        except (ValueError, RecursionError) as error:
            if isinstance(error, BadData):
                raise
            raise BadRow("is not a valid JSON object", where=where, found=shown, remedy=SKIP) from None
        if not isinstance(row, dict):
            raise BadRow("is not a JSON object: one object per line is needed", where=where, found=shown, remedy=SKIP)
        for name, value in row.items():
            self._check(name, value, line)
        return row

    def _check(self, name: str, value: object, line: int) -> None:
        kind = self._reading.kind_of(name)
        if kind == UNREAD:
            return
        where = place(self._file, line=line, column=name)
        if self.names and name not in self.names:
            raise BadData(
                f"the key `{name}` appears for the first time after the first rows",
                where=place(self._file, line=line),
                remedy="Write it with null in the first row, so that the column is known from the start",
            )
        if isinstance(value, list | dict):
            remedy = "Give each part its own key, or ignore the column"
            raise BadData("has nested values", where=where, found=value, remedy=remedy)
        if isinstance(value, str) and len(value) > self._reading.cell_limit(name):
            what = f"a cell of {len(value)} characters, over the limit of {self._reading.cell_limit(name)}"
            raise BadRow(what, where=where, found=value, remedy=SKIP)
        if isinstance(value, str) and not _encodes(value):
            raise BadRow("text that is not valid Unicode", where=where, found=value, remedy=SKIP)
        if not (is_missing(value) or value in self._reading.na or value_fits(kind, value)):
            raise contradiction(str(kind), name, value, where, weight=self._reading.weight)


def _is_one_object_a_line(block: bytes, newline: bytes, lines: int) -> bool:
    """Whether every line begins with the only `{` and ends with the only `}` it has.

    Arrow's reader crashes on some other texts, so those are read line by line.
    """
    opened = block.startswith(b"{") and block.count(newline + b"{") == lines - 1
    closed = block.count(b"}" + newline) + block.endswith(b"}") == lines
    return opened and closed and block.count(b"{") == lines == block.count(b"}")


def _object(pairs: list[tuple[str, object]], where: str) -> Row:
    row = dict(pairs)
    if len(row) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise BadRow(f"the key `{twice}` occurs twice in one object", where=where, remedy=SKIP)
    for name in row:
        if any("\ud800" <= char <= "\udfff" for char in name):
            raise BadRow("a key contains half a surrogate pair", where=where, found=name, remedy=SKIP)
    return row


def json_column(kind: str | None, values: list[Any], tokens: tuple[str, ...]) -> pa.Array:
    """Values as an Arrow column of their type; None and the tokens are missing."""
    if kind == UNREAD:
        return pa.nulls(len(values))
    present = [None if is_missing(value) or value in tokens else value for value in values]
    if kind == NUMBER:
        return double_array([None if value is None else _double(value) for value in present])
    if kind == TEXT:
        texts = [None if value is None else level_text(value) for value in present]
        return text_array(texts).dictionary_encode()
    return flag_array(present) if kind == FLAG else pa.nulls(len(present))


def value_fits(kind: str | None, value: object) -> bool:
    """Whether a value fits the type of its column."""
    if kind == NUMBER:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, bool) if kind == FLAG else True


def kind_of_values(values: list[object], tokens: tuple[str, ...]) -> str | None:
    """NUMBER, FLAG or TEXT; None if there is no value."""
    present = [value for value in values if value is not None and value not in tokens]
    if not present:
        return None
    return next((kind for kind in (FLAG, NUMBER) if all(value_fits(kind, value) for value in present)), TEXT)


def _is_broken_number(values: list[object]) -> bool:
    numbers = [value for value in values if value_fits(NUMBER, value)]
    present = sum(not is_missing(value) for value in values)
    return is_broken_number(present - len(numbers), present, len(set(numbers)))


def _double(value: int | float) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _encodes(value: str) -> bool:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _is_unicode(texts: pa.Array) -> bool:
    """Whether texts are valid Unicode, which Arrow's JSON reader does not check."""
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True
