"""The careful reader of delimited text: slow, but exact about lines, fields and quotes, with precise errors.

The fast path uses Arrow; if Arrow rejects a block, this reader finds the line, the column and the value.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bayesbox.errors import BadData, BadRow
from bayesbox.schema.flags import FALSE_WORDS, TRUE_WORDS
from bayesbox.source.files.encodings import not_encoded
from bayesbox.source.files.numerals import Numerals
from bayesbox.source.files.reading import FLAG, NUMBER, SKIP, UNREAD, contradiction, place

QUOTE = ord('"')
OPEN = "a quote is opened here and never closed"
STRAY = "text follows the closing quote of a field"
DOUBLE = "Enclose the whole field in quotes, and double the quotes inside it"
PLAIN = Numerals()
NUMBER_PATTERN = PLAIN.plain


class Fault(NamedTuple):
    """An invalid quote: what is wrong, the line of the field, and the text from there on."""

    what: str
    line: int
    shown: bytes


class Record(NamedTuple):
    """One row of the text: its start and end, its line, its unquoted fields.

    A row with a fault ends with the line on which the faulty field begins, and that field is its last.
    """

    start: int
    end: int
    line: int
    fields: list[bytes]
    fault: Fault | None = None

    @property
    def is_open(self) -> bool:
        """Whether a quote is not closed in the text: it may be closed later."""
        return self.fault is not None and self.fault.what is OPEN


@functools.cache
def _field_pattern(delimiter: bytes) -> re.Pattern[bytes]:
    """The pattern of one field and its end. A quote counts only at the start of a field, and is matched later."""
    stop = re.escape(delimiter)
    quoted = rb'(?:"([^"]*+(?:""[^"]*+)*+)("?+))?+'
    return re.compile(quoted + rb"([^" + stop + rb"\r\n]*+)(" + stop + rb"|\r\n|\n|\r|\Z)")


def records(
    text: bytes,
    *,
    delimiter: bytes,
    newline: bytes = b"\n",
    first_line: int = 1,
    most_fields: int | None = None,
    comment: bytes | None = None,
) -> Iterator[Record]:
    r"""The rows of a text, without blank lines and those that begin with `comment`.

    It stops at a row of `most_fields`, which may be incomplete.

    >>> [record.fields for record in records(b'age,car\n25,"a ""big"" suv"\n', delimiter=b",")]
    [[b'age', b'car'], [b'25', b'a "big" suv']]
    """
    match = _field_pattern(delimiter).match
    position, line = 0, first_line
    while position < len(text):
        if comment is not None and text.startswith(comment, position):
            position = text.find(newline, position) + 1 or len(text)
            line += 1
            continue
        start, ending, fault = position, delimiter, None
        fields: list[bytes] = []
        while ending == delimiter and len(fields) != most_fields:
            found = match(text, position)
            assert found is not None  # the pattern matches anywhere
            quoted, quote, bare, ending = found.groups()
            fields.append(bare if quoted is None else quoted.replace(b'""', b'"') + bare)
            if quoted is not None and (bare or not quote):
                at = line + text.count(newline, start, position)
                fault = Fault(STRAY if quote else OPEN, at, text[position : position + 200])
                position = text.find(newline, position) + 1 or len(text)
                break
            position = found.end()
        if len(fields) > 1 or fields[0] or text[start : start + 1] == b'"':
            yield Record(start, position, line, fields, fault)
        if len(fields) == most_fields:
            return
        line += text.count(newline, start, position)


def end_of_rows(text: bytes | bytearray | memoryview, *, delimiter: bytes, newline: bytes = b"\n") -> int:
    r"""The end of the last complete row: after the last unquoted line end; 0 if there is none.

    >>> end_of_rows(b'25,suv\n30,"half a', delimiter=b",")
    7
    """
    array = np.frombuffer(text, dtype=np.uint8)
    quotes = np.flatnonzero(array == QUOTE)
    if _all_quotes_enclose(array, quotes, delimiter):
        lines = np.flatnonzero(array == newline[0])
        outside = lines[np.searchsorted(quotes, lines) % 2 == 0]
        return int(outside[-1]) + 1 if len(outside) else 0
    end = 0
    for record in records(bytes(text), delimiter=delimiter, newline=newline):
        if record.is_open:
            break
        if array[record.end - 1] == newline[0]:
            end = record.end
    return end


def _all_quotes_enclose(array: np.ndarray, quotes: np.ndarray, delimiter: bytes) -> bool:
    """Whether quotes strictly alternate between opening and closing, so that counting them tells quoted text."""
    allowed = np.zeros(256, dtype=bool)
    allowed[[delimiter[0], ord("\n"), ord("\r"), QUOTE]] = True
    opening, closing = quotes[::2], quotes[1::2]
    before = array[opening[opening > 0] - 1]
    after = array[closing[closing < len(array) - 1] + 1]
    return bool(allowed[before].all() and allowed[after].all())


class Checker:
    """The checks of a row: as many fields as the header, each short enough, UTF-8, and of its type."""

    def __init__(
        self,
        names: tuple[str, ...],
        kinds: list[str | None],
        limits: list[int],
        na: tuple[str, ...],
        file: str,
        *,
        weight: str | None = None,
        numerals: Numerals = PLAIN,
        declared: frozenset[str] = frozenset(),
    ) -> None:
        self._names = names
        self._kinds = kinds
        self._limits = limits  # bytes of a cell
        self._missing = {"", *na}
        self._file = file
        self._weight = weight
        self._numerals = numerals
        self._declared = declared  # the columns declared numeric, which may have currency or percent signs

    def problem(self, record: Record) -> BadData | None:
        """The error of a row; None if it is valid."""
        if record.fault is not None:
            return self._quote_problem(record, record.fault)
        if len(record.fields) != len(self._names):
            given, wanted = len(record.fields), len(self._names)
            fields = "1 field" if given == 1 else f"{given} fields"
            return self._broken(f"the row has {fields} where the header has {wanted}", record)
        for index, field in enumerate(record.fields):
            wrong = self._field_problem(index, field, record.line)
            if wrong is not None:
                return wrong
        return None

    def _quote_problem(self, record: Record, fault: Fault) -> BadRow:
        index = len(record.fields) - 1
        column = self._names[index] if index < len(self._names) else None
        where = place(self._file, line=fault.line, column=column)
        found = fault.shown.decode("utf-8", errors="backslashreplace")
        return BadRow(fault.what, where=where, found=found, remedy=f"{DOUBLE}. {SKIP}")

    def _broken(self, what: str, record: Record) -> BadRow:
        found = b",".join(record.fields)[:200].decode("utf-8", errors="backslashreplace")
        return BadRow(what, where=place(self._file, line=record.line), found=found, remedy=SKIP)

    def _field_problem(self, index: int, field: bytes, line: int) -> BadData | None:
        kind = self._kinds[index]
        if kind == UNREAD:
            return None
        where = place(self._file, line=line, column=self._names[index])
        if b"\0" in field:
            return BadRow("a NUL byte", where=where, found=field[:200], remedy=SKIP)
        if len(field) > self._limits[index]:
            what = f"a cell of {len(field)} bytes, over the limit of {self._limits[index]}"
            return BadRow(what, where=where, found=field[:200].decode("utf-8", errors="replace"), remedy=SKIP)
        try:
            text = field.decode("utf-8")
        except UnicodeDecodeError:
            return not_encoded("utf-8", field, where=where, found=field[:200])
        if text in self._missing or self._fits(kind, text, self._names[index]):
            return None
        return contradiction(str(kind), self._names[index], text, where, weight=self._weight)

    def _fits(self, kind: str | None, text: str, name: str) -> bool:
        if kind == NUMBER:
            return self._numerals.is_number(text, marked=name in self._declared)
        if kind == FLAG:
            return text in TRUE_WORDS or text in FALSE_WORDS
        return True
