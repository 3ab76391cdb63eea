"""Formats of dates in text: each read as Python's strptime reads it, and the one that values prove."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesbox.errors import BadOption
from bayesbox.schema.date import Date
from bayesbox.schema.date_formats import Ambiguous, held_by_format, looks_like_dates, proven_format, read_texts

EPOCH = datetime.datetime(1970, 1, 1)
FORMATS = (
    "%d/%m/%Y",
    "%m/%d/%Y %H:%M",
    "%Y.%m.%d %H:%M:%S",
    "%d-%b-%Y %I:%M:%S %p",
    "%B %d, %Y",
    "%y%m%d",
    "%Y%m%dT%H%M%S.%f",
)


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=15)
@given(values=st.lists(st.datetimes(datetime.datetime(1970, 1, 1), datetime.datetime(2060, 1, 1)), min_size=1))
def test_reads_what_strftime_writes(form: str, values: list[datetime.datetime]) -> None:
    texts = [value.strftime(form) for value in values]
    wanted = [(datetime.datetime.strptime(text, form) - EPOCH).total_seconds() for text in texts]
    times, fits = read_texts(pa.array(texts), form)
    assert fits.all()
    assert times.seconds.tolist() == wanted


@settings(max_examples=30)
@given(st.lists(st.datetimes(), min_size=1), st.sampled_from(["T", " "]))
def test_iso_as_python_writes_it(values: list[datetime.datetime], sep: str) -> None:
    times, fits = read_texts(pa.array([value.isoformat(sep=sep) for value in values]), "iso")
    typed = pa.array(values, pa.timestamp("us")).view(pa.int64()).to_numpy()
    assert fits.all()
    np.testing.assert_array_equal(times.wall, typed // 10**6)


@pytest.mark.parametrize(
    "text",
    ["2021-02-30", "2021-13-01", "2021-03-15T24:00", "2021-12-31T23:59:60Z", "2021-3-5", "0000-01-01", "x", "2021"],
)
def test_what_is_not_iso(text: str) -> None:
    _, fits = read_texts(pa.array(["2021-03-15", "2021-03-16", text]), "iso")
    assert fits.tolist() == [True, True, False]


def test_offsets_and_nanoseconds() -> None:
    texts = ["2021-03-15T08:15:00+01:00", "2021-08-15T08:15:00.5+0200", "2021-08-15 08:15Z"]
    times, fits = read_texts(pa.array(texts), "iso")
    assert fits.all()
    assert times.zoned
    assert times.seconds.tolist() == [datetime.datetime.fromisoformat(text).timestamp() for text in texts]
    assert (times.wall % 86_400 // 3_600).tolist() == [8, 8, 8]
    in_zone, _ = read_texts(pa.array(texts), "iso", "UTC")
    assert (in_zone.wall % 86_400 // 3_600).tolist() == [7, 6, 8]
    fine, _ = read_texts(pa.array(["2021-03-15 00:00:00.123456789"]), "iso")
    assert fine.seconds.tolist() == [1615766400.1234567]
    _, mixed = read_texts(pa.array([*texts, "2021-03-15"]), "iso")
    assert mixed.tolist() == [True, True, True, False]


def test_durations_and_times_of_day() -> None:
    times, fits = read_texts(pa.array(["1 days 02:03:04.5", "-1 days +23:00:00", "2 days", "soon"]), "days")
    assert times.seconds[:3].tolist() == [93784.5, -3600.0, 172800.0]
    assert fits.tolist() == [True, True, True, False]
    times, fits = read_texts(pa.array(["08:15:30", "24:00:00"]), "iso-time")
    assert (times.seconds[0], fits.tolist()) == (29730.0, [True, False])


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [
        (["2021-03-15", "2021-03-16T10:00"], "iso"),
        (["15/03/2021", "01/02/2021"], "%d/%m/%Y"),
        (["03/15/2021 10:00", "01/02/2021 11:30"], "%m/%d/%Y %H:%M"),
        (["1.2.2021", "28.2.2021"], "%d.%m.%Y"),
        (["3/5/2021 1:05 PM", "3/25/2021 1:05 AM"], "%m/%d/%Y %I:%M %p"),
        (["2021/03/05"], "%Y/%m/%d"),
        (["5 Mar 2021", "6 Apr 2021"], "%d %b %Y"),
        (["March 5, 2021", "May 6, 2021"], "%B %d, %Y"),
        (["08:15:00", "23:00:00"], "iso-time"),
        (["1 days 02:03:04"], "days"),
        (["15/03/2021", "03/15/2021"], None),
        (["2021-03-15", "unknown"], None),
        (["1/2", "3/4"], None),
        (["10.0.0.1"], None),
        (["12 High Street"], None),
        (["15/03/21"], None),
    ],
)
def test_the_format_that_values_prove(texts: list[str], wanted: str | None) -> None:
    assert proven_format(pa.array(texts), len(texts)) == wanted


def test_two_readings_are_shown() -> None:
    with pytest.raises(Ambiguous) as error:
        proven_format(pa.array(["03/04/2021", "05/06/2021"]), 2)
    assert error.value.formats == ("%d/%m/%Y", "%m/%d/%Y")
    assert error.value.texts == ("2021-04-03", "2021-03-04")


def test_a_few_others_among_many_dates() -> None:
    days = [str(np.datetime64("2021-01-01") + np.timedelta64(day, "D")) for day in range(100)]
    assert proven_format(pa.array([*days, "?"]), 101) == "iso"
    assert proven_format(pa.array([*days[:10], "?"]), 11) is None
    day_first = [f"{day % 28 + 1:02}/03/{2000 + day // 28}" for day in range(100)]
    assert proven_format(pa.array(day_first), 100) == "%d/%m/%Y"


def test_a_first_look() -> None:
    assert looks_like_dates(["2021-03-15", "?"])
    assert not looks_like_dates(["suv", "van", "2021-03-15"])
    assert not looks_like_dates([])


@pytest.mark.parametrize(
    "form", ["%d/%m", "%Q", "%d/%d/%m/%Y", "date", "%Y-%m-%d %M", "%H:%M %z", "%Y-%m-%d %I:%M", ""]
)
def test_formats_that_cannot_be(form: str) -> None:
    with pytest.raises(BadOption) as error:
        Date(form)
    assert error.value.found == form


def test_what_a_format_holds() -> None:
    assert [held_by_format(each) for each in ("%H:%M", "days", "iso", "%d.%m.%y")] == [
        "time",
        "duration",
        "moment",
        "moment",
    ]
