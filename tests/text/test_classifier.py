"""A classifier of documents does what every classifier does, through the same functions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bayesbox as bb
from bayesbox.classifier.base import Classifier
from bayesbox.classifier.evaluate import evaluate_held_out
from bayesbox.classifier.registry import new_classifier
from bayesbox.classifier.train import train
from bayesbox.errors import CannotMerge, UnknownColumn
from bayesbox.source.registry import source_from

TEXTS = ["Kiwi Sheep Kiwi", "Kiwi Kiwi Bird", "Kiwi Auckland", "Munich Oktoberfest Kiwi"]
LABELS = ["NZ", "NZ", "NZ", "DE"]
TABLE = {"id": [1, 2, 3, 4], "review": TEXTS, "land": LABELS}


def trained() -> Classifier:
    opened = new_classifier("text", {}).open_rows(TABLE, target="land", text="review")
    train(opened.classifier, opened.source, opened.target)
    return opened.classifier


def test_it_is_a_classifier_that_learns_by_the_one_loop() -> None:
    classifier = trained()
    assert isinstance(classifier, Classifier)
    assert classifier.feature_names == ("review",)
    assert classifier.target == "land"
    assert classifier.book == bb.TextClassifier().fit(TEXTS, LABELS).classifier_.book


def test_other_columns_are_passed_over_and_its_own_is_needed() -> None:
    classifier = trained()
    found = evaluate_held_out(classifier, source_from(TABLE), "land")
    assert found.metrics.accuracy.value == 1.0
    with pytest.raises(UnknownColumn) as caught:
        evaluate_held_out(classifier, source_from({"text": TEXTS, "land": LABELS}), "land")
    assert caught.value.args


def test_documents_in_files_are_learned_by_a_model_of_a_table(tmp_path: Path) -> None:
    for label, text in zip(LABELS, TEXTS, strict=True):
        (tmp_path / label).mkdir(exist_ok=True)
        (tmp_path / label / f"{len(text)}.txt").write_text(text)
    classifier = trained()
    twice = bb.TextClassifier().fit(TEXTS * 2, LABELS * 2).classifier_
    opened = classifier.open_rows(str(tmp_path))
    train(opened.classifier, opened.source, opened.target)
    assert opened.classifier is classifier
    assert classifier.book == twice.book
    assert (classifier.target, classifier.feature_names) == ("land", ("review",))
    train(classifier, classifier.open_rows(str(tmp_path)).source, opened.target, forget=True)
    assert classifier.book == trained().book


def test_it_merges_with_its_kind_only() -> None:
    naive = bb.NaiveBayes().fit({"age": [1, 2]}, ["a", "b"]).classifier_
    for one, other in ((trained(), naive), (naive, trained())):
        with pytest.raises(CannotMerge):
            one.merged(other)


def test_predict_takes_documents_as_it_takes_rows(tmp_path: Path) -> None:
    clf = bb.train(TABLE, "land", text="review", model=bb.TextClassifier())
    found = bb.predict(clf, TABLE, proba=True, keep=["id"]).to_pydict()
    assert found["prediction"] == clf.predict(TEXTS).tolist()
    np.testing.assert_array_equal(found["P(NZ)"], clf.predict_proba(TEXTS)[:, 1])
    assert found["id"] == [1, 2, 3, 4]
    path = tmp_path / "texts.csv"
    path.write_text("review\nKiwi Sheep\nOktoberfest\n")
    assert bb.predict(clf, path).to_pydict() == {"prediction": ["NZ", "DE"]}


def test_an_average_takes_tables_only() -> None:
    clf = bb.TextClassifier().fit(TEXTS, LABELS)
    with pytest.raises(bb.BadOption):
        bb.BayesOptimal([clf], [1.0]).save("nowhere.bayes")
