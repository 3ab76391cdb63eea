"""Models as ONNX graphs, run by onnxruntime: the answers of `predict_proba`."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pyarrow as pa
import pytest
import scipy.sparse
from tests.export.cases import CASES, Case, people
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.errors import CannotExport
from bayesbox.schema.levels import level_text

EMPTY_LEVEL = {  # "" is a level there
    "mixed",
    "missing_is_a_level",
    "without_smoothing",
    "unseen_left_out",
    "weighted_columns",
    "calibrated_by_temperature",
}


def fed(model: Any, rows: pa.Table, session: Any) -> dict[str, np.ndarray]:
    """The rows as the graph takes them: texts, "" where missing, and doubles, NaN where missing."""
    columns = {}
    for given in session.get_inputs():
        values = rows[given.name].to_pylist()
        if given.type == "tensor(string)":
            texts = ["" if value is None or value != value else level_text(value) for value in values]
            columns[given.name] = np.array(texts, dtype=object)[:, None]
        else:
            columns[given.name] = np.array([np.nan if value is None else float(value) for value in values])[:, None]
    return columns


def scored(model: Any, rows: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    session = onnxruntime.InferenceSession(model.to_onnx(), providers=["CPUExecutionProvider"])
    label, probabilities = session.run(["label", "probabilities"], fed(model, rows, session))
    return label, probabilities


def with_texts(case: Case) -> Case:
    """A case of the people without the empty level, which a graph cannot tell from a missing one."""
    table = people(300, 0)
    car = [value or None for value in table['the "car"'].to_pylist()]
    table = table.set_column(5, 'the "car"', pa.array(car))
    model = case.model.__class__(**case.model.get_params()).fit(table.drop_columns(["risk"]), table["risk"])
    asked = case.rows.set_column(5, 'the "car"', pa.array([value or None for value in case.rows[5].to_pylist()]))
    return Case(model, asked)


@pytest.mark.parametrize("name", [name for name in CASES if name != "one_hot_flags"])
def test_the_same_answers(name: str) -> None:
    case = CASES[name]()
    if name in EMPTY_LEVEL:
        with refusal(CannotExport, what="empty"):
            case.model.to_onnx()
        case = with_texts(case)
    label, probabilities = scored(case.model, case.rows)
    expected = case.posterior
    np.testing.assert_allclose(probabilities, expected, rtol=0, atol=1e-9)
    for row, prediction in enumerate(case.predictions):
        if np.ptp(expected[row]) > 1e-9:
            assert label[row] == (
                prediction if isinstance(prediction, int) and label.dtype.kind == "i" else str(label[row])
            )
            assert case.model.classes_[np.argmax(probabilities[row])] == prediction


def test_labels() -> None:
    model = bb.NaiveBayes().fit({"age": [1.0, 2.0, 8.0, 9.0]}, [2, 2, 10, 10])
    assert scored(model, pa.table({"age": [1.5, 8.5]}))[0].tolist() == [2, 10]
    model = bb.NaiveBayes().fit({"age": [1.0, 2.0, 8.0, 9.0]}, ["a", "a", "b", "b"])
    assert scored(model, pa.table({"age": [1.5, 8.5]}))[0].tolist() == ["a", "b"]


def test_what_cannot_be_written() -> None:
    with refusal(CannotExport, what="`car`"):
        CASES["one_hot_flags"]().model.to_onnx()
    with refusal(CannotExport, what="counts"):
        bb.NaiveBayes().fit(scipy.sparse.csr_matrix(np.eye(2)), ["a", "b"]).to_onnx()
    with refusal(CannotExport, what="error"):
        bb.NaiveBayes(unseen="error").fit({"car": ["suv", "van"]}, ["a", "b"]).to_onnx()
