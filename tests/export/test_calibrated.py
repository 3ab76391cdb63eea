"""A calibrated model is not exported as if it were not calibrated."""

from __future__ import annotations

import pytest
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.errors import CalibrationNotExported, CannotExport

ROWS = {"car": ["suv", "suv", "sports", "suv", "sports", "sports"] * 5}
LABELS = ["L", "L", "H", "H", "H", "L"] * 5


@pytest.mark.parametrize("method", ["to_sql", "to_onnx"])
@pytest.mark.parametrize("kind", ["isotonic", "dirichlet"])
def test_a_calibration_that_has_no_form_is_refused(method: str, kind: str) -> None:
    assert getattr(bb.NaiveBayes().fit(ROWS, LABELS), method)()
    calibrated = bb.NaiveBayes(calibration=kind).fit(ROWS, LABELS)
    with refusal(CannotExport, what=f"`{kind}`"):
        getattr(calibrated, method)()


def test_pmml_has_neither_temperature_nor_weights() -> None:
    with pytest.warns(CalibrationNotExported) as caught:
        found = bb.NaiveBayes(calibration="temperature").fit(ROWS, LABELS).to_pmml()
    assert found == bb.NaiveBayes().fit(ROWS, LABELS).to_pmml()
    assert (caught[0].message.language, caught[0].message.calibration) == ("PMML", "temperature")
    twice = {**ROWS, "again": ROWS["car"]}
    with refusal(CannotExport, what="weights"):
        bb.NaiveBayes(column_weights="learned").fit(twice, LABELS).to_pmml()


def test_a_prior_given_after_calibration_is_refused() -> None:
    model = bb.NaiveBayes(calibration="temperature").fit(ROWS, LABELS).with_prior({"L": 0.1, "H": 0.9})
    with refusal(CannotExport, what="prior"):
        model.to_sql()
