"""Timestamps, times of day and durations as exact seconds, and the month, weekday and hour of each.

Seconds count from 1970-01-01 UTC (a time without a zone is treated as UTC), rounded once to the nearest double. The
parts are those of local time: in the zone of the column, or as written.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayesbox.schema.arrays import numbers_array, text_array
from bayesbox.schema.compute import pc
from bayesbox.schema.date import DURATION, MOMENT, TIME

Integers = NDArray[np.int64]
Doubles = NDArray[np.float64]

DAY, HOUR = 86_400, 3_600
FIRST, LAST = -62_135_596_800, 253_402_300_799  # the seconds of the years 1 to 9999
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}

MONTHS = tuple(f"{month:02}" for month in range(1, 13))
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
HOURS = tuple(f"{hour:02}" for hour in range(24))


class Times(NamedTuple):
    """The times of one column. `wall` has whole seconds of local time; values are undefined where `present` is false.

    `zoned`: whether the timestamps have a time zone or a UTC offset.
    """

    seconds: Doubles
    wall: Integers
    present: NDArray[np.bool_]
    zoned: bool = False

    def take(self, places: NDArray[Any]) -> Times:
        """The times at these positions; -1 is missing."""
        there = places >= 0
        if not len(self.seconds):
            return Times(np.full(len(places), np.nan), np.zeros(len(places), np.int64), there, self.zoned)
        return Times(
            np.where(there, self.seconds[places], np.nan),
            self.wall[places],
            there & self.present[places],
            self.zoned,
        )


def _months(wall: Integers) -> Integers:
    found: Integers = (wall // DAY).astype("M8[D]").astype("M8[M]").astype(np.int64) % 12
    return found


def _weekdays(wall: Integers) -> Integers:
    return (wall // DAY + 3) % 7  # 1970-01-01 was a Thursday


def _hours(wall: Integers) -> Integers:
    return wall % DAY // HOUR


class TimePart(NamedTuple):
    """One part of a time: its levels, and a function that returns the level of each time."""

    levels: tuple[str, ...]
    places: Callable[[Integers], Integers]


PARTS: dict[str, TimePart] = {
    "month": TimePart(MONTHS, _months),
    "weekday": TimePart(WEEKDAYS, _weekdays),
    "hour": TimePart(HOURS, _hours),
}
"""The parts of a time by name, in the order of the columns."""


def part_column(name: str, times: Times) -> pa.DictionaryArray:
    """One part of the times as a category; missing if the time is missing.

    >>> part_column("weekday", times_of(pa.array([datetime.date(2021, 3, 15), None]))).to_pylist()
    ['Mon', None]
    """
    part = PARTS[name]
    codes = np.where(times.present, part.places(times.wall), 0).astype(np.int32)
    return pa.DictionaryArray.from_arrays(
        numbers_array(codes, None if times.present.all() else times.present), text_array(part.levels)
    )


def exact_seconds(values: Integers, per_second: int) -> Doubles:
    """values / per_second, each rounded once to the nearest double, ties to even.

    Below 2^53, a value is a double and the division rounds once. Above, the whole seconds are split off and the rest is
    scaled in integers, so that only the conversion to a double rounds.

    >>> exact_seconds(np.array([1_500, 1_615_796_100_123_456_789]), 1_000)[0].item()
    1.5
    """
    found: Doubles = values / np.float64(per_second) if per_second > 1 else values.astype(np.float64)
    if per_second == 1:
        return found
    large = np.flatnonzero((values >= 1 << 53) | (values <= -(1 << 53)))
    if len(large):
        size = np.abs(values[large]).view(np.uint64)  # also for -2^63
        whole, rest = size // np.uint64(per_second), size % np.uint64(per_second)
        shift = (55 - np.frexp(whole.astype(np.float64))[1]).astype(np.uint64)  # 55 bits: two more than a double
        scaled = rest << shift  # below 2^62: such a number has at least 23 bits of whole seconds
        steps, over = scaled // np.uint64(per_second), scaled % np.uint64(per_second)
        total = ((whole << shift) + steps) | (over > 0).astype(np.uint64)  # the sticky bit: there is a remainder
        doubles = np.ldexp(total.astype(np.int64).astype(np.float64), -shift.astype(np.int64))
        found[large] = np.copysign(doubles, values[large].astype(np.float64))
    return found


class NotATime(ValueError):
    """Values that are not times: `place` is the position of the first one, `found` the value."""

    def __init__(self, what: str, place: int | None = None, found: object = None) -> None:
        super().__init__(what)
        self.what, self.place, self.found = what, place, found


def holds_times(kind: pa.DataType) -> bool:
    """Whether an Arrow type is for dates, times or durations."""
    return bool(pa.types.is_temporal(kind) and not pa.types.is_interval(kind))


def held_by(kind: pa.DataType) -> str:
    """Whether a column of such a type has timestamps, times of day or durations."""
    if pa.types.is_time(kind):
        return TIME
    return DURATION if pa.types.is_duration(kind) else MOMENT


def times_of(column: pa.Array | pa.ChunkedArray, zone: str | None = None) -> Times:
    """A typed Arrow column as times; `zone` is that of the parts, if it is not the column's own.

    >>> times_of(pa.array([datetime.timedelta(minutes=90), None])).seconds
    array([5400.,   nan])
    """
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    present: NDArray[np.bool_] = column.is_valid().to_numpy(zero_copy_only=False)
    if pa.types.is_date32(kind):
        column, per_second = column.cast(pa.int32()).cast(pa.int64()), 0
    elif pa.types.is_date64(kind):
        per_second = PER_SECOND["ms"]
    else:
        per_second = PER_SECOND[kind.unit]
    if pa.types.is_time32(kind):
        column = column.cast(pa.int32())
    values = _integers(column)
    zoned = pa.types.is_timestamp(kind) and kind.tz is not None
    seconds = (values * DAY).astype(np.float64) if not per_second else exact_seconds(values, per_second)
    wall = values * DAY if not per_second else values // per_second
    if held_by(kind) == MOMENT:
        require_years(wall, present)
    if zoned:
        wall = wall_seconds(wall, present, zone or kind.tz)
    seconds[~present] = np.nan
    return Times(seconds, wall, present, zoned)


def _integers(column: pa.Array) -> Integers:
    """The integers of a 64-bit column; null is 0."""
    whole = column.view(pa.int64()) if column.type.bit_width == 64 else column.cast(pa.int64())
    found: Integers = pc.fill_null(whole, 0).to_numpy(zero_copy_only=False)
    return found


def require_years(seconds: Integers, present: NDArray[np.bool_]) -> None:
    """Raise NotATime for values outside the years 1 to 9999."""
    outside = present & ((seconds < FIRST) | (seconds > LAST))
    if outside.any():
        place = int(np.argmax(outside))
        raise NotATime("a date of the years 1 to 9999", place, f"{int(seconds[place])} seconds since 1970")


def wall_seconds(seconds: Integers, present: NDArray[np.bool_], zone: str) -> Integers:
    """Whole UTC seconds as whole seconds of local time in a zone."""
    if zone in ("UTC", "Etc/UTC", "Z", "+00:00"):
        return seconds
    moments = numbers_array(np.where(present, seconds, 0)).view(pa.timestamp("s", zone))
    try:
        return _integers(pc.local_timestamp(moments))
    except pa.ArrowInvalid as error:
        raise NotATime(f"a time of a known zone ({str(error).splitlines()[0]})", None, zone) from None


# -- as text ---------------------------------------------------------------------------------------------------------


def moment_text(seconds: float, *, held: str = MOMENT, with_time: bool = True) -> str:
    """A time as text: the date, and the time of day if it is not midnight.

    >>> moment_text(1615795200.0), moment_text(1615766400.0), moment_text(90.0, held="duration")
    ('2021-03-15 08:00:00', '2021-03-15', '1 min 30 s')
    """
    if held == DURATION:
        return duration_text(seconds)
    whole = min(max(round(seconds), FIRST), LAST)
    found = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=whole)
    if held == TIME:
        return found.time().isoformat()
    return found.isoformat(sep=" ") if with_time and whole % DAY else found.date().isoformat()


def duration_text(seconds: float) -> str:
    """A duration in its two largest units.

    >>> duration_text(93784.0), duration_text(0.25), duration_text(-60.0)
    ('1 d 2 h', '0.25 s', '-1 min')
    """
    size = abs(seconds)
    sign = "-" if seconds < 0 else ""
    if size < 60:
        return f"{sign}{size:.4g} s"
    named: list[str] = []
    left = round(size)
    for unit, width in (("d", DAY), ("h", HOUR), ("min", 60), ("s", 1)):
        count, left = divmod(left, width)
        if count or named:
            named.append(f"{count:,} {unit}" if count else "")
    return sign + " ".join(part for part in named[:2] if part)
