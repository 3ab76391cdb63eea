"""Classifiers to save, small and of every make, and the tools to tamper with their files."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse

import bayesbox as bb
from bayesbox.estimators.inputs import batch_from, labels_from
from bayesbox.file import arrow, container
from bayesbox.file.load import from_bytes
from bayesbox.file.save import to_bytes
from bayesbox.file.strict_json import document, parse
from bayesbox.schema.kinds import Kind, as_kind
from bayesbox.table.naive.classifier import NaiveClassifier

COLUMNS: dict[str, list[Any]] = {
    "age": [25, 20, 25, 45, 20, 25],
    "car": ["sports", "vintage", "sports", None, "sports", "suv"],
    "smoker": [True, False, True, None, False, True],
}
LABELS = ["L", "H", "L", "H", "H", "H"]


def learn(classifier: NaiveClassifier, X: Any, y: Any, weights: Any = None) -> NaiveClassifier:
    """The classifier after these rows."""
    batch = batch_from(X)
    classifier.learn(batch, labels_from(y, batch.rows), weights=weights)
    return classifier


def forget(classifier: NaiveClassifier, X: Any, y: Any, weights: Any = None) -> NaiveClassifier:
    batch = batch_from(X)
    classifier.forget(batch, labels_from(y, batch.rows), weights=weights)
    return classifier


def mixed() -> NaiveClassifier:
    """Categories, flags and numbers."""
    return learn(bb.NaiveBayes(columns={"car": bb.Category(["suv", "truck"])})._new_classifier(), COLUMNS, LABELS)


def weighted() -> NaiveClassifier:
    """Sums and counts that are no integers, a rule with parameters, a prior, labels that are numbers, a target."""
    estimator = bb.NaiveBayes(
        smoothing=bb.rules.MEstimate(2, {"sports": 0.25, "suv": 0.75}),
        prior={2: 0.25, 10: 0.75},
        missing="level",
        columns={"age": bb.Real(floor=0), 1: "category"},
    )
    classifier = learn(estimator._new_classifier(), COLUMNS, [2, 10, 2, 10, 10, 10], [0.1, 1, 0.3, 2, 1, 0.7])
    classifier.target = "risk"
    return classifier


def words() -> NaiveClassifier:
    """A sparse matrix of counts."""
    matrix = scipy.sparse.csr_matrix(np.array([[0, 2, 0, 1], [3, 0, 0, 0], [0, 0, 0, 5]]))
    classifier: NaiveClassifier = bb.NaiveBayes().fit(matrix, ["spam", "ham", "spam"]).classifier_
    return classifier


def given() -> NaiveClassifier:
    """Given tables, one level impossible in a class, one in all of them."""
    classifier: NaiveClassifier = bb.NaiveBayes.from_tables(
        prior={10: 0.4, 2: 0.6},
        tables={
            "radio": {10: {"like": 0.95, "dislike": 0.05}, 2: {"like": 0.03, "dislike": 0.97}},
            "press": {10: {"a": 1.0, "b": 0.0, "c": 0.0}, 2: {"a": 0.3, "b": 0.7, "c": 0.0}},
        },
    ).classifier_
    return classifier


def dated() -> NaiveClassifier:
    """Labels that are dates."""
    days = [datetime.date(2024, 2, 28), datetime.date(2024, 2, 29)] * 3
    return learn(bb.NaiveBayes(prior_smoothing="lidstone:0.5")._new_classifier(), COLUMNS, days)


EXAMPLES: dict[str, Callable[[], NaiveClassifier]] = {
    "mixed": mixed,
    "weighted": weighted,
    "words": words,
    "given": given,
    "dated": dated,
}


def resealed(data: bytes, change: Callable[[dict[str, bytes]], None]) -> bytes:
    """A file whose members were changed and whose checksums fit again."""
    members = container.unpack(data)
    change(members)
    return container.pack(members)


def with_document(data: bytes, **changes: Any) -> bytes:
    """A file whose `model.json` says something else; a function gets the old value."""

    def change(members: dict[str, bytes]) -> None:
        written = parse(members["model.json"])
        for key, value in changes.items():
            written[key] = value(written.get(key)) if callable(value) else value
        members["model.json"] = document(written)

    return resealed(data, change)


def with_table(data: bytes, member: str, **changes: Any) -> bytes:
    """A file in one of whose tables columns are replaced; a function gets the old list."""

    def change(members: dict[str, bytes]) -> None:
        with pa.ipc.open_file(pa.BufferReader(members[member])) as reader:
            table = reader.read_all()
        columns: Mapping[str, list[Any]] = table.to_pydict()
        new = {name: changes[name](values) if name in changes else values for name, values in columns.items()}
        kinds = {name: None if name in changes else table.schema.field(name).type for name in new}
        members[member] = arrow.write({name: _column(new[name], kinds[name]) for name in new})

    return resealed(data, change)


def _column(values: Any, kind: pa.DataType | None) -> pa.Array:
    return values if isinstance(values, pa.Array) else pa.array(values, kind)


def saved(name: str) -> bytes:
    """The bytes of an example."""
    return to_bytes(EXAMPLES[name]())


def assert_same(one: NaiveClassifier, other: NaiveClassifier) -> None:
    """Two classifiers that nothing can tell apart."""
    assert one.rules == other.rules
    assert one.schema is not None
    assert other.schema is not None
    assert list(one.schema.kinds.items()) == list(other.schema.kinds.items())
    assert one.schema.declared == other.schema.declared
    assert set(one.schema.classes) == set(other.schema.classes)
    assert one.target == other.target
    assert one.one_hot == other.one_hot
    assert one.fixed == other.fixed
    assert one.classes == other.classes
    assert one.book.classes == other.book.classes
    assert one.book.label_type == other.book.label_type
    assert one.book.digest() == other.book.digest()
    assert (one.declared is None) == (other.declared is None)
    assert declared_kinds(one.declared) == declared_kinds(other.declared)
    if one.classes:
        assert one.model.labels.dtype == other.model.labels.dtype
        assert one.model.labels.tolist() == other.model.labels.tolist()
        assert one.model.log_prior.tobytes() == other.model.log_prior.tobytes()


def declared_kinds(declared: Any) -> dict[Any, Kind]:
    return {key: as_kind(kind) for key, kind in (declared or {}).items()}


def assert_round_trip(classifier: NaiveClassifier) -> NaiveClassifier:
    data = to_bytes(classifier)
    again = from_bytes(data)
    assert_same(again, classifier)
    assert to_bytes(again) == data
    return again
