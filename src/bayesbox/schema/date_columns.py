"""Date columns: detection of the format, and parsing to seconds with month, weekday and hour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NoReturn

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayesbox.described import declaring, missing_mark
from bayesbox.errors import BadData, KindContradiction
from bayesbox.schema.arrays import without_nulls
from bayesbox.schema.columns import Column, CountMatrix, as_numbers
from bayesbox.schema.compute import pc
from bayesbox.schema.date import AS_WRITTEN, DAYS, DURATION, ISO, ISO_TIME, MOMENT, TIME, Date
from bayesbox.schema.date_formats import (
    LOOKED_AT,
    Ambiguous,
    held_by_format,
    looks_like_dates,
    proven_format,
    read_texts,
)
from bayesbox.schema.date_values import NotATime, Times, held_by, holds_times, part_column, times_of
from bayesbox.schema.encode import as_dictionary
from bayesbox.schema.infer import first_values
from bayesbox.schema.levels import level_text

ROWS_LOOKED_AT = 65_536  # rows of a batch that determine the format, independent of threads


def date_of(column: Column, *, name: str = "", where: str | None = None) -> Date | None:
    """The kind of a date column, detected by its type or, for text, by its values; None if it has no dates.

    >>> date_of(pa.array(["2021-03-15", None])).format, date_of(pa.array(["suv"]))
    ('iso', None)
    """
    kind = _type_of(column)
    if holds_times(kind):
        is_category = not isinstance(column, np.ndarray) and pa.types.is_dictionary(_arrow(column).type)
        return None if is_category else settled(Date(), column, name=name, where=where)
    given = format_of(column, name=name, where=where) if _is_text(kind) else None
    return None if given is None else settled(Date(given), column, name=name, where=where)


def format_of(column: Column, *, name: str = "", where: str | None = None) -> str | None:
    """The format detected from the first rows of a text column; None if they are not dates."""
    first = first_values(_arrow(column))
    if first and not looks_like_dates(first):  # an early exit for nearly all text columns
        return None
    texts = _some_texts(column)
    if not looks_like_dates(texts.slice(0, LOOKED_AT).to_pylist()):
        return None
    try:
        return proven_format(texts, min(len(column), ROWS_LOOKED_AT))
    except Ambiguous as error:
        (day, month), (one, other) = error.formats, error.texts
        raise BadData(
            f"column `{name}` has dates with two readings: {error.example} is {one} by {day} and {other} by {month}",
            where=where,
            found=error.example,
            remedy="Choose one: "
            + declaring(name, f"date:{day}")
            + " or "
            + declaring(name, f"date:{month}")
            + "; or make it a category: "
            + declaring(name, "category"),
            column=name,
        ) from None


def settled(kind: Date, column: Column, *, name: str, where: str | None = None) -> Date:
    """The kind completed from the first values of a column: the sort of time, the format, the zone."""
    found = _type_of(column)
    if pa.types.is_null(found) or not len(column):
        return kind
    if holds_times(found):
        zone = found.tz if kind.zone is None and pa.types.is_timestamp(found) else kind.zone
        return _holding(kind, held_by(found), zone, name, where)
    given = kind.format
    if given is None and _is_text(found):
        given = format_of(column, name=name, where=where)
    if given is None:
        if _example(column) is None:
            return kind
        _refuse(kind, name, where, 0, _example(column))
    held, zone = held_by_format(given), kind.zone
    if held == MOMENT and zone is None and _is_text(found):
        try:
            zone = AS_WRITTEN if read_texts(_some_texts(column), given)[0].zoned else None
        except NotATime:
            zone = None  # reported when it is parsed
    return _holding(replace(kind, format=given), held, zone, name, where)


def _holding(kind: Date, held: str, zone: str | None, name: str, where: str | None) -> Date:
    if kind.holds not in (None, held):
        raise KindContradiction(
            f"column `{name}` is declared as a {kind.holds}, but its values are a {held}", where=where, column=name
        )
    return replace(kind, holds=held, zone=zone)


def expanded(
    kind: Date, column: Column, parts: Mapping[str, str], *, name: str, where: str | None = None, first_row: int = 0
) -> dict[str, Column]:
    """The seconds under the column's name, and each of `parts` (name to part) as a category.

    >>> expanded(Date(holds="moment"), pa.array(["2021-03-15"]), {"day weekday": "weekday"}, name="day")["day"]
    array([1.6157664e+09])
    """
    found = times(kind, column, name=name, where=where, first_row=first_row)
    return {name: found.seconds} | {own: part_column(part, found) for own, part in parts.items()}


def times(kind: Date, column: Column, *, name: str, where: str | None = None, first_row: int = 0) -> Times:
    """The times of a column, from typed values or parsed from text."""
    try:
        found = _times(kind, column, name=name, where=where, first_row=first_row)
    except NotATime as error:
        place = first_row + (error.place or 0) + 1
        raise BadData(
            f"column `{name}` must be {error.what}",
            where=f"{where}, row {place}" if where else f"row {place}",
            found=error.found,
            remedy="Correct it, or make the column a category: " + declaring(name, "category"),
            column=name,
        ) from None
    if kind.holds == MOMENT and found.present.any() and found.zoned != (kind.zone is not None):
        has, had = ("a time zone", "none") if found.zoned else ("no time zone", "one")
        raise KindContradiction(
            f"the times of column `{name}` have {has} here, and {had} in the model",
            where=where,
            remedy="Convert them: in pandas, .dt.tz_localize('Europe/Berlin') adds a time zone and "
            ".dt.tz_localize(None) removes it",
            column=name,
        )
    return found


def _times(kind: Date, column: Column, *, name: str, where: str | None, first_row: int) -> Times:
    found = _type_of(column)
    if holds_times(found) and kind.holds in (None, held_by(found)):
        return times_of(_arrow(column), kind.wall_zone)
    if _is_text(found) or (kind.format is not None and pa.types.is_integer(found)):
        return _times_of_texts(kind, column, name=name, where=where, first_row=first_row)
    if kind.holds == DURATION and (pa.types.is_floating(found) or pa.types.is_integer(found)):  # seconds already
        seconds = np.array(as_numbers(column), dtype=np.float64)
        return Times(seconds, np.zeros(len(seconds), dtype=np.int64), ~np.isnan(seconds))
    example = _example(column)
    if example is not None:
        _refuse(kind, name, where, first_row, example)
    rows = len(column)
    return Times(np.full(rows, np.nan), np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=bool))


def _times_of_texts(kind: Date, column: Column, *, name: str, where: str | None, first_row: int) -> Times:
    given = kind.format or {TIME: ISO_TIME, DURATION: DAYS}.get(kind.holds or "", ISO)
    texts, codes = _texts_and_codes(_arrow(column))
    found, fits = read_texts(texts, given, kind.wall_zone)
    if not fits.all():
        bad = ~fits if codes is None else np.append(~fits, False)[codes]
        if bad.any():
            place = int(np.argmax(bad))
            text = texts[place if codes is None else int(codes[place])].as_py()
            _refuse(kind, name, where, first_row + place, text)
    return found if codes is None else found.take(codes)


def _texts_and_codes(column: pa.Array | pa.ChunkedArray) -> tuple[pa.Array, NDArray[np.int64] | None]:
    """Texts without nulls, and the index of each row, -1 if missing; None for one text per row."""
    if not _is_text(column.type):  # integers
        column = column.cast(pa.string())
    if not pa.types.is_dictionary(column.type) and not column.null_count:
        return _one_piece(column).cast(pa.string()), None  # parsed directly, without a dictionary
    coded = as_dictionary(column)
    codes = without_nulls(coded.indices).astype(np.int64, copy=False)
    texts = coded.dictionary
    if texts.null_count:
        codes = np.where(np.append(texts.is_null().to_numpy(zero_copy_only=False), True)[codes], -1, codes)
        texts = pc.fill_null(texts, "")
    return texts.cast(pa.string()), codes


def _one_piece(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _refuse(kind: Date, name: str, where: str | None, row: int, found: object) -> NoReturn:
    how = f" written {kind.written}" if kind.written else ""
    remedy = "Name the format, as in " + declaring(name, "date:%d/%m/%Y")
    remedy += "; or make it a category: " + declaring(name, "category")
    if isinstance(found, str) and 0 < len(found) <= 10:
        remedy += "; if it means missing: " + missing_mark(found)
    raise KindContradiction(
        f"column `{name}` must be a {kind.noun}{how}",
        where=f"{where}, row {row + 1}" if where else f"row {row + 1}",
        found=found,
        remedy=remedy,
        column=name,
    )


# -- Arrow ---------------------------------------------------------------------------------------------------------


def _is_text(kind: pa.DataType) -> bool:
    """Whether an Arrow type is text, dictionary-encoded or not."""
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(inner) or pa.types.is_large_string(inner) or pa.types.is_string_view(inner))


def _some_texts(column: Column) -> pa.Array:
    """The distinct non-missing texts of the first rows."""
    found = pc.unique(_arrow(column)[:ROWS_LOOKED_AT])
    if isinstance(found, pa.ChunkedArray):
        found = found.combine_chunks()
    if pa.types.is_dictionary(found.type):
        found = found.dictionary_decode()
    return pc.drop_null(found).cast(pa.string())


def _arrow(column: Column) -> pa.Array | pa.ChunkedArray:
    assert not isinstance(column, CountMatrix)  # a matrix holds counts
    return pa.array(column, from_pandas=True) if isinstance(column, np.ndarray) else column


def _type_of(column: Column) -> pa.DataType:
    """The Arrow type of the values; text may be dictionary-encoded."""
    if isinstance(column, np.ndarray) and column.dtype.kind in "biuf":
        return pa.from_numpy_dtype(column.dtype)
    found = _arrow(column).type
    return found.value_type if pa.types.is_dictionary(found) and not _is_text(found) else found


def _example(column: Column) -> object:
    """The first non-missing value."""
    values = _arrow(column[:ROWS_LOOKED_AT]).to_pylist()
    first = next((value for value in values if value is not None and value == value), None)
    return first if first is None or isinstance(first, str) else level_text(first)
