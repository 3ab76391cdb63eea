"""Spark: a real cluster of a master and two workers counts, loses an executor, and answers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.export.cases import CASES, people
from tests.export.test_sql import numbered, require_equal
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.cli.main import run
from bayesbox.errors import BadData, BadOption, KindContradiction, SourceUnavailable, UnknownColumn
from bayesbox.file.load import load
from bayesbox.source.spark import SparkSource, spark_table

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.usefixtures("sockets_left_open")]


@pytest.fixture(scope="module")
def rows() -> pa.Table:
    table = people(1500, 7)
    risk = table["risk"].to_pylist()
    return table.set_column(table.num_columns - 1, "risk", pa.array([None, *risk[1:]]))


@pytest.fixture(scope="module")
def path(rows: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> str:
    found = tmp_path_factory.mktemp("rows") / "people.parquet"
    pq.write_table(rows, found)
    return str(found)


@pytest.fixture(scope="module")
def frame(spark: Any, path: str) -> Any:
    return spark.read.parquet(path)


def test_a_frame_is_a_source(frame: Any, rows: pa.Table) -> None:
    model = bb.NaiveBayes(missing="level", columns={"zip": "category"})
    there = bb.train(frame.repartition(3), target="risk", model=model)
    here = bb.train(rows, target="risk", model=model)
    assert there.book_.digest() == here.book_.digest()
    assert (there.training_.rows, there.training_.unlabelled) == (1500, 1)
    assert there.classifier_.schema == here.classifier_.schema
    np.testing.assert_array_equal(there.predict_proba(rows), here.predict_proba(rows))


def test_rows_can_be_fetched(frame: Any, rows: pa.Table) -> None:
    source = SparkSource(frame.repartition(2))
    batches = list(source.batches())
    assert sum(batch.rows for batch in batches) == 1500
    assert batches[-1].first_row + batches[-1].rows == 1500
    fetched = sorted(age for batch in batches for age in batch["age"].to_pylist() if age is not None)
    assert fetched == sorted(age for age in rows["age"].to_pylist() if age is not None)


def test_answers_as_new_columns(spark: Any, frame: Any, rows: pa.Table) -> None:
    clf = bb.train(rows, target="risk")
    nested = frame.selectExpr("*", "array(age, huge) as pair").repartition(3)  # a column that no model could take
    answers = bb.predict(clf, nested, proba=True, explain=2)
    assert answers.columns == [*nested.columns, "prediction", *(f"P({name})" for name in clf.classes_), "explanation"]
    found = pd.DataFrame([row.asDict() for row in answers.collect()])
    assert len(found) == 1500
    table = pa.Table.from_pandas(found.drop(columns=["pair", "prediction", "explanation"]), preserve_index=False)
    expected = bb.predict(clf, table.select(rows.column_names).cast(rows.schema), proba=True, explain=2)
    assert found["prediction"].tolist() == expected["prediction"].to_pylist()
    assert found["explanation"].tolist() == expected["explanation"].to_pylist()
    for name in clf.classes_:
        assert found[f"P({name})"].tolist() == expected[f"P({name})"].to_pylist()
    with refusal(BadOption, what="`prediction`"):
        bb.predict(clf, answers)
    few = bb.predict(clf, answers, keep=["age", "pair"])  # without the `prediction` there is
    assert few.columns == ["age", "pair", "prediction"]
    assert sorted(row.prediction for row in few.collect()) == sorted(expected["prediction"].to_pylist())
    assert bb.predict(clf, frame, keep=["*"]).columns == [*frame.columns, "prediction"]
    assert bb.predict(clf, frame, keep=[]).count() == 1500
    with refusal(UnknownColumn, column="agee"):
        bb.predict(clf, frame, keep=["agee"])
    with refusal(BadOption, what="`prediction`"):
        bb.predict(clf, answers, keep=["prediction"])


def test_labels_keep_their_type(spark: Any) -> None:
    clf = bb.NaiveBayes().fit({"age": [1.0, 2.0, 9.0, 8.0]}, [2, 2, 10, 10])
    answers = bb.predict(clf, spark.createDataFrame([(1.5,), (None,), (8.5,)], "age double"))
    assert answers.schema["prediction"].dataType.typeName() == "long"
    assert [row.prediction for row in answers.orderBy("age").collect()] == [2, 2, 10]


def test_bad_rows_are_named(spark: Any) -> None:
    frame = spark.createDataFrame([("1", "a"), ("2", "b"), ("old", "b")], "age string, risk string").coalesce(1)
    with refusal(KindContradiction, where="row 3 of partition 0", found="old", column="age"):
        bb.train(frame, target="risk", model=bb.NaiveBayes(columns={"age": "real"}))
    with refusal(UnknownColumn, column="riks"):
        bb.train(frame, target="riks")
    with refusal(BadData, where="the Spark table"):
        bb.train(frame.limit(0), target="risk")
    infinite = spark.createDataFrame([(math.inf, "a"), (1.0, "b")], "age double, risk string")
    with refusal(BadData, column="age", found=math.inf):
        bb.train(infinite, target="risk")


def test_the_command(spark: Any, spark_master: str, path: str, rows: pa.Table, tmp_path: Path, capsys: Any) -> None:
    model = tmp_path / "people.bayes"
    assert run(["train", path, "--spark", spark_master, "-t", "risk", "-o", str(model)]) == 0
    assert "1,500 rows, 1 without a label dropped" in capsys.readouterr().err
    expected = bb.train(rows, target="risk").book_.digest()
    assert load(model).book.digest() == expected
    spark.read.parquet(path).createOrReplaceTempView("townspeople")
    assert bb.train(spark_table("townspeople", spark_master), target="risk").book_.digest() == expected
    with refusal(SourceUnavailable, where="nobody"):
        spark_table("nobody", spark_master)
    with refusal(BadOption, found="people/people.csv"):
        spark_table("people/people.csv", spark_master)
    assert run(["train", path, path, "--spark", spark_master, "-t", "risk"]) == 2
    assert run(["train", path, "--spark", spark_master, "-t", "risk", "--na", "?"]) == 2


def test_models_in_spark_sql(spark: Any, tmp_path: Path) -> None:
    """Every form of model, one statement each: the answers of `predict_proba`."""
    for name in (name for name in CASES if not name.startswith("many_")):
        case = CASES[name]()
        pq.write_table(numbered(case.rows), tmp_path / f"{name}.parquet")
        spark.read.parquet(str(tmp_path / f"{name}.parquet")).createOrReplaceTempView("data")
        answers = spark.sql(case.model.to_sql("spark", keep=["row number"])).collect()
        require_equal(case, [tuple(row) for row in answers])


def test_names_that_are_syntax_to_spark_and_documents(spark: Any) -> None:
    rows = pa.table(
        {
            "petal.width": [0.2, 1.3, 0.3, 2.1, None, 1.9],
            "a `quoted` name": ["x", "y", "x", "y", "x", None],
            "note": ["red rose", "blue iris", "red tulip", "blue sky", "red", ""],
            "kind": ["p", "q", "p", "q", "p", "q"],
        }
    )
    fields = "`petal.width` double, `a ``quoted`` name` string, note string, kind string"
    frame = spark.createDataFrame([tuple(row.values()) for row in rows.to_pylist()], fields).repartition(3)
    model = bb.NaiveBayes(columns={"note": "ignore"})
    there = bb.train(frame, target="kind", model=model)
    assert there.book_.digest() == bb.train(rows, target="kind", model=model).book_.digest()
    assert {row.prediction for row in bb.predict(there, frame).collect()} == {"p", "q"}
    with refusal(UnknownColumn, column="petal.width"):
        bb.predict(there, frame.select("kind"))
    documents = bb.train(frame, target="kind", model=bb.TextClassifier(), text="note")
    here = bb.TextClassifier().fit(rows["note"], rows["kind"])
    assert documents.book_.digest() == here.book_.digest()


def test_the_cause_of_a_failure_is_told(frame: Any) -> None:
    broken = frame.selectExpr("*", "raise_error('the disk is gone') as broken")
    with refusal(SourceUnavailable, what="the disk is gone"):
        bb.train(broken, target="risk")
