"""Tables as delimited text: the digits of Arrow, the quotes of the csv module, and no formulas."""

import csv
import io
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bayesbox import _core
from bayesbox.cli.print.writers import table_writer

CELLS = st.text(alphabet="ab1.,;\"\r\n\t'=+-@e é", max_size=6)


def written(table: pa.Table, *, format: str = "csv", escape: bool = False) -> str:
    file = io.BytesIO()
    with table_writer(file, format, tuple(table.column_names), escape=escape) as write:
        write(table)
    return file.getvalue().decode()


@given(st.lists(st.floats() | st.integers(-(10**18), 10**18).map(float), min_size=1, max_size=20))
@example(
    [
        1e-5,
        1e-6,
        1e15,
        1e14,
        123456789012345680.0,
        1e10,
        9999999999.5,
        1e9,
        1e-7,
        -0.0,
        0.1,
        5e-324,
        1.7976931348623157e308,
        100.0,
    ]
)
def test_numbers_have_the_digits_of_arrow(numbers: list[float]) -> None:
    column = pa.array(np.array(numbers))
    lines = written(pa.table({"x": column})).splitlines()[1:]
    assert lines == column.cast(pa.string()).to_pylist()
    assert all(float(line) == number or math.isnan(number) for line, number in zip(lines, numbers, strict=True))


@given(st.lists(st.tuples(CELLS, st.none() | CELLS), max_size=8), st.sampled_from(["csv", "tsv"]))
def test_texts_come_back(rows: list[tuple[str, str | None]], format: str) -> None:
    table = pa.table(
        {"a,b": pa.array([a for a, _ in rows], pa.string()), "c": pa.array([b for _, b in rows], pa.string())}
    )
    text = written(table, format=format)
    found = list(csv.reader(io.StringIO(text, newline=""), delimiter="\t" if format == "tsv" else ","))
    assert found == [["a,b", "c"], *([a, b or ""] for a, b in rows)]


def test_columns_of_every_kind() -> None:
    table = pa.table(
        {
            "whole": pa.array([1, None, 2**63 - 1]),
            "large": pa.array([2**64 - 1, 0, None], pa.uint64()),
            "real": pa.array([0.5, None, 2.0]),
            "single": pa.array([0.1, None, 2.0], pa.float32()),
            "flag": pa.array([True, False, None]),
            "level": pa.array(["a,b", "=1+1", None]).dictionary_encode(),
            "day": pa.array([0, None, 1], pa.date32()),
            "empty": pa.nulls(3),
        }
    )
    assert written(table, escape=True).splitlines()[1:] == [
        '1,18446744073709551615,0.5,0.1,true,"a,b",1970-01-01,',
        ",0,,,false,'=1+1,,",
        "9223372036854775807,,2,2,,,1970-01-02,",
    ]
    assert written(table.slice(1, 1), escape=True).splitlines()[1:] == [",0,,,false,'=1+1,,"]


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("@cmd", "'@cmd"),
        ("-x", "'-x"),
        ("-", "-"),
        ("-1.5e-3", "-1.5e-3"),
        ("+.5", "+.5"),
        ("-1.", "-1."),
        ("+", "+"),
        ("-.", "'-."),
        ("-1e", "'-1e"),
        ("-1 ", "'-1 "),
        ('="a"', '"\'=""a"""'),
        ("x=1", "x=1"),
    ],
)
def test_a_formula_is_escaped(text: str, cell: str) -> None:
    assert written(pa.table({"x": [text]}), escape=True) == f"x\n{cell}\n"


def test_a_line_of_one_empty_cell_is_a_row() -> None:
    assert written(pa.table({"x": ["", None, "a"]})) == 'x\n""\n""\na\n'
    assert written(pa.table({"x": pa.array([None, 2], pa.int64())})) == 'x\n""\n2\n'


def test_no_rows_are_the_head_alone() -> None:
    assert written(pa.table({"x": pa.array([], pa.string())})) == "x\n"


def test_rows_without_columns_are_refused() -> None:
    assert _core.delimited_lines([], 0, ",", True) == b""
    for rows in (1, 2**31, 2**62):
        with pytest.raises(ValueError, match="rows"):
            _core.delimited_lines([], rows, ",", True)
