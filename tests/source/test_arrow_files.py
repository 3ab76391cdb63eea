"""Parquet, Arrow and Feather: stored types kept, texts coded, kinds the same in all files of a set."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from tests.refusal import refusal

from bayesbox.errors import BadData, KindContradiction
from bayesbox.source.files.open import file_columns, open_source

DAY = datetime.date(2024, 5, 1)
PEOPLE = pa.table(
    {
        "age": pa.array([25, None, 40]),
        "size": pa.array([1.5, float("nan"), None], type=pa.float32()),
        "car": pa.array(["suv", None, "sports"]),
        "colour": pa.array(["red", "red", None]).dictionary_encode(),
        "young": pa.array([True, None, False]),
        "born": pa.array([DAY, None, DAY]),
        "empty": pa.nulls(3),
        "raw": pa.array([b"one", None, b"two"]),
    }
)


def write(table: pa.Table, path: Path, **options: Any) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(table, path, **options)
    elif path.suffix == ".feather":
        pyarrow.feather.write_feather(table, path, **options)
    else:
        new = pa.ipc.new_stream if path.suffix == ".arrows" else pa.ipc.new_file
        with pa.OSFile(str(path), "wb") as sink, new(sink, table.schema) as writer:
            writer.write_table(table, **options)
    return path


SUFFIXES = [".parquet", ".arrow", ".arrows", ".feather"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_values_and_types(tmp_path: Path, suffix: str) -> None:
    path = write(PEOPLE, tmp_path / f"people{suffix}")
    (batch,) = open_source(path).batches()
    assert batch.names == tuple(PEOPLE.column_names)
    for name in ("age", "car", "colour", "young", "born", "empty"):
        assert batch[name].to_pylist() == PEOPLE[name].to_pylist()
    assert batch["raw"].to_pylist() == ["one", None, "two"]
    assert str(batch["size"].to_pylist()) == "[1.5, nan, None]"
    assert batch["age"].type == pa.int64()
    assert batch["size"].type == pa.float32()


def test_texts_of_parquet_come_coded(tmp_path: Path) -> None:
    (batch,) = open_source(write(PEOPLE, tmp_path / "people.parquet")).batches()
    assert pa.types.is_dictionary(batch["car"].type)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_large_files_come_in_pieces(tmp_path: Path, suffix: str) -> None:
    table = pa.table({"id": range(200_000), "car": ["suv", "sports"] * 100_000})
    batches = list(open_source(write(table, tmp_path / f"people{suffix}")).batches())
    assert max(batch.rows for batch in batches) <= 100_000
    assert [batch.first_row for batch in batches] == [batch["id"][0].as_py() for batch in batches]
    assert sum(batch.rows for batch in batches) == 200_000
    assert pa.concat_arrays([batch["id"] for batch in batches]).equals(pa.array(range(200_000)))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_missing_words(tmp_path: Path, suffix: str) -> None:
    table = pa.table(
        {"car": ["suv", "?", None], "coded": pa.array(["?", "a", "?"]).dictionary_encode(), "n": [1, 2, 3]}
    )
    (batch,) = open_source(write(table, tmp_path / f"people{suffix}"), na=["?", "NA"]).batches()
    assert batch["car"].to_pylist() == ["suv", None, None]
    assert batch["coded"].to_pylist() == [None, "a", None]
    assert batch["n"].to_pylist() == [1, 2, 3]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_texts_declared_as_numbers(tmp_path: Path, suffix: str) -> None:
    path = write(pa.table({"age": ["25", " +3 ", None, "nan", "1e5"]}), tmp_path / f"people{suffix}")
    (batch,) = open_source(path, number=frozenset({"age"})).batches()
    assert str(batch["age"].to_pylist()) == "[25.0, 3.0, None, nan, 100000.0]"
    path = write(pa.table({"age": ["25", "old"]}), path)
    with refusal(KindContradiction, column="age", where="row 2, column `age`", found="old"):
        list(open_source(path, number=frozenset({"age"})).batches())


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_rows_are_numbered_through_the_file(tmp_path: Path, suffix: str) -> None:
    texts = ["1"] * 150_000 + ["old"]
    path = write(pa.table({"age": texts}), tmp_path / f"people{suffix}")
    with refusal(KindContradiction, column="age", where="row 150001, column `age`", found="old"):
        list(open_source(path, number=frozenset({"age"})).batches())


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_kinds_must_agree_between_files(tmp_path: Path, suffix: str) -> None:
    write(pa.table({"zip": [2134]}), tmp_path / f"a{suffix}")
    write(pa.table({"zip": ["02134"]}), tmp_path / f"b{suffix}")
    with pytest.raises(KindContradiction) as caught:
        list(open_source(tmp_path).batches())
    for piece in (f"b{suffix}", "column `zip`", "is text here, but number", "columns={'zip': 'category'}"):
        assert piece in str(caught.value)
    batches = list(open_source(tmp_path, text=frozenset({"zip"})).batches())
    assert [batch["zip"].to_pylist() for batch in batches] == [[2134], ["02134"]]


def test_integers_and_reals_agree(tmp_path: Path) -> None:
    write(pa.table({"age": [1]}), tmp_path / "a.parquet")
    write(pa.table({"age": [1.5]}), tmp_path / "b.parquet")
    assert len(list(open_source(tmp_path).batches())) == 2


def test_columns_without_rows(tmp_path: Path) -> None:
    path = write(PEOPLE, tmp_path / "people.parquet")
    assert file_columns(path) == {field.name: field.type for field in PEOPLE.schema}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_no_rows(tmp_path: Path, suffix: str) -> None:
    path = write(PEOPLE.slice(0, 0), tmp_path / f"people{suffix}")
    assert list(open_source(path).batches()) == []


@pytest.mark.parametrize("compression", ["snappy", "gzip", "zstd", "none"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_parquet_variants(tmp_path: Path, compression: str, version: str) -> None:
    options = {"compression": compression, "data_page_version": version, "row_group_size": 2}
    path = write(PEOPLE, tmp_path / "people.parquet", **options)
    batches = list(open_source(path).batches())
    assert [value for batch in batches for value in batch["car"].to_pylist()] == ["suv", None, "sports"]


def test_dotted_names(tmp_path: Path) -> None:
    path = write(pa.table({"a.b": ["x"], "a": ["y"]}), tmp_path / "people.parquet")
    (batch,) = open_source(path).batches()
    assert (batch["a.b"].to_pylist(), batch["a"].to_pylist()) == (["x"], ["y"])


BEYOND = {
    "year": pa.array([0, -(2**31)], pa.int32()).view(pa.date32()),
    "coded year": pa.array([0, 2**31 - 1], pa.int32()).view(pa.date32()).dictionary_encode(),
    "time zone": pa.array([0, 1], pa.timestamp("us", "Nowhere/None")),
}


@pytest.mark.parametrize("name", BEYOND)
def test_dates_that_python_cannot_hold_are_refused(tmp_path: Path, name: str) -> None:
    """A damaged file can hold any number as a date, and any text as a time zone."""
    path = write(pa.table({"when": BEYOND[name], "class": ["a", "b"]}), tmp_path / "dates.arrow")
    with refusal(BadData, where=f"{path}, column `when`", column="when"):
        list(open_source(path).batches())
