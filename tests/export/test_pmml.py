"""Models as PMML documents, scored by PMML4S, a reader of others' making: the answers of `predict_proba`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pyarrow as pa
import pytest
from tests.export.cases import CASES, people
from tests.export.cases import learned as of_every_kind
from tests.refusal import refusal
from tests.servers import java_home
from tests.tables import CARS, TENNIS

import bayesbox as bb
from bayesbox.errors import CannotExport
from bayesbox.schema.levels import level_text

Scorer = Callable[[Any, pa.Table], np.ndarray]


@pytest.fixture(scope="module")
def scored() -> Iterator[Scorer]:
    os.environ["JAVA_HOME"] = java_home()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the reader's own
        from pypmml import Model, PMMLContext

        def score(model: Any, rows: pa.Table) -> np.ndarray:
            reader = Model.fromString(model.to_pmml())
            numbers = {name for name in rows.column_names if _is_continuous(model, name)}
            answers = [
                reader.predict(
                    {
                        name: value if name in numbers else level_text(value)
                        for name, value in row.items()
                        if value is not None
                    }
                )
                for row in rows.to_pylist()
            ]
            return np.array([[answer[f"P({name})"] for name in model.classifier_.model.classes] for answer in answers])

        yield score
        PMMLContext.shutdown()


def _is_continuous(model: Any, name: str) -> bool:
    fields = ET.fromstring(model.to_pmml()).iter("{http://www.dmg.org/PMML-4_4}DataField")
    return any(field.get("name") == name and field.get("optype") == "continuous" for field in fields)


def learned(**options: Any) -> tuple[Any, pa.Table]:
    """People whose columns PMML can hold, and others to score, with values missing and never seen."""
    table = people(300, 0).drop_columns(["tiny", "huge", "big income"])
    car = [value or None for value in table['the "car"'].to_pylist()]
    table = table.set_column(2, 'the "car"', pa.array(car))
    model = bb.NaiveBayes(**{"numeric": "gaussian"} | options).fit(table.drop_columns(["risk"]), table["risk"])
    rows = people(25, 3).select([name for name in table.column_names if name != "risk"])
    asked = ["never seen", "SUV", None, *(value or None for value in rows['the "car"'].to_pylist()[3:])]
    return model, rows.set_column(2, 'the "car"', pa.array(asked))


@pytest.mark.filterwarnings("ignore::bayesbox.errors.UnseenLevels")
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"missing": "level"},
        {"unseen": "ignore", "smoothing": "m:2"},
        {"columns": {"zip": "category", "visits": "count:poisson"}},
        {"numeric": "mdl"},
        {"numeric": "frequency:4", "missing": "level"},
        {"prior": {"low": 0.5, "it's high": 0.3, "middling": 0.2}},
    ],
    ids=str,
)
def test_the_same_answers(scored: Scorer, options: dict[str, Any]) -> None:
    model, rows = learned(**options)
    if "columns" in options:  # this reader has no answer where a Poisson count is 0
        visits = [value or None for value in rows["visits"].to_pylist()]
        rows = rows.set_column(rows.column_names.index("visits"), "visits", pa.array(visits))
    np.testing.assert_allclose(scored(model, rows), model.predict_proba(rows), rtol=0, atol=1e-6)


def test_small_tables(scored: Scorer) -> None:
    for table in (CARS, TENNIS):
        model = bb.NaiveBayes(numeric="gaussian").fit(table.X, table.y)
        rows = pa.table(table.X)
        np.testing.assert_allclose(scored(model, rows), model.predict_proba(rows), rtol=0, atol=1e-6)
    case = CASES["given_tables"]()
    np.testing.assert_allclose(scored(case.model, case.rows), case.posterior, rtol=0, atol=1e-6)


def test_a_number_on_a_cut_and_beyond_the_ends(scored: Scorer) -> None:
    numbers = [1.0, 2.0, 2.5, 3.0, 4.0, 5.5, 7.0, 8.0]
    model = bb.NaiveBayes(numeric="width:3").fit({"x": numbers}, list("aababbba"))
    (bins,) = model.classifier_.model.conditionals
    rows = pa.table({"x": [*bins.cuts.tolist(), *np.nextafter(bins.cuts, np.inf).tolist(), -1e300, 1e300, 4.0]})
    np.testing.assert_allclose(scored(model, rows), model.predict_proba(rows), rtol=0, atol=1e-6)


def test_the_document() -> None:
    model = bb.NaiveBayes(numeric="gaussian").fit(CARS.X, CARS.y)
    root = ET.fromstring(model.to_pmml(target="risk"))
    names = [field.get("name") for field in root.iter("{http://www.dmg.org/PMML-4_4}DataField")]
    assert names == ["age", "car", "risk"]
    assert model.to_pmml() == model.to_pmml()
    with refusal(CannotExport, what="`age`"):
        model.to_pmml(target="age")


def test_what_cannot_be_written() -> None:
    for name, column, found in (
        ("one_hot_flags", "car", None),
        ("point_masses", "length", [0.0, 0.25, 0.0]),
        ("words_counted", "Auckland", None),
        ("mixed", "age", None),
    ):
        with refusal(CannotExport, what=f"`{column}`", found=found):
            CASES[name]().model.to_pmml()
    with refusal(CannotExport, what="`tiny`", found=[0.0, 0.0, 0.0]):
        of_every_kind(bb.NaiveBayes(numeric="gaussian")).to_pmml()
    with refusal(CannotExport, found=" suv"):
        bb.NaiveBayes().fit({"car": [" suv", "van"]}, ["a", "b"]).to_pmml()
    with refusal(CannotExport, what="`car`"):
        bb.NaiveBayes(unseen="error").fit({"car": ["suv", "van"]}, ["a", "b"]).to_pmml()
