"""Leave-one-out beside predict_proba: every row judged by the model of all others, for at most three predictions."""

from __future__ import annotations

import numpy as np

import bayesbox as bb
import harness

MOST = 3.0  # times predict_proba


def run(session: harness.Session) -> None:
    random = np.random.default_rng(0)
    rows = session.rows
    labels = random.integers(0, 3, rows)
    tables = {
        "20 reals": (random.normal(50 + labels[:, None], 12, (rows, 20)), None),
        "20 categorical": (random.integers(0, 8, (rows, 20)), {index: bb.Category() for index in range(20)}),
    }
    for name, (table, columns) in tables.items():
        model = bb.NaiveBayes(columns=columns).fit(table, labels)
        check(table[:200], labels[:200], columns)
        ours, plain = harness.in_turn(
            [lambda m=model, t=table: m.leave_one_out(t, labels), lambda m=model, t=table: m.predict_proba(t)],
            session.rounds,
        )
        session.amount(
            f"leave-one-out, {name}, beside predict_proba",
            ours / plain,
            MOST,
            lambda ratio: f"{ratio:.1f}x",
            peer="predict_proba",
            theirs=harness.seconds(plain),
        )


def check(table: np.ndarray, labels: np.ndarray, columns: dict | None) -> None:
    """Only right answers are timed: some rows against a refit."""
    found = bb.NaiveBayes(columns=columns).fit(table, labels).leave_one_out(table, labels)
    for row in range(0, len(table), 40):
        others = np.arange(len(table)) != row
        refit = bb.NaiveBayes(columns=columns).fit(table[others], labels[others])
        harness.require_equal(found[row], refit.predict_proba(table[row : row + 1])[0], what="leave-one-out")


if __name__ == "__main__":
    harness.main(run)
