"""Real tables of a folder: CSV files, read by pandas, the class in the last column or as `_schema.json` says."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import bayesbox as bb
import frames
import harness

LEAST_ROWS = 5_000  # below this, calls are measured rather than rows
COPIES_TO = 200_000  # smaller tables are repeated up to about so many rows


def run(session: harness.Session) -> None:
    if session.data is None:
        return
    warnings.simplefilter("ignore", bb.DataWarning)  # constant columns are part of real tables
    tables = sorted(session.data.rglob("*.csv"))
    known = targets(session.data)
    for path in tables:
        frame = pd.read_csv(path)
        target = known.get(path.stem, frame.columns[-1])
        if len(frame) < LEAST_ROWS or target not in frame or not 2 <= frame[target].nunique() <= 50:
            continue
        measure(session, path.stem, frame.dropna(subset=[target]), target)


def targets(folder: Path) -> dict[str, str]:
    """The class column by table, where the folder's `_schema.json` files name it."""
    found: dict[str, str] = {}
    for path in folder.rglob("_schema.json"):
        for name, described in json.loads(path.read_text()).items():
            if isinstance(described, dict) and isinstance(described.get("class"), str):
                found[name.removesuffix(".csv")] = described["class"]
    return found


def measure(session: harness.Session, name: str, frame: pd.DataFrame, target: str) -> None:
    copies = max(1, COPIES_TO // len(frame))
    frame = pd.concat([frame] * copies, ignore_index=True)
    X, y = frame.drop(columns=target), np.asarray(frame[target].astype(str))
    ours, theirs = bb.NaiveBayes(numeric="gaussian").fit(X, y), frames.Pipeline(var_smoothing=1e-9).fit(X, y)
    mine = float((ours.predict(X) == y).mean())
    other = float((theirs.model.classes_[theirs.predict_proba(X).argmax(axis=1)] == y).mean())
    # The peer imputes and smooths otherwise, so what must agree is how often each is right.
    if mine < other - 0.01:
        raise SystemExit(f"{name}: ours is right in {mine:.4f} of the rows, the peer in {other:.4f}: nothing was timed")
    session.say(f"{name}: {X.shape[1]} columns; right on its own rows: ours {mine:.4f}, the peer {other:.4f}")
    frames.time_both(session, f"{name}, {len(frame) // 1000}k rows", X, y, ours, theirs)


if __name__ == "__main__":
    harness.main(run)
