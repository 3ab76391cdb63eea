"""Real tables: accuracy of gaussian, kernel and MDL beside Weka's on Weka's folds, and the cuts of MDL beside Weka's.

Both are means of ten repeats of stratified 10-fold cross-validation, row by row in the same folds; a table that is
NAME-train and NAME-test is trained on the one and asked about the other. A table without numbers has one model. Weka's
gaussian is the probability of a rounded value, gaussian:rounded here, and is what that one is held to; the default and
gaussian:spacing are densities, printed beside it without a target. Without Weka, only ours are printed.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import bayesbox as bb
import harness
from bayesbox.dist.number.cuts import mdl

JAR = Path("/usr/share/java/weka.jar")
DRIVER = Path(__file__).parent / "drivers" / "WekaDensities.java"
Table = tuple[pd.DataFrame, np.ndarray, dict[str, Any]]
METHODS = ("gaussian", "gaussian:spacing", "gaussian:rounded", "kernel", "mdl")
HELD_TO_WEKA = (
    "gaussian:rounded",
    "kernel",
    "mdl",
)  # the same models as Weka's; the other gaussians stand beside
WITHIN = 1.5  # points
FOLDS = 10
LEAST_ROWS = 14
MOST_ROWS = 5_000  # larger tables take one repeat


def run(session: harness.Session) -> None:
    if session.data is None:
        session.say("--data names a folder of tables with a _schema.json")
        return
    warnings.simplefilter("ignore", bb.DataWarning)
    for description in sorted(session.data.rglob("_schema.json")):
        for name, table in sorted(json.loads(description.read_text()).items()):
            path = description.parent / name
            if path.exists() and not path.stem.endswith("-test"):
                measure(session, path, table)


def measure(session: harness.Session, path: Path, table: dict[str, Any]) -> None:
    X, y, kinds = read(path, table)
    if len(y) < LEAST_ROWS:
        return
    repeats = 10 if len(y) <= MOST_ROWS and not session.quick else 1
    test = path.with_name(path.name.replace("-train", "-test"))
    held = read(test, table) if test != path and test.exists() else None
    weka = ask_weka(X, y, kinds, repeats, held)
    folds = weka.folds or [stratified(y, seed) for seed in range(repeats)]
    row = 100 / len(y)
    if row > WITHIN:
        errors = ", ".join(f"{method} {standard_error(found):.1f}" for method, found in weka.accuracies.items())
        session.say(f"{path.stem}: one row is {row:.1f} points; standard error of Weka's mean of {repeats}: {errors}")
    for method in METHODS if len(kinds) < X.shape[1] else METHODS[:1]:
        mine = accuracy(X, y, kinds, method, folds) if held is None else held_out(X, y, kinds, method, held)
        found = weka.accuracies.get(method.partition(":")[0])
        other = None if found is None else float(np.mean(found))
        difference = "" if other is None else f"{mine - other:+.2f}"
        has_target = method in HELD_TO_WEKA or len(kinds) == X.shape[1]
        holds = mine >= other - WITHIN if has_target and other is not None else None
        shown = "" if other is None else f"{other:.2f}"
        work = f"{path.stem}, {method if len(kinds) < X.shape[1] else 'categories'}, "
        work += f"{repeats} x 10-fold" if held is None else "held out"
        goal = f">= -{WITHIN}" if has_target else ""
        session.add(harness.Result(work, f"{mine:.2f}", goal, holds, "Weka NaiveBayes", shown, difference))
    cuts = weka.cuts
    if cuts:
        same = [column for column, found in cuts.items() if np.allclose(mdl(*tally(X[column], y)), found, rtol=1e-9)]
        other = f"of {len(cuts)}"
        holds = len(same) == len(cuts)
        session.add(harness.Result(f"{path.stem}, columns cut alike", str(len(same)), "all", holds, "Weka", other))
        for column in sorted(set(cuts) - set(same)):
            session.say(f"{column}: {mdl(*tally(X[column], y)).tolist()}, Weka {cuts[column].tolist()}")


def read(path: Path, table: dict[str, Any]) -> tuple[pd.DataFrame, np.ndarray, dict[str, Any]]:
    """The columns, the labels, and the kinds: nominal columns are categories with their declared levels."""
    frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
    target = table["class"]
    frame = frame.dropna(subset=[target]).drop(columns=table.get("id_columns", []))
    kinds: dict[str, Any] = {}
    for column in table["columns"]:
        name = column["name"]
        if name != target and name in frame and column["type"] != "numeric":
            frame[name] = frame[name].astype("string")
            kinds[name] = bb.Category(column.get("levels"))
    return frame.drop(columns=target), np.asarray(frame[target].astype(str)), kinds


def tally(column: pd.Series, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct values, and their counts by class."""
    present = column.notna().to_numpy()
    values, place = np.unique(column[present].to_numpy(dtype=float), return_inverse=True)
    labels = np.unique(y, return_inverse=True)[1][present]
    counts = np.zeros((len(values), labels.max() + 1))
    np.add.at(counts, (place, labels), 1)
    return values, counts


