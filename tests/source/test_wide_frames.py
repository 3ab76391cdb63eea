"""Frames of many columns of numbers, whose values are one matrix in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbox as bb
from bayesbox.classifier.one_row.answers import PlacedRows
from bayesbox.errors import BadData
from bayesbox.source.frames import MANY_COLUMNS, batch_of, matrix_of

WIDTH = MANY_COLUMNS + 7
NAMES = [f"gene {place}" for place in range(WIDTH)]


def table(rows: int = 90) -> np.ndarray:
    random = np.random.default_rng(5)
    x = random.normal(size=(rows, WIDTH))
    x[:, 1] = np.round(x[:, 1])
    x[:, 2] = x[:, 2] > 0
    x[::7, 3] = np.nan
    x[:, 4] = np.exp(x[:, 4]) * (x[:, 5] > 0)
    return x


Y = (np.arange(90) % 3).astype(str)
FORMS: dict[str, Any] = {
    "of rows": lambda x: pd.DataFrame(x, columns=NAMES),
    "of columns": lambda x: pd.DataFrame(np.asfortranarray(x), columns=NAMES),
    "a dict of columns": lambda x: pd.DataFrame(dict(zip(NAMES, x.T, strict=True))),
    "every second row": lambda x: pd.DataFrame(np.repeat(x, 2, axis=0), columns=NAMES).iloc[::2],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("numeric", ["robust", "gaussian"])
def test_a_frame_is_what_its_columns_are(form: str, numeric: str) -> None:
    x, frame = table(), FORMS[form](table())
    assert matrix_of(frame) is not None
    columns = dict(zip(NAMES, x.T, strict=True))
    one, other = bb.NaiveBayes(numeric=numeric).fit(frame, Y), bb.NaiveBayes(numeric=numeric).fit(columns, Y)
    assert one.book_.digest() == other.book_.digest()
    expected = other.predict_proba(columns)
    assert isinstance(one._few_rows(frame), PlacedRows)
    for asked in (frame, frame[NAMES[::-1]], frame.assign(more=1.0), frame.head(3)):
        assert np.array_equal(one.predict_proba(asked), expected[: len(asked)])
        assert one.predict(asked).tolist() == other.predict(columns)[: len(asked)].tolist()
        assert np.array_equal(one.predict_log_proba(asked), other.predict_log_proba(columns)[: len(asked)])


def test_nothing_is_copied() -> None:
    x = table()
    frame = pd.DataFrame(x, columns=NAMES, copy=False)
    assert all(np.shares_memory(x, column) for column in batch_of(frame).columns)


def test_frames_that_are_no_matrix() -> None:
    frame = pd.DataFrame(table(), columns=NAMES)
    few, texts, parts = frame.iloc[:, : MANY_COLUMNS - 1], frame.assign(car="suv"), frame.assign(more=1.0)
    for each in (few, texts, parts, frame.iloc[:0], frame.astype("Float64"), frame.astype(object)):
        assert matrix_of(each) is None
    assert matrix_of(frame.astype(np.int64, errors="ignore").fillna(0).astype(np.int64)) is not None
    clf = bb.NaiveBayes().fit(frame, Y)
    expected = clf.predict_proba(frame)
    for each in (texts, parts, frame.astype("Float64")):
        assert np.array_equal(clf.predict_proba(each), expected)
        assert np.array_equal(clf.predict_proba(each.head(2)), expected[:2])


def test_a_column_that_is_absent_is_said() -> None:
    frame = pd.DataFrame(table(), columns=NAMES)
    clf = bb.NaiveBayes().fit(frame, Y)
    with pytest.warns(bb.errors.MissingColumns, match="gene 70"):
        clf.predict_proba(frame.drop(columns="gene 70"))


def test_an_infinite_value_is_refused() -> None:
    frame = pd.DataFrame(table(), columns=NAMES)
    clf = bb.NaiveBayes().fit(frame, Y)
    frame.loc[5, "gene 9"] = np.inf
    for refused in (
        lambda: bb.NaiveBayes().fit(frame, Y),
        lambda: clf.predict_proba(frame),
        lambda: clf.predict(frame),
    ):
        with pytest.raises(BadData, match="row 6: column `gene 9`"):
            refused()
