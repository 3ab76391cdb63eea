"""A product that is 0.0 in double precision, beside the sum of logs."""

from __future__ import annotations

import json
import math
import sys
from fractions import Fraction

import numpy as np
import pytest

import bayesbox as bb
from bayesbox.dist.factor import Factor, Logged
from bayesbox.explain.box import BayesBox
from bayesbox.explain.steps import Cell, Work

from .latex import check_latex


def flags(columns: int, rows: int = 30) -> tuple[bb.NaiveBayes, dict[str, bool], dict[str, list[bool]]]:
    """A model of very many flags, the first row, and all rows."""
    random = np.random.default_rng(1)
    values = random.random((rows, columns)) < random.random(columns)
    values[0], values[1] = True, False  # no column is constant
    X = {f"f{place}": values[:, place].tolist() for place in range(columns)}
    y = ["a" if row % 3 else "b" for row in range(rows)]
    return bb.NaiveBayes().fit(X, y), {name: column[2] for name, column in X.items()}, X


@pytest.fixture(scope="module")
def wide() -> tuple[bb.NaiveBayes, dict[str, bool], Work]:
    model, row, _ = flags(5_000)
    return model, row, model.work(row)


def test_the_product_is_nought_and_the_sum_of_logs_is_not(wide: tuple[bb.NaiveBayes, dict[str, bool], Work]) -> None:
    model, row, work = wide
    told, numbers = [step for step in work.steps if step.name == "underflow"]
    assert "too small for double precision" in told.rows[0].name
    by_name = {each.name: each.cells for each in numbers.rows}
    products = by_name["product in double precision"]
    assert [cell.formula for cell in products] == ["0.0", "0.0"]
    plain = 1.0
    for term in np.exp(model.explain([row]).terms[0, 0]).tolist():
        plain *= term
    assert plain == 0.0  # the loop that a beginner writes
    logs = model.joint_log_proba([row])[0]
    assert [cell.value for cell in by_name["sum of logs: log P(class, x)"]] == pytest.approx(logs.tolist(), rel=1e-12)
    weights = [cell.value for cell in by_name["exponential"]]
    assert np.array(weights) / sum(weights) == pytest.approx(model.predict_proba([row])[0], rel=1e-9)
    assert work.posterior == pytest.approx(model.predict_proba([row])[0].tolist(), rel=1e-9)


def test_every_form_has_it(wide: tuple[bb.NaiveBayes, dict[str, bool], Work]) -> None:
    _, _, work = wide
    text = str(work)
    assert "product in double precision   0.0" in text
    assert all(len(line) <= 100 for line in text.splitlines())
    assert "4,960 other factors" in text
    assert "and 4,988 more columns" in work.title
    check_latex(work.latex())
    assert "product in double precision" in work.html()
    facts = json.loads(json.dumps(work.to_dict()))
    assert facts["joint"] == {"a": 0.0, "b": 0.0}
    assert facts["log_joint"]["a"] < -1_000
    assert sum(facts["posterior"].values()) == pytest.approx(1)
    assert facts["exact_joint"] is None


def test_a_document_of_many_words() -> None:
    random = np.random.default_rng(2)
    texts = [" ".join(random.choice([f"w{i}" for i in range(50)], 500)) for _ in range(4)]
    model = bb.TextClassifier().fit(texts, ["x", "y", "x", "y"])
    work = model.work([texts[0]])
    assert "product in double precision   0.0" in str(work)
    logs = work.to_dict()["log_joint"]
    assert logs["x"] - logs["y"] == pytest.approx(float(np.diff(model.predict_log_proba([texts[0]])[0])[0]) * -1)


def test_short_rows_are_as_they_were() -> None:
    model, row, _ = flags(20)
    assert "underflow" not in [step.name for step in model.work(row).steps]
    assert "log_joint" not in model.work(row).to_dict()
    all_shown = flags(200)[0].work(flags(200)[1])
    assert len(all_shown.step("likelihood").rows) == 201
    model, row, _ = flags(201)
    some = model.work(row)
    assert len(some.step("likelihood").rows) == 40 + 1 + 1  # some, the others, and P(x | class)
    assert some.posterior == pytest.approx(model.predict_proba([row])[0].tolist(), rel=1e-9)


def test_what_is_impossible_or_a_point_mass_is_no_underflow() -> None:
    never = Factor("never", ("", ""), (Fraction(0), Fraction(0)))
    half = Factor("P(class)", ("", ""), (Fraction(1, 2), Fraction(1, 2)))
    assert "underflow" not in [step.name for step in BayesBox(("a", "b"), (half, never)).steps()]
    tiny = Factor("tiny", ("", ""), (Logged(-800.0), Logged(-900.0)))
    hit = Factor("hit", ("", ""), (Logged(math.inf), Logged(0.0)))
    assert "underflow" not in [step.name for step in BayesBox(("a", "b"), (tiny, hit)).steps()]
    assert "underflow" in [step.name for step in BayesBox(("a", "b"), (tiny,)).steps()]
    lost = Factor("lost digits", ("", ""), (Fraction(sys.float_info.min) / 2, Fraction(1)))
    assert "underflow" in [step.name for step in BayesBox(("a", "b"), (lost,)).steps()]


def test_a_fraction_of_too_many_digits_is_a_decimal() -> None:
    cell = Cell(value=Fraction(1, 3**20_000))
    assert str(cell).endswith("e-9543")
    assert cell.to_dict()["fraction"] is None
