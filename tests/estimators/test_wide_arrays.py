"""Arrays of many columns, read where they stand: the answers are those of the same rows in a frame."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.refusal import refusal

import bayesbox as bb
from bayesbox import _core
from bayesbox.errors import BadData


def table(rows: int = 400, columns: int = 37, classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(5)
    y = draw.integers(0, classes, rows)
    X = draw.normal(size=(rows, columns)) + 0.2 * y[:, None]
    X[:, 3] = np.exp(X[:, 3])
    X[:, 5] = np.where(X[:, 5] > 0, X[:, 5], 0.0)
    X[draw.random(X.shape) < 0.02] = np.nan
    return X, y


@pytest.mark.parametrize("numeric", ["gaussian", "robust"])
@pytest.mark.parametrize("calibration", [None, "temperature"])
def test_an_array_is_answered_as_a_frame(numeric: str, calibration: str | None) -> None:
    X, y = table()
    clf = bb.NaiveBayes(numeric=numeric, calibration=calibration).fit(X, y)
    frame = {f"x{place}": X[:, place] for place in range(X.shape[1])}
    names = bb.NaiveBayes(numeric=numeric, calibration=calibration).fit(pa.table(frame), y)
    expected = names.predict_proba(pa.table(frame))
    forms: list[Any] = [X, np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], np.repeat(X, 2, axis=0)[::2]]
    for instructions in _core.instruction_sets():
        _core.use_instructions(instructions)
        for form in forms:
            np.testing.assert_array_equal(clf.predict_proba(form), expected)
            np.testing.assert_array_equal(clf.predict(form), names.predict(pa.table(frame)))
        np.testing.assert_array_equal(clf.predict_proba(X[17:18]), expected[17:18])  # a row has the same bits alone
        np.testing.assert_allclose(np.exp(clf.predict_log_proba(X)), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("numeric", ["gaussian", "robust"])
def test_an_infinite_value_is_refused_and_leaves_nothing_behind(numeric: str) -> None:
    X, y = table()
    clf = bb.NaiveBayes(numeric=numeric).fit(X, y)
    expected = clf.predict_proba(X)
    bad = X.copy()
    bad[300, 20] = -np.inf
    for method in (clf.predict_proba, clf.predict, clf.predict_log_proba):
        with refusal(BadData):
            method(bad)
    np.testing.assert_array_equal(clf.predict_proba(X), expected)
    row = dict(enumerate(X[7].tolist()))
    np.testing.assert_array_equal(list(clf.predict_proba_one(list(row.values())).values()), expected[7])
