"""Bayes optimal models by command: trained as one, and made of model files."""

from __future__ import annotations

import pytest

from .conftest import Bayes

pytestmark = pytest.mark.usefixtures("tables")


@pytest.mark.parametrize("table", ["tennis.csv:play", "cars.csv:class"])
def test_train_show_predict_explain_evaluate(bayes: Bayes, table: str) -> None:
    data, target = table.split(":")
    bayes("train", data, "-t", target, "--model", "optimal:naive,tan,averaged", "-o", "m.bayes")
    shown = bayes("show", "m.bayes", "--json").json
    assert [each["kind"] for each in shown["hypotheses"]] == ["naive", "tan", "averaged"]
    assert sum(each["weight"] for each in shown["hypotheses"]) == pytest.approx(1)
    assert "P(hypothesis | rows)" in bayes("show", "m.bayes").out
    assert bayes("predict", "m.bayes", data, "--proba", "--explain", 2).out.startswith("prediction,P(")
    case = bayes("explain", "m.bayes", data, "--row", 1, "--json").json
    assert case["prediction"] in shown["classes"]
    assert [each["kind"] for each in case["hypotheses"]] == ["naive", "tan", "averaged"]
    assert "the most probable" in bayes("explain", "m.bayes", data, "--row", 1).out
    assert bayes("evaluate", "m.bayes", data, "--json").json["accuracy"]["value"] > 0.5
    for how in (["--cv", 3], ["--loo"]):
        bayes("evaluate", data, "-t", target, "--model", "optimal:naive,averaged", *how)
    for verb in ("update", "forget"):
        assert "bayes average" in bayes(verb, "m.bayes", data, code=3).err
    assert "--column" in bayes("show", "m.bayes", "--column", "x", code=2).err


def test_an_average_of_files(bayes: Bayes) -> None:
    bayes("train", "tennis.csv", "-t", "play", "-o", "n.bayes")
    bayes("train", "tennis.csv", "-t", "play", "--model", "aode", "-o", "a.bayes")
    report = bayes("average", "n.bayes", "a.bayes", "--weights", "1,3", "-o", "both.bayes", "--json").json
    assert [each["weight"] for each in report["hypotheses"]] == [0.25, 0.75]
    p = [
        bayes("explain", name, "tennis.csv", "--row", 1, "--json").json["posterior"]["yes"]
        for name in ("n.bayes", "a.bayes", "both.bayes")
    ]
    assert p[2] == pytest.approx(0.25 * p[0] + 0.75 * p[1])
    assert "0.5000 n.bayes, naive" in bayes("average", "n.bayes", "a.bayes", "-o", "even.bayes").err
    assert "hypothesis" in bayes("show", "both.bayes").out


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["n.bayes", "n.bayes", "--weights", "1"], "there must be one weight per hypothesis", 2),
        (["n.bayes", "n.bayes", "--weights", "1,x"], "a weight must be a number", 2),
        (["n.bayes", "n.bayes", "--weights", "0,0"], "with at least one positive", 2),
        (["n.bayes", "n.bayes", "--weights", "1,nan"], "weights must be finite and non-negative", 2),
        (["n.bayes", "c.bayes"], "it has no class in common with the first", 3),
    ],
)
def test_what_is_refused(bayes: Bayes, arguments: list[str], said: str, code: int) -> None:
    bayes("train", "tennis.csv", "-t", "play", "-o", "n.bayes")
    bayes("train", "cars.csv", "-t", "class", "-o", "c.bayes")
    assert said in bayes("average", *arguments, "-o", "out.bayes", code=code).err


def test_weights_at_the_edge_of_numbers(bayes, tables):
    bayes("train", "cars.csv", "-t", "class")
    report = bayes("average", "cars.bayes", "cars.bayes", "--weights", "1e308,1e308", "-o", "both.bayes", "--json").json
    assert [each["weight"] for each in report["hypotheses"]] == [0.5, 0.5]
