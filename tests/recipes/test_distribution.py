"""A distribution written outside the package: Laplace's double exponential, with heavier tails than a normal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.cli.main import run
from bayesbox.errors import CannotExport
from bayesbox.extend import Doubles, Factor, FitOptions, Logged, NumberDensity, ValueTable, register_distribution


@register_distribution("two-sided")
@dataclass(frozen=True)
class DoubleExponential(NumberDensity):
    """P(x | class) = exp(-|x - m| / b) / (2 b), m the median of the class and b the mean distance from it."""

    median: Doubles
    scale: Doubles

    @classmethod
    def fit(cls, column: str, tally: ValueTable, options: FitOptions) -> Self | None:
        values, counts = tally.table
        if len(values) < 2:
            return None
        median, scale = np.zeros((2, counts.shape[1]))
        for c, n in enumerate(counts.T):
            below = np.searchsorted(np.cumsum(n), n.sum() / 2)
            median[c] = values[min(below, len(values) - 1)]
            distance = n @ np.abs(values - median[c]) + (values[-1] - values[0])  # a row of the column's own range
            scale[c] = distance / (n.sum() + 1)
        return cls(column, *options.presence(tally), median, scale)

    def log_density(self, values: Doubles) -> Doubles:
        return -np.abs(values[:, None] - self.median) / self.scale - np.log(2 * self.scale)

    def parameters(self) -> dict[str, Doubles]:
        return {"median": self.median, "scale": self.scale}


@register_distribution("two-sided-written-out")
@dataclass(frozen=True)
class WrittenOut(DoubleExponential):
    """The same, which writes out its own factor."""

    def work(self, columns: Any, book: Any, options: FitOptions) -> Iterator[Factor]:
        value = float(columns["age"][0])
        of = zip(self.median.tolist(), self.scale.tolist(), strict=True)
        formulas = tuple(f"e^-(|{value:g} - {m:g}|/{b:g}) / (2 x {b:g})" for m, b in of)
        values = self.log_density(np.array([value]))[0].tolist()
        yield Factor("density of age", formulas, tuple(map(Logged, values)))


AGES = {"age": [25.0, 20.0, 25.0, 45.0, 20.0, 25.0, 31.0, None], "car": ["a", "b", "a", "b", "b", "b", "a", "a"]}
RISK = ["L", "H", "L", "H", "H", "H", "L", "H"]


def test_in_python(tmp_path: Path) -> None:
    model = bb.NaiveBayes(columns={"age": bb.Real("two-sided")}).fit(AGES, RISK)
    assert model.classes_.tolist() == ["H", "L"]
    age = model.explain([{"age": 30.0}]).terms[0, :, 0]
    scales = {"H": (0 + 0 + 5 + 25 + 25) / 5, "L": (0 + 0 + 6 + 25) / 4}  # |x - median|, and the range once
    medians = {"H": 20.0, "L": 25.0}
    wanted = [-abs(30 - medians[c]) / scales[c] - np.log(2 * scales[c]) for c in "HL"]
    assert age == pytest.approx(wanted)

    left_out = model.leave_one_out(AGES, RISK)
    for row in range(len(RISK)):
        rest = [other for other in range(len(RISK)) if other != row]
        some = {name: [values[other] for other in rest] for name, values in AGES.items()}
        again = bb.NaiveBayes(columns={"age": bb.Real("two-sided")}).fit(some, [RISK[r] for r in rest])
        one = {name: [values[row]] for name, values in AGES.items()}
        assert left_out[row] == pytest.approx(again.predict_proba(one)[0])

    model.save(tmp_path / "m.bayes")
    loaded = bb.load(tmp_path / "m.bayes")
    np.testing.assert_array_equal(loaded.predict_proba(AGES), model.predict_proba(AGES))
    loaded.forget({name: values[:2] for name, values in AGES.items()}, RISK[:2])
    loaded.partial_fit({name: values[:2] for name, values in AGES.items()}, RISK[:2])
    assert loaded.book_.digest() == model.book_.digest()
    for export in (model.to_sql, model.to_onnx, model.to_pmml):
        with refusal(CannotExport, what="two-sided"):
            export()


def test_a_family_writes_out_its_own_factor() -> None:
    model = bb.NaiveBayes(columns={"age": bb.Real("two-sided-written-out")}).fit(AGES, RISK)
    row = {"age": [30.0], "car": ["b"]}
    work = model.work(row)
    assert [each.name for each in work.step("likelihood").rows][:2] == ["density of age", "P(car=b | class)"]
    cell = work.step("likelihood").rows[0].cells[0]
    assert cell.formula == "e^-(|30 - 20|/11) / (2 x 11)"
    assert float(cell.value) == pytest.approx(np.exp(-10 / 11) / 22)
    assert list(work.posterior) == pytest.approx(model.predict_proba(row)[0].tolist(), abs=1e-12)


def test_a_name_is_taken_once() -> None:
    with pytest.raises(bb.BadOption):
        register_distribution("kernel")(DoubleExponential)


def test_by_command(tmp_path: Path, capsys: Any) -> None:
    data, model = tmp_path / "ages.csv", str(tmp_path / "ages.bayes")
    rows = zip(AGES["age"], AGES["car"], RISK, strict=True)
    data.write_text("age,car,risk\n" + "".join(f"{'' if age is None else age},{car},{c}\n" for age, car, c in rows))
    assert run(["train", str(data), "-t", "risk", "-o", model, "--numeric", "two-sided"]) == 0
    assert run(["explain", model, "--set", "age=30", "--show-work"]) == 0
    assert "two-sided(30 | 20, 11)" in capsys.readouterr().out
    assert run(["show", model]) == 0
    assert run(["predict", model, str(data), "--proba"]) == 0
    assert run(["forget", model, str(data)]) == 0
    capsys.readouterr()
    assert run(["evaluate", str(data), "-t", "risk", "--loo", "--numeric", "two-sided", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == len(RISK)
