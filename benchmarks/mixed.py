"""Ten columns of numbers and ten of categories, against two models summed by hand and mixed-naive-bayes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import bayesbox as bb
import harness
import synthetic
from summed import Summed


def run(session: harness.Session) -> None:
    y = synthetic.labels(session.rows)
    numbers, codes = synthetic.reals(y, 10), synthetic.codes(y, 10)
    array = np.column_stack([numbers, codes])
    table = pa.table(synthetic.number_columns(numbers) | synthetic.dictionary_columns(codes))
    by_hand = Summed().fit(numbers, codes, y)
    expected = by_hand.predict_proba(numbers, codes)
    declared = dict.fromkeys(range(10, 20), bb.Category())
    # The targets are for columns; a row-major array has its categories as doubles, which costs more to read.
    for form, data, columns in [("Arrow columns", table, None), ("row-major doubles", array, declared)]:
        in_columns = columns is None
        ours = bb.NaiveBayes(numeric="gaussian", columns=columns).fit(data, y)
        harness.require_equal(ours.predict_proba(data), expected, what=f"mixed, {form}")
        session.compare(
            f"fit, 10 + 10 mixed, {form}",
            lambda data=data, columns=columns: bb.NaiveBayes(numeric="gaussian", columns=columns).fit(data, y),
            "sklearn, two summed by hand",
            lambda: Summed().fit(numbers, codes, y),
            30 if in_columns else None,
        )
        session.compare(
            f"predict_proba, 10 + 10 mixed, {form}",
            lambda ours=ours, data=data: ours.predict_proba(data),
            "sklearn, two summed by hand",
            lambda: by_hand.predict_proba(numbers, codes),
            10 if in_columns else None,
        )
        against_mixed_naive_bayes(session, form, data, columns, array, y)


def against_mixed_naive_bayes(session, form, data, columns, array, y) -> None:
    try:
        from mixed_naive_bayes import MixedNB
    except ImportError:
        session.say("mixed-naive-bayes is not installed: pip install mixed-naive-bayes")
        return
    categories = list(range(10, 20))
    theirs = MixedNB(categorical_features=categories, alpha=1).fit(array, y)
    ours = bb.NaiveBayes(numeric="gaussian", columns=columns).fit(data, y)
    # It multiplies probabilities without taking logs, and rounds accordingly.
    harness.require_equal(ours.predict_proba(data), theirs.predict_proba(array), within=1e-6, what="mixed-naive-bayes")
    session.compare(
        f"fit, 10 + 10 mixed, {form}",
        lambda: bb.NaiveBayes(numeric="gaussian", columns=columns).fit(data, y),
        "mixed-naive-bayes",
        lambda: MixedNB(categorical_features=categories, alpha=1).fit(array, y),
        60 if columns is None else None,
        rounds=session.rounds,
    )
    session.compare(
        f"predict_proba, 10 + 10 mixed, {form}",
        lambda: ours.predict_proba(data),
        "mixed-naive-bayes",
        lambda: theirs.predict_proba(array),
        30 if columns is None else None,
        rounds=session.rounds,
    )


if __name__ == "__main__":
    harness.main(run)
