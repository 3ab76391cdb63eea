"""`bayes export`: the statement that scores a table, and what cannot be exported."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest

import bayesbox as bb

from .conftest import Bayes


@pytest.fixture
def cars(bayes: Bayes, tables: Path) -> str:
    bayes("train", "cars.csv", "-t", "class", "-o", "cars.bayes")
    return "cars.bayes"


def test_the_statement_scores_a_table(bayes: Bayes, cars: str) -> None:
    ended = bayes("export", cars, "--sql", "duckdb", "--table", "cars", "--keep", "age", "-o", "score.sql")
    assert ended.out == ""
    assert "written to score.sql" in ended.err
    with duckdb.connect() as connection:
        connection.execute("create table cars as from 'cars.csv'")
        answers = connection.execute(Path("score.sql").read_text()).fetchall()
        rows = connection.execute("select age, car from cars").to_arrow_table()
    model = bb.load(cars)
    assert [row[0] for row in answers] == rows["age"].to_pylist()
    assert [row[1] for row in answers] == model.predict(rows).tolist()
    np.testing.assert_allclose([row[2:] for row in answers], model.predict_proba(rows), atol=1e-9)


def test_json(bayes: Bayes, cars: str) -> None:
    report = bayes("export", cars, "--sql", "sqlite", "--json").json
    assert list(report) == ["model", "language", "columns", "classes", "text"]
    assert report["columns"] == ["age", "car"]
    assert report["classes"] == ["H", "L"]
    assert report["text"] == bb.load(cars).to_sql("sqlite")


def test_what_cannot_be(bayes: Bayes, cars: str, folder: Path) -> None:
    assert "--pmml and --onnx" in bayes("export", cars, code=2).err
    assert "oracle" in bayes("export", cars, "--sql", "oracle", code=2).err
    bayes("export", "nothing.bayes", "--sql", "duckdb", code=74)
    (folder / "mail.csv").write_text("text,label\nbuy now,spam\nhello friend,ham\n")
    bayes("train", "mail.csv", "-t", "label", "--model", "text", "-o", "mail.bayes")
    ended = bayes("export", "mail.bayes", "--sql", "duckdb", code=3)
    assert "cannot be exported" in ended.err


def test_pmml_and_onnx(bayes: Bayes, cars: str) -> None:
    refused = bayes("export", cars, "--pmml", "-o", "cars.pmml", code=3).err
    assert "--numeric gaussian" in refused
    assert not Path("cars.pmml").exists()
    bayes("train", "cars.csv", "-t", "class", "-o", cars, "--numeric", "gaussian")
    bayes("export", cars, "--pmml", "-o", "cars.pmml")
    assert Path("cars.pmml").read_text() == bb.load(cars).to_pmml()
    assert 'fieldName="class"' in Path("cars.pmml").read_text()
    report = bayes("export", cars, "--onnx", "-o", "cars.onnx", "--json").json
    assert report["language"] == "onnx"
    assert report["output"] == "cars.onnx"
    assert Path("cars.onnx").read_bytes() == bb.load(cars).to_onnx()
    assert "pass -o FILE" in bayes("export", cars, "--onnx", code=2).err
    assert "one of --sql" in bayes("export", cars, "--onnx", "--pmml", code=2).err
    assert "require --sql" in bayes("export", cars, "--pmml", "--keep", "age", code=2).err
