"""One table, every way in: the same values."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bayesbox.source.base import Batch
from bayesbox.source.files.open import open_source
from bayesbox.source.frames import batch_of

Rows = list[dict[str, Any]]


def values(batch: Batch) -> dict[str, list[Any]]:
    found = {}
    for name, column in zip(batch.names, batch.columns, strict=True):
        listed = column.tolist() if isinstance(column, np.ndarray) else column.to_pylist()
        found[name] = [None if isinstance(value, float) and math.isnan(value) else value for value in listed]
    return found


def from_file(path: Path) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for batch in open_source(path).batches():
        for name, column in values(batch).items():
            found.setdefault(name, []).extend(column)
    return found


def frame(rows: Rows) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["age", "car", "young"])


def table(rows: Rows) -> pa.Table:
    schema = pa.schema([("age", pa.float64()), ("car", pa.string()), ("young", pa.bool_())])
    return pa.Table.from_pylist(rows, schema=schema)


def write_csv(rows: Rows, path: Path) -> None:
    frame(rows).to_csv(path, index=False, sep="\t" if ".tsv" in path.name else ",")


def write_jsonl(rows: Rows, path: Path) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_gz(rows: Rows, path: Path) -> None:
    write_csv(rows, path.with_suffix(""))
    path.write_bytes(gzip.compress(path.with_suffix("").read_bytes()))


def write_arrow(rows: Rows, path: Path) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table(rows).schema) as writer:
        writer.write_table(table(rows))


FILES = {
    "p.csv": write_csv,
    "p.tsv": write_csv,
    "p.csv.gz": write_gz,
    "p.jsonl": write_jsonl,
    "p.parquet": lambda rows, path: pq.write_table(table(rows), path),
    "p.feather": lambda rows, path: pyarrow.feather.write_feather(table(rows), path),
    "p.arrow": write_arrow,
    "q.parquet": lambda rows, path: pl.DataFrame(table(rows)).write_parquet(path),
    "q.csv": lambda rows, path: pl.DataFrame(table(rows)).write_csv(path),
}
FRAMES = {
    "records": lambda rows: rows,
    "pandas": frame,
    "polars": lambda rows: pl.DataFrame(table(rows)),
    "arrow": table,
    "columns": lambda rows: {name: [row[name] for row in rows] for name in ("age", "car", "young")},
}

people = st.fixed_dictionaries(
    {
        "age": st.one_of(st.none(), st.floats(allow_nan=False)),
        "car": st.one_of(st.none(), st.sampled_from(["suv", "sports", 'a "b", c', "two\nlines", "é", " x "])),
        "young": st.one_of(st.none(), st.booleans()),
    }
)
FULL: Rows = [{"age": 0.5, "car": "suv", "young": True}]  # so that every column has a kind


@pytest.mark.parametrize("name", FILES)
@given(rows=st.lists(people, max_size=8))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25)
def test_every_file(tmp_path: Path, name: str, rows: Rows) -> None:
    rows = FULL + rows
    FILES[name](rows, tmp_path / name)
    assert from_file(tmp_path / name) == {key: [row[key] for row in rows] for key in ("age", "car", "young")}


@pytest.mark.parametrize("name", FRAMES)
@given(rows=st.lists(people, max_size=8))
@settings(deadline=None, max_examples=25)
def test_every_frame(name: str, rows: Rows) -> None:
    rows = FULL + rows
    found = values(batch_of(FRAMES[name](rows)))
    assert found == {key: [row[key] for row in rows] for key in ("age", "car", "young")}
