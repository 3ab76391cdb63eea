"""scikit-learn's models on our folds: the same numbers as by hand."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss
from sklearn.tree import DecisionTreeClassifier

import bayesbox as bb
from bayesbox.classifier import registry
from bayesbox.classifier.experiment.yardsticks import LOGISTIC, TREE, cross_validate_yardstick
from bayesbox.cli.main import run
from bayesbox.stat.folds import stratified_folds

ROWS, FOLDS = 150, 4


def table(*, missing: bool) -> pa.Table:
    random = np.random.default_rng(5)
    label = random.integers(0, 2, ROWS)
    number = random.normal(size=ROWS) + label
    car = np.where(random.random(ROWS) < 0.3 + 0.4 * label, "suv", "van")
    gone = random.random(ROWS) < (0.2 if missing else 0)
    return pa.table(
        {
            "number": pa.array(number, mask=gone),
            "car": pa.array(car.tolist(), mask=random.random(ROWS) < (0.2 if missing else 0)),
            "class": np.where(label == 1, "yes", "no"),
        }
    )


def by_hand(rows: pa.Table, model: object) -> tuple[float, float]:
    """Accuracy and log loss, with the columns made into numbers one by one."""
    codes = np.array([label == "yes" for label in rows["class"].to_pylist()]).astype(int)
    numbers = np.array(rows["number"].to_pylist(), dtype=float)
    cars = rows["car"].to_pylist()
    fold_of_row = stratified_folds(codes, FOLDS, seed=3)
    true, shares = [], []
    for fold in range(FOLDS):
        learned, held = np.flatnonzero(fold_of_row != fold), np.flatnonzero(fold_of_row == fold)
        gone = np.isnan(numbers)
        filled = np.where(gone, np.nanmedian(numbers[learned]), numbers)
        columns = [filled, gone.astype(float)] if gone[learned].any() else [filled]
        columns = [(each - each[learned].mean()) / (each[learned].std() or 1) for each in columns]
        columns += [np.array([car == level for car in cars], dtype=float) for level in (None, "suv", "van")]
        X = np.column_stack(columns)
        model.fit(X[learned], codes[learned])  # type: ignore[attr-defined]
        true += codes[held].tolist()
        shares += model.predict_proba(X[held])[:, 1].tolist()  # type: ignore[attr-defined]
    p = np.array(shares)
    loss = log_loss(true, np.column_stack([1 - p, p])) if 0 < p.min() < p.max() < 1 else math.nan
    return accuracy_score(true, p > 0.5), loss


@pytest.mark.parametrize("missing", [False, True])
def test_the_same_as_by_hand(missing: bool) -> None:
    rows = table(missing=missing)
    reader = bb.NaiveBayes()._blank_classifier()
    found = cross_validate_yardstick(LOGISTIC, reader, rows, "class", folds=FOLDS, seed=3)
    accuracy, loss = by_hand(rows, LogisticRegression(max_iter=1_000))
    assert found.accuracy.value == pytest.approx(accuracy)
    assert found.log_loss.value == pytest.approx(loss, abs=1e-4)
    tree = cross_validate_yardstick(TREE, reader, rows, "class", folds=FOLDS, seed=3)
    by_tree, _ = by_hand(rows, DecisionTreeClassifier(min_samples_leaf=5, random_state=3))
    assert tree.accuracy.value == pytest.approx(by_tree, abs=0.05)  # ties between columns fall by their order


def test_dates_words_weights_and_folds_of_one_class() -> None:
    reader = bb.NaiveBayes(columns={"text": bb.Words()})._blank_classifier()
    days = np.array(["2024-01-01", "2024-06-01", "2024-01-02", "2024-06-02"] * 6, dtype="datetime64[D]")
    rows = pa.table(
        {
            "day": pa.array(days),
            "text": ["cold wind", "warm sun", "cold rain", None] * 6,
            "weight": [1.0, 1.0, 1.0, 0.0] * 6,
            "class": ["winter", "summer"] * 12,
        }
    )
    found = cross_validate_yardstick(LOGISTIC, reader, rows, "class", weight="weight", folds=3, repeats=2)
    assert found.accuracy.value == 1
    assert found.metrics.weight == 2 * 18
    rare = pa.table({"a": ["x", "y", "x"], "class": ["-", "+", "+"]})
    assert cross_validate_yardstick(
        TREE, reader.unfitted_clone(), rare.rename_columns(["text", "class"]), "class", folds=3
    )


def test_by_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(registry, "compared_models", lambda: [("naive", {})])
    rows = table(missing=True)
    path = tmp_path / "rows.csv"
    lines = [",".join("" if each is None else str(each) for each in row.values()) for row in rows.to_pylist()]
    path.write_text("\n".join(["number,car,class", *lines]) + "\n")
    given = ["evaluate", str(path), "-t", "class", "--cv", str(FOLDS), "--seed", "3", "--compare"]
    assert run([*given, "--yardsticks", "--json"]) == 0
    found = {each["model"]: each for each in json.loads(capsys.readouterr().out)["models"]}
    assert set(found) == {"naive", LOGISTIC, TREE}
    assert found[LOGISTIC]["log_loss"] == pytest.approx(by_hand(rows, LogisticRegression(max_iter=1_000))[1], abs=1e-4)
    assert run([*given, "--yardsticks"]) == 0
    shown = capsys.readouterr()
    assert LOGISTIC in shown.out
    assert "one-hot" in shown.err
    assert run([*given]) == 0
    assert "scikit-learn" not in capsys.readouterr().out
    assert run([*given[:-1], "--yardsticks"]) == 2
    assert "--yardsticks requires --compare" in capsys.readouterr().err


def test_scikit_learn_is_not_imported_unasked() -> None:
    code = "import sys, bayesbox.classifier.experiment.yardsticks; assert 'sklearn' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
