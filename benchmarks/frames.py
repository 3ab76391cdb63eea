"""A pandas frame of strings, numbers and holes, encoding included, against a scikit-learn ColumnTransformer."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OrdinalEncoder

import bayesbox as bb
import harness
import synthetic
from summed import Summed


class Pipeline:
    """Numbers imputed by their mean, strings coded with a code for the missing, then the two models summed."""

    def __init__(self, var_smoothing: float = 0) -> None:
        self.model = Summed(var_smoothing)

    def fit(self, frame: pd.DataFrame, y: np.ndarray) -> Pipeline:
        numbers = [name for name, dtype in frame.dtypes.items() if pd.api.types.is_numeric_dtype(dtype)]
        strings = [name for name in frame.columns if name not in numbers]
        self.width = len(numbers)
        encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1)
        imputer = SimpleImputer(keep_empty_features=True)
        self.transformer = ColumnTransformer([("numbers", imputer, numbers), ("strings", encoder, strings)])
        self.model.fit(*self._halves(self.transformer.fit_transform(frame)), y)
        return self

    def predict_proba(self, frame: pd.DataFrame) -> np.ndarray:
        return self.model.predict_proba(*self._halves(self.transformer.transform(frame)))

    def _halves(self, array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return array[:, : self.width], array[:, self.width :].astype(np.int64) + 1


def run(session: harness.Session) -> None:
    check_without_holes(min(session.rows, 50_000))
    y = synthetic.labels(session.rows)
    frame = synthetic.frame_with_strings(y, holes=0.02)
    ours, theirs = bb.NaiveBayes(numeric="gaussian").fit(frame, y), Pipeline().fit(frame, y)
    # Imputing is another model than leaving out, so only the winning class is compared.
    harness.require_alike(ours.predict_proba(frame), theirs.predict_proba(frame), share=0.97, what="frame")
    time_both(session, "strings, numbers and holes", frame, y, ours, theirs)


def check_without_holes(rows: int) -> None:
    """Where nothing is missing, the two models are one."""
    y = synthetic.labels(rows)
    frame = synthetic.frame_with_strings(y, holes=0)
    ours = bb.NaiveBayes(numeric="gaussian").fit(frame, y).predict_proba(frame)
    numbers = frame.iloc[:, :10].to_numpy()
    codes = OrdinalEncoder().fit_transform(frame.iloc[:, 10:]).astype(np.int64)
    expected = Summed().fit(numbers, codes, y).predict_proba(numbers, codes)
    harness.require_equal(ours, expected, what="frame without holes")


def time_both(
    session: harness.Session,
    what: str,
    frame: pd.DataFrame,
    y: np.ndarray,
    ours: bb.NaiveBayes,
    theirs: Pipeline,
    target: float = 6,
) -> None:
    """Fit and predict_proba from the frame as it is."""
    smoothing = theirs.model.var_smoothing
    session.compare(
        f"fit, {what}",
        lambda: bb.NaiveBayes(numeric="gaussian").fit(frame, y),
        "sklearn ColumnTransformer",
        lambda: Pipeline(smoothing).fit(frame, y),
        target,
        rounds=3,
    )
    session.compare(
        f"predict_proba, {what}",
        lambda: ours.predict_proba(frame),
        "sklearn ColumnTransformer",
        lambda: theirs.predict_proba(frame),
        target,
        rounds=3,
    )


if __name__ == "__main__":
    harness.main(run)
