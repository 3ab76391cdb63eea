"""The distinct values of a book's columns as a table of the model file, in addition to their moments.

    values.arrow    column, class, value, count, bits

`bits` is the number of significant binary digits kept of a column's values: 53 if they are exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import numpy as np
import pyarrow as pa

from bayesbox._core import ExactArray
from bayesbox.file import arrow
from bayesbox.file.arrow import DOUBLE, TEXT, WHOLE
from bayesbox.schema.arrays import numbers_array, numpy_values
from bayesbox.tally.base import added
from bayesbox.tally.book import Book
from bayesbox.tally.codec.columns import (
    Exact,
    Index,
    RowGatherer,
    TableRows,
    exact_column,
    require_increasing,
)
from bayesbox.tally.moments import Moments
from bayesbox.tally.room import require_room_for_values
from bayesbox.tally.values import ALL_BITS, DISTINCT_LIMIT, Doubles, Values, cut

V = TypeVar("V", bound=Values)

_COLUMNS: dict[str, tuple[pa.DataType, ...]] = {
    "column": (TEXT,),
    "class": (TEXT,),
    "value": (DOUBLE,),
    "count": (WHOLE, TEXT),
    "bits": (WHOLE,),
}


def write(form: type[V], tallies: Mapping[str, V]) -> dict[str, bytes]:
    """The table of these tallies, which have the same classes, sorted by text."""
    rows, values, cells, bits = RowGatherer(), [], [], []
    for name, tally in tallies.items():
        kept = np.flatnonzero(tally.cells.signs())
        width = max(len(tally.values), 1)
        rows.add(name, kept // width)
        values.append(tally.values[kept % width])
        cells.append(tally.cells.take(kept))
        bits.append(np.full(len(kept), tally.bits, dtype=np.int64))
    numbers = {
        "value": numbers_array(np.concatenate(values)),
        "count": exact_column(cells),
        "bits": numbers_array(np.concatenate(bits)),
    }
    classes = next(iter(tallies.values())).classes
    return {form.members[0]: arrow.write(rows.columns(classes) | numbers)}


def read(form: type[V], tables: Mapping[str, bytes], book: Book) -> dict[str, V]:
    """The tallies in such a table; the book has the moments of the same columns."""
    table = arrow.read(tables[form.members[0]], _COLUMNS)
    rows = TableRows.of(table, book.classes)
    values, bits = numpy_values(table["value"]), numpy_values(table["bits"])
    counts = Exact(table["count"])
    if not np.isfinite(values).all() or np.signbit(values[values == 0]).any():
        raise ValueError("a value is not a number")
    result: dict[str, V] = {}
    for name, start, stop in rows.columns():
        moments = book.columns.get(name)
        if type(moments) is not Moments:
            raise ValueError(f"column `{name}` has values without moments")
        distinct, cells = _cells(name, moments, rows.label[start:stop], values[start:stop], counts[start:stop])
        tally = form(moments.classes, moments.sums, distinct, cells, _bits(name, distinct, bits[start:stop]))
        if tally.is_exact and not tally.agrees_with_its_moments():
            raise ValueError(f"column `{name}`: its moments do not match its values")
        result[name] = tally
    return result


def _cells(
    name: str, moments: Moments, label: Index, values: Doubles, counts: ExactArray
) -> tuple[Doubles, ExactArray]:
    """The distinct values of one column and their counts by class, which must match its moments."""
    distinct, place = np.unique(values, return_inverse=True)
    require_increasing(label, place)
    size, width = len(moments.classes), len(distinct)
    require_room_for_values(size, width)
    if width > DISTINCT_LIMIT:
        raise ValueError(f"column `{name}` has {width} values, more than {DISTINCT_LIMIT}")
    if (counts.signs() <= 0).any():
        raise ValueError(f"column `{name}`: a count is not positive")
    cells = ExactArray(size * width)
    cells.add(counts, label * width + place)
    rows = cells.sum_groups(np.repeat(np.arange(size), width), size)
    if added(rows, moments.sums.n, sign=-1).signs().any():
        raise ValueError(f"column `{name}`: the number of its values does not match its moments")
    return distinct, cells


def _bits(name: str, values: Doubles, bits: Index) -> int:
    """The number of binary digits kept of the values of one column."""
    kept = int(bits[0])
    if not 1 <= kept <= ALL_BITS or (bits != kept).any():
        raise ValueError(f"column `{name}`: its values must have 1 to {ALL_BITS} binary digits, the same for all")
    if (cut(values, kept) != values).any():
        raise ValueError(f"column `{name}`: a value has more binary digits than were kept")
    return kept
