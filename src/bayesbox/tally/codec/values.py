"""The distinct values of a book's columns as a table of the model file, beside the moments of the same columns.

    values.arrow    column, class, value, count, bits

`bits` are the significant binary digits that were kept of a column's values: 53 where they are exact.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from bayesbox._core import ExactArray
from bayesbox.file import arrow as arrow_file
from bayesbox.file.arrow import DOUBLE, TEXT, WHOLE
from bayesbox.file.faults import within
from bayesbox.schema.arrays import numbers_array, numpy_values
from bayesbox.tally.base import Tally, added
from bayesbox.tally.book import Book
from bayesbox.tally.codec.columns import (
    Classes,
    Exact,
    RowGatherer,
    TableRows,
    exact_column,
    require_cells,
    require_increasing,
)
from bayesbox.tally.moments import Moments
from bayesbox.tally.values import ALL_BITS, DISTINCT_LIMIT, Values, cut

MEMBER = "values.arrow"

_COLUMNS: dict[str, tuple[pa.DataType, ...]] = {
    "column": (TEXT,),
    "class": (TEXT,),
    "value": (DOUBLE,),
    "count": (WHOLE, TEXT),
    "bits": (WHOLE,),
}


def members(book: Book) -> dict[str, bytes]:
    """The table of the distinct values by the name of its file; nothing where no column has any."""
    present = book.class_counts.signs() != 0
    classes = tuple(sorted(name for name, some in zip(book.classes, present, strict=True) if some))
    tallies = {name: book[name].with_classes(classes) for name in sorted(book) if isinstance(book[name], Values)}
    return {MEMBER: _write(tallies, classes)} if tallies else {}


def _write(tallies: Mapping[str, Values], classes: tuple[str, ...]) -> bytes:
    rows, values, cells, bits = RowGatherer(), [], [], []
    require_cells(sum(len(tally.cells) for tally in tallies.values()))
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
    return arrow_file.write(rows.columns(classes) | numbers)


def completed(book: Book, tables: Mapping[str, bytes]) -> Book:
    """The book with the distinct values of these tables, where they are there. MemberFault if not."""
    if MEMBER not in tables:
        return book
    ordered = book.with_classes(tuple(sorted(book.classes)))
    with within(MEMBER):
        found = _read(tables[MEMBER], ordered)
    columns = {name: found.get(name, tally) for name, tally in ordered.columns.items()}
    whole = Book(ordered.classes, ordered.class_counts, columns, label_type=book.label_type, joint=ordered.joint)
    return whole.with_classes(book.classes)


def _read(data: bytes, book: Book) -> dict[str, Tally]:
    table = arrow_file.read(data, _COLUMNS)
    rows = TableRows.of(table, Classes(book.classes, book.class_counts))
    values, bits = numpy_values(table["value"]), numpy_values(table["bits"])
    counts = Exact(table["count"])
    if not np.isfinite(values).all() or np.signbit(values[values == 0]).any():
        raise ValueError("a value is no number")
    result: dict[str, Tally] = {}
    for name, start, stop in rows.columns():
        moments = book.columns.get(name)
        if type(moments) is not Moments:
            raise ValueError(f"column `{name}` has values without moments")
        tally = _tally(name, moments, rows.label[start:stop], values[start:stop], counts[start:stop])
        result[name] = _with_bits(name, tally, bits[start:stop])
    return result


def _tally(name: str, moments: Moments, label: np.ndarray, values: np.ndarray, counts: ExactArray) -> Values:
    """The tally of one column; refused where its counts are not those of its moments."""
    distinct, place = np.unique(values, return_inverse=True)
    require_increasing(label, place)
    size, width = len(moments.classes), len(distinct)
    require_cells(size * width)
    if width > DISTINCT_LIMIT:
        raise ValueError(f"column `{name}` has {width} values, more than {DISTINCT_LIMIT}")
    if (counts.signs() <= 0).any():
        raise ValueError(f"column `{name}`: a count is not above zero")
    cells = ExactArray(size * width)
    cells.add(counts, label * width + place)
    rows = cells.sum_groups(np.repeat(np.arange(size), width), size)
    if added(rows, moments.sums.n, sign=-1).signs().any():
        raise ValueError(f"column `{name}`: its values are not as many as its moments say")
    return Values(moments.classes, moments.sums, distinct, cells)


def _with_bits(name: str, tally: Values, bits: np.ndarray) -> Values:
    kept = int(bits[0])
    if not 1 <= kept <= ALL_BITS or (bits != kept).any():
        raise ValueError(f"column `{name}`: its values have 1 to {ALL_BITS} binary digits, all of them as many")
    if (cut(tally.values, kept) != tally.values).any():
        raise ValueError(f"column `{name}`: a value has more binary digits than were kept")
    whole = Values(tally.classes, tally.sums, tally.values, tally.cells, kept)
    if whole.is_exact and not whole.agrees_with_its_moments():
        raise ValueError(f"column `{name}`: its moments are not those of its values")
    return whole