def standard_error(repeats: list[float]) -> float:
    return float(np.std(repeats, ddof=1) / np.sqrt(len(repeats))) if len(repeats) > 1 else float("nan")


def accuracy(X: pd.DataFrame, y: np.ndarray, kinds: dict[str, Any], method: str, folds: list[np.ndarray]) -> float:
    """Percent of rows that are right when left out with their fold, which is forgotten and learned again."""
    model = bb.NaiveBayes(numeric=method, columns=kinds).fit(X, y)
    right = 0
    for fold in folds:
        for index in range(FOLDS):
            asked = fold == index
            part = X[asked]
            model.forget(part, y[asked])
            right += int((model.predict(part) == y[asked]).sum())
            model.partial_fit(part, y[asked])
    return 100 * right / len(folds) / len(y)


def held_out(X: pd.DataFrame, y: np.ndarray, kinds: dict[str, Any], method: str, held: Table) -> float:
    """Percent of the held-out rows that are right."""
    model = bb.NaiveBayes(numeric=method, columns=kinds).fit(X, y)
    return 100 * float((model.predict(held[0]) == held[1]).mean())


def stratified(y: np.ndarray, seed: int) -> np.ndarray:
    order = np.random.default_rng(seed).permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    fold = np.empty(len(y), dtype=int)
    fold[order] = np.arange(len(y)) % FOLDS
    return fold


@dataclass
class Weka:
    """What Weka finds: the fold of each row and the accuracies of each treatment, one a repeat; cuts by column."""

    folds: list[np.ndarray] = field(default_factory=list)
    accuracies: dict[str, list[float]] = field(default_factory=dict)
    cuts: dict[str, np.ndarray] = field(default_factory=dict)


def ask_weka(X: pd.DataFrame, y: np.ndarray, kinds: dict[str, Any], repeats: int, held: Table | None) -> Weka:
    """Weka's folds, accuracies and cuts; nothing where it is not installed."""
    weka = Weka()
    if not JAR.exists() or shutil.which("java") is None:
        return weka
    with tempfile.TemporaryDirectory() as folder:
        arff = Path(folder) / "rows.arff"
        write_arff(arff, X, y, kinds, held)
        command = ["java", "-Xmx2g", "-cp", str(JAR), str(DRIVER), str(arff), str(repeats)]
        if held is not None:
            write_arff(Path(folder) / "held.arff", held[0], held[1], kinds, (X, y, kinds))
            command.append(str(Path(folder) / "held.arff"))
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    for name, *words in map(str.split, lines):
        if name == "folds":
            weka.folds.append(np.array(words, dtype=int))
        elif name == "cuts":
            weka.cuts[X.columns[int(words[0])]] = np.array(words[1:], dtype=float)
        else:
            weka.accuracies[name] = [float(word) for word in words]
    return weka


def write_arff(path: Path, X: pd.DataFrame, y: np.ndarray, kinds: dict[str, Any], other: Table | None) -> None:
    """Rows for Weka; the levels are those of both tables, where there is another one."""

    def quoted(text: object) -> str:
        return "'" + str(text).replace("\\", "\\\\").replace("'", "\\'") + "'"

    with path.open("w") as file:
        file.write("@relation rows\n")
        for number, name in enumerate(X):
            seen = {*X[name].dropna(), *(other[0][name].dropna() if other else ())} if name in kinds else set()
            levels = sorted({*seen, *(kinds[name].levels or ())}) if name in kinds else None
            domain = "numeric" if levels is None else "{" + ",".join(map(quoted, levels)) + "}"
            file.write(f"@attribute x{number} {domain}\n")
        file.write("@attribute class {" + ",".join(map(quoted, sorted(set(y)))) + "}\n@data\n")
        columns = [
            ["?" if pd.isna(value) else quoted(value) if name in kinds else repr(float(value)) for value in X[name]]
            for name in X
        ]
        file.writelines(",".join(row) + "\n" for row in zip(*columns, map(quoted, y), strict=True))


if __name__ == "__main__":
    harness.main(run)
