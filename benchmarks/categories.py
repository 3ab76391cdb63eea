"""Twenty columns of codes against scikit-learn's CategoricalNB."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
from sklearn.naive_bayes import CategoricalNB

import bayesbox as bb
import harness
import synthetic


def forms_of(X: Any) -> dict[str, tuple[Any, dict[Any, Any] | None, float]]:
    """The same codes as an array, as columns of bytes and as dictionaries: data, declared kinds, target of the fit."""
    table = pa.table(synthetic.dictionary_columns(X))
    frame = pd.DataFrame({name: X[:, index].astype("uint8") for index, name in enumerate(table.column_names)})
    categorical = pd.DataFrame({name: pd.Categorical(X[:, index]) for index, name in enumerate(table.column_names)})
    return {
        "row-major int64": (X, dict.fromkeys(range(X.shape[1]), bb.Category()), 25),
        "pandas uint8 columns": (frame, dict.fromkeys(frame.columns, bb.Category()), 50),
        "pandas Categorical columns": (categorical, None, 50),
        "Arrow dictionary columns": (table, None, 50),
    }


def run(session: harness.Session) -> None:
    y = synthetic.labels(session.rows)
    X = synthetic.codes(y)
    peer = CategoricalNB().fit(X, y)
    for form, (data, columns, target) in forms_of(X).items():
        ours = bb.NaiveBayes(columns=columns).fit(data, y)
        harness.require_equal(ours.predict_proba(data), peer.predict_proba(X), what=f"categories, {form}")
        session.compare(
            f"fit, 20 categorical, {form}",
            lambda data=data, columns=columns: bb.NaiveBayes(columns=columns).fit(data, y),
            "sklearn CategoricalNB",
            lambda: CategoricalNB().fit(X, y),
            target,
        )
        session.compare(
            f"predict_proba, 20 categorical, {form}",
            lambda ours=ours, data=data: ours.predict_proba(data),
            "sklearn CategoricalNB",
            lambda: peer.predict_proba(X),
            10,
        )


if __name__ == "__main__":
    harness.main(run)
