"""A calibrated model is not exported as if it were not calibrated."""

from __future__ import annotations

import pytest

import bayesbox as bb
from bayesbox.errors import CannotExport


@pytest.mark.parametrize("method", ["to_sql", "to_pmml", "to_onnx"])
def test_a_calibrated_model_is_refused(method: str) -> None:
    rows = {"car": ["suv", "suv", "sports", "suv", "sports", "sports"] * 5}
    labels = ["L", "L", "H", "H", "H", "L"] * 5
    plain = bb.NaiveBayes().fit(rows, labels)
    assert getattr(plain, method)()
    calibrated = bb.NaiveBayes(calibration="temperature").fit(rows, labels)
    with pytest.raises(CannotExport, match="calibrated"):
        getattr(calibrated, method)()
