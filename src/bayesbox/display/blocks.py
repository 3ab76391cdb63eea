"""What is shown of a result: tables, lines of text, pictures, as data; `text` and `html` render it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import SupportsFloat

MOST_ROWS = 50  # of a table that are shown
BAR_WIDTH = 20  # characters of the longest bar in text


@dataclass(frozen=True)
class Bar:
    """A cell that is drawn as a bar: `share` of the longest, from -1 to 1. A bar below 0 has another sign and color."""

    share: float

    def __str__(self) -> str:
        length = round(BAR_WIDTH * min(abs(self.share), 1.0)) if not math.isnan(self.share) else 0
        return ("#" if self.share >= 0 else "-") * length


Value = object
"""A cell: text, a number, a Bar, or None for nothing."""


@dataclass(frozen=True)
class TableBlock:
    """A table: names of columns, and rows of cells.

    Numbers are aligned to the right and shown with four digits; give text where another form is wanted, and `right`
    for the places of columns whose texts are numbers. Of more than `most` rows the first are shown, and how many more
    there are. One that HTML shows as a picture is not `in_html`.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Value]]
    caption: str = ""
    right: Sequence[int] = ()
    most: int = MOST_ROWS
    in_html: bool = True

    def shown(self) -> list[list[Value]]:
        """The rows that are shown."""
        return [list(row) for row in self.rows[: self.most]]

    @property
    def more(self) -> str:
        """How many rows are not shown, in words; nothing if all are."""
        hidden = len(self.rows) - self.most
        return f"... {hidden:,} more rows" if hidden > 1 else "... 1 more row" if hidden == 1 else ""

    def at_right(self) -> set[int]:
        """The places of columns that hold numbers."""
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
    """Lines of text; `fixed` where they are aligned by blanks, such as a chart of characters."""

    text: str
    fixed: bool = False


@dataclass(frozen=True)
class PictureBlock:
    """A picture: in HTML the SVG, in text nothing."""

    svg: str
    caption: str = ""


Block = TableBlock | TextBlock | PictureBlock


def cell_text(value: Value) -> str:
    """A cell as text: numbers with four digits, whole numbers whole, nothing for None and NaN.

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
    """A number in four digits or so; a probability keeps its four decimals, so that columns line up.

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
    """A count with its thousands apart; a fraction only if there is one, as sums of weights have.

    >>> count_text(1_000_000.0), count_text(2.5), count_text(1234567.25)
    ('1,000,000', '2.5', '1,234,567.25')
    """
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.2f}"


def _is_number(value: Value) -> bool:
    return isinstance(value, SupportsFloat) and not isinstance(value, bool | str)
