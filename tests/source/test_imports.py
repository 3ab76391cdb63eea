"""Reading a file brings no heavy package along: the command must start quickly."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

HEAVY = ("pandas", "polars", "scipy", "sklearn")
REPORT = f"\nimport sys\nprint([name for name in {HEAVY!r} if name in sys.modules])"


def brought_along(code: str) -> str:
    command = [sys.executable, "-c", code + REPORT]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_importing_the_sources() -> None:
    modules = ["base", "registry", "frames", "files.open", "files.delimited", "files.jsonl", "files.arrow", "sparse"]
    assert brought_along("\n".join(f"import bayesbox.source.{name}" for name in modules)) == "[]"


@pytest.mark.parametrize("name", ["p.csv", "p.jsonl", "p.parquet", "p.arrow"])
def test_reading_a_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    table = pa.table({"age": [25, None], "car": ["suv", "?"], "young": [True, False]})
    if name == "p.csv":
        path.write_text("age,car,young\n25,suv,true\n,?,false\n")
    elif name == "p.jsonl":
        path.write_text('{"age": 25, "car": 1, "young": true}\n{"car": "?"}\n')
    elif name == "p.parquet":
        pq.write_table(table, path)
    else:
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    code = (
        "from bayesbox.source.files.open import open_source\n"
        f"rows = sum(b.rows for b in open_source({str(path)!r}, text=frozenset({{'car'}}), na=['?']).batches())\n"
        "assert rows == 2\n"
    )
    assert brought_along(code) == "[]"


def test_plain_python_data() -> None:
    code = (
        "from bayesbox.source.frames import batch_of\n"
        "from bayesbox.source.labels import labels_of\n"
        "from bayesbox.schema.columns import as_numbers\n"
        "batch = batch_of([{'age': 25, 'car': 'suv', 'size': 1.5, 'young': True}, {'size': None}])\n"
        "as_numbers(batch['size'])\n"
        "labels_of(['high', 'low'])\n"
    )
    assert brought_along(code) == "[]"
