"""The careful reader splits rows and fields as Python's csv module does, and knows where rows end."""

from __future__ import annotations

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.source.walk import walked

from bayesbox import _core
from bayesbox.source.files.scan import NUMBER_PATTERN, end_of_rows, records

rough = st.text(st.sampled_from('ab,"\n\r é'), max_size=60)
cell = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
tables = st.lists(st.lists(cell, min_size=2, max_size=4), max_size=6)


def read_by_csv(text: str, delimiter: str = ",") -> list[list[str]]:
    return [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]


def fields(text: str, delimiter: str = ",") -> list[list[str]]:
    found = records(text.encode(), delimiter=delimiter.encode())
    return [[field.decode() for field in record.fields] for record in found]


@given(tables, st.sampled_from(",\t;"), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_well_formed_tables(table: list[list[str]], delimiter: str, ending: str, quote_all: bool) -> None:
    if not quote_all:  # the csv module does not quote a lone carriage return
        table = [[value.replace("\r", "") for value in row] for row in table]
    file = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL
    csv.writer(file, delimiter=delimiter, lineterminator=ending, quoting=quoting).writerows(table)
    assert fields(file.getvalue(), delimiter) == table


@given(rough)
def test_rough_text_as_a_walk_reads_it(text: str) -> None:
    found = list(records(text.encode(), delimiter=b","))
    good = [[field.decode() for field in record.fields] for record in found if record.fault is None]
    assert (good, len(found) - len(good)) == walked(text)


@given(rough)
def test_strict_text_is_what_the_csv_module_takes_in_its_strict_mode(text: str) -> None:
    try:
        wanted = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except csv.Error:
        assert any(record.fault for record in records(text.encode(), delimiter=b","))
        assert not _core.quotes_enclose_fields(text.encode(), ",")
    else:
        assert fields(text) == wanted
        assert not any(record.fault for record in records(text.encode(), delimiter=b","))
        assert _core.quotes_enclose_fields(text.encode(), ",")


@given(rough)
def test_records_lie_end_to_end(text: str) -> None:
    data = text.encode()
    found = list(records(data, delimiter=b","))
    covered = 0
    for record in found:
        assert not data[covered : record.start].strip(b"\r\n")
        assert record.line == 1 + data.count(b"\n", 0, record.start)
        covered = record.end
    assert not data[covered:].strip(b"\r\n")


@given(rough)
def test_the_last_complete_row(text: str) -> None:
    """The end splits the text in two that read apart as they read together, and no row ends in the rest."""
    data = text.encode()
    end = end_of_rows(data, delimiter=b",")
    head, tail = data[:end].decode(), data[end:].decode()
    (good, bad), (later, more) = walked(head), walked(tail)
    assert (good + later, bad + more) == walked(text)
    assert not end or head.endswith("\n")
    rest = next(records(data[end:], delimiter=b","), None)
    assert rest is None or rest.is_open or not data[end : end + rest.end].endswith(b"\n")


@pytest.mark.parametrize(
    ("text", "end"),
    [
        (b"", 0),
        (b"25,suv", 0),
        (b"25,suv\n", 7),
        (b'25,"suv\n', 0),
        (b'25,"suv\n"\n30,', 10),
        (b'25,5" disk\n30,"half\na', 11),
        (b'25,"a""\n"\n"b\n', 10),
    ],
)
def test_ends(text: bytes, end: int) -> None:
    assert end_of_rows(text, delimiter=b",") == end


@pytest.mark.parametrize("text", ["1", "01", "+3", "-0", ".28", "5.", "1e5", "1E-5", " 3 ", "nan", "-Inf", "infinity"])
def test_numbers(text: str) -> None:
    assert re.match(NUMBER_PATTERN, text)
    float(text)


@pytest.mark.parametrize("text", ["", "1,5", "0x10", "1_000", "1e", "e5", ".", "--1", "1 2", "\u0661", "nano", "1\n2"])
def test_no_numbers(text: str) -> None:
    assert not re.match(NUMBER_PATTERN, text)
