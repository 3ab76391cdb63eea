"""Hashes of what is learned and of what is answered, for every family and kind of model: python release/bits.py

The lines of two machines are the same where their answers have the same bits. The rows come from integers and from
sums, so that no function of the system's mathematical library takes part in making them. `--only kernel` chooses lines.
"""

from __future__ import annotations

import hashlib
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

import bayesbox as bb
from bayesbox.schema.families import FAMILIES

ROWS = 400


def drawn(count: int, seed: int) -> np.ndarray:
    """Integers of 32 bits by a linear congruence."""
    found = np.empty(count, dtype=np.uint64)
    state = seed
    for place in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        found[place] = state >> 32
    return found


def bells(count: int, seed: int) -> np.ndarray:
    """Numbers about 0 with a deviation of about 1: sums of twelve, each exact."""
    return (drawn(12 * count, seed).reshape(count, 12) / 2.0**32).sum(axis=1) - 6


def table() -> tuple[pa.Table, list[str]]:
    labels = np.array(["no", "yes", "perhaps"])[(drawn(ROWS, 1) % 3).astype(int)]
    shift = np.select([labels == "no", labels == "yes"], [0.0, 1.5], -1.0)
    columns = {
        "height": bells(ROWS, 2) + shift,
        "weight": (bells(ROWS, 3) * 2 + shift + 20) * 3,
        "car": pa.array(np.array(["suv", "sports", "truck", "van"])[((drawn(ROWS, 4) + (shift > 0)) % 4).astype(int)]),
        "wed": pa.array((drawn(ROWS, 5) % 3 > (shift > 0)).tolist()),
    }
    return pa.table(columns), labels.tolist()


def positive(rows: pa.Table) -> pa.Table:
    return pa.table({"height": rows["height"].to_numpy() + 20, "weight": rows["weight"].to_numpy() + 20})


def counts(seed: int) -> pa.Table:
    return pa.table({name: (drawn(ROWS, seed + at) % 7).astype(np.int64) for at, name in enumerate(("rings", "calls"))})


def numbers(labels: list[str], *, gaps: bool = False) -> pa.Table:
    """Eight that depend on each other, one of them with missing values where there are gaps."""
    own = bells(8 * ROWS, 10).reshape(8, ROWS) + np.select([np.array(labels) == "yes"], [0.75], 0.0)
    mixed = [own[at] + own[at - 1] / 2 + own[0] / 4 for at in range(8)]
    if gaps:
        mixed[3] = np.where(drawn(ROWS, 11) % 9 == 0, np.nan, mixed[3])
    return pa.table({f"number {at}": each for at, each in enumerate(mixed)})


def texts(labels: list[str]) -> list[str]:
    words = np.array(["cheap", "meeting", "pills", "agenda", "offer", "minutes", "tomorrow", "free", "budget", "now"])
    picks = (drawn(8 * ROWS, 9).reshape(ROWS, 8) % 10).astype(int)
    return [" ".join(words[(row + (label == "yes")) % 10]) for row, label in zip(picks, labels, strict=True)]


def hashed(*arrays: Any) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    return digest.hexdigest()[:16]


def of_rows(model: Any, rows: Any, labels: list[str]) -> tuple[str, str]:
    model.fit(rows, labels)
    logs = model.predict_log_proba(rows) if hasattr(model, "predict_log_proba") else []
    return model.digest()[:16], hashed(model.predict_proba(rows), logs, model.predict_proba(rows[:1]))


def lines() -> Iterator[tuple[str, Callable[[], tuple[str, str]]]]:
    rows, labels = table()
    for family in FAMILIES.values():
        if family.of == "real":
            name = f"{family.name}:5" if family.numbered else family.name
            yield f"naive {name}", lambda name=name: of_rows(bb.NaiveBayes(numeric=name), positive(rows), labels)
        elif family.of == "count":
            columns = dict.fromkeys(("rings", "calls"), bb.Count(family.name))
            yield (
                f"naive {family.name}",
                lambda columns=columns: of_rows(bb.NaiveBayes(columns=columns), counts(6), labels),
            )
    yield "naive mixed", lambda: of_rows(bb.NaiveBayes(), rows, labels)
    for name in ("FullBayes", "AveragedNaiveBayes", "AODE", "TAN", "KDB", "AutoBayes"):
        yield name, lambda name=name: of_rows(getattr(bb, name)(), rows, labels)
    for name in ("FullBayes", "AutoBayes"):
        yield f"{name} of numbers", lambda name=name: of_rows(getattr(bb, name)(), numbers(labels), labels)
    yield "FullBayes with gaps", lambda: of_rows(bb.FullBayes(), numbers(labels, gaps=True), labels)
    pair = [bb.NaiveBayes(), bb.TAN()]
    yield "BayesOptimal", lambda: of_rows(bb.BayesOptimal([each.fit(rows, labels) for each in pair]), rows, labels)
    yield "TextClassifier", lambda: of_rows(bb.TextClassifier(), texts(labels), labels)


def network() -> tuple[str, str]:
    rows, labels = table()
    net = bb.learn_network(pa.table({"car": rows["car"], "wed": rows["wed"], "label": labels}), score="bic")
    answer = net.posteriors({"car": "suv"})
    return "-", hashed([float(share) for node in sorted(answer) for _, share in sorted(answer[node].items())])


def chain() -> tuple[str, str]:
    model = bb.HiddenMarkovModel.from_tables(
        start=[0.5, 0.5], transition=[[0.7, 0.3], [0.4, 0.6]], emission=[[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]],
        states=["rain", "dry"], symbols=["walk", "shop", "clean"],
    )  # fmt: skip
    seen = np.array(["walk", "shop", "clean"])[(drawn(500, 8) % 3).astype(int)].tolist()
    return "-", hashed(model.predict_proba(seen), [model.score(seen)])


def main() -> None:
    warnings.simplefilter("ignore")
    asked = sys.argv[2:] if sys.argv[1:2] == ["--only"] else []
    for name, make in (*lines(), ("network", network), ("hidden Markov model", chain)):
        if not asked or any(word in name for word in asked):
            learned, answered = make()
            print(f"{name:24} learned {learned:16} answered {answered}", flush=True)


if __name__ == "__main__":
    main()
