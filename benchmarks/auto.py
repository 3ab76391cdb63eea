"""AutoBayes beside our other models and the tree ensembles: accuracy and log loss on the tables of a folder.

Five seeded repeats of 10-fold cross-validation (`--quick`: one, and 2,000 rows of a larger table). Every model sees the
same folds. Categories go one-hot to the random forest, and as categories to the boosted trees. A probability counts as
at least 1e-15; a class that is absent from the training rows has that for a model that does not know it.

It takes hours: with `--kept FILE` a line of JSON is kept for each table, repeat and model, and what is there is not run
again. Delete the file when a model has changed.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import bayesbox as bb
import harness
from bayesbox.errors import TooCostly
from bayesbox.stat.folds import stratified_folds

FOLDS, REPEATS = 10, 5
QUICK_ROWS = 2_000
WEKA_AODE = 0.8702  # its mean accuracy over the tables of the folder that this was made for
LEAST = 1e-15
BOOSTED = ("boosting (sklearn)", "LightGBM")


def run(session: harness.Session) -> None:
    if session.data is None:
        return
    warnings.simplefilter("ignore")
    found: list[Part] = []
    if session.kept is not None and session.kept.exists():
        found = [Part(**json.loads(line)) for line in session.kept.read_text().splitlines()]
    done = {part.key for part in found}
    read = sorted((fewer(*each) if session.quick else each for each in tables(session.data)), key=lambda t: len(t[2]))
    for name, X, y in read:
        for repeat in range(1 if session.quick else REPEATS):
            for part in judged(name, X, y, repeat, done):
                found.append(part)
                if session.kept is not None:
                    with session.kept.open("a") as file:
                        file.write(json.dumps(asdict(part)) + "\n")
                session.say(
                    f"{name} ({len(y)} rows), repeat {repeat}: {part.model} "
                    f"right {100 * part.right:.1f} %  log loss {part.loss:.4f}  fit {part.seconds:.2f} s"
                )
    if found:
        summary(session, means(found, [name for name, *_ in read]))


@dataclass(frozen=True)
class Part:
    """One model on one table in one repeat: the share of right answers, the log loss, the seconds of a fit."""

    table: str
    rows: int
    repeat: int
    model: str
    right: float
    loss: float
    seconds: float

    @property
    def key(self) -> tuple[str, int, int, str]:
        return self.table, self.rows, self.repeat, self.model


def means(parts: list[Part], names: list[str]) -> dict[str, dict[str, np.ndarray]]:
    """Of each table and model, over the repeats."""
    found: dict[str, dict[str, list[list[float]]]] = {name: {} for name in names}
    for part in parts:
        found[part.table].setdefault(part.model, []).append([part.right, part.loss, part.seconds])
    return {name: {model: np.mean(each, axis=0) for model, each in got.items()} for name, got in found.items()}


def fewer(name: str, X: pd.DataFrame, y: np.ndarray) -> tuple[str, pd.DataFrame, np.ndarray]:
    if len(y) <= QUICK_ROWS:
        return name, X, y
    chosen = np.sort(np.random.default_rng(0).choice(len(y), QUICK_ROWS, replace=False))
    return name, X.iloc[chosen].reset_index(drop=True), y[chosen]


def summary(session: harness.Session, scores: dict[str, dict[str, np.ndarray]]) -> None:
    """The means over the tables, and where another model is ahead of AutoBayes."""
    models = list(dict.fromkeys(model for each in scores.values() for model in each))
    for model in models:
        right, loss, seconds = over(scores, model, model)
        known = sum(model in each for each in scores.values())
        session.say(f"{known} tables: {model:<22} right {100 * right:.2f} %  log loss {loss:.4f}  fit {seconds:.2f} s")
    right = over(scores, "AutoBayes", "AutoBayes")[0]
    session.add(
        harness.Result(
            "AutoBayes, mean accuracy",
            f"{100 * right:.2f}",
            "above",
            bool(right > WEKA_AODE),
            "Weka AODE",
            f"{100 * WEKA_AODE:.2f}",
        )
    )
    for model in models:
        if model != "AutoBayes":
            ours, theirs = over(scores, "AutoBayes", model)[1], over(scores, model, model)[1]
            session.add(
                harness.Result(
                    "AutoBayes, mean log loss",
                    f"{ours:.4f}",
                    "below it",
                    bool(ours < theirs),
                    model,
                    f"{theirs:.4f}",
                    f"{theirs / ours:.2f}x",
                )
            )
    for model in ("random forest", *BOOSTED):
        ahead = [name for name, each in scores.items() if model in each and each[model][1] < each["AutoBayes"][1]]
        session.say(f"{model} has the lower log loss on {len(ahead)} of {len(scores)}: {', '.join(ahead) or 'none'}")


def over(scores: dict[str, dict[str, np.ndarray]], model: str, where: str) -> np.ndarray:
    """The means of a model over the tables that the model `where` takes."""
    return np.mean([each[model] for each in scores.values() if where in each], axis=0)


def tables(folder: Path) -> list[tuple[str, pd.DataFrame, np.ndarray]]:
    """The tables that `_schema.json` describes: name, columns, labels."""
    found = []
    for path in sorted(folder.rglob("_schema.json")):
        for file, described in sorted(json.loads(path.read_text()).items()):
            if file.startswith(("adult-test", "mlbench-")):
                continue  # a second part, and a copy, of another
            types = {each["name"]: each["type"] for each in described["columns"]}
            text = {name: object for name, kind in types.items() if kind != "numeric"}
            frame = pd.read_csv(path.parent / file, dtype=text, keep_default_na=False, na_values=[""])
            frame = frame.dropna(subset=[described["class"]]).drop(columns=described["id_columns"])
            found.append(
                (Path(file).stem, frame.drop(columns=described["class"]), frame[described["class"]].to_numpy(str))
            )
    return found


def words(X: pd.DataFrame) -> list[str]:
    """The columns that are not numbers."""
    return [name for name in X.columns if not pd.api.types.is_numeric_dtype(X[name])]


def models(X: pd.DataFrame) -> dict[str, Any]:
    one_hot = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), words(X)), remainder="passthrough", sparse_threshold=0
    )
    found: dict[str, Any] = {
        "AutoBayes": bb.AutoBayes(),
        "naive Bayes": bb.NaiveBayes(),
        "naive Bayes, kernel": bb.NaiveBayes(numeric="kernel"),
        "naive Bayes, mdl": bb.NaiveBayes(numeric="mdl"),
        "naive Bayes, weights": bb.NaiveBayes(column_weights="learned"),
        "AODE": bb.AODE(),
        "KDB": bb.KDB(),
        "AveragedNaiveBayes": bb.AveragedNaiveBayes(),
        "TAN": bb.TAN(),
        "FullBayes": bb.FullBayes(),
        "random forest": make_pipeline(one_hot, RandomForestClassifier(200, random_state=0, n_jobs=1)),
        "boosting (sklearn)": HistGradientBoostingClassifier(random_state=0, categorical_features="from_dtype"),
    }
    try:
        from lightgbm import LGBMClassifier
    except ImportError:
        return found
    return found | {"LightGBM": LGBMClassifier(n_jobs=1, verbose=-1)}


def judged(name: str, X: pd.DataFrame, y: np.ndarray, repeat: int, done: set[Any]) -> Iterator[Part]:
    """Each model that is not done in one repeat of cross-validation."""
    classes, codes = np.unique(y, return_inverse=True)
    texts = words(X)
    filled = X.assign(**{name: X[name].astype(object).fillna("missing") for name in texts})
    coded = X.assign(**{name: X[name].astype("category") for name in texts})
    folds = min(FOLDS, len(y))
    fold_of_row = stratified_folds(codes, folds, seed=0, repeat=repeat)
    for title in models(X):
        if (name, len(y), repeat, title) in done:
            continue
        rows = filled if title == "random forest" else coded if title in BOOSTED else X
        right = loss = seconds = 0.0
        for fold in range(folds):
            inside, outside = fold_of_row != fold, fold_of_row == fold
            model = models(X)[title]
            start = time.process_time()
            try:
                fit(model, rows[inside], y[inside])
            except TooCostly:  # a table of more cells than there is memory for: the model is left out here
                break
            seconds += time.process_time() - start
            p = np.zeros((outside.sum(), len(classes)))
            p[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(rows[outside])
            true = codes[outside]
            right += float((p.argmax(axis=1) == true).sum())
            loss -= float(np.log(np.maximum(p[np.arange(len(true)), true], LEAST)).sum())
        else:
            yield Part(name, len(y), repeat, title, right / len(y), loss / len(y), seconds / folds)


def fit(model: Any, rows: pd.DataFrame, labels: np.ndarray) -> None:
    """Fit; a boosting that stops early by default cannot divide a class of one row, and then does not stop early."""
    try:
        model.fit(rows, labels)
    except ValueError:
        if not isinstance(model, HistGradientBoostingClassifier):
            raise
        model.set_params(early_stopping=False).fit(rows, labels)


if __name__ == "__main__":
    harness.main(run)
