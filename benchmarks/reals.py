"""Twenty columns of numbers against scikit-learn's GaussianNB."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
from sklearn.naive_bayes import GaussianNB

import bayesbox as bb
import harness
import synthetic


def run(session: harness.Session) -> None:
    y = synthetic.labels(session.rows)
    X = synthetic.reals(y)
    table = pa.table(synthetic.number_columns(X))
    frame = pd.DataFrame({name: table[name].to_numpy() for name in table.column_names})
    # Without its variance smoothing the peer's model is ours.
    peer = GaussianNB(var_smoothing=0).fit(X, y)
    forms = {"row-major": X, "Arrow columns": table, "pandas columns": frame}
    for form, data in forms.items():
        ours = bb.NaiveBayes(numeric="gaussian").fit(data, y)
        harness.require_equal(ours.predict_proba(data), peer.predict_proba(X), what=f"reals, {form}")
        session.compare(
            f"fit, 20 reals, {form}",
            lambda data=data: bb.NaiveBayes().fit(data, y),
            "sklearn GaussianNB",
            lambda: GaussianNB(var_smoothing=0).fit(X, y),
            8,
        )
        session.compare(
            f"fit gaussian, 20 reals, {form}",
            lambda data=data: bb.NaiveBayes(numeric="gaussian").fit(data, y),
            "sklearn GaussianNB",
            lambda: GaussianNB(var_smoothing=0).fit(X, y),
            8,
        )
        session.compare(
            f"predict_proba gaussian, 20 reals, {form}",
            lambda ours=ours, data=data: ours.predict_proba(data),
            "sklearn GaussianNB",
            lambda: peer.predict_proba(X),
            10,
        )
        default = bb.NaiveBayes().fit(data, y)
        session.compare(
            f"predict_proba, 20 reals, {form}",
            lambda default=default, data=data: default.predict_proba(data),
            "sklearn GaussianNB",
            lambda: peer.predict_proba(X),
            10,
        )


if __name__ == "__main__":
    harness.main(run)
