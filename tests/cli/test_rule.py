"""`bayes rule`."""

from __future__ import annotations

import pytest

from bayesbox.cli.rule import _reading

from .conftest import Bayes


def test_numbers_as_json(bayes: Bayes) -> None:
    found = bayes("rule", "--prior", "1/50000", "--likelihood", "50%", "--evidence", ".05", "--json").json
    assert found == {"prior": 0.00002, "likelihood": 0.5, "evidence": 0.05, "posterior": 0.0002}


def test_the_posterior_becomes_the_next_prior(bayes: Bayes) -> None:
    likelihood = ["--likelihood", "fair=1/6,loaded=1/2"]
    found = bayes("rule", "--prior", "fair=.5,loaded=.5", *likelihood, *likelihood, "--json").json
    assert found["steps"][0] == pytest.approx({"fair": 0.25, "loaded": 0.75})
    assert found["posterior"] == found["steps"][1] == pytest.approx({"fair": 0.1, "loaded": 0.9})
    out = bayes("rule", "--prior", "fair=.5,loaded=.5", *likelihood, *likelihood).out
    assert "evidence 2" in out
    assert "most probable: loaded, 0.9, or 9 in 10" in out


def test_what_does_not_belong_together(bayes: Bayes) -> None:
    assert (
        "P(e) must be at least P(e | h) P(h)"
        in bayes("rule", "--prior", ".9", "--likelihood", ".9", "--evidence", ".1", code=2).err
    )
    assert (
        "the posterior is undefined"
        in bayes("rule", "--prior", ".9", "--likelihood", ".9", "--evidence", "0", code=3).err
    )
    hypotheses = ["rule", "--prior", "a=.5,b=.5"]
    assert "remove --evidence" in bayes(*hypotheses, "--likelihood", "a=.1,b=.2", "--evidence", ".1", code=2).err
    assert "same hypotheses" in bayes(*hypotheses, "--likelihood", "a=.1,c=.2", code=2).err
    assert "given twice" in bayes(*hypotheses, "--likelihood", "a=.1,a=.2", code=2).err
    several = ["--likelihood", ".1", "--likelihood", ".2", "--evidence", ".5"]
    assert "hypotheses" in bayes("rule", "--prior", ".5", *several, code=2).err


@pytest.mark.parametrize("text", ["1e400", "-1e400", "1e999999999", "1e-999999999", "1/0", "nan", "inf", "5%%", ""])
def test_what_is_no_probability(bayes: Bayes, text: str) -> None:
    given = ["--likelihood", ".5", "--evidence", ".5"]
    assert "1/5 or 20%" in bayes("rule", f"--prior={text}", *given, code=2).err


@pytest.mark.parametrize(
    ("p", "words"),
    [(0.0002, ", or 1 in 5,000"), (1 / 3.7, ", or about 1 in 4"), (0.6, ", or 3 in 5"), (0.777, ""), (0, ""), (1, "")],
)
def test_readings(p: float, words: str) -> None:
    assert _reading(p) == words


def test_the_work_of_numbers_and_of_hypotheses(bayes: Bayes) -> None:
    numbers = ["rule", "--prior", "1/50000", "--likelihood", "50%", "--evidence", ".05", "--show-work"]
    assert "P(h | e) = 0.5 x 2e-05 / 0.05 = 1/5000 = 0.0002" in bayes(*numbers).out
    found = bayes(*numbers, "--json").json
    assert found["posterior"] == 0.0002
    assert found["work"]["steps"][-1]["rows"][0]["cells"][0]["fraction"] == "1/5000"
    likelihood = ["--likelihood", "ill=.9,well=.05"]
    twice = ["rule", "--prior", "ill=1%,well=99%", *likelihood, *likelihood, "--show-work"]
    assert "posterior: P(h | e1, e2)  36/47 = 0.7659574" in bayes(*twice).out
    assert bayes(*twice, "--latex").out.startswith(r"\noindent\textbf{Bayes' rule")
    assert bayes(*twice, "--html").out.startswith("<!doctype html>")
    assert bayes(*twice, "--json").json["work"]["posterior"]["ill"] == pytest.approx(36 / 47)
    assert "--show-work" in bayes("rule", "--prior", ".1", "--likelihood", ".1", "--latex", code=2).err
