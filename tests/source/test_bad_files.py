"""Every broken file is refused in words: where, what, what was found, and the remedy; skipping counts rows."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.refusal import refusal

from bayesbox import errors
from bayesbox.errors import BadData, BadRow, KindContradiction, SourceUnavailable
from bayesbox.source.files import reading, streams
from bayesbox.source.files.open import open_source

GOOD = b"age,car\n" + b"25,suv\n" * 5
LONG = b"x" * ((1 << 20) + 1)


def read(path: object, **options: Any) -> int:
    return sum(batch.rows for batch in open_source(path, **options).batches())  # type: ignore[arg-type]


BROKEN_ROWS: dict[str, tuple[str, bytes, type[BadData], list[str]]] = {
    "too few fields": ("p.csv", GOOD + b"25\n", BadRow, ["line 7", "1 field where the header has 2", "'25'"]),
    "too many fields": ("p.csv", GOOD + b"25,suv,x\n", BadRow, ["line 7", "3 fields where the header has 2"]),
    "trailing comma": ("p.csv", GOOD + b"25,suv,\n", BadRow, ["line 7", "3 fields"]),
    "ragged at the end": ("p.csv", GOOD + b"25", BadRow, ["line 7", "1 field where"]),
    "after a quoted line": ("p.csv", GOOD + b'2,"a\nb"\n\n25\n', BadRow, ["line 10", "1 field where"]),
    "NUL": ("p.csv", GOOD + b"25,s\0v\n", BadRow, ["line 7, column `car`", "NUL", "s\\x00v"]),
    "NUL in a number": ("p.csv", GOOD + b"2\0,suv\n", BadRow, ["line 7, column `age`", "NUL"]),
    "latin1": ("p.csv", GOOD + "25,Citro\u00ebn\n".encode("latin1"), BadRow, ["line 7, column `car`", "UTF-8"]),
    "long cell": ("p.csv", GOOD + b"25," + LONG + b"\n", BadRow, ["line 7, column `car`", "over the limit"]),
    "long quoted cell": ("p.csv", GOOD + b'25,"' + LONG + b'"\n', BadRow, ["line 7, column `car`", "over the"]),
    "endless row": ("p.csv", GOOD + b"a," * 300_000 + b"\n", BadRow, ["line 7", "fields"]),
    "unclosed quote": ("p.csv", GOOD + b'25,"suv\n', BadRow, ["line 7", "never closed"]),
    "text in a number": (
        "p.csv",
        b"age,car\n" + b"25,suv\n" * 2000 + b"old,suv\n",
        KindContradiction,
        ["line 2002, column `age`", "'old'", "columns={'age': 'category'}", "na=['old']"],
    ),
    "not true or false": (
        "p.csv",
        b"young,car\n" + b"true,suv\n" * 2000 + b"maybe,suv\n",
        KindContradiction,
        ["line 2002, column `young`", "true or false", "'maybe'"],
    ),
    "not a JSON": ("p.jsonl", b'{"age": 1}\n{"age" 2}\n', BadRow, ["line 2", "not a JSON object", "character 8"]),
    "cut JSON": ("p.jsonl", b'{"age": 1}\n{"age": 2', BadRow, ["line 2", "not a JSON object"]),
    "JSON number": ("p.jsonl", b'{"age": 1}\n3\n', BadRow, ["line 2", "one object per line"]),
    "two objects": ("p.jsonl", b'{"age": 0}\n{"age": 1} {"age": 2}\n', BadRow, ["line 2", "Extra data"]),
    "key twice": ("p.jsonl", b'{"age": 1}\n{"age": 1, "age": 2}\n', BadRow, ["line 2", "`age` occurs twice"]),
    "JSON NUL": ("p.jsonl", b'{"age": 1}\n{"age": \0}\n', BadRow, ["line 2"]),
    "JSON latin1": ("p.jsonl", b'{"car": "a"}\n{"car": "\xeb"}\n', BadRow, ["line 2", "UTF-8"]),
    "JSON surrogate": ("p.jsonl", b'{"car": "a"}\n{"car": "\\ud800"}\n', BadRow, ["line 2, column `car`", "Unicode"]),
    "JSON deep": ("p.jsonl", b'{"age": 1}\n' + b"[" * 100_000 + b"\n", BadRow, ["line 2", "nested"]),
    "JSON deep list": (
        "p.jsonl",
        b'{"age": 1, "car": "a"}\n{"car": "b", "age": ' + b"[" * 20_000 + b"]" * 20_000 + b"}\n",
        BadRow,
        ["line 2, column `age`", "nested"],
    ),
    "JSON deep object": (
        "p.jsonl",
        b'{"age": 1, "car": "a"}\n{"age": ' + b'{"a":' * 20_000 + b"1" + b"}" * 20_000 + b"}\n",
        BadRow,
        ["line 2, column `age`", "nested"],
    ),
    "JSON long": ("p.jsonl", b'{"car": "a"}\n{"car": "' + LONG + b'"}\n', BadRow, ["line 2, column `car`", "limit"]),
    "JSON list": ("p.jsonl", b'{"age": 1}\n{"age": [1]}\n', BadData, ["line 2, column `age`", "nested", "[1]"]),
    "JSON object": ("p.jsonl", b'{"age": 1}\n{"age": {"a": 1}}\n', BadData, ["line 2, column `age`", "nested"]),
    "JSON text in a number": (
        "p.jsonl",
        b'{"age": 25}\n' * 2000 + b'{"age": "old"}\n',
        KindContradiction,
        ["line 2001, column `age`", "'old'", "columns={'age': 'category'}"],
    ),
    "JSON new key": (
        "p.jsonl",
        b'{"age": 25}\n' * 2000 + b'{"car": "suv"}\n',
        BadData,
        ["line 2001", "`car` appears for the first time", "null in the first row"],
    ),
}


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("case", BROKEN_ROWS)
def test_broken_rows_are_named(tmp_path: Path, case: str) -> None:
    name, data, kind, pieces = BROKEN_ROWS[case]
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(kind) as caught:
        read(path)
    message = str(caught.value)
    for piece in [name, *pieces]:
        assert piece in message
    assert caught.value.exit_code == 3
    assert caught.value.remedy
    assert len(message) < 600 + len(str(path))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("case", BROKEN_ROWS)
def test_broken_rows_can_be_skipped(tmp_path: Path, case: str) -> None:
    name, data, _, pieces = BROKEN_ROWS[case]
    path = tmp_path / name
    path.write_bytes(data)
    source = open_source(path, bad_rows="skip")
    rows = sum(batch.rows for batch in source.batches())
    assert source.skipped.count == 1
    assert len(source.skipped.first) == 1
    assert pieces[0] in source.skipped.first[0]
    lines = data.count(b"\n") - (name == "p.csv") + (not data.endswith(b"\n"))
    inside = data.count(b"\n\n") + data.count(b"a\nb")
    assert rows == lines - inside - 1


def test_skipping_keeps_the_first_few_messages(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_bytes(b"age,car\n" + b"25,suv\n25\n" * 50)
    source = open_source(path, bad_rows="skip")
    for _ in range(2):  # a second pass counts anew
        assert sum(batch.rows for batch in source.batches()) == 50
        assert source.skipped.count == 50
        assert len(source.skipped.first) == 5
    assert "line 3" in source.skipped.first[0]


def parquet(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return sink.getvalue().to_pybytes()


def arrow(table: pa.Table, *, stream: bool = False) -> bytes:
    sink = pa.BufferOutputStream()
    writer = pa.ipc.new_stream if stream else pa.ipc.new_file
    with writer(sink, table.schema) as file:
        file.write_table(table)
    return sink.getvalue().to_pybytes()


def crafted_offsets() -> bytes:
    """An Arrow file whose text offsets point far outside its data."""
    texts = pa.array(["sports", "suv"])
    offsets = pa.py_buffer(b"".join(value.to_bytes(4, "little") for value in (0, 1_000_000, 9)))
    crafted = pa.Array.from_buffers(pa.string(), 2, [None, offsets, texts.buffers()[2]])
    return arrow(pa.Table.from_arrays([crafted], ["car"]))


def crafted_codes(codes: pa.DataType) -> bytes:
    """A dictionary-coded column with a code beyond its dictionary."""
    crafted = pa.DictionaryArray.from_arrays(pa.array([0, 9], type=codes), pa.array(["suv"]), safe=False)
    return arrow(pa.Table.from_arrays([crafted], ["car"]))


PEOPLE = pa.table({"age": list(range(1000)), "car": ["suv", "sports"] * 500})
NESTED = pa.table({"age": [1], "visits": [[1, 2]]})

BAD_FILES: dict[str, tuple[str, bytes, list[str]]] = {
    "empty": ("p.csv", b"", ["empty", "header"]),
    "blank": ("p.csv", b"\n\r\n\n", ["empty", "header"]),
    "empty tsv": ("p.tsv", b"", ["empty", "header"]),
    "names twice": ("p.csv", b"age,age\n1,2\n", ["two columns are named `age`", "Rename"]),
    "no name": ("p.csv", b",age\n1,2\n", ["column 1 has no name", "index=False"]),
    "header NUL": ("p.csv", b"a\0ge,car\n1,2\n", ["line 1", "NUL"]),
    "header latin1": ("p.csv", b"\xe2ge,car\n1,2\n", ["line 1", "UTF-8", "encoding='cp1252'"]),
    "header unclosed": ("p.csv", b'"age,car\n1,2\n', ["line 1", "in the header", "never closed"]),
    "utf-16": ("p.csv", "age,car\n1,2\n".encode("utf-16-le"), ["UTF-8", "encoding='utf-16-le'"]),
    "too many columns": ("p.csv", b"a" + b",a" * 100_000 + b"\n", ["more than 100000 columns"]),
    "endless header": ("p.csv", b"a," * (8 << 20), ["more than 100000 columns"]),
    "damaged gz": ("p.csv.gz", b"\x1f\x8b" + b"x" * 100, ["damaged", "again"]),
    "truncated gz": ("p.csv.gz", gzip.compress(GOOD)[:-10], ["truncated", "again"]),
    "truncated bz2": ("p.csv.bz2", bz2.compress(GOOD)[:-10], ["truncated"]),
    "truncated zst": ("p.csv.zst", pa.compress(GOOD, codec="zstd", asbytes=True)[:-4], ["truncated"]),
    "no gz": ("p.csv.gz", GOOD, ["is not a .gz file"]),
    "no zst": ("p.csv.zst", GOOD, ["is not a .zst file"]),
    "JSON array": ("p.jsonl", json.dumps([{"age": 1}]).encode(), ["JSON array", "jq"]),
    "JSON empty name": ("p.jsonl", b'{"": 1}\n', ["column 1 has no name"]),
    "no parquet": ("p.parquet", GOOD, ["not a valid Parquet file"]),
    "empty parquet": ("p.parquet", b"", ["not a valid Parquet file"]),
    "cut parquet": ("p.parquet", parquet(PEOPLE)[:-20], ["not a valid Parquet file"]),
    "nested parquet": ("p.parquet", parquet(NESTED), ["column `visits`", "nested", "list"]),
    "no arrow": ("p.arrow", GOOD, ["not a valid Arrow file"]),
    "empty arrow": ("p.arrow", b"", ["not a valid Arrow file"]),
    "cut arrow": ("p.arrow", arrow(PEOPLE)[:-40], ["not a valid Arrow file"]),
    "cut stream": ("p.arrows", arrow(PEOPLE, stream=True)[:-2000], ["not a valid Arrow file"]),
    "nested arrow": ("p.feather", arrow(NESTED), ["column `visits`", "nested"]),
    "feather 1": ("p.feather", b"FEA1" + b"x" * 50, ["Feather file of version 1"]),
    "crafted offsets": ("p.arrow", crafted_offsets(), ["not a valid Arrow file"]),
    "crafted codes": ("p.arrow", crafted_codes(pa.int64()), ["not a valid Arrow file"]),
    "crafted short codes": ("p.arrow", crafted_codes(pa.int32()), ["not a valid Arrow file"]),
    "arrow names twice": (
        "p.arrow",
        arrow(pa.Table.from_arrays([pa.array([1])] * 2, ["age", "age"])),
        ["named `age`"],
    ),
    "arrow bad bytes": ("p.arrow", arrow(pa.table({"car": [b"\xff"]})), ["column `car`", "UTF-8"]),
}


@pytest.mark.parametrize("bad_rows", ["error", "skip"])
@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files_are_refused(tmp_path: Path, case: str, bad_rows: str) -> None:
    name, data, pieces = BAD_FILES[case]
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(BadData) as caught:
        read(path, bad_rows=bad_rows)
    for piece in [name, *pieces]:
        assert piece in str(caught.value)


@pytest.mark.parametrize("position", range(0, len(parquet(PEOPLE)), 97))
def test_flipped_bytes_of_parquet_never_escape(tmp_path: Path, position: int) -> None:
    """Whatever byte is flipped: the rows are read, or it is bad data; nothing else is raised."""
    data = bytearray(parquet(PEOPLE))
    data[position] ^= 0xFF
    path = tmp_path / "p.parquet"
    path.write_bytes(data)
    with contextlib.suppress(BadData):
        assert read(path) == 1000


def test_a_file_that_grows_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"age,car\n" + b"25,suv\n" * 1_000_000
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(data))
    assert len(data) > 100 * path.stat().st_size
    assert read(path) == 1_000_000  # below the floor
    monkeypatch.setattr(streams, "INFLATION_FLOOR", 1 << 20)
    with refusal(BadData, where="bomb.csv.gz", found="4194304 bytes out of 10240") as caught:
        read(path)
    assert "decompress it yourself" in str(caught.value)


@pytest.mark.parametrize(
    ("data", "bad_rows"),
    [(b"a" * (9 << 20), "error"), (b"a" * (9 << 20), "skip"), (GOOD + b'"' + b"a\n" * (5 << 20), "error")],
)
def test_a_row_that_never_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, bad_rows: str) -> None:
    monkeypatch.setattr(reading, "ROW_LIMIT", 4 << 20)
    path = tmp_path / "p.csv"
    path.write_bytes(data)
    with refusal(BadData, where="p.csv, line "):
        read(path, bad_rows=bad_rows)


LONG = "red suv\n" * 700_000  # longer than a block, and than a cell of a table may be
FORMS = {
    "p.csv": lambda rows: "age,text\n" + "".join(f'{age},"{text}"\n' for age, text in rows),
    "p.jsonl": lambda rows: "".join(json.dumps({"age": age, "text": text}) + "\n" for age, text in rows),
}


@pytest.mark.parametrize("name", FORMS)
def test_documents_may_be_long(tmp_path: Path, name: str) -> None:
    """Only where they are asked for; the rows behind them are read in blocks as before."""
    rows = [(1, "kiwi"), (2, LONG), *((3, f"sheep {number}") for number in range(400_000))]
    (tmp_path / name).write_text(FORMS[name](rows))
    with refusal(BadRow, what="1048576", where="column `text`"):
        read(tmp_path / name)
    source = open_source(tmp_path / name, text=frozenset({"text"}), documents=frozenset({"text"}))
    batches = list(source.batches())
    assert [text for batch in batches for text in batch["text"].to_pylist()] == [text for _, text in rows]
    assert len(batches) >= 3


@pytest.mark.parametrize("name", FORMS)
def test_documents_over_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(reading, "DOCUMENT_LIMIT", 2 << 20)
    (tmp_path / name).write_text(FORMS[name]([(1, "kiwi"), (2, LONG), (3, "sheep")]))
    options: dict[str, Any] = {"text": frozenset({"text"}), "documents": frozenset({"text"})}
    with refusal(BadRow, what="2097152", where="column `text`") as caught:
        list(open_source(tmp_path / name, **options).batches())
    assert "line 3" in str(caught.value) or "line 2" in str(caught.value)
    skipping = open_source(tmp_path / name, bad_rows="skip", **options)
    texts = [text for batch in skipping.batches() for text in batch["text"].to_pylist()]
    assert (texts, skipping.skipped.count) == (["kiwi", "sheep"], 1)


def test_an_unclosed_quote_stops_early(tmp_path: Path) -> None:
    """The rest of a large file is not swallowed as one cell."""
    path = tmp_path / "p.csv"
    path.write_bytes(GOOD + b'25,"suv\n' + b"25,suv\n" * 3_000_000)
    with refusal(BadRow, where="line 7, column `car`"):
        read(path)


def test_what_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(GOOD)
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "notes.md").write_text("no data")
    cases = {
        "peple.csv": "people.csv",
        "nowhere/people.csv": None,
        "*.parquet": None,
        "empty": ".csv",
    }
    for name, remedy in cases.items():
        with refusal(SourceUnavailable, where=name) as caught:
            read(tmp_path / name)
        assert (remedy or "") in (caught.value.remedy or "")
        assert caught.value.exit_code == 74
        assert isinstance(caught.value, OSError)


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "people.csv"
    path.write_bytes(GOOD)
    monkeypatch.setattr("builtins.open", refuse)
    with refusal(SourceUnavailable, remedy="permissions"):
        read(path)


def test_options_are_checked(tmp_path: Path) -> None:
    for options in ({"bad_rows": "ignore"}, {"na": "NA"}, {"format": "xls"}):
        with pytest.raises(errors.BadOption) as caught:
            open_source(tmp_path / "p.csv", **options)  # type: ignore[arg-type]
        assert caught.value.exit_code == 2
    with pytest.raises(errors.BadOption):
        open_source([])


@pytest.mark.parametrize(
    ("data", "what", "remedy"),
    [
        (b"PK\x03\x04\x14\x00", "zip", "format='excel'"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Excel", "CSV"),
        (b"SQLite format 3\x00", "database", "bb.sql"),
        (b"\xfd7zXZ\x00", "xz", "xz -d"),
    ],
)
@pytest.mark.parametrize("name", ["people.data", "people.csv"])
def test_what_is_no_table_is_called_by_its_name(tmp_path: Path, name: str, data: bytes, what: str, remedy: str) -> None:
    (tmp_path / name).write_bytes(data)
    with refusal(BadData, what=what, remedy=remedy, where=name):
        read(tmp_path / name)
