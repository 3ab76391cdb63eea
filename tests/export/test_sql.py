"""Models scored inside real databases: the answers are those of `predict_proba`, to 1e-9."""

from __future__ import annotations

import math
import sqlite3
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse
from tests.export.cases import CASES, Case
from tests.export.conftest import Scorer
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.errors import BadOption, CannotExport


def numbered(rows: pa.Table) -> pa.Table:
    return rows.append_column("row number", pa.array(range(rows.num_rows)))


def require_equal(case: Case, answers: list[tuple[Any, ...]]) -> None:
    """Answers of rows in any order: their number, the prediction, the posteriors."""
    ordered = sorted(answers)
    expected = case.posterior
    assert [row[0] for row in ordered] == list(range(case.rows.num_rows))
    found = np.array([row[2:] for row in ordered], dtype=np.float64)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    clear = np.sort(expected, axis=1)
    for row, (answer, prediction) in enumerate(zip(ordered, case.predictions, strict=True)):
        if expected.shape[1] == 1 or clear[row, -1] - clear[row, -2] > 1e-9:
            assert answer[1] == prediction, row


@pytest.mark.parametrize("name", CASES)
def test_the_same_answers(name: str, engine: tuple[str, Scorer]) -> None:
    case = CASES[name]()
    dialect, score = engine
    require_equal(case, score(numbered(case.rows), case.model.to_sql(dialect, keep=["row number"])))


def test_the_cases_reach_what_they_are_for() -> None:
    """Impossible rows, point masses and left-out values are there to be got wrong."""
    joint = CASES["point_masses"]().model.joint_log_proba(CASES["point_masses"]().rows)
    assert np.isposinf(joint).any()
    assert (np.isneginf(joint).all(axis=1)).any()
    wrong = CASES["mixed"]()
    with pytest.raises(AssertionError):
        require_equal(wrong, [(n, "low", 0.3, 0.3, 0.4) for n in range(wrong.rows.num_rows)])


def test_columns_of_other_types(in_duckdb: Scorer, in_postgres: Scorer) -> None:
    """A category in a column of decimals or of 32-bit numbers, a flag as text or double: the same levels."""
    kinds = {"zip": "category", "member": "flag", "day": "category"}
    model = bb.NaiveBayes(columns=kinds, unseen="smooth").fit(
        {"zip": [3, 3, 4], "member": [True, False, True], "day": ["2020-01-31", "2020-02-01", "2020-02-01"]},
        ["a", "b", "b"],
    )
    rows = pa.table({"zip": [3, 4, 5], "member": [True, False, None], "day": ["2020-01-31", "2020-02-01", None]})
    expected = model.predict_proba(rows)
    zips = [pa.decimal128(21, 2), pa.float32(), pa.int8(), pa.float64(), pa.string()]
    for zip_type in zips:
        for member in (["TRUE", "0", None], [1.0, 0.0, None], [1, 0, None]):
            typed = pa.table(
                {"zip": rows["zip"].cast(zip_type), "member": member, "day": rows["day"].cast(pa.date32())}
            )
            for dialect, score in (("duckdb", in_duckdb), ("postgres", in_postgres)):
                answers = score(numbered(typed), model.to_sql(dialect, keep=["row number"]))
                np.testing.assert_allclose([row[2:] for row in sorted(answers)], expected, rtol=0, atol=1e-9)


def test_an_unseen_level_that_is_an_error_has_no_answer(engine: tuple[str, Scorer]) -> None:
    model = bb.NaiveBayes(unseen="error").fit({"car": ["suv", "van"]}, ["a", "b"])
    dialect, score = engine
    answers = score(pa.table({"car": ["tram", "suv"]}), model.to_sql(dialect, keep=["car"]))
    assert ("tram", None, None, None) in answers
    assert [row[1] for row in answers if row[0] == "suv"] == ["a"]


def test_a_qualified_table_in_a_view() -> None:
    model = bb.NaiveBayes().fit({"age": [1.0, 2.0, 4.0]}, ["a", "b", "b"])
    with duckdb.connect() as connection:
        connection.execute("create schema town; create table town.people as select 1 as id, 1.5 as age")
        connection.execute("create view scored as " + model.to_sql("duckdb", table="town.people", keep=["id"]))
        [(number, prediction, *posterior)] = connection.execute("select * from scored").fetchall()
    assert (number, prediction) == (1, model.predict({"age": [1.5]})[0])
    assert math.isclose(sum(posterior), 1)


def test_a_column_that_the_table_lacks(engine: tuple[str, Scorer]) -> None:
    """Never a text in its place, as SQLite would have it."""
    model = bb.NaiveBayes().fit({"car": ["suv", "van"]}, ["a", "b"])
    dialect, score = engine
    with pytest.raises((duckdb.Error, sqlite3.Error)):
        score(pa.table({"cat": ["suv"]}), model.to_sql(dialect))


def test_what_cannot_be_written() -> None:
    model = bb.NaiveBayes().fit({"car": ["suv", "v\0n"]}, ["a", "b"])
    with refusal(CannotExport, found="v\x00n"):
        model.to_sql("duckdb")
    with refusal(BadOption, kind="dialect", name="oracle", choices=("duckdb", "postgres", "sqlite", "spark")):
        model.to_sql("oracle")
    with refusal(BadOption, found="id"):
        model.to_sql("duckdb", keep="id")
    with refusal(CannotExport, what="`age`"):
        bb.NaiveBayes(numeric="kernel").fit({"age": [1.0, 2.5, 4.0, 7.0]}, ["a", "a", "b", "b"]).to_sql("duckdb")
    sparse = scipy.sparse.csr_matrix(np.eye(2))
    with refusal(CannotExport, what="counts"):
        bb.NaiveBayes().fit(sparse, ["a", "b"]).to_sql("duckdb")


def test_names_that_differ_by_case_alone() -> None:
    rows = {"age": [1.0, 2.0, 5.0, 7.0], "AGE": [3.0, 1.0, 2.0, 9.0]}
    model = bb.NaiveBayes().fit(rows, ["a", "a", "b", "b"])
    for dialect in ("duckdb", "sqlite", "spark"):
        with refusal(CannotExport, what="`AGE`"):
            model.to_sql(dialect)
    assert '"AGE"' in model.to_sql("postgres")


def test_an_empty_text_among_the_numbers_of_sqlite_is_missing(in_sqlite: Scorer) -> None:
    rows = {"age": [20.0, 21.0, 60.0, 66.0]}
    model = bb.NaiveBayes().fit(rows, ["young", "young", "old", "old"])
    [(_, *shares)] = in_sqlite(pa.table({"age": [""]}), model.to_sql("sqlite"))
    np.testing.assert_allclose(shares, model.predict_proba({"age": [None]})[0])
