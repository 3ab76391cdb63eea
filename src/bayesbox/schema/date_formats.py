"""Date formats such as %d/%m/%Y: parsing of whole columns, and detection from values.

The directives are those of `datetime.strptime` that mean the same everywhere: %Y %y %m %d %b %B %H %I %p %M %S %f %z.
Names of months are English. "iso" is the format of ISO 8601, 2021-03-15 or 2021-03-15T08:15:00+01:00, and "days" that
in which pandas writes a duration, 1 days 02:03:04.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayesbox.errors import BadOption
from bayesbox.schema.compute import pc
from bayesbox.schema.date import DAYS, DURATION, ISO, ISO_TIME, MOMENT, TIME
from bayesbox.schema.date_values import (
    DAY,
    FIRST,
    HOUR,
    LAST,
    PER_SECOND,
    Integers,
    NotATime,
    Times,
    exact_seconds,
    wall_seconds,
)

NANO = PER_SECOND["ns"]

MONTH_NAMES = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
MONTH_PLACES = {name[:3]: place for place, name in enumerate(MONTH_NAMES, start=1)}

DIRECTIVES = {
    "Y": r"(?P<Y>\d{4})",
    "y": r"(?P<y>\d\d)",
    "m": r"(?P<m>\d{1,2})",
    "d": r"(?P<d>\d{1,2})",
    "b": r"(?P<b>[A-Za-z]{3})",
    "B": r"(?P<B>[A-Za-z]{3,9})",
    "H": r"(?P<H>\d{1,2})",
    "I": r"(?P<I>\d{1,2})",
    "p": r"(?P<p>[AaPp]\.?[Mm]\.?)",
    "M": r"(?P<M>\d{1,2})",
    "S": r"(?P<S>\d{1,2})",
    "f": r"(?P<f>\d{1,9})",
    "z": r"(?P<z>Z|[+-]\d\d:?\d\d)",
}
NUMERIC = frozenset("YymdHIMSf")
OFFSET = re.compile(r"(Z|[+-]\d\d(?::?\d\d)?)$")
DATE_OF_ISO = r"^\d{4}-\d\d-\d\d"
ZONE_OF_ISO = r"^\d{4}-\d\d-\d\d[ T].*(Z|[+-]\d\d(:?\d\d)?)$"
DURATION_TEXT = re.compile(
    r"(?P<sign>-?)(?P<days>\d{1,9}) days?"
    r"(?: (?P<minus>[+-]?)(?P<h>\d\d):(?P<m>\d\d):(?P<s>\d\d)(?:\.(?P<f>\d{1,9}))?)?$"
)
TIME_TEXT = re.compile(r"(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?$")


def held_by_format(given: str) -> str:
    """Whether texts of this format are timestamps, times of day or durations.

    >>> held_by_format("%H:%M"), held_by_format("%d.%m.%Y")
    ('time', 'moment')
    """
    if given == DAYS:
        return DURATION
    if given == ISO_TIME or (given != ISO and not set(re.findall("%(.)", given)) & set("YymdbB")):
        return TIME
    return MOMENT


def check_format(given: str) -> None:
    """Raise an error for a format that is not valid or does not determine a date."""
    if given in (ISO, ISO_TIME, DAYS):
        return
    found = re.findall("%(.)", given.replace("%%", ""))
    bad = [each for each in found if each not in DIRECTIVES]
    remedy = "Write it like %d/%m/%Y %H:%M, from %Y %y %m %d %b %B %H %I %p %M %S %f %z, or iso"
    if bad or not found:
        raise BadOption(
            "unknown directive in a date format" if bad else "not a date format", found=given, remedy=remedy
        )
    if len(set(found)) < len(found):
        raise BadOption("a date format has a directive twice", found=given, remedy=remedy)
    has = set(found)
    is_date = len(has & set("Yy")) == 1 and len(has & set("mbB")) == 1 and "d" in has
    is_time = not has & set("YymdbBz")
    if not (is_date or is_time) or ("I" in has) != ("p" in has) or ("H" in has and "I" in has):
        raise BadOption(
            "a date format must name the year, the month and the day, each once", found=given, remedy=remedy
        )
    if (is_time or has & set("MSf")) and not has & set("HI"):
        raise BadOption("a date format with a time of day must name the hour", found=given, remedy=remedy)


@lru_cache(maxsize=64)
def pattern_of(given: str) -> str:
    """The regular expression of a format.

    >>> pattern_of("%d.%m.%Y")
    '^(?P<d>\\\\d{1,2})\\\\.(?P<m>\\\\d{1,2})\\\\.(?P<Y>\\\\d{4})$'
    """
    parts = [
        DIRECTIVES[text[1]] if text.startswith("%") and text != "%%" else re.escape(text.replace("%%", "%"))
        for text in re.split(r"(%.)", given)
        if text
    ]
    return f"^{''.join(parts)}$"


def read_texts(texts: pa.Array, given: str, zone: str | None = None) -> tuple[Times, NDArray[np.bool_]]:
    """The times of distinct non-null texts, and whether each is valid; `zone` is that of the parts."""
    texts = pc.utf8_trim_whitespace(texts)
    if given == ISO:
        return _read_iso(texts, zone)
    if given in (ISO_TIME, DAYS):
        return _read_small(texts, given)
    return _read_format(texts, given, zone)


# -- ISO 8601 --------------------------------------------------------------------------------------------------------


def _read_iso(texts: pa.Array, zone: str | None) -> tuple[Times, NDArray[np.bool_]]:
    try:  # the common case: no offsets, at most microseconds
        micros = texts.cast(pa.timestamp("us")).view(pa.int64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return _read_odd_iso(texts, zone)
    per_second = PER_SECOND["us"]
    return _moments(micros, per_second, _in_years(micros, per_second, np.ones(len(texts), dtype=bool)))


def _read_odd_iso(texts: pa.Array, zone: str | None) -> tuple[Times, NDArray[np.bool_]]:
    """The times of texts with offsets or nanoseconds, or that are not all dates."""
    zoned = pc.match_substring_regex(texts, ZONE_OF_ISO).to_numpy(zero_copy_only=False)
    fits = pc.match_substring_regex(texts, DATE_OF_ISO).to_numpy(zero_copy_only=False)
    is_zoned = bool(zoned[fits].any()) and 2 * int(zoned[fits].sum()) >= int(fits.sum())
    fits &= zoned == is_zoned
    unit = "ns" if pc.any(pc.match_substring_regex(texts, r"\.\d{7,9}")).as_py() else "us"
    kind = pa.timestamp(unit, "UTC" if is_zoned else None)
    values = np.zeros(len(texts), dtype=np.int64)
    places = np.flatnonzero(fits)
    try:
        values[places] = _as_int(texts.take(pa.array(places)).cast(kind))
    except pa.ArrowInvalid:  # one at a time, to find those that are not dates
        for place in places.tolist():
            try:
                values[place] = _as_int(texts.slice(place, 1).cast(kind))[0]
            except pa.ArrowInvalid:
                fits[place] = False
    fits = _in_years(values, PER_SECOND[unit], fits)
    if not is_zoned:
        return _moments(values, PER_SECOND[unit], fits)
    offsets = _offsets([OFFSET.search(text) for text in texts.to_pylist()])
    return _zoned_moments(values, PER_SECOND[unit], fits, offsets, zone)


def _as_int(column: pa.Array) -> Integers:
    found: Integers = column.view(pa.int64()).to_numpy(zero_copy_only=False)
    return found


def _offsets(found: list[re.Match[str] | None]) -> Integers:
    return np.array([0 if each is None else offset_seconds(each[0]) for each in found], dtype=np.int64)


def offset_seconds(text: str) -> int:
    """The seconds of a UTC offset.

    >>> offset_seconds("+01:30"), offset_seconds("-0500"), offset_seconds("Z")
    (5400, -18000, 0)
    """
    if text == "Z":
        return 0
    digits = text[1:].replace(":", "").ljust(4, "0")
    return (HOUR * int(digits[:2]) + 60 * int(digits[2:])) * (-1 if text[0] == "-" else 1)


def _moments(values: Integers, per_second: int, fits: NDArray[np.bool_]) -> tuple[Times, NDArray[np.bool_]]:
    return Times(exact_seconds(values, per_second), values // per_second, fits), fits


def _in_years(values: Integers, per_second: int, fits: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The values within the years 1 to 9999."""
    whole = values // per_second
    return fits & (whole >= FIRST) & (whole <= LAST)


