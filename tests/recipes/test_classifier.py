"""A kind of classifier written outside the package: naive Bayes whose columns all have the same power."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import bayesbox as bb
from bayesbox.cli.main import run
from bayesbox.extend import (
    Batch,
    Cell,
    ClassWork,
    Doubles,
    NaiveOptions,
    RealNumber,
    Row,
    Step,
    TableClassifier,
    estimator_of,
    naive_model,
    option,
    options,
    register_classifier,
)


@options
class TemperedOptions(NaiveOptions):
    """The options of naive Bayes, and one more, which may follow the name of the model: tempered:0.5."""

    power: float = option(RealNumber(0, 1), default=0.5, help="The power of the factor of each column.", colon=True)


@register_classifier("tempered")
class Tempered(TableClassifier):
    """P(class) times the product of P(column | class) to a power, which tempers columns that say the same."""

    options_type = TemperedOptions

    def make_model(self, schema: Any, book: Any) -> Any:
        return naive_model(schema, book, self.rules)

    def joint_log_prob(self, batch: Batch) -> Doubles:
        columns = self.columns_of(batch)
        terms = sum(each.terms(columns, batch.rows) for each in self.model.conditionals)
        return self.model.log_prior + self.rules.power * terms


TemperedBayes = estimator_of(Tempered)


@register_classifier("tempered-with-work")
class TemperedWithWork(Tempered):
    """The same, which writes out its own work."""

    def plain_work(self, batch: Batch, *, against: str | None = None) -> ClassWork:
        shares = np.exp(self.plain_log_posterior(batch)[0]).tolist()
        row = Row(f"to the power of {self.rules.power}", tuple(Cell(value=share) for share in shares))
        return ClassWork("tempered", (Step("posterior", (row,), self.classes),), self.classes, tuple(shares))


ROWS = {
    "car": ["suv", "suv", "van", "van", "van", "suv", None, "van"],
    "age": [25.0, 30.0, 45.0, 50.0, 41.0, 33.0, 28.0, None],
}
RISK = ["L", "L", "H", "H", "H", "H", "L", "H"]


def test_in_python(tmp_path: Path) -> None:
    plain, model = bb.NaiveBayes().fit(ROWS, RISK), TemperedBayes(power=0.25).fit(ROWS, RISK)
    joint = plain.class_log_prior_ + 0.25 * (plain.joint_log_proba(ROWS) - plain.class_log_prior_)
    wanted = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    assert model.predict_proba(ROWS) == pytest.approx(wanted)
    assert TemperedBayes(power=1).fit(ROWS, RISK).predict_proba(ROWS) == pytest.approx(plain.predict_proba(ROWS))
    with pytest.raises(bb.BadOption):
        TemperedBayes(power=2).fit(ROWS, RISK)
    assert clone(model).get_params()["power"] == 0.25

    explained = model.explain(ROWS)
    found = explained.prior + explained.terms.sum(axis=2)
    assert np.exp(found) == pytest.approx(model.predict_proba(ROWS))
    left_out = model.leave_one_out(ROWS, RISK)
    some = {name: values[1:] for name, values in ROWS.items()}
    again = TemperedBayes(power=0.25).fit(some, RISK[1:]).predict_proba({name: v[:1] for name, v in ROWS.items()})
    assert left_out[0] == pytest.approx(again[0])

    model.save(tmp_path / "m.bayes")
    loaded = bb.load(tmp_path / "m.bayes")
    assert type(loaded) is TemperedBayes
    np.testing.assert_array_equal(loaded.predict_proba(ROWS), model.predict_proba(ROWS))
    one = {name: values[:1] for name, values in ROWS.items()}
    assert loaded.forget(one, RISK[:1]).partial_fit(one, RISK[:1]).book_.digest() == model.book_.digest()
    assert (model + model).book_.n.tolist() == [10, 6]


def test_rows_whose_columns_are_all_ignored_get_the_prior() -> None:
    """Of no columns the sum of the terms is 0, and what the kind returns has the shape of the prior."""
    rows = {"car": ["suv", "suv", "suv"]}
    model = TemperedBayes().fit(rows, ["L", "H", "H"])
    prior = np.tile(model.class_log_prior_, (3, 1))
    np.testing.assert_allclose(model.predict_log_proba(rows), prior, atol=1e-15)
    np.testing.assert_array_equal(model.joint_log_proba(rows), prior)
    np.testing.assert_allclose(model.log_density(rows), np.zeros(3), atol=1e-15)
    assert model.log_likelihood(rows, ["L", "H", "H"]) == pytest.approx(prior[0] @ [2, 1])


def test_by_command(tmp_path: Path, capsys: Any) -> None:
    data, model = tmp_path / "rows.csv", str(tmp_path / "m.bayes")
    rows = zip(ROWS["car"], ROWS["age"], RISK, strict=True)
    data.write_text("car,age,risk\n" + "".join(f"{car or ''},{age or ''},{risk}\n" for car, age, risk in rows))
    assert run(["train", str(data), "-t", "risk", "-o", model, "--model", "tempered:0.25"]) == 0
    assert bb.load(model).power == 0.25
    assert run(["explain", model, "--set", "car=van"]) == 0
    assert run(["show", model]) == 0
    assert run(["predict", model, str(data), "--explain", "1"]) == 0
    assert run(["update", model, str(data)]) == 0
    assert run(["forget", model, str(data)]) == 0
    capsys.readouterr()
    assert run(["evaluate", str(data), "-t", "risk", "--cv", "2", "--model", "tempered", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == len(RISK)
    assert run(["evaluate", str(data), "-t", "risk", "--loo", "--model", "tempered"]) == 0
    assert run(["train", str(data), "-t", "risk", "-o", model, "--model", "temperd"]) == 2


def test_the_work_of_a_kind_from_outside() -> None:
    row = {"car": ["suv"], "age": [29.0]}
    for kind in (TemperedBayes, estimator_of(TemperedWithWork)):
        model = kind(power=0.25).fit(ROWS, RISK)
        work = model.work(row)
        assert list(work.posterior) == pytest.approx(model.predict_proba(row)[0].tolist(), abs=1e-12)
        assert work.html().startswith("<!doctype html>")
    assert "to the power of 0.25" in str(work)
    names = [each.name for each in TemperedBayes().fit(ROWS, RISK).work(row).step("likelihood").rows]
    assert names[:2] == ["factor of car", "factor of age"]
