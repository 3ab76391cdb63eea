"""Full Bayes on twenty columns of numbers against scikit-learn's quadratic discriminant analysis."""

from __future__ import annotations

import pyarrow as pa
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

import bayesbox as bb
import harness
import synthetic


def run(session: harness.Session) -> None:
    y = synthetic.labels(session.rows)
    X = synthetic.reals(y)
    table = pa.table(synthetic.number_columns(X))
    peer = QuadraticDiscriminantAnalysis().fit(X, y)
    for form, data in {"row-major": X, "Arrow columns": table}.items():
        ours = bb.FullBayes().fit(data, y)
        harness.require_equal(ours.predict_proba(data), peer.predict_proba(X), what=f"full Bayes, {form}")
        session.compare(
            f"full Bayes fit, 20 reals, {form}",
            lambda data=data: bb.FullBayes().fit(data, y),
            "sklearn QDA",
            lambda: QuadraticDiscriminantAnalysis().fit(X, y),
            3,
        )
        session.compare(
            f"full Bayes predict_proba, 20 reals, {form}",
            lambda ours=ours, data=data: ours.predict_proba(data),
            "sklearn QDA",
            lambda: peer.predict_proba(X),
            5,
        )


if __name__ == "__main__":
    harness.main(run)