def _zoned_moments(
    values: Integers, per_second: int, fits: NDArray[np.bool_], offsets: Integers, zone: str | None
) -> tuple[Times, NDArray[np.bool_]]:
    """UTC instants with their written offsets; in the local time of `zone` if it is given."""
    whole = values // per_second
    wall = whole + offsets if zone is None else wall_seconds(whole, fits, zone)
    return Times(exact_seconds(values, per_second), wall, fits, zoned=True), fits


# -- times of day and durations --------------------------------------------------------------------------------------


def _read_small(texts: pa.Array, given: str) -> tuple[Times, NDArray[np.bool_]]:
    values = np.zeros(len(texts), dtype=np.int64)
    fits = np.zeros(len(texts), dtype=bool)
    read = _nanos_of_time if given == ISO_TIME else _nanos_of_duration
    for place, text in enumerate(texts.to_pylist()):
        found = read(text)
        if found is not None:
            values[place], fits[place] = found, True
    return _moments(values, NANO, fits)


def _nanos_of_time(text: str) -> int | None:
    found = TIME_TEXT.match(text)
    if found is None:
        return None
    hour, minute, second = int(found[1]), int(found[2]), int(found[3])
    if hour > 23 or minute > 59 or second > 59:
        return None
    return (hour * HOUR + minute * 60 + second) * NANO + int((found[4] or "").ljust(9, "0"))


