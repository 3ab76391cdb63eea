"""Formatted numbers: 1.234,56 and 1,234.56, $1,000 and 12%."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from bayesbox.described import Remedy, declaring, parameter
from bayesbox.schema.compute import pc
from bayesbox.source.files.dialect import THOUSANDS, TextDialect

MONEY = "$\u20ac\u00a3\u00a5\u20b9\u20a9\u20bd\u20ba\u20aa\u0e3f"  # dollar, euro, pound, yen, rupee ...
BLANK = "[ \t\u00a0\u202f]*"
WORDS = "(?i:nan|inf|infinity)"
EXPONENT = "(?:[eE][+-]?[0-9]+)?"
SAMPLE = 100  # texts that are examined


@dataclass(frozen=True)
class Numerals:
    """A number format: the decimal mark and the thousands separator.

    `plain` matches such numbers; `marked` also allows a currency sign, which is ignored, or a percent sign: 12% is
    parsed exactly as 0.12.

    >>> import pyarrow as pa
    >>> Numerals(",", ".").doubles(pa.array(["1.234,56", "12 %", None, "-3 €"])).to_pylist()
    [1234.56, 0.12, None, -3.0]
    >>> Numerals(".", ",").is_number("1,000"), Numerals().is_number("1,000"), Numerals(".", ",").is_number("1,00")
    (True, False, False)
    """

    decimal: str = "."
    thousands: str | None = None

    @classmethod
    def of(cls, dialect: TextDialect) -> Numerals:
        return cls(dialect.decimal, dialect.thousands)

    @cached_property
    def _digits(self) -> str:
        mark = re.escape(self.decimal)
        whole = "[0-9]+"
        if self.thousands is not None:
            group = f"[{re.escape(THOUSANDS[self.thousands])}]"
            whole = f"(?:[0-9]+|[0-9]{{1,3}}(?:{group}[0-9]{{2,3}})*{group}[0-9]{{3}})"
        return f"(?:{whole}(?:{mark}[0-9]*)?|{mark}[0-9]+)"

    @cached_property
    def plain(self) -> str:
        """The pattern of a number."""
        return f"^[ \t]*[+-]?(?:{self._digits}{EXPONENT}|{WORDS})[ \t]*$"

    @cached_property
    def marked(self) -> str:
        """The pattern of a number that may have a currency or percent sign."""
        money = f"[{re.escape(MONEY)}]"
        sign = f"(?:[+-]?{BLANK}{money}{BLANK})?[+-]?{BLANK}"
        amount = f"{sign}{self._digits}(?:{BLANK}[{re.escape(MONEY)}%])?"
        return f"^{BLANK}(?:{amount}|[+-]?{self._digits}{EXPONENT}|[+-]?{WORDS}){BLANK}$"

    @cached_property
    def _is_plain(self) -> re.Pattern[str]:
        return re.compile(self.plain)

    @cached_property
    def _is_marked(self) -> re.Pattern[str]:
        return re.compile(self.marked)

    def is_number(self, text: str, *, marked: bool = False) -> bool:
        """Whether a text is a number in this format; with `marked`, optionally with a currency or percent sign."""
        return (self._is_marked if marked else self._is_plain).fullmatch(text) is not None

    def doubles(self, texts: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
        """Texts as the nearest doubles; Arrow's error if one does not match."""
        if pa.types.is_dictionary(texts.type):
            texts = texts.cast(pa.string())
        bare = pc.replace_substring_regex(texts, f"[ \t\u00a0\u202f{re.escape(MONEY)}+]", "")
        if self.thousands is not None:
            bare = pc.replace_substring_regex(bare, f"[{re.escape(THOUSANDS[self.thousands])}]", "")
        if self.decimal != ".":
            bare = pc.replace_substring(bare, self.decimal, ".")
        return pc.replace_substring(bare, "%", "e-2").cast(pa.float64())


@dataclass(frozen=True)
class Spelling:
    """The number format of a text column, with an example."""

    numerals: Numerals
    money: bool
    percent: bool
    ambiguous: bool  # whether the comma may be the decimal mark
    example: str

    @property
    def is_marked(self) -> bool:
        """Whether the column is numeric only if declared so."""
        return self.money or self.percent

    def remedy(self, column: str) -> Remedy:
        """The options that read such a column as numbers."""
        given = [parameter("decimal", self.numerals.decimal)] if self.numerals.decimal != "." else []
        given += [parameter("thousands", self.numerals.thousands)] if self.numerals.thousands else []
        given += [declaring(column, "real")] if self.is_marked else []
        return Remedy(" and ".join(each.python for each in given), " ".join(each.command for each in given))


CANDIDATES = tuple(
    Numerals(decimal, thousands)
    for decimal, thousands in (
        (".", None),
        (".", ","),
        (",", None),
        (",", "."),
        (".", "'"),
        (",", "'"),
        (".", " "),
        (",", " "),
        (".", "_"),
    )
)


def spelling_of(texts: Sequence[str]) -> Spelling | None:
    """The format of numbers that are not parsed by default; None if they are not all numbers, or are plain numbers.

    Three digits after every comma are thousands, unless another number shows a decimal comma.

    >>> spelling_of(["$1,000", "$20"]).numerals, spelling_of(["1,5", "12"]).numerals.decimal, spelling_of(["1", "12"])
    (Numerals(decimal='.', thousands=','), ',', None)
    """
    sample = [text for text in texts[:SAMPLE] if text]
    fitting = [each for each in CANDIDATES if all(each.is_number(text, marked=True) for text in sample)]
    if not sample or not fitting or any(not any(char.isdigit() for char in text) for text in sample):
        return None
    money = any(char in MONEY for text in sample for char in text)
    percent = any("%" in text for text in sample)
    best = fitting[0]
    if best == Numerals() and not money and not percent:
        return None
    marks = "".join(char for char in (best.decimal, best.thousands) if char and char != ".") + MONEY + "%.'_ "
    example = max(sample, key=lambda text: sum(char in marks for char in text))
    ambiguous = best == Numerals(".", ",") and Numerals(",", None) in fitting
    return Spelling(best, money, percent, ambiguous, example)
