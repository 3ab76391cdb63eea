"""Rows learned, forgotten and asked for one at a time, in random order: python -m tests.fuzz.one_row [STEPS] [SEED]."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from tests.laws.test_learn_one import NEAR, fitted, records

import bayesbox as bb

CASES: tuple[tuple[tuple[str, ...], dict[str, Any]], ...] = (
    (("car", "smoker", "zip"), {"columns": {"zip": "category"}}),
    (("car", "age", "income", "smoker", "height"), {"numeric": "gaussian"}),
    (("car", "age", "income", "smoker", "height"), {}),
)
ROWS, ASKED_EVERY = 4_000, 1_000


def run(names: tuple[str, ...], options: dict[str, Any], steps: int, seed: int) -> float:
    """The largest difference to a model that is made anew; SystemExit where the tallies differ."""
    rows, y = records(ROWS, names)
    draw = np.random.default_rng(seed)
    outside, inside, worst = draw.permutation(ROWS).tolist(), [], 0.0
    clf = bb.NaiveBayes(**options)
    for step in range(1, steps + 1):
        choice = draw.random()
        if len(inside) < 5 or (choice < 0.45 and outside):
            inside.append(outside.pop())
            clf.learn_one(rows[inside[-1]], y[inside[-1]])
        elif choice < 0.75:
            outside.insert(0, inside.pop(int(draw.integers(len(inside)))))
            clf.forget_one(rows[outside[0]], y[outside[0]])
        else:
            clf.predict_proba_one(rows[int(draw.integers(ROWS))])
        if step % ASKED_EVERY == 0 or step == steps:
            again = fitted([rows[k] for k in inside], [y[k] for k in inside], **options)
            for row in rows[:5]:
                found, expected = clf.predict_proba_one(row), again.predict_proba_one(row)
                worst = max(worst, *(abs(found[label] - expected[label]) for label in expected))
            if step == steps and clf.book_.digest() != again.book_.digest():
                raise SystemExit(f"{names}, seed {seed}: another digest than that of one fit")
    if worst > NEAR:
        raise SystemExit(f"{names}, seed {seed}: the answers differ by {worst:.2g}")
    return worst


def main(steps: int = 10_000, seed: int = 0) -> None:
    for names, options in CASES:
        worst = run(names, options, steps, seed)
        print(f"{steps:,} steps over {', '.join(names)}: one digest, answers within {worst:.1g}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
