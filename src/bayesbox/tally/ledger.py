"""The ledger: a hash of a multiset of rows that adds and subtracts like every tally (LtHash).

    ledger = sum over the rows of lanes(BLAKE2b(row, label, weight))       1,024 lanes of 16 bits, each modulo 2^16

The same rows give the same ledger whatever their order, batches, threads or file format; removing a row subtracts its
lanes. So a ledger identifies a multiset of rows without storing any of them: tallies can be equal for different rows,
while no way is known to find different rows with equal ledgers.

The canonical row has every used column with a value, sorted by name: the text of a level, the exact double of a number,
a text unchanged. Each part is preceded by its length, so that no two rows have the same bytes. An integer weight w up
to 65,535 is w copies of the row; any other weight is hashed with the row, so a row of weight 2.5 differs from one of
weight 2 plus one of 0.5. Lanes count modulo 2^16: 65,536 copies of one row leave no trace here, but they do in the
class counts.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.file import arrow
from bayesbox.file.arrow import PLACE
from bayesbox.schema.arrays import AnyArray, numbers_array, numpy_values
from bayesbox.schema.columns import CountMatrix, as_numbers
from bayesbox.schema.encode import MISSING, Encoded, encode_narrow
from bayesbox.schema.flags import FLAG_LEVELS, flag_codes
from bayesbox.schema.kinds import Kind
from bayesbox.schema.schema import Schema
from bayesbox.schema.tokens import Documents
from bayesbox.tally.base import digest_of
from bayesbox.tally.count import checked_weights

if TYPE_CHECKING:
    LedgerColumn = tuple[bytes, bytes, AnyArray, NDArray[np.uint8] | None, NDArray[np.int64] | None]

LANES = 1024
VERSION = b"bayesbox ledger 1\n"
NUMBER, LEVEL, TEXT, MATRIX = b"n", b"l", b"t", b"m"
CELL = np.dtype([("column", "<i8"), ("count", "<f8")])  # a cell of a row of a matrix


class Ledger:
    """1,024 sums of 16 bits.

    >>> one, two = (Ledger(np.full(LANES, number, dtype=np.uint16)) for number in (40_000, 30_000))
    >>> int((one + two).lanes[0]), (one + two) - two == one, Ledger.from_text((one + two).text()) == one + two
    (4464, True, True)
    """

    member: ClassVar[str] = "ledger.arrow"
    """Its table in the model file: lane, one row per lane."""

    def __init__(self, lanes: NDArray[np.uint16]) -> None:
        self.lanes = lanes

    @classmethod
    def empty(cls) -> Self:
        """The ledger of no rows."""
        return cls(np.zeros(LANES, dtype=np.uint16))

    def zero(self) -> Self:
        return type(self).empty()

    def __add__(self, other: Ledger) -> Self:
        return type(self)(self.lanes + other.lanes)

    def __sub__(self, other: Ledger) -> Self:
        return type(self)(self.lanes - other.lanes)

    def is_empty(self) -> bool:
        """Whether it is the ledger of no rows."""
        return not self.lanes.any()

    def canonical(self) -> Iterator[bytes]:
        yield VERSION
        yield self.lanes.astype("<u2").tobytes()

    def digest(self) -> str:
        """SHA-256 of the lanes, in hex."""
        return digest_of(self.canonical())

    def __eq__(self, other: object) -> bool:
        return np.array_equal(self.lanes, other.lanes) if isinstance(other, Ledger) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Ledger({self.digest()[:16]}...)"

    def text(self) -> str:
        """The lanes in base64, for a certificate."""
        return base64.b64encode(self.lanes.astype("<u2").tobytes()).decode("ascii")

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The ledger in such a text; ValueError if it is not valid."""
        try:
            data = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            raise ValueError("a ledger must be written in base64") from None
        if len(data) != 2 * LANES:
            raise ValueError(f"a ledger must have {LANES} lanes of 16 bits, got {len(data)} bytes")
        return cls(np.frombuffer(data, dtype="<u2").astype(np.uint16))

    def to_arrow(self) -> bytes:
        """Its table of the model file."""
        return arrow.write({"lane": numbers_array(self.lanes.astype(np.int32))})

    @classmethod
    def from_arrow(cls, table: bytes) -> Self:
        """The ledger in such a table; ValueError if it is not valid."""
        lanes = numpy_values(arrow.read(table, {"lane": (PLACE,)})["lane"])
        if len(lanes) != LANES or lanes.min() < 0 or lanes.max() > np.iinfo(np.uint16).max:
            raise ValueError(f"a ledger must have {LANES} lanes of 16 bits")
        return cls(lanes.astype(np.uint16))


