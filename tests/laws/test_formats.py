"""The same rows in every form are the same rows: frames, tables, records, columns, and files of every format."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
from tests.laws.mixed import KINDS, TARGET, estimator, pick, state, table

from bayesbox.classifier.train import train
from bayesbox.rule.options import NaiveOptions
from bayesbox.schema.kinds import Flag
from bayesbox.source.files.open import open_source
from bayesbox.table.naive.classifier import NaiveClassifier

X, Y = table()


def records(columns):
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def without_missing_keys(columns):
    return [{name: value for name, value in row.items() if value is not None} for row in records(columns)]


def categorical(columns):
    frame = pd.DataFrame(columns)
    return frame.assign(car=frame["car"].astype("category"), zip=frame["zip"].astype("category"))


def chunked(columns):
    whole = pa.table(columns)
    return pa.concat_tables([whole.slice(0, 13), whole.slice(13, 0), whole.slice(13)])


FRAMES = {
    "dict of lists": dict,
    "list of dicts": records,
    "list of dicts, absent keys": without_missing_keys,
    "pandas": pd.DataFrame,
    "pandas, categories": categorical,
    "pandas, own missing values": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "polars": pl.DataFrame,
    "polars, lazy": lambda columns: pl.DataFrame(columns).lazy(),
    "polars, categories": lambda columns: pl.DataFrame(columns).with_columns(pl.col("car").cast(pl.Categorical)),
    "pyarrow": pa.table,
    "pyarrow, chunks": chunked,
    "pyarrow, dictionaries": lambda columns: pa.table(columns | {"car": pa.array(columns["car"]).dictionary_encode()}),
    "record batch": lambda columns: pa.RecordBatch.from_pydict(columns),
    "dict of arrays": lambda columns: {name: pa.array(values) for name, values in columns.items()},
    "dict of numpy": lambda columns: {
        name: np.array(values) if None not in values else values for name, values in columns.items()
    },
}


@pytest.fixture(scope="module")
def whole():
    return estimator().fit(X, Y)


@pytest.mark.parametrize("form", FRAMES)
def test_frames(whole, form):
    data = FRAMES[form](X)
    clf = estimator().fit(data, Y)
    assert state(clf) == state(whole)
    np.testing.assert_allclose(clf.predict_proba(data), whole.predict_proba(X), rtol=1e-12)
    assert clf.predict(data).tolist() == whole.predict(X).tolist()


LABELS = {
    "list": list,
    "tuple": tuple,
    "numpy": np.array,
    "numpy objects": lambda y: np.array(y, dtype=object),
    "pandas": pd.Series,
    "pandas categories": lambda y: pd.Series(y).astype("category"),
    "polars": lambda y: pl.Series("outcome", y),
    "pyarrow": pa.array,
    "pyarrow chunks": lambda y: pa.chunked_array([y[:7], y[7:]]),
    "frame of one column": lambda y: pd.DataFrame({"outcome": y}),
}


@pytest.mark.parametrize("form", LABELS)
def test_labels(whole, form):
    clf = estimator().fit(X, LABELS[form](Y))
    assert state(clf) == state(whole)
    assert clf.classes_.tolist() == whole.classes_.tolist()


@pytest.mark.parametrize(
    "dtype", [np.float64, np.float32, np.int64, np.int32, np.int16, np.int8, np.uint8, np.uint16, ">i4", ">f8"]
)
def test_numbers_of_every_width(dtype):
    values = np.array([[3, 100, 0], [7, 2, 1], [3, 50, 1], [12, 9, 0]])
    y = ["a", "b", "b", "a"]
    whole = estimator().set_params(columns={0: "category", 1: "real"}).fit(values, y)
    clf = estimator().set_params(columns={0: "category", 1: "real"}).fit(values.astype(dtype), y)
    assert state(clf) == state(whole)
    fortran = estimator().set_params(columns={0: "category", 1: "real"}).fit(np.asfortranarray(values)[::1], y)
    assert state(fortran) == state(whole)
    np.testing.assert_array_equal(clf.predict_proba(values.astype(dtype)), whole.predict_proba(values))


def plain_text(value):
    """A value as a file of text holds it: doubles by their shortest repr."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


def write_separated(path, columns, separator):
    def cell(value):
        text = "" if value is None else plain_text(value)
        return '"' + text.replace('"', '""') + '"' if '"' in text or separator in text else text

    lines = [separator.join(columns)]
    lines += [separator.join(cell(value) for value in row) for row in zip(*columns.values(), strict=True)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_lines(path, columns):
    path.write_text("\n".join(json.dumps(row, default=str) for row in records(columns)) + "\n", encoding="utf-8")


WRITERS = {
    "rows.csv": lambda path, columns: write_separated(path, columns, ","),
    "rows.tsv": lambda path, columns: write_separated(path, columns, "\t"),
    "rows.jsonl": write_lines,
    "rows.parquet": lambda path, columns: pa.parquet.write_table(pa.table(columns), path, row_group_size=17),
    "rows.arrow": lambda path, columns: pa.feather.write_feather(pa.table(columns), path, chunksize=11),
}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", WRITERS)
def test_files(whole, tmp_path, name, threads):
    path = tmp_path / name
    WRITERS[name](path, X | {TARGET: Y})
    kinds = KINDS | {"smoker": Flag()}
    text = frozenset({TARGET, "car", "zip", "joined", "smoker"})
    source = open_source(path, text=text, number=frozenset({"visits", "calls", "parcels", "height"}))
    classifier = NaiveClassifier(NaiveOptions(), kinds)
    train(classifier, source, TARGET, threads=threads)
    assert b"".join(classifier.book.canonical()) == state(whole)


def test_files_in_parts(whole, tmp_path):
    """A folder of two files in two formats would not do; two of one format are one table."""
    half = len(Y) // 2
    for part, rows in {"a": range(half), "b": range(half, len(Y))}.items():
        WRITERS["rows.parquet"](tmp_path / f"{part}.parquet", pick(X | {TARGET: Y}, rows))
    source = open_source(str(tmp_path / "*.parquet"))
    classifier = NaiveClassifier(NaiveOptions(), KINDS)
    train(classifier, source, TARGET)
    assert b"".join(classifier.book.canonical()) == state(whole)
