"""The grids of a book's columns as a table of the model file, in addition to their moments.

    grid.arrow      column, class, cell, count

`cell` is 0 for zero. A number of magnitude 1.mmm... * 2**e is in the cell 8 * (e + 1023) + mmm + 1, with mmm its first
three bits, and a smaller one than 2**-1022 in the cell floor(magnitude / 2**-1025) + 1; both with its sign.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import numpy as np
import pyarrow as pa

from bayesbox import _core
from bayesbox._core import ExactArray
from bayesbox.file import arrow
from bayesbox.file.arrow import TEXT, WHOLE
from bayesbox.schema.arrays import numbers_array, numpy_values
from bayesbox.tally.book import Book
from bayesbox.tally.codec.columns import (
    Exact,
    RowGatherer,
    TableRows,
    exact_column,
    require_increasing,
)
from bayesbox.tally.grid import LAST_CELL, Grid
from bayesbox.tally.moments import Moments

G = TypeVar("G", bound=Grid)

_COLUMNS: dict[str, tuple[pa.DataType, ...]] = {
    "column": (TEXT,),
    "class": (TEXT,),
    "cell": (WHOLE,),
    "count": (WHOLE, TEXT),
}


def write(form: type[G], tallies: Mapping[str, G]) -> dict[str, bytes]:
    """The table of these tallies, which have the same classes, sorted by text."""
    rows = RowGatherer()
    cells: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
    counts: list[ExactArray] = []
    for name, tally in tallies.items():
        rows.add(name, tally.grid.label.astype(np.int64))
        cells.append(tally.grid.cell.astype(np.int64))
        counts.append(tally.grid.counts)
    classes = next(iter(tallies.values())).classes
    numbers = {"cell": numbers_array(np.concatenate(cells)), "count": exact_column(counts)}
    return {form.members[0]: arrow.write(rows.columns(classes) | numbers)}


def read(form: type[G], tables: Mapping[str, bytes], book: Book) -> dict[str, G]:
    """The tallies in such a table; the book has the moments of the same columns."""
    table = arrow.read(tables[form.members[0]], _COLUMNS)
    rows = TableRows.of(table, book.classes)
    cells, counts = numpy_values(table["cell"]), Exact(table["count"])
    if (np.abs(cells) > LAST_CELL).any():
        raise ValueError(f"a cell is not between -{LAST_CELL} and {LAST_CELL}")
    require_increasing(rows.column, rows.label, cells)
    label, cell = rows.label.astype(np.int32), cells.astype(np.int32)
    all_above = counts.integers is not None and bool((counts.integers > 0).all())
    result: dict[str, G] = {}
    slices = counts.slices(rows.starts)
    grids = _core.split_grid(label, cell, rows.starts, slices)
    for name, own, grid in zip(rows.names, slices, grids, strict=True):
        moments = book.columns.get(name)
        if type(moments) is not Moments:
            raise ValueError(f"column `{name}` has a grid without moments")
        if not all_above and (own.signs() <= 0).any():
            raise ValueError(f"column `{name}`: a count is not positive")
        result[name] = form(moments.classes, moments.sums, grid)
    wrong = _core.grids_agree([tally.sums for tally in result.values()], grids)
    if wrong >= 0:
        raise ValueError(f"column `{rows.names[wrong]}`: its grid and its moments have different numbers of values")
    return result
