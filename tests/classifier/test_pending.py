"""Rows that are counted apart from the model they change: when a later version of it takes them as they are."""

from __future__ import annotations

from typing import Any

import pytest

import bayesbox as bb
from bayesbox.classifier.training import counts_alike, counts_apart

X, Y = {"age": [25, 20, 45, 31], "car": ["suv", "van", "suv", "van"]}, ["L", "H", "H", "L"]


def test_more_rows_make_no_difference() -> None:
    one = bb.NaiveBayes().fit(X, Y).classifier_
    other = bb.NaiveBayes().fit(X, Y).partial_fit({"age": [7], "car": ["bus"]}, ["M"]).classifier_
    assert counts_alike(one, other)


@pytest.mark.parametrize(
    "changed",
    [
        {"target": "income"},
        {"target_cuts": (1.0, 2.0)},
        {"ledger": True},
        {"derived": ("age",)},
        {"one_hot": {"car": ("car_suv", "car_van")}},
        {"schema": None},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_what_decides_on_the_counting(changed: dict[str, Any]) -> None:
    one = bb.NaiveBayes().fit(X, Y).classifier_
    assert not counts_alike(one, one.changed(**changed))


def test_other_kinds_rules_and_columns() -> None:
    one = bb.NaiveBayes().fit(X, Y)
    others = [
        bb.NaiveBayes(smoothing="mle").fit(X, Y),
        bb.NaiveBayes(columns={"age": "category"}).fit({**X, "age": ["1", "2", "3", "4"]}, Y),
        bb.NaiveBayes().fit({"age": X["age"]}, Y),
        bb.TAN().fit(X, Y),
        bb.TextClassifier().fit(["a", "b", "c", "d"], Y),
    ]
    assert not any(counts_alike(one.classifier_, other.classifier_) for other in others)


def test_words_are_cut_in_one_way() -> None:
    one = bb.TextClassifier().fit(["red car", "blue van"], Y[:2])
    two = bb.TextClassifier(shortest=3).fit(["red car", "blue van"], Y[:2])
    assert not counts_alike(one.classifier_, two.classifier_)


def test_what_is_derived_from_rows_is_counted_with_them() -> None:
    assert counts_apart(bb.NaiveBayes().fit(X, Y).classifier_)
    assert counts_apart(bb.TextClassifier(occurrence="count").fit(["a b", "c d"], Y[:2]).classifier_)
    assert not counts_apart(bb.NaiveBayes(calibration="temperature").fit(X, Y).classifier_)
    assert not counts_apart(bb.TAN().fit(X, Y).classifier_)
    assert not counts_apart(bb.NaiveBayes()._new_classifier())
