"""The displayed parts of a result as data: tables, lines of text, drawings; `text` and `html` render them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import SupportsFloat

MOST_ROWS = 50  # shown of a table
BAR_WIDTH = 20  # characters of the longest bar in text


@dataclass(frozen=True)
class Bar:
    """A cell drawn as a bar: `share` of the longest, from -1 to 1. A negative bar has another sign and color."""

    share: float

    def __str__(self) -> str:
        length = round(BAR_WIDTH * min(abs(self.share), 1.0)) if not math.isnan(self.share) else 0
        return ("#" if self.share >= 0 else "-") * length


Value = object
"""A cell: text, a number, a Bar, or None if empty."""


@dataclass(frozen=True)
class TableBlock:
    """A table: names of columns, and rows of cells.

    Numbers are right-aligned and shown with four digits; pass text for another form, and in `right` the positions of
    columns whose texts are numbers. With more than `most` rows the first are shown, and the number of the others. A
    table that HTML shows as a drawing is not `in_html`.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Value]]
    caption: str = ""
    right: Sequence[int] = ()
    most: int = MOST_ROWS
    in_html: bool = True

    def shown(self) -> list[list[Value]]:
        """The displayed rows."""
        return [list(row) for row in self.rows[: self.most]]

    @property
    def more(self) -> str:
        """The number of hidden rows in words; empty if all are shown."""
        hidden = len(self.rows) - self.most
        return f"... {hidden:,} more rows" if hidden > 1 else "... 1 more row" if hidden == 1 else ""

    def at_right(self) -> set[int]:
        """The positions of columns of numbers."""
        rows = self.shown()
        numbers = {
            place
            for place in range(len(self.columns))
            if any(_is_number(row[place]) for row in rows)
            and all(_is_number(row[place]) or row[place] in (None, "") for row in rows)
        }
        return numbers | set(self.right)


def table_of(columns: Mapping[str, Sequence[Value]], caption: str = "") -> TableBlock:
    """Columns by name as a table."""
    return TableBlock(list(columns), list(zip(*columns.values(), strict=True)), caption=caption)


@dataclass(frozen=True)
class TextBlock:
    """Lines of text; `fixed` if they are aligned with spaces, such as a text chart."""

    text: str
    fixed: bool = False


@dataclass(frozen=True)
class PictureBlock:
    """A drawing: SVG in HTML, nothing in text."""

    svg: str
    caption: str = ""


Block = TableBlock | TextBlock | PictureBlock


def cell_text(value: Value) -> str:
    """A cell as text: numbers with four digits, integers in full, empty for None and NaN.

    >>> [cell_text(value) for value in ("age", 1234, 0.123456, 12345.6, 1e-9, None, float("nan"), True)]
    ['age', '1,234', '0.1235', '12,346', '1e-09', '', '', 'true']
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | Bar):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, SupportsFloat):
        return number_text(float(value))
    return str(value)


def number_text(value: float) -> str:
    """A number with about four digits; a probability keeps four decimals, so that columns align.

    >>> number_text(0.5), number_text(0.00002), number_text(1234.5), number_text(25)
    ('0.5000', '2e-05', '1,234.5', '25')
    """
    if math.isnan(value):
        return ""
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    size = abs(value)
    if value == int(value) and 1 < size < 1e15:
        return f"{int(value):,}"
    if size >= 1e7 or 0 < size < 5e-5:
        return f"{value:.4g}"
    if size >= 1000:
        return f"{value:,.1f}" if size < 1e4 else f"{value:,.0f}"
    return f"{value:.4f}" if size < 10 else f"{value:.2f}"


def count_text(value: float) -> str:
    """A count with thousands separators, and decimals only if it is not an integer, as sums of weights may be.

    >>> count_text(1_000_000.0), count_text(2.5), count_text(1234567.25)
    ('1,000,000', '2.5', '1,234,567.25')
    """
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.2f}"


def _is_number(value: Value) -> bool:
    return isinstance(value, SupportsFloat) and not isinstance(value, bool | str)
