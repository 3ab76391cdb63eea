"""AutoBayes beside our other models and the tree ensembles: accuracy and log loss on the tables of a folder.

Five seeded repeats of 10-fold cross-validation (`--quick`: one, and 2,000 rows of a larger table). Every model sees the
same folds. Categories go one-hot to the random forest, and as categories to the boosted trees. A probability counts as
at least 1e-15; a class that is absent from the training rows has that for a model that does not know it.
"""

from __future__ import annotations

import json
import time
import warnings
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
from bayesbox.learn.folds import stratified_folds

FOLDS, REPEATS = 10, 5
QUICK_ROWS = 2_000
WEKA_AODE = 0.8702  # its mean accuracy over the tables of the folder that this was made for
LEAST = 1e-15


def run(session: harness.Session) -> None:
    if session.data is None:
        return
    warnings.simplefilter("ignore")
    scores: dict[str, dict[str, np.ndarray]] = {}
    for name, X, y in tables(session.data):
        if session.quick and len(y) > QUICK_ROWS:
            chosen = np.sort(np.random.default_rng(0).choice(len(y), QUICK_ROWS, replace=False))
            X, y = X.iloc[chosen].reset_index(drop=True), y[chosen]
        scores[name] = judged(X, y, repeats=1 if session.quick else REPEATS)
        told = "  ".join(f"{model} {100 * got[0]:.1f}/{got[1]:.3f}" for model, got in scores[name].items())
        session.say(f"{name} ({len(y)} rows; accuracy/log loss): {told}")
    if scores:
        summary(session, scores)


def summary(session: harness.Session, scores: dict[str, dict[str, np.ndarray]]) -> None:
    """The means over the tables, and where another model is ahead of AutoBayes."""
    models = list(next(iter(scores.values())))
    mean = {model: np.mean([each[model] for each in scores.values()], axis=0) for model in models}
    for model in models:
        right, loss, seconds = mean[model]
        session.say(
            f"{len(scores)} tables: {model:<22} right {100 * right:.2f} %  log loss {loss:.4f}  fit {seconds:.2f} s"
        )
    ours = mean["AutoBayes"]
    right = f"{100 * ours[0]:.2f}"
    session.add(
        harness.Result(
            "AutoBayes, mean accuracy", right, "above", bool(ours[0] > WEKA_AODE), "Weka AODE", f"{100 * WEKA_AODE:.2f}"
        )
    )
    for model in models:
        if model != "AutoBayes":
            session.add(
                harness.Result(
                    "AutoBayes, mean log loss",
                    f"{ours[1]:.4f}",
                    "below it",
                    bool(ours[1] < mean[model][1]),
                    model,
                    f"{mean[model][1]:.4f}",
                    f"{mean[model][1] / ours[1]:.2f}x",
                )
            )
    for model in ("random forest", "boosting (sklearn)", "LightGBM"):
        ahead = [name for name, each in scores.items() if model in each and each[model][1] < each["AutoBayes"][1]]
        session.say(f"{model} has the lower log loss on {len(ahead)} of {len(scores)}: {', '.join(ahead) or 'none'}")


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


def models(X: pd.DataFrame) -> dict[str, Any]:
    words = [name for name in X.columns if not pd.api.types.is_numeric_dtype(X[name])]
    one_hot = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), words), remainder="passthrough", sparse_threshold=0
    )
    found: dict[str, Any] = {
        "AutoBayes": bb.AutoBayes(),
        "naive Bayes": bb.NaiveBayes(),
        "random forest": make_pipeline(one_hot, RandomForestClassifier(200, random_state=0, n_jobs=1)),
        "boosting (sklearn)": HistGradientBoostingClassifier(random_state=0, categorical_features="from_dtype"),
    }
    for name in ("AODE", "KDB", "AveragedNaiveBayes", "TAN"):
        if hasattr(bb, name):
            found[name] = getattr(bb, name)()
    try:
        from lightgbm import LGBMClassifier
    except ImportError:
        return found
    return found | {"LightGBM": LGBMClassifier(n_jobs=1, verbose=-1)}


def judged(X: pd.DataFrame, y: np.ndarray, *, repeats: int) -> dict[str, np.ndarray]:
    """(accuracy, log loss, seconds of a fit) of each model."""
    classes, codes = np.unique(y, return_inverse=True)
    words = [name for name in X.columns if not pd.api.types.is_numeric_dtype(X[name])]
    filled = X.assign(**{name: X[name].astype(object).fillna("missing") for name in words})
    coded = X.assign(**{name: X[name].astype("category") for name in words})
    folds = min(FOLDS, len(y))
    total: dict[str, np.ndarray] = {name: np.zeros(3) for name in models(X)}
    for repeat in range(repeats):
        fold_of_row = stratified_folds(codes, folds, seed=0, repeat=repeat)
        for fold in range(folds):
            inside, outside = fold_of_row != fold, fold_of_row == fold
            for name, model in models(X).items():
                rows = X if name in OURS else filled if name == "random forest" else coded
                start = time.process_time()
                fit(model, rows[inside], y[inside])
                total[name][2] += (time.process_time() - start) / (repeats * folds)
                p = np.zeros((outside.sum(), len(classes)))
                p[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(rows[outside])
                true = codes[outside]
                total[name][0] += (p.argmax(axis=1) == true).sum() / (repeats * len(y))
                loss = -np.log(np.maximum(p[np.arange(len(true)), true], LEAST))
                total[name][1] += loss.sum() / (repeats * len(y))
    return total


def fit(model: Any, rows: pd.DataFrame, labels: np.ndarray) -> None:
    """Fit; a boosting that stops early by default cannot divide a class of one row, and then does not stop early."""
    try:
        model.fit(rows, labels)
    except ValueError:
        if not isinstance(model, HistGradientBoostingClassifier):
            raise
        model.set_params(early_stopping=False).fit(rows, labels)


OURS = ("AutoBayes", "naive Bayes", "AODE", "KDB", "AveragedNaiveBayes", "TAN")

if __name__ == "__main__":
    harness.main(run)
