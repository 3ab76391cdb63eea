"""Joint counts of several columns as a table, for the forms based on such counts.

    pairs.arrow, dependent.arrow   columns, class, levels, count

`columns` and `levels` are JSON lists: of one or two columns; or of a column's parents and the column itself, where null
means missing. Only non-zero counts have a row, and rows are in the order of the tally, so equal tallies give equal
tables.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from bayesbox._core import ExactArray
from bayesbox.file import arrow
from bayesbox.file.arrow import TEXT, WHOLE
from bayesbox.schema.arrays import text_array
from bayesbox.tally.base import Removable
from bayesbox.tally.book import Book
from bayesbox.tally.codec.columns import Exact, exact_column

_COLUMNS = {"columns": (TEXT,), "class": (TEXT,), "levels": (TEXT,), "count": (WHOLE, TEXT)}
_JSON = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))

Combination = tuple[tuple[str, ...], str, tuple[str | None, ...]]
"""Columns, class, levels."""


def write_combinations(rows: list[Combination], cells: ExactArray) -> bytes:
    """The table of these combinations and their counts."""
    return arrow.write(
        {
            "columns": text_array([_JSON.encode(columns) for columns, _, _ in rows]),
            "class": text_array([label for _, label, _ in rows]),
            "levels": text_array([_JSON.encode(levels) for _, _, levels in rows]),
            "count": exact_column([cells]),
        }
    )


def read_combinations(data: bytes, book: Book) -> tuple[list[Combination], ExactArray]:
    """The combinations of a table, and their counts."""
    table = arrow.read(data, _COLUMNS)
    columns = [_texts(text, missing=False) for text in table["columns"].to_pylist()]
    levels = [_texts(text, missing=True) for text in table["levels"].to_pylist()]
    labels: list[str] = table["class"].to_pylist()
    if not set(labels) <= set(book.classes):
        raise ValueError("a class has no rows")
    if any(not 0 < len(each) == len(level) for each, level in zip(columns, levels, strict=True)):
        raise ValueError("a row does not have one level per column")
    cells = Exact(table["count"])[0 : len(labels)]
    if np.any(cells.signs() <= 0):
        raise ValueError("a count is not positive")
    return list(zip(columns, labels, levels, strict=True)), cells


def _texts(written: str, *, missing: bool) -> tuple[Any, ...]:
    try:
        found = json.loads(written)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError("a list of columns or levels is not JSON") from error
    allowed = (str, type(None)) if missing else (str,)
    if type(found) is not list or not all(type(each) in allowed for each in found):
        raise ValueError("a list of columns or levels has an item that is not a text")
    return tuple(found)


def require_possible(tally: Removable, again: bytes, data: bytes, book: Book) -> None:
    """Raise an error if a tally would not be written as it was read, or is impossible."""
    if again != data:
        raise ValueError("its rows are out of order, or one is repeated")
    if not (tally.is_possible() and tally.fits(book.class_counts)):
        raise ValueError("no rows have these counts")
