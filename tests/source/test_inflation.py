"""Arrow, Feather and Parquet files whose compressed buffers grow without bound are refused before that is taken."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from tests.memory import run_python
from tests.refusal import refusal

from bayesbox.errors import BadData
from bayesbox.source.files import inflation
from bayesbox.source.files.open import open_source

ROWS = 12_000_000  # 96 MB of zeros
READ = "import sys; from bayesbox.cli.main import run; sys.exit(run(['schema', sys.argv[1]]))"


def bomb(kind: str, codec: str, path: Path, rows: int = ROWS) -> Path:
    table = pa.table({"x": np.zeros(rows)})
    if kind == "parquet":
        pq.write_table(
            table, path, compression=codec, use_dictionary=False, row_group_size=rows, data_page_size=1 << 30
        )
        return path
    make = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
    with (
        pa.OSFile(str(path), "wb") as sink,
        make(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer,
    ):
        writer.write_table(table)
    return path


@pytest.mark.parametrize("kind", ["file", "stream", "parquet"])
def test_a_bomb_is_refused_before_memory_is_taken(kind: str, tmp_path: Path) -> None:
    path = bomb(kind, "zstd", tmp_path / ("b.parquet" if kind == "parquet" else "b.arrow"))
    with refusal(BadData, where=path.name):
        list(open_source(path).batches())
    ended, base = run_python(READ, str(path)), run_python("import bayesbox.cli.main, bayesbox.cli.schema")
    assert ended.code == 3, ended.errors
    assert ended.peak - base.peak < 80


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
@pytest.mark.parametrize("kind", ["file", "stream"])
def test_the_bound_is_per_batch(kind: str, codec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inflation, "INFLATION_FLOOR", 1000)
    with pytest.raises(BadData):
        list(open_source(bomb(kind, codec, tmp_path / "b.arrow", rows=400_000)).batches())


def test_dictionaries_count_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inflation, "INFLATION_FLOOR", 300_000)
    level = pa.array(["x" * 200_000])
    columns = {f"c{place}": pa.DictionaryArray.from_arrays(pa.array([0], pa.int32()), level) for place in range(3)}
    for name, make in (("f.arrow", pa.ipc.new_file), ("s.arrow", pa.ipc.new_stream)):
        path = tmp_path / name
        table = pa.table(columns)
        with (
            pa.OSFile(str(path), "wb") as sink,
            make(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer,
        ):
            writer.write_table(table)
        with pytest.raises(BadData):
            list(open_source(path).batches())


@pytest.mark.parametrize("compression", ["lz4", "zstd", "uncompressed"])
def test_what_grows_within_measure_is_read(compression: str, tmp_path: Path) -> None:
    table = pa.table({"age": np.arange(1000) % 7, "car": pa.array(["suv", "truck"] * 500).dictionary_encode()})
    path = tmp_path / "rows.feather"
    feather.write_feather(table, path, compression=compression, chunksize=300)
    packed = tmp_path / "rows.feather.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    for each in (path, packed):
        ages = [age for batch in open_source(each).batches() for age in batch["age"].to_pylist()]
        assert ages == table.column("age").to_pylist()


def test_lengths_that_lie_are_refused(tmp_path: Path) -> None:
    """Every eight bytes of a compressed file in turn, made huge: an answer or a refusal, never an error of memory."""
    out = io.BytesIO()
    table = pa.table({"x": np.arange(50.0), "y": ["a", "b"] * 25})
    with pa.ipc.new_file(out, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    whole, path = out.getvalue(), tmp_path / "b.arrow"
    refused = 0
    for place in range(8, len(whole) - 8, 8):
        path.write_bytes(whole[:place] + (1 << 45).to_bytes(8, "little") + whole[place + 8 :])
        try:
            list(open_source(path).batches())
        except BadData:
            refused += 1
    assert refused > 20