def _nanos_of_duration(text: str) -> int | None:
    """The nanoseconds of a duration; pandas writes minus 22 hours as -1 days +02:00:00."""
    found = DURATION_TEXT.match(text)
    if found is None or int(found["days"]) > 106_000:
        return None
    days = int(found["days"]) * (-1 if found["sign"] else 1)
    nanos = 0
    if found["h"] is not None:
        seconds = int(found["h"]) * HOUR + int(found["m"]) * 60 + int(found["s"])
        nanos = seconds * NANO + int((found["f"] or "").ljust(9, "0"))
        if found["minus"] == "-" or (found["sign"] and found["minus"] != "+"):
            nanos = -nanos
    return days * DAY * NANO + nanos


# -- formats ---------------------------------------------------------------------------------------------------------


def _read_format(texts: pa.Array, given: str, zone: str | None) -> tuple[Times, NDArray[np.bool_]]:
    fields = pc.extract_regex(texts, pattern_of(given))
    valid = fields.is_valid()
    fits: NDArray[np.bool_] = valid.to_numpy(zero_copy_only=False).copy()
    none = pa.nulls(len(texts), pa.string())
    part = {field.name: pc.if_else(valid, fields.field(index), none) for index, field in enumerate(fields.type)}
    number = {name: _numbers(column) for name, column in part.items() if name in NUMERIC and name != "f"}
    if "y" in number:  # as in POSIX: 69 to 99 are 1969 to 1999
        number["Y"] = number["y"] + np.where(number["y"] >= 69, 1900, 2000)
    for name in ("b", "B"):
        if name in part:
            number["m"] = _named_months(part[name], fits, whole=name == "B")
    hour = number.get("H", np.zeros(len(texts), dtype=np.int64))
    if "I" in number:
        afternoon = pc.starts_with(pc.fill_null(part["p"], "a"), "p", ignore_case=True).to_numpy(zero_copy_only=False)
        fits &= (number["I"] >= 1) & (number["I"] <= 12)
        hour = number["I"] % 12 + 12 * afternoon
    zero = np.zeros_like(hour)
    minute, second = number.get("M", zero), number.get("S", zero)
    fits &= (hour < 24) & (minute < 60) & (second < 60)
    nanos = _numbers(pc.utf8_rpad(part["f"], 9, "0")) if "f" in part else zero
    wall = hour * HOUR + minute * 60 + second
    if "Y" in number:
        days, real = _days(number["Y"], number["m"], number["d"])
        fits &= real
        wall = wall + days * DAY
    wall = np.where(fits, wall, 0)
    if "z" not in part:
        return _with_fraction(wall, wall, nanos, fits, zoned=False)
    offsets = _offsets([None if text is None else OFFSET.search(text) for text in part["z"].to_pylist()])
    utc = wall - offsets
    fits = _in_years(utc, 1, fits)
    return _with_fraction(utc, wall if zone is None else wall_seconds(utc, fits, zone), nanos, fits, zoned=True)


