"""`bayes explain --set|--flip|--counts`, `ask`, `importance`, `drift`, and the tests of `diff`."""

from __future__ import annotations

from pathlib import Path

import pytest

import bayesbox as bb

from .conftest import Bayes


@pytest.fixture
def tennis(bayes: Bayes, tables: Path) -> Path:
    bayes("train", "tennis.csv", "-t", "play", "--calibrate", "none")
    return tables


def test_a_row_as_it_would_be(bayes: Bayes, tennis: Path) -> None:
    found = bayes("explain", "tennis.bayes", "tennis.csv", "--row", 1, "--set", "humidity=normal", "--json").json
    clf = bb.load("tennis.bayes")
    row = {"outlook": "sunny", "temperature": "hot", "humidity": "high", "windy": "FALSE"}
    assert found == clf.what_if(row, {"humidity": "normal"}).to_dict()
    assert found["after"]["yes"] == pytest.approx(clf.predict_proba([{**row, "humidity": "normal"}])[0][1])
    out = bayes("explain", "tennis.bayes", "tennis.csv", "--row", 1, "--set", "humidity=normal").out
    assert "after" in out
    assert "humidity" in out
    assert "play = no becomes yes" in out


def test_a_value_that_was_never_seen_is_noted(bayes: Bayes, tennis: Path) -> None:
    out = bayes("explain", "tennis.bayes", "tennis.csv", "--row", 1, "--set", "outlook=foggy").out
    assert "foggy" in out
    assert "sunny" in out


def test_the_smallest_change(bayes: Bayes, tennis: Path) -> None:
    asked = ("explain", "tennis.bayes", "tennis.csv", "--row", 1, "--flip")
    found = bayes(*asked, "--json").json
    assert found["prediction"] == "no"
    assert all(option["prediction"] == "yes" for option in found["options"])
    assert {option["changes"][0]["column"] for option in found["options"]} >= {"outlook"}
    fixed = bayes(*asked, "--fixed", "outlook,humidity", "--json").json
    assert fixed["fixed"] == ["outlook", "humidity"]
    changed = {change["column"] for option in fixed["options"] for change in option["changes"]}
    assert changed <= {"temperature", "windy"}
    assert bayes(*asked, "yes", "--json").json["options"] == found["options"]
    assert "outlook" in bayes("explain", "tennis.bayes", "--set", "outlook=sunny", "--flip").out


def test_the_counts_behind_a_case(bayes: Bayes, tennis: Path) -> None:
    asked = ("explain", "tennis.bayes", "--set", "outlook=sunny")
    assert "3 of 5, smoothed to .5, 95 %" in bayes(*asked, "--counts").out
    assert "smoothed" not in bayes(*asked).out
    [column] = [each for each in bayes(*asked, "--json").json["columns"] if each["name"] == "outlook"]
    assert column["behind"]["no"]["count"] == 3
    assert column["behind"]["yes"]["n"] == 9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tennis.csv", "--row", "1", "--set", "outlook=rainy", "--show-work"), "or with --row and --set together"),
        (("--set", "outlook=rainy", "--fixed", "windy"), "--fixed requires --flip"),
        (("tennis.csv", "--row", "1", "--flip", "--set", "outlook=rainy"), "not from both"),
    ],
)
def test_what_does_not_go_together(bayes: Bayes, tennis: Path, arguments: tuple[str, ...], message: str) -> None:
    assert message in bayes("explain", "tennis.bayes", *arguments, code=2).err


def test_what_to_ask_next(bayes: Bayes, tennis: Path) -> None:
    found = bayes("ask", "tennis.bayes", "--set", "outlook=sunny", "--json").json
    expected = bb.load("tennis.bayes").ask_next({"outlook": "sunny"}).to_dict()
    assert {key: found[key] for key in expected} == expected
    assert found["evidence"] == {"outlook": "sunny"}
    assert next(each["column"] for each in found["questions"]) == "humidity"
    assert bayes("ask", "tennis.bayes", "--top", 1).out.count("#") > 5
    dear = bayes("ask", "tennis.bayes", "--costs", "humidity=100,outlook=50").out
    assert dear.splitlines()[3].split()[0] == "windy"
    assert "humidty" in bayes("ask", "tennis.bayes", "--costs", "humidty=1", code=3).err
    assert "target" in bayes("ask", "tennis.bayes", "--target", "outlook", code=2).err


def test_what_matters(bayes: Bayes, tennis: Path) -> None:
    found = bayes("importance", "tennis.bayes", "--json").json
    clf = bb.load("tennis.bayes")
    assert found == clf.importance().to_dict()
    judged = bayes("importance", "tennis.bayes", "tennis.csv", "--json").json
    assert judged["rows"] == 14
    assert all(each["loss"] is not None for each in judged["columns"])
    assert len(bayes("importance", "tennis.bayes", "--top", 2).out.splitlines()) == 5
    show = bayes("show", "tennis.bayes", "--json").json
    assert show["information"] == {each["column"]: each["information"] for each in found["columns"]}
    assert "bits about the class: " in bayes("show", "tennis.bayes").out


def test_what_has_changed(bayes: Bayes, tennis: Path) -> None:
    text = (tennis / "tennis.csv").read_text().replace("overcast", "foggy").splitlines()
    (tennis / "new.csv").write_text("\n".join([text[0], *text[1:] * 20]) + "\n")
    found = bayes("drift", "tennis.bayes", "new.csv", "--json").json
    assert found["rows"] == 280
    [outlook] = [each for each in found["columns"] if each["column"] == "outlook"]
    assert (outlook["unseen"], outlook["examples"]) == (80, ["foggy"])
    out = bayes("drift", "tennis.bayes", "new.csv").out
    assert "foggy" in out
    assert "play" in out
    assert bayes("drift", "tennis.bayes", "none.csv", code=74).err


def test_two_models_are_tested(bayes: Bayes, tennis: Path) -> None:
    text = (tennis / "tennis.csv").read_text().splitlines()
    (tennis / "more.csv").write_text("\n".join([text[0], *text[1:6] * 30]) + "\n")
    bayes("train", "more.csv", "-t", "play", "-o", "more.bayes", "--calibrate", "none")
    found = bayes("drift", "tennis.bayes", "more.bayes", "--json").json
    assert found["class_test"]["p_value"] <= 1
    tests = bayes("diff", "tennis.bayes", "more.bayes", "--json").json["tests"]
    assert tests == found
    assert "; p " in bayes("diff", "tennis.bayes", "more.bayes").out
    assert bayes("diff", "tennis.bayes", "tennis.bayes").out.startswith("the same tallies")


def test_documents(bayes: Bayes, folder: Path) -> None:
    lines = ["text,kind", *["good red car,a", "bad old van,b", "good van,a", "bad car,b"] * 5]
    (folder / "notes.csv").write_text("\n".join(lines) + "\n")
    bayes("train", "notes.csv", "-t", "kind", "--model", "text", "--text", "text", "-o", "notes.bayes")
    assert bayes("importance", "notes.bayes", "--top", 1, "--json").json["of"] == "word"
    assert bayes("importance", "notes.bayes", "notes.csv", "--json").json["rows"] == 20
    assert bayes("drift", "notes.bayes", "notes.csv", "--json").json["drifted"] == []
    assert "columns of a table" in bayes("ask", "notes.bayes", "--set", "text=good", code=2).err
