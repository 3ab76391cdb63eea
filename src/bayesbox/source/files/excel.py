"""Excel workbooks (.xlsx): the header is the first non-empty row, and each row below it is a row of the table.

Numbers are doubles, dates are dates, empty and error cells are missing. As in JSON lines, the first rows determine the
type of each column.
"""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pyarrow as pa

from bayesbox.described import parameter
from bayesbox.errors import BadData, BadRow, SuspiciousData
from bayesbox.schema.arrays import integer_array, text_array
from bayesbox.schema.columns import Column
from bayesbox.schema.levels import level_text
from bayesbox.source.files.jsonl import json_column, kind_of_values, value_fits
from bayesbox.source.files.numerals import Numerals
from bayesbox.source.files.reading import (
    COLUMN_LIMIT,
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
from bayesbox.source.files.streams import ByteStream
from bayesbox.source.files.workbook import Row, Workbook

ROWS = 8192  # in one batch
DATE, DURATION = "a date", "a duration"
PYTHON = {DATE: datetime.date, DURATION: datetime.timedelta}


class ExcelRows(OpenedFile):
    """The rows of one sheet of a workbook."""

    def __init__(self, stream: ByteStream, reading: Reading) -> None:
        self._reading = reading
        self._numerals = Numerals.of(reading.dialect)
        sheet = reading.dialect.sheet
        self._book = Workbook(stream.spooled(), stream.name, sheet)
        self._file = f"{stream.name}, sheet {self._book.sheet}" if sheet or self._book.other_sheets else stream.name
        self._row = 0  # the number of the last row read, from 1
        self._rows = self._numbered(self._book.rows())
        self.names = self._header()
        check_names(self.names, self._file)
        if self._book.other_sheets and sheet is None and self._file not in reading.noted:
            reading.noted.add(self._file)
            what = f"{self._file} is read; {self._book.other_sheets} more are ignored"
            warnings.warn(
                SuspiciousData(what, reason="sheets", columns=(), remedy="Choose one: " + parameter("sheet", "NAME")),
                stacklevel=2,
            )

    @property
    def untyped(self) -> bool:
        """True: numbers in a column declared as text are converted to text."""
        return True

    def _numbered(self, rows: Iterator[Row]) -> Iterator[tuple[int, Row]]:
        skip = self._reading.dialect.skip_rows
        for number, row in enumerate(rows, start=1):
            if number > skip and any(value is not None for value in row):
                yield number, row

    def _header(self) -> tuple[str, ...]:
        first = next(self._rows, None)
        if first is None:
            raise BadData("the sheet is empty", where=self._file, remedy="A header row is needed")
        cells = list(first[1])
        while cells[-1] is None:
            cells.pop()
        if len(cells) > COLUMN_LIMIT:
            raise BadData(f"has more than {COLUMN_LIMIT} columns", where=self._file)
        return tuple("" if value is None else level_text(value) for value in cells)

    def tables(self) -> Iterator[tuple[tuple[Column, ...], int]]:
        """The rows in batches."""
        while block := list(islice(self._rows, ROWS)):
            rows = [cells for number, row in block if (cells := self._checked_width(number, row)) is not None]
            self._settle(rows)
            kept = [cells for cells in rows if self._is_good(cells)]
            if kept:
                width = range(1, len(self.names) + 1)
                yield tuple(self._column(self.names[i - 1], [row[i] for row in kept]) for i in width), len(kept)

    def _checked_width(self, number: int, row: Row) -> Row | None:
        """The number of a row and its cells, one per column."""
        width = len(self.names)
        if any(value is not None for value in row[width:]):
            where = place(self._file, row=number)
            what = f"the row has more cells than the header, which has {width}"
            found = next(value for value in row[width:] if value is not None)
            self._reading.report(BadRow(what, where=where, found=found, remedy=SKIP))
            return None
        return (number, *row[:width], *([None] * (width - len(row))))

    def _settle(self, rows: list[Row]) -> None:
        """Decide the types of undecided columns that have values now."""
        reading = self._reading
        for place_, name in enumerate(self.names, start=1):
            if reading.kind_of(name) is not None:
                continue
            values = [row[place_] for row in rows]
            present = [value for value in values if value is not None and value not in reading.na]
            kind = next((kind for kind, type_ in PYTHON.items() if _all_are(type_, present)), None)
            kind = kind or kind_of_values(values, reading.na)
            if kind == TEXT:
                numbers = [value for value in present if self._is_number(value)]
                texts = len(present) - len(numbers)
                if not texts or (reading.refuse_mixed and is_broken_number(texts, len(present), len(set(numbers)))):
                    kind = NUMBER
            if kind is not None:
                reading.kinds[name] = kind

    def _is_number(self, value: object, *, declared: bool = False) -> bool:
        """Whether a cell is a number; text may be one if it is declared so, or if its number format is given."""
        if not isinstance(value, str):
            return value_fits(NUMBER, value)
        given = declared or self._numerals != Numerals()
        return given and self._numerals.is_number(value, marked=declared)

    def _is_good(self, row: Row) -> bool:
        for name, value in zip(self.names, row[1:], strict=True):
            problem = self._problem(name, value, row[0])
            if problem is not None:
                self._reading.report(problem)
                return False
        return True

    def _problem(self, name: str, value: object, number: int) -> BadData | None:
        reading = self._reading
        kind = reading.kind_of(name)
        if value is None or kind == UNREAD or (isinstance(value, str) and value in reading.na):
            return None
        where = place(self._file, row=number, column=name)
        if isinstance(value, str) and len(value) > reading.cell_limit(name):
            what = f"a cell of {len(value)} characters, over the limit of {reading.cell_limit(name)}"
            return BadRow(what, where=where, found=value, remedy=SKIP)
        fits = isinstance(value, PYTHON[kind]) if kind in PYTHON else value_fits(kind, value)
        if kind == NUMBER:
            fits = self._is_number(value, declared=name in reading.number)
        return None if fits else contradiction(str(kind), name, value, where, weight=reading.weight)

    def _column(self, name: str, values: list[Any]) -> Column:
        kind, tokens = self._reading.kind_of(name), self._reading.na
        if kind in PYTHON:
            return _moments([None if isinstance(value, str) else value for value in values], kind)
        if kind == NUMBER and any(isinstance(value, str) for value in values):
            texts = [value if isinstance(value, str) and value not in tokens else None for value in values]
            read = self._numerals.doubles(text_array(texts)).to_pylist()
            values = [given if isinstance(value, str) else value for value, given in zip(values, read, strict=True)]
        return json_column(kind, values, tokens)


def _all_are(type_: type, values: list[Any]) -> bool:
    return bool(values) and all(isinstance(value, type_) for value in values)


EPOCH = datetime.datetime(1970, 1, 1)
MICROSECOND = datetime.timedelta(microseconds=1)


def _moments(values: list[Any], kind: str) -> pa.Array:
    """Timestamps or durations as an Arrow array, without `pa.array`, which imports pandas."""

    def ticks(value: Any) -> int:
        if kind == DURATION:
            return int(value // MICROSECOND)
        moment = value if isinstance(value, datetime.datetime) else datetime.datetime.combine(value, datetime.time())
        return int((moment - EPOCH) // MICROSECOND)

    counted = integer_array([None if value is None else ticks(value) for value in values])
    return counted.cast(pa.duration("us") if kind == DURATION else pa.timestamp("us"))
