"""CSV and TSV: the values that Python's csv module reads, typed; kinds settled by the first values."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.refusal import refusal
from tests.source.walk import walked

from bayesbox.errors import BadRow, KindContradiction
from bayesbox.source.files import delimited, reading
from bayesbox.source.files.numerals import Numerals
from bayesbox.source.files.open import open_source


def write(folder: Path, text: str | bytes, name: str = "people.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def rows_of(path: Path, **options: Any) -> dict[str, list[Any]]:
    """All values by column, NaN as None; and the numbers of the first rows are right."""
    columns: dict[str, list[Any]] = {}
    rows = 0
    for batch in open_source(path, **options).batches():
        assert batch.first_row == rows
        rows += batch.rows
        for name, column in zip(batch.names, batch.columns, strict=True):
            assert len(column) == batch.rows
            column.validate(full=True)
            columns.setdefault(name, []).extend(column.to_pylist())
    return {
        name: [None if isinstance(value, float) and math.isnan(value) else value for value in values]
        for name, values in columns.items()
    }


def test_kinds(tmp_path: Path) -> None:
    path = write(tmp_path, "age,car,young,zip\n25,sports,true,02134\n ,suv,FALSE,10001\n1e2,,,\n".replace(" ,", ","))
    batch = next(open_source(path, text=frozenset({"zip"})).batches())
    types = [column.type for column in batch.columns]
    coded = pa.dictionary(pa.int32(), pa.string())
    assert types == [pa.float64(), coded, pa.bool_(), coded]
    assert batch["age"].to_pylist() == [25.0, None, 100.0]
    assert batch["young"].to_pylist() == [True, False, None]
    assert batch["zip"].to_pylist() == ["02134", "10001", None]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1e5", 1e5),
        (".28", 0.28),
        ("+3", 3.0),
        ("-0", -0.0),
        ("01", 1.0),
        ("00202", 202.0),
        ("5.", 5.0),
        (" 3 ", 3.0),
        ("\t3", 3.0),
        ('"3"', 3.0),
        ("inf", math.inf),
        ("-Infinity", -math.inf),
        ("1e400", math.inf),
        ("1e-400", 0.0),
        ("nan", None),
        ("NaN", None),
        ("", None),
        ('""', None),
        ("0.1", 0.1),
        ("9007199254740993", 9007199254740992.0),
        ("123456789012345678901234567890", 123456789012345678901234567890.0),
    ],
)
def test_numbers(tmp_path: Path, text: str, number: float | None) -> None:
    path = write(tmp_path, f"age,car\n7,suv\n{text},suv\n")
    assert rows_of(path)["age"] == [7.0, number]


@given(st.floats(allow_nan=False))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_every_double_reads_back(tmp_path: Path, number: float) -> None:
    path = write(tmp_path, f"age,car\n{number!r},suv\n")
    assert rows_of(path)["age"] == [number]


number_like = st.from_regex(
    r"[ \t]{0,2}[+-]?([0-9]{1,4}\.?[0-9]{0,4}|\.[0-9]{1,4})([eE][+-]?[0-9]{1,3})?[ \t]{0,2}", fullmatch=True
)


@given(st.lists(number_like, min_size=1, max_size=5))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
def test_what_looks_like_a_number_is_read_as_one(tmp_path: Path, numbers: list[str]) -> None:
    path = write(tmp_path, "age,car\n" + "".join(f"{number},suv\n" for number in numbers))
    assert rows_of(path)["age"] == [float(number) for number in numbers]


@pytest.mark.parametrize("text", ["0x10", "1_000", "1,5", "1 2", "--1", "\u0661", "1e"])
def test_what_no_double_reads_is_text(tmp_path: Path, text: str) -> None:
    assert rows_of(write(tmp_path, f'age,car\n"{text}",suv\n'))["age"] == [text]


def test_missing_words(tmp_path: Path) -> None:
    path = write(tmp_path, "age,car\n25,NA\n?,suv\nNA,?\n")
    assert rows_of(path, na=["NA", "?"]) == {"age": [25.0, None, None], "car": [None, "suv", None]}
    assert rows_of(path)["age"] == ["25", "?", "NA"]


def test_nan_is_a_word_in_a_text_column(tmp_path: Path) -> None:
    assert rows_of(write(tmp_path, "age,car\n1,nan\n2,suv\n"))["car"] == ["nan", "suv"]


def test_declared_numbers(tmp_path: Path) -> None:
    path = write(tmp_path, "age,car\n,suv\n25,suv\n")
    batch = next(open_source(path, number=frozenset({"age"})).batches())
    assert batch["age"].type == pa.float64()
    with refusal(KindContradiction, column="car", where="line 2, column `car`", found="suv"):
        rows_of(path, number=frozenset({"car"}))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("\ufeffage,car\n25,suv\n", "byte order mark"),
        ("age,car\r\n25,suv\r\n", "windows line ends"),
        ("age,car\r25,suv\r", "old mac line ends"),
        ("\n\nage,car\n\n25,suv\n\n\r\n", "blank lines"),
        ("age,car\n25,suv", "no last line end"),
        ('"age","car"\n"25","suv"\n', "everything quoted"),
        ('"age",car\n25,"suv"', "quoted to the last byte"),
        ("age\tcar\n25\tsuv\n", "tabs"),
        ("age;car\n25;suv\n", "semicolons"),
    ],
)
def test_dialects(tmp_path: Path, text: str, why: str) -> None:
    assert rows_of(write(tmp_path, text)) == {"age": [25.0], "car": ["suv"]}, why


def test_tsv_keeps_commas(tmp_path: Path) -> None:
    path = write(tmp_path, "age\tcar, colour\n25\tsuv, red\n", "people.tsv")
    assert rows_of(path) == {"age": [25.0], "car, colour": ["suv, red"]}


def test_one_column(tmp_path: Path) -> None:
    assert rows_of(write(tmp_path, 'car\nsuv\n""\n\nsports\n')) == {"car": ["suv", None, "sports"]}


def test_quotes_inside_of_unquoted_fields_are_text(tmp_path: Path) -> None:
    path = write(tmp_path, 'size,car\n5" disk,suv\n"3"" disk",a "b" c\n4", "x"\n')
    assert rows_of(path) == {"size": ['5" disk', '3" disk', '4"'], "car": ["suv", 'a "b" c', ' "x"']}


STRAY = {
    "two rows would be one": ('id,x,y\n1,a,p\n2,"b,q\n3,"c,p\n4,d,q\n', 3, "x", [1.0, 4.0], 2),
    "text behind": ('id,x,y\n1,"a"b,p\n2,c,q\n', 2, "x", [2.0], 1),
    "a space behind": ('id,x,y\n1,"a" ,p\n2,c,q\n', 2, "x", [2.0], 1),
    "a quote behind": ('id,x,y\n1,"a" "b",p\n2,c,q\n', 2, "x", [2.0], 1),
    "in the last field": ('id,x,y\n1,a,"p"q\n2,c,q\n', 2, "y", [2.0], 1),
    "in the first field": ('id,x,y\n"1"0,a,p\n2,c,q\n', 2, "id", [2.0], 1),
    "on the second line of a row": ('id,x,y\n1,"a\nb","p"q\n2,c,q\n', 3, "y", [2.0], 1),
    "never closed": ('id,x,y\n1,a,p\n2,"b,q\n3,c,p\n4,"d\ne",q\n5,f,p', 3, "x", [1.0, 3.0, 4.0, 5.0], 1),
    "never closed to the end": ('id,x,y\n1,a,p\n2,b,"q\n3,c,p\n', 3, "y", [1.0, 3.0], 1),
    "beside text with quotes": ('id,x,y\n1,5" disk,p\n2,"b"c,q\n3,"5"" disk",p\n', 3, "x", [1.0, 3.0], 1),
}


@pytest.mark.parametrize("blocks", ["whole", "small_blocks"])
@pytest.mark.parametrize("case", STRAY)
def test_quotes_that_do_not_enclose_a_field(
    tmp_path: Path, case: str, blocks: str, request: pytest.FixtureRequest
) -> None:
    if blocks == "small_blocks":
        request.getfixturevalue(blocks)
    text, line, column, kept, skipped = STRAY[case]
    path = write(tmp_path, text)
    with refusal(BadRow, where=f"line {line}, column `{column}`", remedy="double the quotes") as caught:
        rows_of(path)
    assert caught.value.exit_code == 3
    source = open_source(path, bad_rows="skip")
    assert [value for batch in source.batches() for value in batch["id"].to_pylist()] == kept
    assert source.skipped.count == skipped
    if column == "x":  # a fault of the row, whether the column is read or not
        with refusal(BadRow, where=f"line {line}"):
            rows_of(path, unread=frozenset({"x"}))


@pytest.mark.parametrize("header", ['"id"x,y', 'id,"y', '"id" ,y'])
def test_quotes_that_do_not_enclose_a_name(tmp_path: Path, header: str) -> None:
    with refusal(BadRow, where="line 1"):
        rows_of(write(tmp_path, f"{header}\n1,a\n2,b\n"))


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_a_quoted_header_tells_its_delimiter(tmp_path: Path, delimiter: str) -> None:
    names = delimiter.join(['"id"', '"a, b"'])
    assert rows_of(write(tmp_path, f"{names}\n1{delimiter}x\n")) == {"id": [1.0], "a, b": ["x"]}


def test_a_quote_never_closed_costs_one_row_of_a_large_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_blocks: None
) -> None:
    """Broken rows are skipped: the quote is taken for open only after as many bytes as a row may have."""
    monkeypatch.setattr(reading, "ROW_LIMIT", 1 << 14)
    monkeypatch.setattr(reading, "CELL_LIMIT", 1 << 12)
    path = write(tmp_path, 'id,x\n1,"a\n' + "2,b\n" * 20_000)
    source = open_source(path, bad_rows="skip")
    assert sum(batch.rows for batch in source.batches()) == 20_000
    assert source.skipped.count == 1


def test_header_only_gives_no_batch(tmp_path: Path) -> None:
    assert list(open_source(write(tmp_path, "age,car\n")).batches()) == []
    assert list(open_source(write(tmp_path, "age,car")).batches()) == []


@pytest.mark.usefixtures("small_blocks")
def test_a_column_is_undecided_until_its_first_value(tmp_path: Path) -> None:
    rows = "".join(f"{index},,\n" for index in range(100)) + "100,suv,3\n" + "101,,\n" * 20
    batches = list(open_source(write(tmp_path, "id,car,age\n" + rows)).batches())
    assert len(batches) > 3
    first, last = batches[0], batches[-1]
    assert (first["car"].type, first["age"].type) == (pa.null(), pa.null())
    assert last["car"].type == pa.dictionary(pa.int32(), pa.string())
    assert last["age"].type == pa.float64()
    assert [value for batch in batches for value in batch["age"].to_pylist() if value is not None] == [3.0]


@pytest.mark.usefixtures("small_blocks")
def test_the_first_value_settles_the_kind(tmp_path: Path) -> None:
    rows = ",x\n" * 100 + "3,x\n" * 100 + "x,x\n"
    with refusal(KindContradiction, column="age", where="line 202, column `age`", found="x"):
        rows_of(write(tmp_path, "age,car\n" + rows))


cell = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
tables = st.integers(1, 4).flatmap(lambda width: st.lists(st.lists(cell, min_size=width, max_size=width), max_size=12))


@given(tables, st.booleans(), st.sampled_from(["\n", "\r\n"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@pytest.mark.usefixtures("small_blocks")
def test_random_tables_read_as_the_csv_module_reads_them(
    tmp_path: Path, table: list[list[str]], quote_all: bool, ending: str
) -> None:
    if not quote_all:  # the csv module does not quote a lone carriage return
        table = [[value.replace("\r", "") for value in row] for row in table]
    width = len(table[0]) if table else 1
    names = [f"column {index}" for index in range(width)]
    file = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL
    csv.writer(file, lineterminator=ending, quoting=quoting).writerows([names, *table])
    found = rows_of(write(tmp_path, file.getvalue()), text=frozenset(names))
    expected = [[value or None for value in row] for row in table]
    assert [list(row) for row in zip(*found.values(), strict=True)] == expected


@given(st.lists(st.text(st.sampled_from('a",\n '), max_size=8), max_size=30))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@pytest.mark.usefixtures("small_blocks")
def test_rough_quotes_read_as_a_walk_reads_them(tmp_path: Path, lines: list[str]) -> None:
    """Rows without a fault come out as a walk over the letters finds them, wherever blocks are cut."""
    text = "car,colour\n" + "".join(f"{line},z\n" for line in lines)
    rows, faults = walked(text)
    source = open_source(write(tmp_path, text), text=frozenset({"car", "colour"}), bad_rows="skip")
    found = [row for batch in source.batches() for row in zip(*(c.to_pylist() for c in batch.columns), strict=True)]
    assert found == [tuple(value or None for value in row) for row in rows[1:] if len(row) == 2]
    assert source.skipped.count == faults + sum(len(row) != 2 for row in rows[1:])


@pytest.mark.usefixtures("small_blocks")
def test_many_blocks_are_one_table(tmp_path: Path) -> None:
    rows = "".join(f'{index},"level ""{index % 7}""\nline"\n' for index in range(500))
    found = rows_of(write(tmp_path, "id,car\n" + rows))
    assert found["id"] == [float(index) for index in range(500)]
    assert found["car"] == [f'level "{index % 7}"\nline' for index in range(500)]


@pytest.mark.usefixtures("small_blocks")
def test_carriage_returns_alone_end_lines_in_every_block(tmp_path: Path) -> None:
    text = "id,car\r" + "".join(f"{index},suv\r" for index in range(200))
    assert rows_of(write(tmp_path, text))["id"] == [float(index) for index in range(200)]
    with refusal(BadRow, where="line 202", found="200"):
        rows_of(write(tmp_path, text + "200\r"))


@pytest.mark.usefixtures("small_blocks")
def test_a_byte_order_mark_inside_the_file_is_text(tmp_path: Path) -> None:
    text = "car,colour\n" + "\ufeffsuv,red\n" * 50
    assert rows_of(write(tmp_path, text))["car"] == ["\ufeffsuv"] * 50


def test_many_columns(tmp_path: Path) -> None:
    names = ",".join(f"x{index}" for index in range(3000))
    row = ",".join(str(index) for index in range(3000))
    found = rows_of(write(tmp_path, f"{names}\n{row}\n{row}\n"))
    assert len(found) == 3000
    assert found["x2999"] == [2999.0, 2999.0]


def test_threads_read_the_same(tmp_path: Path) -> None:
    path = write(tmp_path, "age,car\n" + "25,suv\n,sports\n" * 1000)
    assert rows_of(path, threads=2) == rows_of(path)


CELLS = st.sampled_from(["1", " 2.5", "1e3", "-.5", "nan", "true", "F", "yes", "suv", "", "1,000", "3\n", "12%", None])


@given(
    st.lists(CELLS, max_size=30), st.booleans(), st.sampled_from([Numerals(), Numerals(",", "."), Numerals(".", ",")])
)
def test_few_texts_are_told_apart_as_many_are(cells: list[str | None], refuse_mixed: bool, numerals: Numerals) -> None:
    texts = pa.chunked_array([pa.array(cells, pa.string())])
    few = delimited._kind_of_texts(texts, numerals, refuse_mixed=refuse_mixed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "FEW", -1)
        assert delimited._kind_of_texts(texts, numerals, refuse_mixed=refuse_mixed) == few