def _with_fraction(
    seconds: Integers, wall: Integers, nanos: Integers, fits: NDArray[np.bool_], *, zoned: bool
) -> tuple[Times, NDArray[np.bool_]]:
    """Seconds with a fraction, in nanoseconds if they fit, in microseconds for distant years."""
    if not nanos.any():
        return Times(seconds.astype(np.float64), wall, fits, zoned), fits
    fine = (np.abs(seconds) < (1 << 63) // NANO - 1) | (nanos % 1000 != 0)
    if (np.abs(seconds[fine]) >= (1 << 63) // NANO - 1).any():
        raise NotATime("a date with nanoseconds of the years 1678 to 2261", None, None)
    scale = np.where(fine, NANO, PER_SECOND["us"])
    found = np.empty(len(seconds))
    for per_second in (NANO, PER_SECOND["us"]):
        own = scale == per_second
        found[own] = exact_seconds(seconds[own] * per_second + nanos[own] // (NANO // per_second), per_second)
    return Times(found, wall, fits, zoned), fits


def _numbers(column: Any) -> Integers:
    """Digits as numbers; null is 0."""
    found: Integers = pc.fill_null(column.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
    return found


def _named_months(column: Any, fits: NDArray[np.bool_], *, whole: bool) -> Integers:
    places = np.ones(len(column), dtype=np.int64)
    for place, text in enumerate(column.to_pylist()):
        if text is None:
            continue
        month = MONTH_PLACES.get(text[:3].lower(), 0)
        if not month or (whole and text.lower() != MONTH_NAMES[month - 1]):
            fits[place], month = False, 1
        places[place] = month
    return places


def _days(year: Integers, month: Integers, day: Integers) -> tuple[Integers, NDArray[np.bool_]]:
    """The days since 1970-01-01, and whether the date exists."""
    real = (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1)
    first = ((np.where(real, year, 1970) - 1970) * 12 + np.where(real, month, 1) - 1).astype("M8[M]")
    length = ((first + np.timedelta64(1, "M")).astype("M8[D]") - first.astype("M8[D]")).astype(np.int64)
    return first.astype("M8[D]").astype(np.int64) + day - 1, real & (day <= length)


# -- detection of the format -----------------------------------------------------------------------------------------

TIMES_OF_DAY = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p")
CLEAR = ("%Y/%m/%d", "%Y.%m.%d", "%d %b %Y", "%d-%b-%Y", "%b %d, %Y", "%d %B %Y", "%B %d, %Y")
EITHER = tuple((f"%d{mark}%m{mark}%Y", f"%m{mark}%d{mark}%Y") for mark in "/.-")
LOOKED_AT, FEW = 20, 20  # one text in this many may be invalid, if there are more distinct dates than this
LIKE_DATE = re.compile(r"\s*(\d{1,4}[-/. ]|[A-Za-z]{3,9} \d|\d\d:\d\d:\d\d|-?\d+ days?\b)")


class Ambiguous(ValueError):
    """Ambiguous dates: the two `formats`, and `texts`, an example for each."""

    def __init__(self, example: str, formats: tuple[str, str], texts: tuple[str, str]) -> None:
        super().__init__(example)
        self.example, self.formats, self.texts = example, formats, texts


def looks_like_dates(texts: list[str]) -> bool:
    """A quick check that excludes nearly all text columns: whether most of a few values begin like a date."""
    return bool(texts) and 2 * sum(LIKE_DATE.match(text) is not None for text in texts) >= len(texts)


def proven_format(texts: pa.Array, rows: int) -> str | None:
    """The format of distinct texts; None if they are not dates; `Ambiguous` if day and month cannot be distinguished.

    >>> proven_format(pa.array(["15/03/2021", "01/04/2021"]), 2)
    '%d/%m/%Y'
    """
    for given in (ISO, ISO_TIME, DAYS):
        if _misfits(texts, given, rows) is not None:
            return given
    example = next((text for text in texts.slice(0, LOOKED_AT).to_pylist() if LIKE_DATE.match(text)), "").strip()
    for time in TIMES_OF_DAY:
        for given in CLEAR:
            if re.match(pattern_of(given + time), example) and _misfits(texts, given + time, rows) is not None:
                return given + time
        for both in EITHER:
            if re.match(pattern_of(both[0] + time), example):
                found = [(_misfits(texts, given + time, rows), given + time) for given in both]
                misfits = [(number, given) for number, given in found if number is not None]
                if len(misfits) == 2 and misfits[0][0] == misfits[1][0]:
                    raise _two_readings(example, (both[0] + time, both[1] + time))
                if misfits:
                    return min(misfits)[1]
    return None


def _misfits(texts: pa.Array, given: str, rows: int) -> int | None:
    """The number of texts that do not match a format that nearly all match; None if most do not."""
    few = texts.slice(0, LOOKED_AT)
    try:
        if not read_texts(few, given)[1].any():
            return None
        fits = read_texts(texts, given)[1]
    except NotATime:
        return None
    misfits = int(len(fits) - fits.sum())
    return misfits if not misfits or (fits.sum() > FEW and misfits * LOOKED_AT <= rows) else None


def _two_readings(example: str, formats: tuple[str, str]) -> Ambiguous:
    found = []
    for given in formats:
        times, _ = read_texts(pa.array([example]), given)
        found.append(str(np.datetime64(int(times.wall[0]) // DAY, "D")))
    return Ambiguous(example, formats, (found[0], found[1]))
