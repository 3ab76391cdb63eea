"""A distribution written outside the package that is exported: it returns its log-density as a tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import duckdb
import numpy as np
import onnxruntime
import pyarrow as pa
import pytest
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.extend import Doubles, FitOptions, NumberDensity, ValueTable, expression, register_distribution


@register_distribution("logistic")
@dataclass(frozen=True)
class Logistic(NumberDensity):
    """P(x | class) = e / (s (1 + e)**2), e = exp(-|x - m| / s), m and s by the mean and deviation of the class."""

    middle: Doubles
    scale: Doubles

    @classmethod
    def fit(cls, column: str, tally: ValueTable, options: FitOptions) -> Self:
        values, counts = tally.table
        shares = counts / counts.sum(axis=0)
        middle = values @ shares
        scale = np.sqrt(3 * (values**2 @ shares - middle**2)) / np.pi
        return cls(column, *options.presence(tally), middle, scale)

    def log_density(self, values: Doubles) -> Doubles:
        z = np.abs(values[:, None] - self.middle) / self.scale
        return -z - np.log(self.scale) - 2 * np.log1p(np.exp(-z))

    def expression(self) -> expression.Expression:
        x = expression.ReadNumber(self.column)
        z = abs(x - self.middle) / self.scale
        height = expression.constant(self.log_observed - np.log(self.scale))
        density = height - z - expression.log1p(expression.exp(-z)) * 2.0
        return expression.case((x.is_missing(), self.log_missing), otherwise=density)


AGES = {"age": [25.0, 20.0, 25.0, 45.0, 20.0, 25.0, 31.0, 50.0], "car": ["a", "b", "a", "b", "b", "b", "a", "a"]}
RISK = ["L", "H", "L", "H", "H", "H", "L", "H"]
ROWS = {"age": [22.5, None, 1e6, -1e6, 45.0], "car": ["a", "b", None, "c", "a"]}


@pytest.mark.parametrize("missing", ["ignore", "level"])
def test_export(missing: str) -> None:
    rows = {"age": [*AGES["age"], None], "car": [*AGES["car"], "a"]}
    columns = {"age": bb.Real("logistic")}
    model = bb.NaiveBayes(columns=columns, missing=missing, unseen="ignore").fit(rows, [*RISK, "L"])
    with pytest.warns(bb.errors.UnseenLevels):  # the car `c`
        wanted = model.predict_proba(ROWS)

    with duckdb.connect() as connection:
        connection.register("data", pa.table(ROWS).append_column("id", pa.array(range(5))))
        answers = sorted(connection.execute(model.to_sql("duckdb", keep=["id"])).fetchall())
    np.testing.assert_allclose([answer[2:] for answer in answers], wanted, rtol=0, atol=1e-12)

    session = onnxruntime.InferenceSession(model.to_onnx(), providers=["CPUExecutionProvider"])
    age = np.array([[np.nan if value is None else value] for value in ROWS["age"]])
    car = np.array([[value or ""] for value in ROWS["car"]], dtype=object)
    [found] = session.run(["probabilities"], {"age": age, "car": car})
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)

    with refusal(bb.errors.CannotExport, what="`age`"):
        model.to_pmml()
