"""Families from outside of the package: exported by the tree that they give, refused by name where they give none."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import onnxruntime
import pyarrow as pa
import pytest
from tests.export.conftest import Scorer
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.dist.base import Distribution, Doubles
from bayesbox.dist.expression import (
    Expression,
    InClasses,
    Lookup,
    PointMass,
    ReadBin,
    ReadLevel,
    ReadNumber,
    case,
    constant,
    exp,
    floor,
    log,
    log1p,
    squared,
)
from bayesbox.dist.naive import NaiveModel
from bayesbox.dist.posterior import posterior
from bayesbox.dist.table import Table
from bayesbox.errors import CannotExport
from bayesbox.export.onnx import to_onnx
from bayesbox.export.pmml import to_pmml
from bayesbox.export.sql import to_sql

X = ReadNumber("x")


@dataclass(frozen=True)
class DoubleExponential(Distribution):
    """exp(-|x - center| / scale) / (2 scale), with what a family needs and nothing else."""

    column: str
    center: Doubles
    scale: Doubles

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def classes(self) -> int:
        return len(self.center)

    def log_prob(self, values: Any) -> Doubles:
        x = np.asarray(values, dtype=np.float64)[:, None]
        return np.where(np.isnan(x), 0.0, -np.abs(x - self.center) / self.scale - np.log(2 * self.scale))


@dataclass(frozen=True)
class Exported(DoubleExponential):
    """The same with its tree."""

    def expression(self) -> Expression:
        x = ReadNumber(self.column)
        density = constant(-np.log(self.scale)) - abs(x - self.center) / self.scale
        return case((x.is_missing(), 0.0), otherwise=density)


@dataclass(frozen=True)
class Given(DoubleExponential):
    """A tree and a function of a number that are to say the same."""

    tree: Expression
    function: Callable[[Doubles], Any]

    def log_prob(self, values: Any) -> Doubles:
        x = np.asarray(values, dtype=np.float64)[:, None]
        with np.errstate(all="ignore"):
            return np.broadcast_to(self.function(x), (len(x), 2)).astype(np.float64)

    def expression(self) -> Expression:
        return self.tree


def model_of(*families: Distribution, weights: dict[str, float] | None = None) -> NaiveModel:
    classes = ("no", "yes")
    return NaiveModel(classes, np.array(classes), np.log([0.4, 0.6]), families, weights=weights or {})


def double_exponential(kind: type[DoubleExponential]) -> DoubleExponential:
    return kind("x", np.array([0.0, 41.0]), np.array([5.0, 8.0]))


def expected(model: NaiveModel, numbers: list[float | None]) -> np.ndarray:
    values = np.array([math.nan if value is None else value for value in numbers])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bb.DataWarning)  # rows that no class allows
        return posterior(model, {"x": values}, len(values))


def in_database(model: NaiveModel, numbers: list[float | None], dialect: str, score: Scorer) -> np.ndarray:
    rows = pa.table({"x": pa.array(numbers, pa.float64()), "row": range(len(numbers))})
    answers = sorted(score(rows, to_sql(model, dialect, keep=["row"])))
    return np.array([row[2:] for row in answers])


def in_onnx(model: NaiveModel, numbers: list[float | None]) -> np.ndarray:
    values = np.array([[math.nan if value is None else value] for value in numbers])
    session = onnxruntime.InferenceSession(to_onnx(model), providers=["CPUExecutionProvider"])
    [found] = session.run(["probabilities"], {"x": values})
    return found


@pytest.mark.parametrize(
    ("language", "export"), [("SQL", lambda model: to_sql(model, "duckdb")), ("ONNX", to_onnx), ("PMML", to_pmml)]
)
def test_a_family_without_a_tree_is_refused_by_name(language: str, export: Callable[[NaiveModel], Any]) -> None:
    with refusal(CannotExport, what=language):
        export(model_of(double_exponential(DoubleExponential)))


NUMBERS = [None, 0.0, -3.0, 20.0, 41.0, 1e300, -1e300]


@pytest.mark.parametrize("weight", [1.0, 0.3])
def test_a_family_with_a_tree_answers_in_databases(engine: tuple[str, Scorer], weight: float) -> None:
    model = model_of(double_exponential(Exported), weights={"x": weight})
    np.testing.assert_allclose(in_database(model, NUMBERS, *engine), expected(model, NUMBERS), rtol=0, atol=1e-12)


@pytest.mark.parametrize("weight", [1.0, 0.3])
def test_a_family_with_a_tree_answers_in_onnx(weight: float) -> None:
    model = model_of(double_exponential(Exported), weights={"x": weight})
    np.testing.assert_allclose(in_onnx(model, NUMBERS), expected(model, NUMBERS), rtol=0, atol=1e-12)


def test_pmml_takes_a_tree_that_is_a_table_only() -> None:
    with refusal(CannotExport, what="`x`"):
        to_pmml(model_of(double_exponential(Exported)))
    nothing, rows = np.zeros(2), np.log([[0.3, 0.8], [0.7, 0.2]])
    own = Given("x", nothing, nothing, Lookup(ReadLevel("x", ("a", "b")), rows, nothing, nothing), lambda x: x)
    assert to_pmml(model_of(own)) == to_pmml(model_of(Table("x", ("a", "b"), rows, nothing, nothing)))


def test_a_column_is_one_input_of_a_graph() -> None:
    nothing = np.zeros(2)
    both = X + Lookup(ReadLevel("x", ("1",)), np.zeros((1, 2)), nothing, nothing)
    with refusal(CannotExport, what="`x`"):
        to_onnx(model_of(Given("x", nothing, nothing, both, lambda x: x)))
    twice = X * [1.0, 2.0] + Lookup(ReadBin("x", (0.5,)), np.zeros((2, 2)), nothing)
    model = model_of(Given("x", nothing, nothing, twice, lambda x: x * [1.0, 2.0]))
    np.testing.assert_allclose(in_onnx(model, [0.0, 3.0]), expected(model, [0.0, 3.0]), rtol=0, atol=1e-12)


class Same(NamedTuple):
    """A tree, a function, and the numbers at which they must agree."""

    tree: Expression
    function: Callable[[Doubles], Any]
    numbers: list[float | None]


FAR = [-1e300, -800.0, -1.5, 0.0, 2.0, 7.0, 800.0, 1e300]
SAME = {
    "exp": Same(-(X / [1.0, 2.0] + exp(-X / [1.0, 2.0])), lambda x: -(x / [1.0, 2.0] + np.exp(-x / [1.0, 2.0])), FAR),
    "log1p of small numbers": Same(
        log1p(abs(X)) * [1e12, 2e12], lambda x: np.log1p(np.abs(x)) * [1e12, 2e12], [0.0, 1e-20, -3e-13, 1e-14, 1e-12]
    ),
    "log1p of a square": Same(
        constant(0.0) - log1p(squared(X, [1e-3, 50.0])), lambda x: -np.log1p((x / [1e-3, 50.0]) ** 2), FAR
    ),
    "a square": Same(
        3.0 - squared(X - [0.0, 1.0], [1e-200, 1e200]), lambda x: 3 - ((x - [0, 1]) / [1e-200, 1e200]) ** 2, FAR
    ),
    "nested cases": Same(
        case((X > 0.0, case((X < 5.0, log(X)), otherwise=[1.0, 2.0])), otherwise=1.0 / (2.0 - X)) * [1.0, -1.0] + 1.0,
        lambda x: np.where(x > 0, np.where(x < 5, np.log(x), [1.0, 2.0]), 1 / (2 - x)) * [1.0, -1.0],
        FAR,
    ),
    "conditions": Same(
        case(
            (((X <= -1.0) | (X >= 5.0)) & InClasses(np.array([True, False])), 1.0),
            (X.equals(floor(X)) | InClasses(np.array([False, True])), X * 0.001),
            otherwise=-math.inf,
        ),
        lambda x: np.where(
            ((x <= -1) | (x >= 5)) & [True, False], 1, np.where((x == np.floor(x)) | [False, True], x * 0.001, -np.inf)
        ),
        [-2.0, -0.5, 0.0, 0.25, 1.0, 5.0],
    ),
    "two operands with cases": Same(
        case((X > 0.0, X), otherwise=0.0) - case((X < 5.0, [1.0, 2.0]), otherwise=X * [1.0, 2.0]),
        lambda x: np.maximum(x, 0) - np.where(x < 5, [1.0, 2.0], x * [1.0, 2.0]),
        [-2.0, 1.0, 7.0],
    ),
}


def given(name: str) -> NaiveModel:
    same = SAME[name]
    return model_of(Given("x", np.zeros(2), np.ones(2), same.tree, same.function))


@pytest.mark.parametrize("name", SAME)
def test_trees_in_databases(name: str, engine: tuple[str, Scorer]) -> None:
    numbers = SAME[name].numbers
    found = in_database(given(name), numbers, *engine)
    np.testing.assert_allclose(found, expected(given(name), numbers), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", SAME)
def test_trees_in_onnx(name: str) -> None:
    numbers = SAME[name].numbers
    np.testing.assert_allclose(in_onnx(given(name), numbers), expected(given(name), numbers), rtol=0, atol=1e-12)


def test_point_masses_of_a_family(engine: tuple[str, Scorer]) -> None:
    """The class with a point mass at the value, whatever the densities of others say."""
    at_two = X.equals(2.0) & InClasses(np.array([True, False]))
    term = case((InClasses(np.array([False, True])), 50.0), (X.equals(2.0), 0.0), otherwise=-math.inf)
    model = model_of(Given("x", np.zeros(2), np.ones(2), PointMass(term, where=at_two), lambda x: x))
    for found in (in_database(model, [2.0, 3.0], *engine), in_onnx(model, [2.0, 3.0])):
        np.testing.assert_allclose(found, [[1.0, 0.0], [0.0, 1.0]], rtol=0, atol=1e-12)
    always = PointMass(X * [1.0, 2.0], where=InClasses(np.array([True, False])))
    model = model_of(Given("x", np.zeros(2), np.ones(2), always, lambda x: x))
    for found in (in_database(model, [2.0], *engine), in_onnx(model, [2.0])):
        np.testing.assert_allclose(found, [[1.0, 0.0]], rtol=0, atol=1e-12)
