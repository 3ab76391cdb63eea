"""Targets that are not classes are refused before they are counted, and cut into bins where that is asked for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.classifier.target.bins import DistinctNumbers
from bayesbox.errors import BadData, BadModelFile, BadOption, CannotMerge, NotClasses
from bayesbox.file.load import from_bytes
from bayesbox.file.save import to_bytes
from bayesbox.limits import limit_context
from bayesbox.source.base import Batch, Source

RANDOM = np.random.default_rng(0)
AREA = RANDOM.uniform(20, 200, 400)
PRICE = AREA * 3 + RANDOM.normal(0, 20, 400)


class Stream(Source):
    """Labels in batches, which counts the batches that were taken."""

    name = "stream"

    def __init__(self, *labels: pa.Array) -> None:
        self.labels = labels
        self.taken = 0

    def batches(self) -> Iterator[Batch]:
        first = 0
        for each in self.labels:
            self.taken += 1
            yield Batch(("x", "y"), (pa.array(np.arange(len(each)) % 5), each), len(each), first)
            first += len(each)


def csv(tmp_path, labels) -> str:
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["x,y", *(f"{index % 5},{label}" for index, label in enumerate(labels))]) + "\n")
    return str(path)


@pytest.mark.parametrize(
    ("labels", "reason", "classes"),
    [
        (["1.5", "2", "1.5", "2"], "fractions", 2),
        ([str(index) for index in range(300)], "many-numbers", 300),
        ([str(index % 150) for index in range(1000)], "many-numbers", 150),
    ],
)
def test_numbers_that_are_measurements_are_refused(labels, reason, classes, tmp_path):
    path = csv(tmp_path, labels)
    numbers = np.array([float(label) for label in labels])
    typed = {"x": np.arange(len(labels)) % 5, "y": numbers if reason == "fractions" else numbers.astype(int)}
    for data in (path, typed):
        with refusal(NotClasses, reason=reason, classes=classes, column="y", remedy="target_bins"):
            bb.train(data, "y")
        assert len(bb.train(data, "y", classes_limit=1000).classes_) == classes


@pytest.mark.parametrize(
    "labels",
    [
        [str(index % 100) for index in range(1000)],
        [str(index % 150) for index in range(1500)],
        [f"{index:03}" for index in range(300)],  # written as names
        ["1.5", "2.5", "n/a", "2.5"],
        ["1.0", "2.0", "1.0", "2.0"],
    ],
)
def test_classes_that_are_written_in_digits_are_learned(labels, tmp_path):
    assert len(bb.train(csv(tmp_path, labels), "y").classes_) == len(set(labels))


def test_text_in_a_typed_table_is_classes():
    assert bb.train({"x": [1, 2, 3], "y": ["1.5", "2.5", "1.5"]}, "y").classes_.tolist() == ["1.5", "2.5"]


def test_a_stream_is_refused_at_its_first_batch_and_not_for_what_comes_first():
    source = Stream(*(pa.array(np.arange(1000)) for _ in range(50)))
    with refusal(NotClasses, reason="many-numbers", classes=1000, where="stream"):
        bb.train(source, "y")
    assert source.taken == 1
    often = Stream(*(pa.array(np.arange(400) % 190) for _ in range(10)))  # 190 of the first 400, of 4,000 in the end
    assert len(bb.train(often, "y").classes_) == 190


def test_the_limit_of_classes_ends_a_stream_as_soon_as_it_is_passed():
    source = Stream(*(pa.array([f"id{each}" for each in range(start, start + 400)]) for start in range(0, 40_000, 400)))
    with limit_context(classes=900), refusal(NotClasses, reason="many-classes", classes=1200):
        bb.train(source, "y")
    assert source.taken == 3
    with limit_context(classes=3), refusal(NotClasses, reason="many-classes", classes=4):
        bb.NaiveBayes().fit([[0.0], [1.0], [2.0], [3.0]], list("abcd"))


def test_a_model_learns_more_rows_of_the_classes_it_has():
    clf = bb.NaiveBayes().fit([[0.0], [1.0], [2.0], [3.0]], list("abcd"))
    with limit_context(classes=2):
        clf.partial_fit([[1.0]], ["a"])
        with refusal(NotClasses, reason="many-classes"):
            clf.partial_fit([[1.0]] * 5, list("vwxyz"))
    assert clf.classifier_.book.n.tolist() == [2, 1, 1, 1]


def test_labels_with_fractions_are_refused_by_fit():
    with refusal(NotClasses, reason="fractions", remedy="pandas.qcut"):
        bb.NaiveBayes().fit(AREA[:, None], PRICE)


def table() -> dict[str, np.ndarray]:
    return {"area": AREA, "price": PRICE}


@pytest.mark.parametrize("model", [bb.NaiveBayes(), bb.TAN(), bb.AutoBayes()], ids=lambda model: type(model).__name__)
def test_a_target_in_bins_learns_answers_forgets_and_is_saved(model):
    clf = bb.train(table(), "price", target_bins=4, model=model)
    cuts = clf.classifier_.target_cuts
    assert len(cuts) == 3
    assert clf.classifier_.book.n.tolist() == [100] * 4
    assert f"up to {cuts[0]:.12g}" in clf.classes_
    X = {"area": AREA}
    assert clf.score(X, PRICE) > 0.7
    again = from_bytes(to_bytes(clf.classifier_))
    assert again.target_cuts == cuts
    assert to_bytes(again) == to_bytes(clf.classifier_)
    if not isinstance(model, bb.AutoBayes):
        before = clf.classifier_.book.digest()
        clf.partial_fit({"area": AREA[:9]}, PRICE[:9]).forget({"area": AREA[:9]}, PRICE[:9])
        assert clf.classifier_.book.digest() == before


def test_bins_that_cannot_be():
    with refusal(BadData, column="y", found="red"):
        bb.train({"x": [1, 2, 3], "y": ["1", "red", "3"]}, "y", target_bins=2)
    with refusal(BadData, column="y"):
        bb.train({"x": [1, 2, 3], "y": [2.5, 2.5, 2.5]}, "y", target_bins=2)
    with refusal(BadOption):
        bb.train(table(), "price", target_bins=1)
    with refusal(BadOption):
        bb.train({"t": ["a b", "c"], "y": [1.5, 2.5]}, "y", text="t", target_bins=2, model=bb.TextClassifier())
    other = bb.train(table(), "price", target_bins=3)
    with refusal(CannotMerge):
        _ = other + bb.train(table(), "price", target_bins=5)


@pytest.mark.parametrize("cuts", [[], ["1"], [2.0, 1.0], [1.0, 1.0]])
def test_crafted_bins_are_refused(cuts):
    classifier = bb.train(table(), "price", target_bins=3).classifier_
    with refusal(BadModelFile, where="model.json"):
        from_bytes(to_bytes(classifier.changed(target_cuts=tuple(cuts))))


def test_bins_of_more_numbers_than_are_kept_apart(monkeypatch):
    values = np.sort(RANDOM.normal(size=4000))
    monkeypatch.setattr("bayesbox.classifier.target.bins.MOST_DISTINCT", 1000)
    parts = [DistinctNumbers.of(values[start::4]) for start in range(4)]
    total = parts[0] + parts[1] + parts[2] + parts[3]
    assert len(total.values) <= 2000
    assert total.counts.sum() == 4000
    assert total.values[-1] == values[-1]
