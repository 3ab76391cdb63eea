"""`to_river`: river's own evaluation runs an estimator, which learns what it would by itself."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from river import compose, evaluate, metrics, preprocessing
from tests.laws import mixed
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.errors import MissingExtra


def stream() -> list[tuple[dict[str, object], str]]:
    X, y = mixed.table(120)
    names = ("car", "age", "smoker")
    return [({name: X[name][place] for name in names}, label) for place, label in enumerate(y)]


def test_progressive_validation() -> None:
    rows = stream()
    clf = bb.NaiveBayes(numeric="gaussian")
    metric = evaluate.progressive_val_score(iter(rows), clf.to_river(), metrics.LogLoss())
    by_hand, own = [], bb.NaiveBayes(numeric="gaussian")
    for row, label in rows:
        if hasattr(own, "classifier_"):
            by_hand.append(own.predict_proba_one(row).get(label, 0.0))
        own.learn_one(row, label)
    assert clf.book_.digest() == own.book_.digest()
    assert metric.get() > 0
    accuracy = evaluate.progressive_val_score(iter(rows), bb.NaiveBayes().to_river(), metrics.Accuracy())
    assert 0 < accuracy.get() <= 1
    assert np.mean(by_hand) > 0


def test_in_a_pipeline_of_river() -> None:
    model = compose.Select("age") | preprocessing.StandardScaler() | bb.NaiveBayes().to_river()
    for row, label in stream():
        if row["age"] is not None:
            model.learn_one(row, label)
    assert sum(model.predict_proba_one({"age": 30}).values()) == pytest.approx(1)


def test_it_is_a_classifier_of_river() -> None:
    wrapped = bb.NaiveBayes(smoothing="m:2").to_river()
    assert wrapped.predict_one({"a": 1}) is None
    assert wrapped.predict_proba_one({"a": 1}) == {}
    wrapped.learn_one({0: "x"}, "yes", w=2.0)
    wrapped.learn_one({0: "y"}, "no")
    assert wrapped.estimator.book_.n.tolist() == [1, 2]
    other = wrapped.clone()
    assert other.estimator.smoothing == "m:2"
    assert other.predict_one({0: "x"}) is None


def test_without_river(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "bayesbox.estimators.river", raising=False)
    monkeypatch.setitem(sys.modules, "river", None)
    with refusal(MissingExtra, remedy="bayesbox[river]"):
        bb.NaiveBayes().to_river()
