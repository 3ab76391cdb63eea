"""Paths, patterns, folders, compressed files and standard input; sets of files; looking ahead."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.refusal import refusal

from bayesbox.errors import BadData, BadOption, KindContradiction
from bayesbox.source.base import Batch, Source
from bayesbox.source.files.open import expand, file_columns, open_source
from bayesbox.source.wrapped import peek

PEOPLE = "age,car\n25,suv\n40,sports\n"


def values(batches: list[Batch], name: str) -> list[Any]:
    return [value for batch in batches for value in batch[name].to_pylist()]


def ages(source: Source) -> list[Any]:
    return values(list(source.batches()), "age")


def packed(text: str, suffix: str) -> bytes:
    data = text.encode()
    if suffix == ".gz":
        return gzip.compress(data)
    if suffix == ".bz2":
        return bz2.compress(data)
    return bytes(pa.compress(data, codec="zstd", asbytes=True)) if suffix == ".zst" else data


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".zst"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("people.csv", PEOPLE),
        ("people.tsv", PEOPLE.replace(",", "\t")),
        ("people.jsonl", '{"age": 25}\n{"age": 40}\n'),
        ("people.unknown", PEOPLE),
        ("people", '{"age": 25}\n{"age": 40}\n'),
    ],
)
def test_compressed(tmp_path: Path, name: str, text: str, suffix: str) -> None:
    path = tmp_path / (name + suffix)
    path.write_bytes(packed(text, suffix))
    assert ages(open_source(path)) == [25.0, 40.0]
    os.rename(path, tmp_path / name)  # told by its first bytes, whatever the name
    assert ages(open_source(tmp_path / name)) == [25.0, 40.0]


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".zst"])
def test_compressed_members_one_after_the_other(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"people.csv{suffix}"
    path.write_bytes(packed(PEOPLE, suffix) + packed("31,suv\n", suffix))
    assert ages(open_source(path)) == [25.0, 40.0, 31.0]


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@pytest.mark.parametrize("name", ["people.parquet", "people.arrow", "people.arrows"])
def test_compressed_binaries(tmp_path: Path, name: str, suffix: str) -> None:
    table = pa.table({"age": [25, 40]})
    sink = pa.BufferOutputStream()
    if name.endswith("parquet"):
        pq.write_table(table, sink)
    else:
        new = pa.ipc.new_stream if name.endswith("s") else pa.ipc.new_file
        with new(sink, table.schema) as writer:
            writer.write_table(table)
    data = sink.getvalue().to_pybytes()
    path = tmp_path / (name + suffix)
    path.write_bytes(gzip.compress(data) if suffix == ".gz" else pa.compress(data, codec="zstd", asbytes=True))
    assert ages(open_source(path)) == [25, 40]


def test_a_name_that_looks_like_bz2(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("BZh9,age\n1,25\n")
    assert ages(open_source(path)) == [25.0]


def test_format_overrides_the_extension(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text('{"age": 25}\n')
    assert ages(open_source(path, format="jsonl")) == [25.0]
    path.write_text("age\tcar, colour\n25\tx\n")
    assert next(open_source(path, format="TSV").batches()).names == ("age", "car, colour")


def write_parts(folder: Path) -> None:
    (folder / "b.csv").write_text("car,age\nsuv,2\n")
    (folder / "a.csv").write_text("age,car\n1,suv\n")
    (folder / "c.jsonl").write_text('{"age": 3}\n')
    pq.write_table(pa.table({"car": ["suv"], "age": [4]}), folder / "d.parquet")
    (folder / "notes.txt").write_text("no data")
    (folder / "_temporary.csv").write_text("")
    (folder / ".hidden.csv").write_text("")


def odd_file(folder: Path, suffix: str) -> Path:
    """A number, and a column of what cannot be read: lists, or bytes that are no text."""
    path = folder / f"odd.{suffix}"
    table = pa.table({"odd": [[1], [2]], "age": [25.0, 40.0]})
    if suffix == "csv":
        path.write_bytes(b'odd,age\n\xff\xfe,25\n"a\nb",40\n')
    elif suffix == "jsonl":
        path.write_text('{"odd": [1], "age": 25}\n{"odd": {"x": 2}, "age": 40}\n')
    elif suffix == "parquet":
        pq.write_table(table, path, row_group_size=1)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    return path


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "arrow"])
def test_columns_that_are_not_read_may_hold_anything(tmp_path: Path, suffix: str) -> None:
    path = odd_file(tmp_path, suffix)
    with refusal(BadData, where="odd"):
        list(open_source(path).batches())
    for options in ({"unread": frozenset({"odd"})}, {"only": frozenset({"age"})}):
        source = open_source(path, **options)
        assert ages(source) == [25, 40]
        batches = list(source.batches())
        assert batches[0].names == ("odd", "age")
        assert values(batches, "odd") == [None, None]
        parts = source.parts(2)
        assert parts is None or values([batch for part in parts for batch in part.batches()], "age") == [25, 40]
    assert list(file_columns(path)) == ["odd", "age"]


def test_a_last_column_that_is_not_read_may_hold_lines(tmp_path: Path) -> None:
    rows = "".join(f'{row},"note\n{row}\n"\n' for row in range(200_000))
    (tmp_path / "notes.csv").write_text("age,note\n" + rows)
    source = open_source(tmp_path / "notes.csv", unread=frozenset({"note"}))
    assert ages(source) == list(range(200_000))


def test_keys_that_come_late_are_passed_over_where_they_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "late.jsonl").write_text('{"age": 1}\n' * 500_000 + '{"age": 2, "late": [3]}\n')
    with refusal(BadData, where="line 500001"):
        list(open_source(tmp_path / "late.jsonl").batches())
    assert ages(open_source(tmp_path / "late.jsonl", only=frozenset({"age"})))[-1] == 2


def test_columns_that_are_not_named_as_they_stand(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("id,age\n007,25\n")
    source = open_source(tmp_path / "people.csv", number=frozenset({"age"}), as_text=True)
    assert values(list(source.batches()), "id") == ["007"]
    assert ages(source) == [25]


def test_folders_patterns_and_lists(tmp_path: Path) -> None:
    write_parts(tmp_path)
    assert ages(open_source(tmp_path)) == [1.0, 2.0, 3.0, 4]
    assert ages(open_source(str(tmp_path / "[ab].csv"))) == [1.0, 2.0]
    assert ages(open_source([tmp_path / "b.csv", str(tmp_path / "a*")])) == [2.0, 1.0]
    source = open_source(tmp_path)
    assert source.name == f"{tmp_path / 'a.csv'} and 3 more"
    assert [batch.first_row for batch in source.batches()] == [0, 1, 2, 3]
    assert {batch.names for batch in source.batches()} == {("age", "car")}


def test_a_file_with_a_pattern_for_a_name(tmp_path: Path) -> None:
    (tmp_path / "a[1].csv").write_text(PEOPLE)
    assert ages(open_source(tmp_path / "a[1].csv")) == [25.0, 40.0]


def test_patterns_reach_into_folders(tmp_path: Path) -> None:
    (tmp_path / "x" / "y").mkdir(parents=True)
    (tmp_path / "x" / "y" / "p.csv").write_text(PEOPLE)
    assert expand(str(tmp_path / "**" / "*.csv")) == [str(tmp_path / "x" / "y" / "p.csv")]


def test_files_of_a_set_have_the_same_columns(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(PEOPLE)
    (tmp_path / "b.csv").write_text("age,colour\n1,red\n")
    with pytest.raises(BadData) as caught:
        list(open_source(tmp_path).batches())
    for piece in ("b.csv", "differ from those of", "a.csv", "lacks `car`", "adds `colour`"):
        assert piece in str(caught.value)


def test_files_of_a_set_may_differ_in_what_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("age,old\n25,x\n")
    (tmp_path / "2.csv").write_text("new,age\ny,40\n")
    with refusal(BadData, where="2.csv"):
        list(open_source(tmp_path).batches())
    batches = list(open_source(tmp_path, only=frozenset({"age"})).batches())
    assert values(batches, "age") == [25, 40]
    assert values(batches, "old") == [None, None]
    with refusal(BadData, where="2.csv"):
        list(open_source(tmp_path, unread=frozenset({"old"})).batches())


def test_an_empty_part_is_checked_too(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age,car\n")
    (tmp_path / "b.csv").write_text("car,age\n")
    (tmp_path / "c.csv").write_text(PEOPLE)
    assert ages(open_source(tmp_path)) == [25.0, 40.0]
    (tmp_path / "b.csv").write_text("age\n")
    with refusal(BadData, where="b.csv"):
        list(open_source(tmp_path).batches())


def test_kinds_last_from_file_to_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age,car,size\n1,,\n")
    (tmp_path / "b.csv").write_text("age,car,size\n2,3,\n")
    (tmp_path / "c.csv").write_text("age,car,size\n2,suv,\n")
    with pytest.raises(KindContradiction) as caught:
        list(open_source(tmp_path).batches())
    for piece in ("c.csv, line 2, column `car`", "'suv'"):
        assert piece in str(caught.value)


class Stdin:
    """Standard input that holds some bytes and cannot be rewound."""

    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)
        self.buffer.seekable = lambda: False  # type: ignore[method-assign]


def arrow_bytes(*, stream: bool) -> bytes:
    table = pa.table({"age": [25, 40]})
    sink = pa.BufferOutputStream()
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def parquet_bytes() -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"age": [25, 40]}), sink)
    return sink.getvalue().to_pybytes()


STDIN: dict[str, bytes] = {
    "csv": PEOPLE.encode(),
    "tsv": PEOPLE.replace(",", "\t").encode(),
    "jsonl": b'\n {"age": 25}\n{"age": 40}\n',
    "parquet": parquet_bytes(),
    "arrow": arrow_bytes(stream=False),
    "stream": arrow_bytes(stream=True),
    "gz": gzip.compress(PEOPLE.encode()),
    "parquet gz": gzip.compress(parquet_bytes()),
}


@pytest.mark.parametrize("case", STDIN)
def test_standard_input(monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    stdin = Stdin(STDIN[case])
    monkeypatch.setattr(sys, "stdin", stdin)
    source = open_source("-")
    assert source.name == "standard input"
    assert ages(source) == [25, 40]
    assert source.progress is None
    assert not stdin.buffer.closed


def test_standard_input_of_a_process() -> None:
    code = (
        "from bayesbox.source.files.open import open_source\n"
        "for batch in open_source('-').batches(): print(batch['age'].to_pylist())"
    )
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, input=PEOPLE, capture_output=True, text=True, check=True)
    assert result.stdout == "[25.0, 40.0]\n"


def test_standard_input_is_named_in_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Stdin(b"age,car\n25\n"))
    with refusal(BadData, where="standard input, line 2", found="25"):
        list(open_source("-").batches())


def test_standard_input_only_once() -> None:
    with refusal(BadOption, found=["-", "-"]):
        open_source(["-", "-"])
    with refusal(BadOption, what="standard input"):
        file_columns("-")


def test_files_can_be_read_again(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    source = open_source(path)
    assert ages(source) == ages(source) == [25.0, 40.0]


@pytest.mark.parametrize(
    ("name", "data"),
    [("p.csv", PEOPLE.encode()), ("p.tsv", b"age\tcar\n"), ("p.jsonl", b'{"age": 1, "car": "suv"}\n')],
)
def test_columns_of_untyped_files(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    assert file_columns(tmp_path / name) == {"age": None, "car": None}


def test_peek_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Stdin(PEOPLE.encode() + b"1\n"))
    first, source = peek(open_source("-", bad_rows="skip"))
    assert first is not None
    assert first["age"].to_pylist() == [25.0, 40.0]
    assert ages(source) == [25.0, 40.0]
    assert source.name == "standard input"
    assert source.skipped.count == 1
    assert source.untyped


def test_peek_at_nothing(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age\n")
    first, source = peek(open_source(path))
    assert first is None
    assert list(source.batches()) == []


@pytest.mark.usefixtures("small_blocks")
def test_peek_holds_one_batch(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age\n" + "1\n" * 500)
    first, source = peek(open_source(path))
    assert first is not None
    assert first.rows < 100
    assert len(ages(source)) == 500


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "jsonl", "parquet", "arrow"])
def test_progress_rises_to_one(tmp_path: Path, suffix: str) -> None:
    for part in "ab":
        path = tmp_path / f"{part}.{suffix}"
        if suffix.startswith("csv"):
            path.write_bytes(packed("age\n" + "1\n" * 500, path.suffix))
        elif suffix == "jsonl":
            path.write_text('{"age": 1}\n' * 100)
        elif suffix == "parquet":
            pq.write_table(pa.table({"age": range(100)}), path)
        else:
            path.write_bytes(arrow_bytes(stream=False))
    source = open_source(tmp_path)
    seen = [source.progress]
    seen += [source.progress for _ in source.batches()]
    seen.append(source.progress)
    assert all(share is not None for share in seen)
    assert seen[0] == 0.0
    assert seen[-1] == 1.0
    assert seen == sorted(seen, key=float)  # type: ignore[arg-type]
    assert any(0 < float(share) < 1 for share in seen if share is not None)


@pytest.mark.parametrize("rows", [50_000, 400_000])
@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "jsonl"])
def test_memory_does_not_grow_with_the_rows(tmp_path: Path, rows: int, suffix: str) -> None:
    """What is held at a time stays below a bound that does not know the number of rows."""
    path = tmp_path / f"people.{suffix}"
    line = '{"id": 123456789, "car": "sports", "colour": "violet"}\n'
    text = line * rows if suffix == "jsonl" else "id,car,colour\n" + "123456789,sports,violet\n" * rows
    path.write_bytes(packed(text, path.suffix))
    text = ""
    pool = pa.default_memory_pool()
    held = pool.bytes_allocated()
    tracemalloc.start()
    most = 0
    for batch in open_source(path).batches():
        assert batch.rows < 250_000
        most = max(most, pool.bytes_allocated() - held)
    python = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 24 << 20
    assert python < 40 << 20
