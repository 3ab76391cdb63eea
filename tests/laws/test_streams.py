"""The same rows from a frame, from files of every make, from a folder of them, on any number of threads: one digest."""

import bz2
import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bayesbox as bb
from bayesbox.cli.main import run
from bayesbox.source.base import OneBatch

ROWS = 6400
PARTS = 64


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(5)
    table = pd.DataFrame(
        {
            "age": np.round(random.normal(40, 12, ROWS), 2),
            "income": random.lognormal(10, 2, ROWS),
            "city": random.choice(["Rome", "Oslo", "Bari", "Lund"], ROWS),
            "member": random.random(ROWS) < 0.4,
            "visits": random.integers(0, 2, ROWS),
            "label": random.choice(["stays", "leaves"], ROWS),
        }
    )
    for name in ("age", "city"):
        table.loc[random.random(ROWS) < 0.02, name] = None
    return table


@pytest.fixture(scope="module")
def digest(frame):
    return bb.NaiveBayes().fit(frame.drop(columns="label"), frame["label"]).book_.digest()


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    text = frame.to_csv(index=False)
    (folder / "rows.csv").write_text(text)
    (folder / "rows.csv.gz").write_bytes(gzip.compress(text.encode()))
    (folder / "rows.csv.bz2").write_bytes(bz2.compress(text.encode()))
    table = pa.Table.from_pandas(frame, preserve_index=False)
    pq.write_table(table, folder / "rows.parquet", row_group_size=1000)
    parts = folder / "parts"
    parts.mkdir()
    for index in range(PARTS):
        pq.write_table(table.slice(index * ROWS // PARTS, ROWS // PARTS), parts / f"part-{index:02}.parquet")
    return folder


@pytest.mark.parametrize("threads", [1, 2, 3, 4])
@pytest.mark.parametrize(
    "name", ["rows.csv", "rows.csv.gz", "rows.csv.bz2", "rows.parquet", "parts", "parts/*.parquet"]
)
def test_one_digest(folder, digest, name, threads):
    assert bb.train(str(folder / name), "label", threads=threads).book_.digest() == digest


@pytest.mark.parametrize("threads", [1, 2, 3, 4])
def test_a_frame_on_threads(frame, digest, threads, monkeypatch):
    monkeypatch.setattr("bayesbox.source.reduce.ROWS_A_PIECE", 500)
    assert bb.train(frame, "label", threads=threads).book_.digest() == digest


def test_any_source(frame, digest):
    from bayesbox.source.frames import batch_of

    assert bb.train(OneBatch(batch_of(frame)), "label").book_.digest() == digest


def test_a_bad_row_in_the_middle(folder, tmp_path, monkeypatch, capsys):
    """The message names the line, the exit code is 3, and nothing is half-written; skipping counts it."""
    monkeypatch.chdir(tmp_path)
    lines = (folder / "rows.csv").read_text().splitlines()
    lines[3000] = "abc" + lines[3000][lines[3000].index(",") :]
    (tmp_path / "bad.csv").write_text("\n".join(lines) + "\n")
    assert run(["train", "bad.csv", "-t", "label", "--types", "age=real"]) == 3
    complaint = capsys.readouterr().err
    assert "bad.csv, line 3001" in complaint
    assert "`age`" in complaint
    assert "abc" in complaint
    assert not list(tmp_path.glob("*.bayes*"))
    assert run(["train", "bad.csv", "-t", "label", "--types", "age=real", "--bad-rows", "skip"]) == 0
    assert "1 malformed row" in capsys.readouterr().err
