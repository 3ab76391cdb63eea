"""Kinds: their options, their names, and what a type is taken for."""

import datetime
import decimal

import numpy as np
import pyarrow as pa
import pytest
from tests.refusal import refusal

from bayesbox.errors import BadData, BadOption, KindContradiction, UnknownColumn
from bayesbox.schema.columns import CountMatrix
from bayesbox.schema.infer import kind_of
from bayesbox.schema.kinds import Category, Count, CountGroup, Flag, Ignore, Number, Real, Unknown, as_kind, kind_named
from bayesbox.schema.schema import Schema, declared_kinds


def test_declared_levels_are_sorted_texts():
    assert Category(["b", 1, True, "b"]).levels == ("1", "b", "true")
    assert Category().levels is None


@pytest.mark.parametrize("levels", ["red", b"red", 3])
def test_levels_are_a_list(levels):
    with pytest.raises(BadOption):
        Category(levels)


@pytest.mark.parametrize("hole", [None, float("nan"), np.datetime64("NaT", "s")])
def test_a_missing_value_is_no_level(hole):
    with pytest.raises(BadOption):
        Category(["red", hole])


@pytest.mark.parametrize("declared", [["age"], [("age", "real")], "age"])
def test_columns_are_declared_in_a_dict(declared):
    with pytest.raises(BadOption):
        declared_kinds(declared, ("age",))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("category", Category()),
        ("flag", Flag()),
        ("real", Real()),
        ("real:gaussian", Real("gaussian")),
        ("count", Count()),
        ("count:poisson", Count("poisson")),
        ("ignore", Ignore()),
    ],
)
def test_names(name, kind):
    assert kind_named(name) == as_kind(name) == as_kind(kind) == kind
    assert name.startswith(kind.name)


@pytest.mark.parametrize("bad", ["reel", "flag:gaussian", "real:poisson", "count:gaussian", "", 3, None, int])
def test_what_is_no_kind(bad):
    with pytest.raises(BadOption):
        as_kind(bad)


@pytest.mark.parametrize("floor", [-1, float("nan"), float("inf"), "0.1", None])
def test_floors_are_checked(floor):
    with refusal(BadOption, what="floor"):
        Real(floor=floor)


@pytest.mark.parametrize("kind", [Category, Flag, Real, Count])
def test_missing_is_checked(kind):
    assert kind(missing="level").missing == "level"
    with refusal(BadOption, found="drop"):
        kind(missing="drop")


MATRIX = CountMatrix(np.array([0, 1]), np.array([4]), np.array([2.0]), 7)

INFERRED = [
    (pa.array(["a", None]), Category()),
    (pa.array(["a"], pa.large_string()), Category()),
    (pa.array(["a"]).dictionary_encode(), Category()),
    (pa.array([datetime.date(2024, 1, 1)]), Category()),
    (pa.array([datetime.datetime(2024, 1, 1)]), Category()),
    (pa.array([b"a"]), Category()),
    (pa.array([True, None]), Flag()),
    (pa.array([1, 2]), Number()),
    (pa.array([1.5]), Number()),
    (pa.array([decimal.Decimal("1.5")]), Number()),
    (pa.array([None, None]), Unknown()),
    (pa.chunked_array([["a"], ["b"]]), Category()),
    (np.array([1, 2], dtype=np.uint8), Number()),
    (np.array([1.5], dtype=np.float32), Number()),
    (np.array([True]), Flag()),
    (np.array(["a"]), Category()),
    (MATRIX, CountGroup(width=7)),
]


@pytest.mark.parametrize(("column", "kind"), INFERRED)
def test_inferred(column, kind):
    assert kind_of(column) == kind


@pytest.mark.parametrize("column", [pa.array([[1, 2]]), np.array([1 + 2j])])
def test_types_that_cannot_be_used(column):
    with refusal(BadData, column="visits"):
        kind_of(column, name="visits")


@pytest.mark.parametrize(
    ("before", "now", "fits"),
    [
        (Category(), Category(["a"]), True),
        (Category(), Flag(), True),
        (Category(), Number(), False),
        (Number(), Category(), False),
        (Number(), Number(), True),
        (Number(), Flag(), True),
        (Flag(), Number(), True),
        (Flag(), Category(), False),
        (Category(), Unknown(), True),
        (CountGroup(width=3), CountGroup(width=3), True),
        (CountGroup(width=3), CountGroup(width=4), False),
    ],
)
def test_accepts(before, now, fits):
    assert before.accepts(now) is fits


def test_a_schema_grows_by_what_was_unknown():
    schema = Schema.of({"x": pa.array([None]), "y": pa.array([1.5])})
    assert isinstance(schema.kinds["x"], Unknown)
    later = schema.extended({"x": pa.array(["a"]), "y": pa.array([None])})
    assert later.kinds == {"x": Category(), "y": Number()}
    with refusal(KindContradiction, column="x"):
        later.extended({"x": pa.array([1.5])})
    with refusal(UnknownColumn, column="z"):
        later.extended({"z": pa.array([1.5])})


def test_a_declared_kind_is_kept():
    schema = Schema.of({"x": pa.array(["1", "2"])}, {"x": "real"})
    assert schema.extended({"x": pa.array([1.5])}).kinds == {"x": Real()}
    assert schema.declared == {"x"}


def test_used_columns():
    schema = Schema.of({"x": pa.array([1]), "id": pa.array([7])}, {"id": Ignore()})
    assert schema.used == ("x",)


@pytest.mark.parametrize(
    ("declared", "found"),
    [
        ({"b": "real"}, {"b": Real()}),
        ({1: "real"}, {"b": Real()}),
        ({-1: "flag"}, {"c": Flag()}),
        ({}, {}),
        (None, {}),
    ],
)
def test_declarations(declared, found):
    assert declared_kinds(declared, ("a", "b", "c")) == found


@pytest.mark.parametrize("key", ["d", 3, -4, True])
def test_declarations_of_nothing(key):
    with pytest.raises(UnknownColumn):
        declared_kinds({key: "real"}, ("a", "b", "c"))


def test_a_name_that_is_a_number_comes_before_a_position():
    assert declared_kinds({2: "real"}, ("2", "1", "0")) == {"2": Real()}
