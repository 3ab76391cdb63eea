"""Typed columns as exact seconds with month, weekday and hour: against exact fractions and Python's own calendar."""

from __future__ import annotations

import datetime
import zoneinfo
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesbox.schema.date_values import (
    HOURS,
    MONTHS,
    PER_SECOND,
    WEEKDAYS,
    NotATime,
    Times,
    duration_text,
    exact_seconds,
    moment_text,
    part_column,
    times_of,
)

WIDE = st.integers(-(2**63), 2**63 - 1)
NEAR_THE_EDGE = st.integers(-(2**55), 2**55)


def parts(times: Times) -> list[tuple[str | None, ...]]:
    return list(zip(*(part_column(name, times).to_pylist() for name in ("month", "weekday", "hour")), strict=True))


@settings(max_examples=40)
@given(st.lists(WIDE | NEAR_THE_EDGE, min_size=1), st.sampled_from(sorted(PER_SECOND.values())))
def test_seconds_are_rounded_once(values: list[int], per_second: int) -> None:
    found = exact_seconds(np.array(values, dtype=np.int64), per_second)
    assert found.tolist() == [float(Fraction(value, per_second)) for value in values]


@settings(max_examples=40)
@given(st.lists(st.datetimes(), min_size=1))
def test_points_in_time_as_the_calendar_has_them(values: list[datetime.datetime]) -> None:
    times = times_of(pa.array(values, pa.timestamp("us")))
    epoch = datetime.datetime(1970, 1, 1)
    micros = [(value - epoch) // datetime.timedelta(microseconds=1) for value in values]
    assert times.seconds.tolist() == [float(Fraction(each, 10**6)) for each in micros]
    assert parts(times) == [(MONTHS[v.month - 1], WEEKDAYS[v.weekday()], HOURS[v.hour]) for v in values]


ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC")


@settings(max_examples=40)
@given(
    st.lists(st.datetimes(datetime.datetime(1971, 1, 1), datetime.datetime(2037, 1, 1)), min_size=1),
    st.sampled_from(ZONES),
)
def test_parts_are_those_of_the_wall_clock(values: list[datetime.datetime], zone: str) -> None:
    aware = [value.replace(tzinfo=datetime.UTC) for value in values]
    times = times_of(pa.array(aware, pa.timestamp("us", zone)))
    assert times.zoned
    assert times.seconds.tolist() == times_of(pa.array(values, pa.timestamp("us"))).seconds.tolist()
    local = [value.astimezone(zoneinfo.ZoneInfo(zone)) for value in aware]
    assert parts(times) == [(MONTHS[v.month - 1], WEEKDAYS[v.weekday()], HOURS[v.hour]) for v in local]


def test_every_type_of_the_same_moment() -> None:
    moment = datetime.datetime(2021, 3, 15)
    kinds = [*(pa.timestamp(unit) for unit in PER_SECOND), pa.date32(), pa.date64()]
    found = [times_of(pa.array([moment, None], kind)) for kind in kinds]
    for each in found:
        assert each.seconds[0] == 1615766400.0
        assert np.isnan(each.seconds[1])
        assert parts(each) == [("03", "Mon", "00"), (None, None, None)]


def test_times_of_day_and_durations() -> None:
    time = datetime.time(8, 15, 30)
    for kind in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")):
        times = times_of(pa.array([time, None], kind))
        assert times.seconds[0] == 29730.0
        assert part_column("hour", times).to_pylist() == ["08", None]
    for unit in PER_SECOND:
        assert times_of(pa.array([datetime.timedelta(hours=-1)], pa.duration(unit))).seconds.tolist() == [-3600.0]


def test_what_cannot_be_a_date_is_refused() -> None:
    with pytest.raises(NotATime) as error:
        times_of(pa.array([0, 10**12]).view(pa.timestamp("s")))
    assert error.value.place == 1
    with pytest.raises(NotATime):
        times_of(pa.array([0]).view(pa.timestamp("s", "No/Where")))


def test_for_the_eye() -> None:
    assert moment_text(1615796100.0) == "2021-03-15 08:15:00"
    assert moment_text(29700.0, held="time") == "08:15:00"
    assert moment_text(1615796100.0, with_time=False) == "2021-03-15"
    assert [duration_text(each) for each in (0.0, 59.5, 3600.0, 90061.0)] == ["0 s", "59.5 s", "1 h", "1 d 1 h"]
