"""Twenty columns of zeros and ones against scikit-learn's BernoulliNB."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
from sklearn.naive_bayes import BernoulliNB

import bayesbox as bb
import harness
import synthetic


def run(session: harness.Session) -> None:
    y = synthetic.labels(session.rows)
    X = synthetic.flags(y)
    table = pa.table(synthetic.number_columns(X))
    frame = pd.DataFrame({name: table[name].to_numpy().astype(bool) for name in table.column_names})
    # The peer as it comes, and spared the pass that makes zeros and ones of its input: they are zeros and ones.
    peers = {"sklearn BernoulliNB": BernoulliNB(), "the same, binarize=None": BernoulliNB(binarize=None)}
    expected = BernoulliNB().fit(X, y).predict_proba(X)
    forms = {
        "row-major uint8": (X, dict.fromkeys(range(X.shape[1]), bb.Flag()), 25),
        "row-major uint8, kind found": (X, None, 25),
        "Arrow uint8 columns": (table, dict.fromkeys(table.column_names, bb.Flag()), 50),
        "pandas bool columns": (frame, None, 50),
    }
    for form, (data, columns, target) in forms.items():
        ours = bb.NaiveBayes(columns=columns).fit(data, y)
        harness.require_equal(ours.predict_proba(data), expected, what=f"flags, {form}")
        for name, peer in peers.items():
            as_it_comes = peer.binarize is not None
            session.compare(
                f"fit, 20 binary, {form}",
                lambda data=data, columns=columns: bb.NaiveBayes(columns=columns).fit(data, y),
                name,
                lambda peer=peer: peer.fit(X, y),
                target if as_it_comes else None,
            )
            session.compare(
                f"predict_proba, 20 binary, {form}",
                lambda ours=ours, data=data: ours.predict_proba(data),
                name,
                lambda peer=peer: peer.predict_proba(X),
                8 if as_it_comes else None,
            )


if __name__ == "__main__":
    harness.main(run)
