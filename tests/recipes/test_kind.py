"""A kind of column written outside the package: percentages, which it reads from texts such as 45 % or 0.45."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayesbox as bb
from bayesbox.cli.main import run
from bayesbox.errors import CannotExport, KindContradiction
from bayesbox.extend import Kind, RealNumber, frozen, option, register_kind


@register_kind("percent")
@frozen
class Percent(Kind):
    """A share of `whole`: a number with the density of the model, from a text with a sign or without."""

    tally = "moments"
    is_continuous = True
    whole: float = option(RealNumber(0, above=True), default=100.0, help="What 100 % stand for.")

    def value_of(self, text: str) -> float:
        number = float(text.removesuffix("%").replace(",", "."))
        return number * self.whole / 100 if text.endswith("%") else number


@register_kind("grade")
class Grade(Kind):
    """A school grade: A+ and A- are the level A."""

    tally = "counts"

    def value_of(self, text: str) -> str:
        if not text or text[0] not in "ABCDE" or text[1:] not in ("", "+", "-"):
            raise ValueError(text)
        return text[0]


ROWS = {"load": ["45 %", "50%", None, "90 %", "0.85"], "mark": ["A+", "A", "B-", "C", None]}
VALUES = {"load": [0.45, 0.5, None, 0.9, 0.85], "mark": ["A", "A", "B", "C", None]}
RISK = ["L", "L", "L", "H", "H"]
KINDS = {"load": Percent(whole=1.0), "mark": "grade"}


def test_in_python(tmp_path: Path) -> None:
    model = bb.NaiveBayes(columns=KINDS).fit(ROWS, RISK)
    plain = bb.NaiveBayes(columns={"load": "real"}).fit(VALUES, RISK)
    assert model.book_.digest() == plain.book_.digest()
    np.testing.assert_array_equal(model.predict_proba(ROWS), plain.predict_proba(VALUES))
    np.testing.assert_array_equal(model.explain(ROWS).terms, plain.explain(VALUES).terms)
    with pytest.raises(KindContradiction) as error:
        model.predict([{"load": "half"}])
    assert (error.value.found, error.value.column) == ("half", "load")

    model.save(tmp_path / "m.bayes")
    loaded = bb.load(tmp_path / "m.bayes")
    assert loaded.columns == {"load": Percent(whole=1.0), "mark": Grade()}
    np.testing.assert_array_equal(loaded.predict_proba(ROWS), model.predict_proba(ROWS))
    one = {name: values[:1] for name, values in ROWS.items()}
    assert loaded.forget(one, RISK[:1]).partial_fit(one, RISK[:1]).book_.digest() == model.book_.digest()
    with pytest.raises(CannotExport):
        model.to_sql()
    with pytest.raises(bb.BadOption):
        register_kind("real")(Percent)


def test_by_command(tmp_path: Path, capsys: Any) -> None:
    data, model = tmp_path / "rows.csv", str(tmp_path / "m.bayes")
    rows = zip(ROWS["load"], ROWS["mark"], RISK, strict=True)
    data.write_text("load,mark,risk\n" + "".join(f"{load or ''},{mark or ''},{risk}\n" for load, mark, risk in rows))
    assert run(["train", str(data), "-t", "risk", "-o", model, "--types", "load=percent:whole=1,mark=grade"]) == 0
    assert bb.load(model).book_.digest() == bb.NaiveBayes(columns=KINDS).fit(ROWS, RISK).book_.digest()
    assert run(["explain", model, "--set", "load=45 %", "--set", "mark=A-"]) == 0
    assert run(["explain", model, "--set", "load=half"]) == 2
    assert run(["show", model]) == 0
    assert "percent" in capsys.readouterr().out
    assert run(["predict", model, str(data), "--proba"]) == 0
    assert run(["forget", model, str(data)]) == 0
    types = ["--types", "load=percent,mark=grade"]
    assert run(["evaluate", str(data), "-t", "risk", "--loo", *types]) == 0
    capsys.readouterr()
    assert run(["schema", str(data), "-t", "risk", *types, "--json"]) == 0
    assert "grade" in json.dumps(json.loads(capsys.readouterr().out))
