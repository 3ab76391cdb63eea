"""A smoothing rule written outside the package: absolute discounting."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayesbox as bb
from bayesbox.cli.main import run
from bayesbox.extend import Cells, Ratio, SmoothingRule, register_rule


@register_rule("discount")
@dataclass(frozen=True)
class Discount(SmoothingRule):
    """(n_cv - d + d s_c / K) / n_c: every count gives d away, and all K levels share what s_c levels gave."""

    d: float = 0.5

    def ratio(self, cells: Cells) -> Ratio:
        d, seen = cells.number(self.d), cells.counts > 0
        shared = d * seen.sum(axis=1, keepdims=True) / cells.size
        totals = np.broadcast_to(cells.by_column, cells.counts.shape)
        return Ratio(cells.counts - d * seen + shared, totals)


CARS = {"car": ["suv", "suv", "van", "van", "van", "suv"], "age": [25.0, 30.0, 45.0, 50.0, 41.0, 33.0]}
RISK = ["L", "L", "H", "H", "H", "H"]


def test_in_python(tmp_path: Path) -> None:
    model = bb.NaiveBayes(smoothing="discount:0.25").fit(CARS, RISK)
    low = model.predict_proba([{"car": "van"}])[0, list(model.classes_).index("L")]
    prior, van_low, van_high = 2 / 6, (0.25 / 2) / 2, (3 - 0.25 + 0.25) / 4  # one of two levels seen; both of them
    assert low == pytest.approx(prior * van_low / (prior * van_low + (1 - prior) * van_high))
    explained = model.explain([{"car": "van"}])
    assert np.exp(explained.terms).max() <= 1

    model.save(tmp_path / "m.bayes")
    again = bb.load(tmp_path / "m.bayes")
    assert again.smoothing == Discount(0.25)
    np.testing.assert_array_equal(again.predict_proba(CARS), model.predict_proba(CARS))
    before = again.book_.digest()
    again.forget({name: values[:1] for name, values in CARS.items()}, RISK[:1])
    again.partial_fit({name: values[:1] for name, values in CARS.items()}, RISK[:1])
    assert again.book_.digest() == before
    assert again.leave_one_out(CARS, RISK).sum(axis=1) == pytest.approx(1)


def test_by_command(tmp_path: Path, capsys: Any) -> None:
    data, model = tmp_path / "cars.csv", str(tmp_path / "cars.bayes")
    rows = zip(CARS["car"], CARS["age"], RISK, strict=True)
    data.write_text("car,age,risk\n" + "".join(f"{car},{age},{risk}\n" for car, age, risk in rows))
    assert run(["train", str(data), "-t", "risk", "-o", model, "--smoothing", "discount:0.25"]) == 0
    assert run(["explain", model, "--set", "car=van", "--show-work"]) == 0
    assert "(0 + 0.125)/(2 + 0) = 1/16" in capsys.readouterr().out
    assert run(["evaluate", str(data), "-t", "risk", "--cv", "2", "--smoothing", "discount", "--json"]) == 0
    assert 0 <= json.loads(capsys.readouterr().out)["accuracy"]["value"] <= 1
    assert run(["train", str(data), "-t", "risk", "-o", model, "--smoothing", "discunt"]) == 2
    assert "discount" in capsys.readouterr().err
