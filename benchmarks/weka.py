"""Weka's NaiveBayes on 200,000 rows of 20 numbers, warm, inside one Java machine."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from sklearn.base import clone

import bayesbox as bb
import harness
import synthetic

JAR = Path("/usr/share/java/weka.jar")
DRIVER = Path(__file__).parent / "drivers" / "WekaNaiveBayes.java"


def run(session: harness.Session) -> None:
    if not JAR.exists() or shutil.which("javac") is None:
        session.say("Weka is not installed: apt-get install weka default-jdk-headless")
        return
    y = synthetic.labels(200_000 if not session.quick else 20_000)
    X = synthetic.reals(y)
    with tempfile.TemporaryDirectory() as folder:
        times, theirs = ask_weka(Path(folder), X, y, session.rounds)
    ours = bb.NaiveBayes(numeric="gaussian").fit(X, y)
    # Weka rounds numbers to a grid of its own, so its model is not quite ours.
    harness.require_alike(ours.predict_proba(X), theirs, what="Weka")
    fit, predict = harness.in_turn([lambda: clone(ours).fit(X, y), lambda: ours.predict_proba(X)], session.rounds)
    session.ratio(f"fit, 20 reals, {len(y) // 1000}k rows", fit, "Weka NaiveBayes", times[0], 1)
    session.ratio(f"predict_proba, 20 reals, {len(y) // 1000}k rows", predict, "Weka NaiveBayes", times[1], 1)


def ask_weka(folder: Path, X: np.ndarray, y: np.ndarray, rounds: int) -> tuple[tuple[float, float], np.ndarray]:
    """The median seconds of fit and predict, the first round left out, and the probabilities."""
    arff, answers = folder / "rows.arff", folder / "answers.csv"
    write_arff(arff, X, y)
    command = ["java", "-Xmx6g", "-cp", str(JAR), str(DRIVER), str(arff), str(rounds + 1), str(answers)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    taken = [tuple(map(float, line.split())) for line in printed.splitlines()][1:]
    fit, predict = (statistics.median(column) for column in zip(*taken, strict=True))
    return (fit, predict), np.loadtxt(answers, delimiter=",")


def write_arff(path: Path, X: np.ndarray, y: np.ndarray) -> None:
    with path.open("w") as file:
        file.write("@relation rows\n")
        file.writelines(f"@attribute x{column} numeric\n" for column in range(X.shape[1]))
        file.write("@attribute class {" + ",".join(map(str, range(synthetic.CLASSES))) + "}\n@data\n")
        file.writelines(
            ",".join(map(repr, row)) + f",{label}\n" for row, label in zip(X.tolist(), y.tolist(), strict=True)
        )


if __name__ == "__main__":
    harness.main(run)
