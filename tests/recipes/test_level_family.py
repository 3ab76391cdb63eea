"""A distribution of levels written outside the package: grades in their order have a binomial, for few rows a class."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest

import bayesbox as bb
from bayesbox.cli.main import run
from bayesbox.errors import BadOption
from bayesbox.extend import (
    Counts,
    Distribution,
    Doubles,
    FitOptions,
    Kind,
    encode,
    register_distribution,
    register_kind,
)

GRADES = "EDCBA"
STEPS = len(GRADES) - 1


@register_distribution("binomial-grades")
@dataclass(frozen=True)
class BinomialGrades(Distribution):
    """P(k | class) = C(4, k) p^k (1 - p)^(4 - k) of the k-th grade, p = (1 + sum of k) / (2 + 4 n) of the class."""

    tally = Counts
    column: str
    p: Doubles

    @classmethod
    def fit(cls, column: str, tally: Counts, options: FitOptions) -> Self:
        places = np.array([GRADES.index(level) for level in tally.levels])
        return cls(column, (1 + tally.counts @ places) / (2 + STEPS * tally.n))

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def classes(self) -> int:
        return len(self.p)

    def log_prob(self, values: Any) -> Doubles:
        codes, levels, _ = encode(values)
        k = np.array([GRADES.index(level) for level in levels])[:, None]
        choose = np.array([comb(STEPS, GRADES.index(level)) for level in levels])[:, None]
        table = np.log(choose) + k * np.log(self.p) + (STEPS - k) * np.log1p(-self.p)
        return np.vstack([table, np.zeros(self.classes)])[codes]  # a missing grade, -1, says nothing

    def parameters(self) -> dict[str, Doubles]:
        return {"p": self.p}


@register_kind("grades")
class Grades(Kind):
    """A grade from E to A."""

    tally = "counts"

    def family(self, tally: Any, numeric: str) -> str:
        return "binomial-grades"


ROWS, RISK = {"mark": ["A", "B", "A", "D", "E", None]}, ["L", "L", "L", "H", "H", "H"]


def test_in_python(tmp_path: Path) -> None:
    model = bb.NaiveBayes(columns={"mark": "grades"}).fit(ROWS, RISK)
    p = {"L": (1 + 11) / (2 + 12), "H": (1 + 1) / (2 + 8)}
    wanted = [np.log(comb(4, 2) * p[c] ** 2 * (1 - p[c]) ** 2) for c in "HL"]
    assert model.explain([{"mark": "C"}]).terms[0, :, 0] == pytest.approx(wanted)  # a grade that never occurred
    rest = bb.NaiveBayes(columns={"mark": "grades"}).fit({"mark": ROWS["mark"][1:]}, RISK[1:])
    assert model.leave_one_out(ROWS, RISK)[0] == pytest.approx(rest.predict_proba({"mark": ["A"]})[0])

    model.save(tmp_path / "m.bayes")
    loaded = bb.load(tmp_path / "m.bayes")
    np.testing.assert_array_equal(loaded.predict_proba(ROWS), model.predict_proba(ROWS))
    one = {"mark": ["A"]}
    assert loaded.forget(one, ["L"]).partial_fit(one, ["L"]).book_.digest() == model.book_.digest()
    with pytest.raises(BadOption):
        bb.Real("binomial-grades")  # it is not a density of numbers


def test_a_tally_that_is_not_registered_is_refused() -> None:
    unknown = type("Unknown", (Counts,), {})
    with pytest.raises(BadOption) as error:
        register_distribution("other-grades")(type("Other", (BinomialGrades,), {"tally": unknown}))
    assert error.value.found == "Unknown"


def test_by_command(tmp_path: Path, capsys: Any) -> None:
    data, model = tmp_path / "rows.csv", str(tmp_path / "m.bayes")
    data.write_text("mark,risk\n" + "".join(f"{m or ''},{r}\n" for m, r in zip(ROWS["mark"], RISK, strict=True)))
    assert run(["train", str(data), "-t", "risk", "-o", model, "--types", "mark=grades"]) == 0
    assert run(["explain", model, "--set", "mark=B", "--show-work"]) == 0
    assert run(["show", model]) == 0
    assert run(["predict", model, str(data)]) == 0
    assert "prediction" in capsys.readouterr().out
