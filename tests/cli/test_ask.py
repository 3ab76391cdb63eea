"""`bayes ask`, and what `bayes network show` says of evidence, arcs and pictures."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

import bayesbox as bb

from .conftest import Bayes
from .test_network import SPRINKLER


@pytest.fixture
def sprinkler() -> str:
    Path("sprinkler.bif").write_text(SPRINKLER)
    return "sprinkler.bif"


@pytest.fixture
def model(bayes: Bayes) -> str:
    rows = ["sky,wind,play", *["sun,yes,no", "sun,no,yes", "rain,yes,yes", "rain,no,no"] * 5]
    Path("days.csv").write_text("\n".join(rows) + "\n")
    bayes("train", "days.csv", "-t", "play", "-o", "days.bayes", "--model", "tan")
    return "days.bayes"


def test_what_to_ask_next(bayes: Bayes, sprinkler: str) -> None:
    ended = bayes("ask", sprinkler, "--target", "rain", "--set", "grass=wet")
    assert [line.split()[0] for line in ended.out.splitlines()] == ["ask", "sprinkler"]
    assert "rain so far: yes 0.357688" in ended.err
    found = bayes("ask", sprinkler, "-t", "rain", "--json").json
    net = bb.read_network(sprinkler)
    assert isinstance(net, bb.BayesianNetwork)
    assert {each["node"]: each["information"] for each in found["questions"]} == pytest.approx(
        {each.node: each.information for each in net.ask_next({}, "rain")}
    )


def test_costs_and_the_most_that_is_printed(bayes: Bayes, sprinkler: str) -> None:
    found = bayes("ask", sprinkler, "-t", "rain", "--costs", "grass=100", "--costs", "sprinkler=2").out
    assert "bits per cost" in found
    assert found.splitlines()[1].split()[0] == "sprinkler"
    short = bayes("ask", sprinkler, "-t", "rain", "--top", "1")
    assert len(short.out.splitlines()) == 2
    assert "1 more node" in short.err


def test_a_model_that_is_a_network(bayes: Bayes, model: str) -> None:
    assert bayes("ask", model, "--json").json["target"] == "play"
    assert "P(sky | play) P(wind | play, sky)" in bayes("network", "show", model).out
    clf = bb.load(model)
    proba = clf.predict_proba([{"sky": "sun", "wind": "no"}])[0]
    posterior = bayes("query", model, "P(play | sky=sun, wind=no)", "--json").json["rows"]
    assert {row["levels"][0]: row["probability"] for row in posterior} == pytest.approx(
        dict(zip(clf.classes_, proba, strict=True))
    )


def test_a_model_that_is_no_network(bayes: Bayes, model: str) -> None:
    bayes("train", "days.csv", "-t", "play", "-o", "aode.bayes", "--model", "aode")
    assert "--model tan" in bayes("network", "show", "aode.bayes", code=2).err
    assert "naive Bayes, TAN and KDB" in bayes("query", "aode.bayes", "P(play)", code=2).err
    assert "--normalize" in bayes("network", "show", model, "--normalize", code=2).err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--target", "rains"], 3, "rain"),
        ([], 2, "--target"),
        (["-t", "rain", "--set", "grass=soaked"], 3, "soaked"),
        (["-t", "rain", "--costs", "grass"], 2, "name=30"),
        (["-t", "rain", "--costs", "lawn=3"], 3, "lawn"),
        (["-t", "rain", "--set", "rain=yes"], 2, "the target `rain` is already known"),
    ],
)
def test_what_cannot_be_asked(bayes: Bayes, sprinkler: str, arguments: list[str], code: int, message: str) -> None:
    assert message in bayes("ask", sprinkler, *arguments, code=code).err


def test_posteriors_in_the_nodes(bayes: Bayes, sprinkler: str) -> None:
    ended = bayes("network", "show", sprinkler, "--evidence", "grass=wet", "--svg", "wet.svg")
    assert ["rain", "yes", "0.357688"] in [line.split() for line in ended.out.splitlines()]
    drawn = ElementTree.parse("wet.svg").getroot()
    texts = [each.text for each in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert "35.8%" in texts
    assert "100.0%" in texts
    found = bayes("network", "show", sprinkler, "--evidence", "grass~(wet:1, dry:0)", "--json").json
    assert found["posteriors"]["rain"]["yes"] == pytest.approx(891 / 2491)
    assert found["evidence"] == {"grass": {"wet": 1.0, "dry": 0.0}}
    assert "0.2" in bayes("network", "show", sprinkler, "--probabilities").out


def test_conflict_is_noted(bayes: Bayes, sprinkler: str) -> None:
    against = ["--evidence", "grass=dry", "--evidence", "rain=yes"]
    assert "the evidence conflicts by" in bayes("network", "show", sprinkler, *against).err
    assert bayes("network", "show", sprinkler, *against, "--json").json["conflict"]["conflict"] > 0
    assert bayes("network", "show", sprinkler, "--evidence", "grass=wet", "--evidence", "rain=yes").err == ""


def test_dot_strengths_and_layout(bayes: Bayes, sprinkler: str) -> None:
    dot = bayes("network", "show", sprinkler, "--dot").out
    assert dot.startswith('digraph "sprinkler" {')
    assert '"rain" -> "grass";' in dot
    assert "wet: 100.0%" in bayes("network", "show", sprinkler, "--dot", "--evidence", "grass=wet").out
    arcs = bayes("network", "show", sprinkler, "--strengths", "--json").json["arcs"]
    assert (arcs[0]["parent"], arcs[0]["child"]) == ("sprinkler", "grass")
    assert "sprinkler  grass" in bayes("network", "show", sprinkler, "--strengths").out
    layout = bayes("network", "show", sprinkler, "--layout", "--json").json["layout"]
    assert {node["name"] for node in layout["nodes"]} == {"rain", "sprinkler", "grass"}
    assert len(layout["arcs"]) == 3


def test_options_that_do_not_go_together(bayes: Bayes, sprinkler: str) -> None:
    for arguments in (
        ["--dot", "--strengths"],
        ["--layout"],
        ["--tables", "--evidence", "grass=wet"],
        ["--evidence", "grass"],
    ):
        bayes("network", "show", sprinkler, *arguments, code=2)
    bayes("network", "sample", sprinkler, "--dot", code=2)
