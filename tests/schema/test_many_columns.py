"""What is computed for many columns at once equals what is computed for each one: kinds, names, hints, models."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest

import bayesbox as bb
from bayesbox.classifier.one_row.answers import RowAnswers
from bayesbox.dist.fit import FitOptions
from bayesbox.dist.number.gaussian import Gaussian
from bayesbox.dist.number.robust import Robust
from bayesbox.rule.smoothing import Laplace
from bayesbox.schema.infer import kind_of
from bayesbox.schema.kinds import Category, Date, DatePart, Ignore, Number, Real, Words
from bayesbox.schema.schema import Schema
from bayesbox.tally.moments import Moments, clearly_differing


def columns_of_every_kind() -> dict[str, np.ndarray]:
    random = np.random.default_rng(3)
    number = random.normal(size=60)
    first_missing, missing = number.copy(), np.full(60, np.nan)
    first_missing[0] = np.nan
    return {
        "number": number,
        "single": number.astype(np.float32),
        "first missing": first_missing,
        "missing": missing,
        "integer": random.integers(0, 9, 60),
        "whole": random.integers(0, 9, 60).astype(float),
        "flag": random.integers(0, 2, 60).astype(float),
        "constant": np.full(60, 2.5),
        "text": random.choice(["suv", "van"], 60).astype(object),
        "empty": np.empty(0),
    }


def test_the_kinds_are_those_of_each_column():
    columns = columns_of_every_kind()
    some = {name: column for name, column in columns.items() if column.dtype != object}
    assert dict(Schema.of(some).kinds) == {name: kind_of(column, name=name) for name, column in some.items()}


def test_the_names_follow_from_the_kind_of_each_column():
    kinds = {
        "id": Ignore(),
        "day": Date(holds="time"),
        "day month": DatePart("day", "month"),
        "age": Number(),
        "pay": Number(),
        "fee": Real(),
        "car": Category(),
        "note": Words(),
    }
    schema = Schema(kinds)
    assert schema.used == ("day", "day month", "age", "pay", "fee", "car", "note")
    assert schema.columns == ("id", "day", "age", "pay", "fee", "car", "note")
    assert schema.used_columns == ("day", "age", "pay", "fee", "car", "note")
    assert dict(schema.parts) == {"day": ("day month",)}
    assert list(schema.those(lambda kind: kind.is_number)) == [name for name, kind in kinds.items() if kind.is_number]
    assert schema.without(["pay"]).used == ("day", "day month", "age", "fee", "car", "note")


def test_a_pickled_schema_knows_its_kinds():
    kinds = {"age": Number(), "pay": Number(), "car": Category()}
    schema = Schema(kinds)
    before = pickle.dumps(schema)
    assert list(schema.those(lambda kind: kind.is_number)) == ["age", "pay"]
    assert pickle.dumps(schema) == before
    assert list(pickle.loads(before).those(lambda kind: kind.is_number)) == ["age", "pay"]


def test_clearly_differing_columns_are_those_with_several_values_in_a_class():
    target = np.array([0, 0, 1, 1], dtype=np.int32)
    columns = {
        "pay": [1.5, 2, 2.5, 3],
        "age": [1.0, 2, 3, 5],
        "row": [4.0, 2, 3, 1],
        "row from 0": [0.0, 1, 2, 3],
        "flag": [0.0, 1, 1, 1],
        "one": [1.5, 1.5, 1.5, 1.5],
        "by class": [0.5, 0.5, 1.5, 1.5],  # equal within each class, and so not clearly
        "nothing": [np.nan] * 4,
        "near": [1e8 + 0.5, 1e8 + 0.5, 1e8 + 0.5, 1e8 + 0.75],
    }
    tallies = {name: Moments.of(("a", "b"), np.array(x), target) for name, x in columns.items()}
    differ, beyond_flags, numbering = clearly_differing({**tallies, "not a column of numbers": object()})
    assert differ == {"pay", "age", "row", "row from 0", "flag"}
    assert beyond_flags == {"pay", "age", "row", "row from 0"}
    assert numbering == {"row", "row from 0"}


@pytest.mark.parametrize("numeric", ["gaussian", "robust"])
def test_a_model_of_many_columns_has_the_distributions_of_each(numeric):
    random = np.random.default_rng(4)
    y = random.integers(0, 3, 200)
    X = random.normal(size=(200, 24)) + y[:, None]
    X[:, 3] = random.integers(0, 2, 200)  # a flag
    X[:, 7] = np.round(X[:, 7])
    X[:, 8] = 4.25
    X[::3, 9] = np.nan
    columns = {5: bb.Real("gaussian", floor=0.5), 11: bb.Real("student")}
    with pytest.warns(bb.errors.SuspiciousData, match="single value"):
        clf = bb.NaiveBayes(numeric=numeric, columns=columns).fit(X, y)
    made = {each.columns[0]: each for each in clf.classifier_.model.conditionals}
    assert set(made) == {str(place) for place in range(24)} - {"8"}
    for place in set(range(24)) - {8}:
        own = {0: columns[place]} if place in columns else None
        alone = bb.NaiveBayes(numeric=numeric, columns=own).fit(X[:, [place]], y)
        one = alone.classifier_.model.conditionals[0]
        assert type(one) is type(made[str(place)])
        for name, values in one.parameters().items():
            np.testing.assert_array_equal(values, made[str(place)].parameters()[name])


@pytest.mark.parametrize("family", [Gaussian, Robust])
def test_densities_fitted_together_are_answered_and_pickled_as_those_fitted_alone(family):
    random = np.random.default_rng(6)
    y = random.integers(0, 3, 200)
    X = random.normal(size=(200, 40)) + y[:, None]
    X[:, ::7] = random.integers(0, 2, X[:, ::7].shape)  # flags in between
    clf = bb.NaiveBayes(numeric=family.family).fit(X, y)
    expected, model = clf.predict_proba(X), clf.classifier_.model
    options = FitOptions(Laplace())
    alone = [
        each if each.fitted_together is None else family.fit(each.column, clf.book_[each.column], options)
        for each in model.conditionals
    ]
    assert sum(each.fitted_together is not None for each in model.conditionals) == 34
    for whole, one in zip(model.conditionals, alone, strict=True):
        assert pickle.dumps(whole) == pickle.dumps(one)
        assert type(pickle.loads(pickle.dumps(whole))) is type(one)
    fields = dataclasses.replace(model.conditionals[1])  # made of fields alone
    assert fields.fitted_together is None
    np.testing.assert_array_equal(fields.log_prob(X[:, 1]), alone[1].log_prob(X[:, 1]))
    with pytest.raises(AttributeError, match="no attribute 'width'"):
        _ = model.conditionals[1].width
    parts = RowAnswers(clf.classifier_.changed(_model=dataclasses.replace(model, conditionals=tuple(alone))))
    np.testing.assert_array_equal(parts.of_rows(X), expected)
    np.testing.assert_array_equal(RowAnswers(clf.classifier_).of_rows(X), expected)


@pytest.mark.parametrize("numeric", ["gaussian", "robust"])
@pytest.mark.parametrize("classes", [2, 100])
def test_a_wide_matrix_has_the_digest_of_its_columns(numeric, classes):
    random = np.random.default_rng(5)
    y = random.integers(0, classes, 700)
    X = random.normal(size=(700, 303)) * 10.0 ** random.integers(-9, 9, size=303)
    X[random.random(X.shape) < 0.01] = np.nan
    X[random.random(X.shape) < 0.01] = 0.0
    by_rows, by_columns = (bb.NaiveBayes(numeric=numeric).fit(given, y) for given in (X, np.asfortranarray(X)))
    parts = bb.NaiveBayes(numeric=numeric).fit(X[:300], y[:300]).partial_fit(X[300:], y[300:])
    assert by_rows.book_.digest() == by_columns.book_.digest() == parts.book_.digest()
