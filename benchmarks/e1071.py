"""R's e1071 package: naiveBayes on 20,000 rows of 20 numbers."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone

import bayesbox as bb
import harness
import synthetic

SCRIPT = Path(__file__).parent / "drivers" / "e1071.R"


def is_installed() -> bool:
    if shutil.which("Rscript") is None:
        return False
    return not subprocess.run(["Rscript", "-e", "library(e1071)"], check=False, capture_output=True).returncode


def run(session: harness.Session) -> None:
    if not is_installed():
        session.say("e1071 is not installed: apt-get install r-base-core r-cran-e1071")
        return
    y = synthetic.labels(20_000)
    X = synthetic.reals(y)
    frame = pd.DataFrame(X, columns=synthetic.names(X.shape[1], "x"))
    with tempfile.TemporaryDirectory() as folder:
        times, theirs = ask_r(Path(folder), frame, y, 2 if session.quick else 4)
    ours = bb.NaiveBayes(numeric="gaussian").fit(X, y)
    # e1071 divides by n - 1 where we divide by n.
    harness.require_equal(ours.predict_proba(X), theirs, within=1e-2, what="e1071")
    harness.require_alike(ours.predict_proba(X), theirs, what="e1071")
    fit, predict = harness.in_turn([lambda: clone(ours).fit(X, y), lambda: ours.predict_proba(X)], 15)
    session.ratio("fit, 20 reals, 20k rows", fit, "R e1071", times[0], None)
    session.ratio("predict_proba, 20 reals, 20k rows", predict, "R e1071", times[1], 100)


def ask_r(folder: Path, frame: pd.DataFrame, y: np.ndarray, rounds: int) -> tuple[tuple[float, float], np.ndarray]:
    rows, answers = folder / "rows.csv", folder / "answers.csv"
    frame.assign(y=y).to_csv(rows, index=False)
    command = ["Rscript", str(SCRIPT), str(rows), str(rounds), str(answers)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    taken = [tuple(map(float, line.split())) for line in printed.splitlines()][1:]
    fit, predict = (statistics.median(column) for column in zip(*taken, strict=True))
    return (fit, predict), np.loadtxt(answers, delimiter=",")


if __name__ == "__main__":
    harness.main(run)
