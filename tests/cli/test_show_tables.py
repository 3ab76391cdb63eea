"""`bayes show --tables`, `--weights` and `--boundary`, and the columns of declared levels and given tables."""

from __future__ import annotations

import json
import math
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.explain.latex import check_latex

from .conftest import Bayes

pytestmark = pytest.mark.usefixtures("tables")

GIVEN = {
    "prior": {"young": 0.4, "old": 0.6},
    "tables": {
        "Radio1": {"young": {"like": 0.95, "dislike": 0.05}, "old": {"like": "3/100", "dislike": 0.97}},
        "Radio2": {"young": {"like": 0.05, "dislike": 0.95}, "old": {"like": 0.82, "dislike": 0.18}},
    },
}


@pytest.fixture
def radio(bayes: Bayes, folder: Path) -> str:
    """A model of given tables."""
    (folder / "radio.json").write_text(json.dumps(GIVEN))
    bayes("train", "--tables", "radio.json", "-o", "radio.bayes")
    return "radio.bayes"


def test_tables_in_every_form(bayes: Bayes) -> None:
    bayes("train", "tennis.csv", "-t", "play")
    out = bayes("show", "tennis.bayes", "--tables").out
    assert "P(outlook=sunny | class)" in out
    assert "(3 + 1)/(5 + 3) = 1/2 = 0.5" in out
    assert max(map(len, out.splitlines())) <= 100
    check_latex(bayes("show", "tennis.bayes", "--tables", "--latex").out)
    assert bayes("show", "tennis.bayes", "--tables", "--html").out.startswith("<!doctype html>")
    report = bayes("show", "tennis.bayes", "--tables", "--json").json
    assert report["tables"][0]["rows"][0]["cells"][0]["fraction"] == "5/14"
    assert report["parameters"] == {"free": 13, "terms": 22, "naive": 20, "joint": 72}


def test_tables_of_given_probabilities(bayes: Bayes, radio: str) -> None:
    assert "0.03 = 3/100" in bayes("show", radio, "--tables").out
    classes = bayes("show", radio, "--column", "Radio1", "--json").json["column"]["classes"]
    assert classes["old"] == pytest.approx({"dislike": 0.97, "like": 0.03})
    assert "Did you mean `Radio1`?" in bayes("show", radio, "--column", "Radio11", code=3).err


def test_a_declared_level_without_rows_is_shown(bayes: Bayes) -> None:
    bayes("train", "cars.csv", "-t", "class", "--types", "car=category:sports:vintage:suv:truck")
    levels = bayes("show", "cars.bayes", "--column", "car", "--json").json["column"]["classes"]
    assert levels["H"] == {"sports": 1, "suv": 2, "truck": 0, "vintage": 1}
    assert "(0 + 1)/(4 + 4) = 1/8" in bayes("show", "cars.bayes", "--tables").out


def test_long_tables_are_cut_unless_all_are_wanted(bayes: Bayes, folder: Path) -> None:
    rows = "".join(f"c{number},{'yes' if number % 2 else 'no'}\n" * 3 for number in range(40))
    (folder / "codes.csv").write_text(f"code,y\n{rows}")
    bayes("train", "codes.csv", "-t", "y")
    cut = bayes("show", "codes.bayes", "--tables")
    assert "code: 30 of 40 rows are shown" in cut.out
    assert "--all" in cut.err
    assert bayes("show", "codes.bayes", "--tables", "--all").out.count("P(code=") == 40


def test_weights_with_their_names(bayes: Bayes, radio: str) -> None:
    out = bayes("show", radio, "--weights").out
    assert "Radio1=like" in out
    found = bayes("show", radio, "--weights", "--class", "old", "--json").json["weights"]
    assert (found["class"], found["against"]) == ("old", "young")
    assert found["weights"]["Radio1=like"] == pytest.approx(math.log(0.03 / 0.97) - math.log(0.95 / 0.05))
    constant = math.log(0.6 / 0.4) + math.log(0.97 / 0.05) + math.log(0.18 / 0.95)
    assert found["constant"] == pytest.approx(constant)
    check_latex(bayes("show", radio, "--weights", "--latex").out)


def test_a_boundary_is_drawn(bayes: Bayes, folder: Path, radio: str) -> None:
    bayes("show", radio, "--boundary", "Radio1", "Radio2", "--svg", "line.svg")
    assert ElementTree.parse(folder / "line.svg").getroot().tag.endswith("svg")


def test_the_position_model_counts_words_once(bayes: Bayes, folder: Path) -> None:
    (folder / "short.csv").write_text("text,y\nkiwi bird kiwi,NZ\nbeer kiwi,DE\n")
    bayes("train", "short.csv", "-t", "y", "--model", "text", "--text", "text", "--occurrence", "position")
    out = bayes("show", "short.bayes").out
    assert "3 distinct words\n" in out
    report = bayes("show", "short.bayes", "--json").json
    assert (report["vocabulary"], report["used"], report["parameters"]) == (3, 3, 3 * 3 * 2 + 2)


@pytest.mark.parametrize(
    "options",
    [
        ["--latex"],
        ["--all"],
        ["--tables", "--latex", "--html"],
        ["--tables", "--json", "--html"],
        ["--tables", "--weights"],
        ["--tables", "--svg", "a.svg"],
        ["--tables", "--column", "Radio1"],
        ["--boundary", "Radio1", "Radio2"],
        ["--tables", "--class", "old"],
    ],
)
def test_options_that_mean_nothing_together_are_refused(bayes: Bayes, radio: str, options: list[str]) -> None:
    bayes("show", radio, *options, code=2)


def test_weights_of_numbers_are_refused(bayes: Bayes) -> None:
    bayes("train", "cars.csv", "-t", "class")
    assert "not linear" in bayes("show", "cars.bayes", "--weights", code=3).err


def test_intervals_of_tables_and_of_an_answer(bayes: Bayes, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("heavy,size,class\nNo,M,+\nNo,L,+\nYes,S,+\nNo,M,-\nYes,L,-\nNo,S,-\nNo,S,-\n")
    model = str(tmp_path / "m.bayes")
    bayes("train", str(rows), "-t", "class", "-o", model)
    shown = bayes("show", model, "--tables", "--interval").out
    assert "95 % interval" in shown
    assert "0.1389 to 0.7655" in shown
    found = bayes("show", model, "--tables", "--interval", ".9", "--json").json
    cell = found["tables"][0]["rows"][1]["cells"][0]
    assert 0 < cell["low"] < 3 / 7 < cell["high"] < 1
    assert "--interval requires --tables" in bayes("show", model, "--interval", code=2).err
    answer = bayes("explain", model, "--set", "heavy=Yes", "--interval", "80%", "--json").json
    assert answer["interval"]["level"] == 0.8
    assert answer["interval"]["rows"][0]["estimate"] == answer["posterior"]["+"]
    text = bayes("explain", model, "--set", "heavy=Yes", "--interval", ".9", "--draws", "500", "--seed", "4").out
    assert "credible interval of P(class | x)" in text
    assert "by 500 draws" in text
    assert "--interval" in bayes("explain", model, "--set", "heavy=Yes", "--draws", "500", code=2).err
    tan = str(tmp_path / "t.bayes")
    bayes("train", str(rows), "-t", "class", "-o", tan, "--model", "tan")
    assert "--model naive" in bayes("explain", tan, "--set", "heavy=Yes", "--interval", code=2).err
