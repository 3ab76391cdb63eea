"""The text format of a table: encoding, delimiter, decimal mark, and lines before the header."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from bayesbox.described import parameter
from bayesbox.errors import BadOption

DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}
DECIMALS = (".", ",")
THOUSANDS = {",": ",", ".": ".", " ": " \u00a0\u202f", "'": "'\u2019", "_": "_"}
"""The thousands separators, each with its typographic variants."""


@dataclass(frozen=True)
class TextDialect:
    """The text format of a file, where it differs from the default.

    `encoding` is the name of a codec; a byte order mark takes precedence. `decimal` is the decimal mark, `thousands`
    the thousands separator, `delimiter` the field separator; lines that begin with `comment` are skipped. The header
    follows the first `skip_rows` lines, which are skipped. `sheet` is the sheet of a workbook.

    >>> TextDialect(decimal=",", delimiter="tab").delimiter
    '\\t'
    >>> TextDialect(decimal=",", thousands=",")
    Traceback (most recent call last):
    ...
    bayesbox.errors.BadOption: the decimal separator and the thousands separator must differ, got ','
    """

    encoding: str | None = None
    decimal: str = "."
    thousands: str | None = None
    delimiter: str | None = None
    skip_rows: int = 0
    comment: str | None = None
    sheet: str | None = None

    def __post_init__(self) -> None:
        if self.encoding is not None:
            object.__setattr__(self, "encoding", _codec(self.encoding))
        if self.decimal not in DECIMALS:
            raise BadOption("decimal must be . or ,", found=self.decimal)
        if self.thousands is not None:
            same = next((mark for mark, alike in THOUSANDS.items() if self.thousands in alike and self.thousands), None)
            if same is None:
                raise BadOption("thousands must be one of , . ' _ or a space", found=self.thousands)
            object.__setattr__(self, "thousands", same)
        if self.thousands == self.decimal:
            raise BadOption("the decimal separator and the thousands separator must differ", found=self.decimal)
        if self.delimiter is not None:
            object.__setattr__(self, "delimiter", _delimiter(self.delimiter))
        if not isinstance(self.skip_rows, int) or isinstance(self.skip_rows, bool) or self.skip_rows < 0:
            raise BadOption("skip_rows must be a non-negative integer", found=self.skip_rows)
        if self.comment is not None and (not self.comment or any(mark in self.comment for mark in '\r\n"')):
            raise BadOption(
                "comment must be the character that comment lines start with, such as #", found=self.comment
            )

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> TextDialect:
        """The dialect among other options, where None means the default."""
        return cls(**{name: given[name] for name in DIALECT if given.get(name) is not None})

    @property
    def given(self) -> tuple[str, ...]:
        """The names of the options that differ from the default."""
        return tuple(field.name for field in fields(self) if getattr(self, field.name) != field.default)

    def require_for(self, format: str, file: str) -> None:
        """Raise an error for options that do not apply to a format."""
        strange = [name for name in self.given if format not in APPLIES[name]]
        if strange:
            kinds = " and ".join(dict.fromkeys(NAMES[each] for each in APPLIES[strange[0]]))
            raise BadOption(
                f"`{strange[0]}` applies to {kinds}, but this is {NAMES[format]}",
                where=file,
                found=getattr(self, strange[0]),
                remedy="Omit " + parameter(strange[0], getattr(self, strange[0])),
            )


DIALECT = tuple(field.name for field in fields(TextDialect))
NAMES = {"csv": "CSV", "tsv": "TSV", "jsonl": "JSON lines", "parquet": "Parquet", "arrow": "Arrow", "excel": "Excel"}
_DELIMITED = ("csv", "tsv")
APPLIES = {
    "encoding": (*_DELIMITED, "jsonl"),
    "decimal": (*_DELIMITED, "excel"),
    "thousands": (*_DELIMITED, "excel"),
    "delimiter": _DELIMITED,
    "skip_rows": (*_DELIMITED, "excel"),
    "comment": _DELIMITED,
    "sheet": ("excel",),
}
"""The formats to which each option applies."""

AS_WRITTEN = TextDialect()


def _codec(name: str) -> str:
    try:
        codec = codecs.lookup(name)
    except (LookupError, TypeError, ValueError):
        codec = None
    if codec is None or not codec._is_text_encoding or codec.name in ("idna", "punycode", "unicode_escape"):
        raise BadOption("encoding must be the name of a text encoding", found=name, remedy="Try cp1252, utf-16")
    return codec.name


def _delimiter(text: str) -> str:
    mark = DELIMITERS.get(text, text)
    if len(mark) != 1 or not mark.isascii() or mark in '\r\n"\0' or mark.isalnum():
        raise BadOption("delimiter must be one character, such as ; or tab", found=text)
    return mark