def count_ledger(
    columns: Mapping[str, Any],
    labels: Encoded,
    schema: Schema,
    *,
    weights: object = None,
    where: str | None = None,
    first_row: int = 0,
) -> Ledger:
    """The ledger of these rows. A row without a label or with a weight of 0 does not count.

    >>> from bayesbox.schema.encode import encode
    >>> rows = {"age": np.array([25.0, 20.0]), "car": np.array(["suv", "van"], dtype=object)}
    >>> schema = Schema.of(rows)
    >>> whole = count_ledger(rows, encode(np.array(["L", "H"], dtype=object)), schema)
    >>> parts = [count_ledger({name: column[i:i + 1] for name, column in rows.items()},
    ...                       encode(np.array(["LH"[i]], dtype=object)), schema) for i in (1, 0)]
    >>> parts[0] + parts[1] == whole, parts[0] == parts[1]
    (True, False)
    """
    given: list[LedgerColumn] = []
    for name in sorted(columns):
        kind, column = schema.kinds[name], columns[name]
        if kind.tally is not None and not _is_null(column):
            given.append((name.encode("utf-8"), *_coded(name, column, kind, where, first_row)))
    letters, ends = _core.text_bytes(labels.levels)
    checked = checked_weights(weights, len(labels.codes), where=where, first_row=first_row)
    return Ledger(_core.row_ledger(given, labels.codes, letters, ends, checked))


def _is_null(column: Any) -> bool:
    return not isinstance(column, (np.ndarray, CountMatrix)) and pa.types.is_null(column.type)


def _coded(
    name: str, column: Any, kind: Kind, where: str | None, first_row: int
) -> tuple[bytes, AnyArray, NDArray[np.uint8] | None, NDArray[np.int64] | None]:
    """The tag, the numbers or codes, the bytes of the levels, and where each begins."""
    if isinstance(column, CountMatrix):
        return MATRIX, *_rows_of_matrix(column)
    if kind.tokens is not None:
        texts = Documents.of(column, where=where)
        return TEXT, *_one_each(np.diff(texts.offsets)), texts.data, texts.offsets.astype(np.int64)
    if not kind.has_levels:
        return NUMBER, as_numbers(column, name=name, where=where), None, None
    codes, levels, _ = encode_narrow(column)
    if kind.is_flag:
        flags = flag_codes(levels, lambda: codes, name=name, where=where, first_row=first_row)
        levels = [FLAG_LEVELS[flag] for flag in flags]
    return LEVEL, codes, *_core.text_bytes(levels)


def _one_each(lengths: AnyArray) -> tuple[NDArray[np.int64]]:
    """The codes of a column in which each row is its own text; an empty text is missing."""
    return (np.where(lengths > 0, np.arange(len(lengths)), MISSING),)


def _rows_of_matrix(matrix: CountMatrix) -> tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.int64]]:
    """The rows of a matrix of counts as bytes: the non-zero columns, ascending, with their counts."""
    row = np.repeat(np.arange(matrix.rows), np.diff(matrix.indptr))
    inside = slice(int(matrix.indptr[0]), int(matrix.indptr[-1]))
    place = row * matrix.width + np.asarray(matrix.indices[inside], dtype=np.int64)
    distinct, group = np.unique(place, return_inverse=True)
    counts = np.bincount(group, weights=np.asarray(matrix.data[inside], dtype=np.float64), minlength=len(distinct))
    distinct, counts = distinct[counts != 0], counts[counts != 0]
    cells = np.empty(len(distinct), dtype=CELL)
    cells["column"], cells["count"] = distinct % max(matrix.width, 1), counts
    ends = np.searchsorted(distinct, np.arange(matrix.rows + 1) * matrix.width) * CELL.itemsize
    return *_one_each(np.diff(ends)), np.frombuffer(cells.tobytes(), dtype=np.uint8), ends.astype(np.int64)
