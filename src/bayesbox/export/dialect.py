"""The SQL dialects of four databases, as far as a model needs them: names, texts, numbers, types."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bayesbox.errors import CannotExport, UnknownChoice

GROUPED = 50  # terms of one flat sum or comparison: databases limit the depth of expressions


@dataclass(frozen=True)
class Dialect:
    """The SQL dialect of a database. Fields with `{}` are patterns around an expression."""

    name: str
    text_type: str
    double_type: str
    quote: str  # around names
    backslash: bool  # whether a backslash in a text is an escape
    number: str  # around the decimal digits of a double
    infinity: str
    nan: str | None  # None if a column cannot have one
    is_real: str  # whether a column has doubles or decimals
    greatest: str
    fence: str = ""  # ends a step that must not be inlined into the next one, which uses its parts many times
    cased: bool = False  # whether quoted names that differ only in case are distinct
    traps: bool = False  # whether underflow of a product or an exponential is an error

    def identifier(self, name: str) -> str:
        """A name in quotes.

        >>> dialect_named("spark").identifier("age"), dialect_named("postgres").identifier('a"ge')
        ('`age`', '"a""ge"')
        """
        return f"{self.quote}{_whole(name).replace(self.quote, 2 * self.quote)}{self.quote}"

    def text(self, text: str) -> str:
        """A text in quotes.

        >>> dialect_named("spark").text("it's"), dialect_named("duckdb").text("it's")
        ("'it\\\\'s'", "'it''s'")
        """
        if self.backslash:
            escaped = _whole(text).replace("\\", "\\\\").replace("'", "\\'")
            return f"'{escaped}'"
        doubled = _whole(text).replace("'", "''")
        return f"'{doubled}'"

    def double(self, value: float) -> str:
        """A double as a literal that reads back exactly.

        >>> dialect_named("duckdb").double(-0.1), dialect_named("sqlite").double(-math.inf)
        ('-0.1e0', '-9e999')
        """
        value = float(value)
        if math.isinf(value):
            return self.infinity.format("-" if value < 0 else "")
        digits = repr(value)
        return self.number.format(digits if "e" in digits else f"{digits}e0")

    def as_double(self, expression: str) -> str:
        """A column as a double; NULL if it is NaN or, in a database where columns of numbers may have text, empty."""
        if self.nan is None:  # SQLite, which would read an empty text as 0
            return f"CAST(NULLIF({expression}, '') AS {self.double_type})"
        return f"NULLIF(CAST({expression} AS {self.double_type}), {self.nan})"

    def as_text(self, expression: str) -> str:
        return f"CAST({expression} AS {self.text_type})"

    def largest(self, expressions: Sequence[str]) -> str:
        """The largest of some expressions."""
        parts = list(expressions)
        while len(parts) > 1:
            groups = [parts[start : start + GROUPED] for start in range(0, len(parts), GROUPED)]
            parts = [f"{self.greatest}({', '.join(group)})" if len(group) > 1 else group[0] for group in groups]
        return parts[0]


def added_up(terms: Sequence[str]) -> str:
    """The sum of some terms, in parentheses if there are many: this limits the depth of the expression.

    >>> added_up(["a", "b", "c"])
    'a + b + c'
    """
    parts = list(terms)
    while len(parts) > GROUPED:
        parts = [f"({' + '.join(parts[start : start + GROUPED])})" for start in range(0, len(parts), GROUPED)]
    return " + ".join(parts)


def _whole(text: str) -> str:
    if "\0" in text:
        raise CannotExport("SQL cannot represent a text with a NUL character", found=text)
    return text


DIALECTS = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            name="duckdb",
            text_type="VARCHAR",
            double_type="DOUBLE",
            quote='"',
            backslash=False,
            number="{}",
            infinity="CAST('{}Infinity' AS DOUBLE)",
            nan="CAST('NaN' AS DOUBLE)",
            is_real="(typeof({0}) IN ('DOUBLE', 'FLOAT') OR typeof({0}) LIKE 'DECIMAL%')",
            greatest="GREATEST",
        ),
        Dialect(
            name="postgres",
            text_type="TEXT",
            double_type="DOUBLE PRECISION",
            quote='"',
            backslash=False,
            number="float8 '{}'",
            infinity="float8 '{}Infinity'",
            nan="float8 'NaN'",
            is_real="pg_typeof({0}) IN (regtype 'float8', regtype 'float4', regtype 'numeric')",
            greatest="GREATEST",
            fence="OFFSET 0",
            cased=True,
            traps=True,
        ),
        Dialect(
            name="sqlite",
            text_type="TEXT",
            double_type="REAL",
            quote='"',
            backslash=False,
            number="{}",
            infinity="{}9e999",
            nan=None,
            is_real="typeof({0}) = 'real'",
            greatest="MAX",
            fence="LIMIT -1 OFFSET 0",
        ),
        Dialect(
            name="spark",
            text_type="STRING",
            double_type="DOUBLE",
            quote="`",
            backslash=True,
            number="{}D",
            infinity="CAST('{}Infinity' AS DOUBLE)",
            nan="CAST('NaN' AS DOUBLE)",
            is_real="(typeof({0}) IN ('double', 'float') OR typeof({0}) LIKE 'decimal%')",
            greatest="GREATEST",
        ),
    )
}


def dialect_named(name: str) -> Dialect:
    """The dialect of that name."""
    if name not in DIALECTS:
        raise UnknownChoice("dialect", name, DIALECTS)
    return DIALECTS[name]
