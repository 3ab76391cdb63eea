"""`bayes explain`: one case from values or from a row, its posterior and what each column says."""

from __future__ import annotations

import math
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from .conftest import Bayes


@pytest.fixture
def tennis(bayes: Bayes, tables: Path) -> Path:
    bayes("train", "tennis.csv", "-t", "play")
    return tables


def test_a_case_by_values_is_the_row_of_the_file(bayes: Bayes, tennis: Path) -> None:
    values = ["outlook=sunny", "temperature=hot", "humidity=high", "windy=FALSE"]
    by_values = bayes(
        "explain", "tennis.bayes", *(part for value in values for part in ("--set", value)), "--json"
    ).json
    by_row = bayes("explain", "tennis.bayes", "tennis.csv", "--row", "1", "--json").json
    assert by_values["posterior"] == by_row["posterior"]
    assert by_values["log_odds"] == by_row["log_odds"]
    assert [column["log_odds"] for column in by_values["columns"]] == [
        column["log_odds"] for column in by_row["columns"]
    ]


def test_the_parts_add_up_to_the_whole(bayes: Bayes, tennis: Path) -> None:
    found = bayes("explain", "tennis.bayes", "tennis.csv", "--row", "3", "--json").json
    parts = found["prior_log_odds"] + sum(column["log_odds"] for column in found["columns"])
    assert found["log_odds"] == pytest.approx(parts, rel=1e-12)
    posterior = found["posterior"]
    assert found["log_odds"] == pytest.approx(math.log(posterior["yes"] / posterior["no"]), rel=1e-9)
    assert list(found) == [
        "prediction", "against", "posterior", "prior", "log_odds", "prior_log_odds", "columns", "notes",
    ]  # fmt: skip


@pytest.mark.parametrize("prior", [(), ("--prior", "yes=1/4,no=3/4")])
def test_calibration_is_a_part_of_its_own(bayes: Bayes, tables: Path, prior: tuple[str, ...]) -> None:
    bayes("train", "tennis.csv", "-t", "play", "--calibrate", "temperature")
    asked = ("explain", "tennis.bayes", "tennis.csv", "--row", "3", *prior)
    found = bayes(*asked, "--json").json
    parts = found["prior_log_odds"] + sum(column["log_odds"] for column in found["columns"])
    assert found["calibration_log_odds"] != 0
    assert found["log_odds"] == pytest.approx(parts + found["calibration_log_odds"], rel=1e-12)
    best, other = found["posterior"][found["prediction"]], found["posterior"][found["against"]]
    assert found["log_odds"] == pytest.approx(math.log(best / other), rel=1e-9)
    out = bayes(*asked, "--show-work").out
    assert "(calibration)" in out
    assert re.search(rf"after calibration \(temperature\) +{found['posterior']['no']:.6g}", out)
    assert out.endswith(f"so the class is {found['prediction']}\n")


def test_the_report_for_the_eye(bayes: Bayes, tennis: Path) -> None:
    out = bayes("explain", "tennis.bayes", "--set", "outlook=sunny", "--set", "windy=true").out
    assert out.startswith("play = no, given outlook=sunny, windy=true\n")
    assert "log-odds of no against yes" in out
    lines = [line.split() for line in out.splitlines()]
    assert ["outlook", "=", "sunny", "+0.6931"] in [line[:4] for line in lines]
    assert not any("humidity" in line for line in lines)


def test_nothing_set_leaves_the_prior(bayes: Bayes, tennis: Path) -> None:
    found = bayes("explain", "tennis.bayes", "--json").json
    assert found["posterior"] == pytest.approx({"no": 5 / 14, "yes": 9 / 14})
    assert {column["value"] for column in found["columns"]} == {None}


def test_another_prior_and_another_class(bayes: Bayes, tennis: Path) -> None:
    found = bayes("explain", "tennis.bayes", "--prior", "yes=1/4,no=3/4", "--json").json
    assert found["posterior"] == pytest.approx({"no": 0.75, "yes": 0.25})
    assert bayes("explain", "tennis.bayes", "--against", "no", "--json").json["against"] == "no"
    assert "`yes` is the predicted class itself" in bayes("explain", "tennis.bayes", "--against", "yes", code=2).err
    assert "The classes are no, yes" in bayes("explain", "tennis.bayes", "--against", "maybe", code=2).err


def test_values_that_cannot_be_used(bayes: Bayes, tennis: Path) -> None:
    bayes("train", "cars.csv", "-t", "class")
    assert "Did you mean `outlook`?" in bayes("explain", "tennis.bayes", "--set", "outlok=sunny", code=3).err
    assert "`age` must be a number, got 'old'" in bayes("explain", "cars.bayes", "--set", "age=old", code=2).err
    assert "finite" in bayes("explain", "cars.bayes", "--set", "age=inf", code=2).err
    assert "is a flag" in bayes("explain", "tennis.bayes", "--set", "windy=perhaps", code=2).err
    twice = ["--set", "windy=1", "--set", "windy=0"]
    assert "set twice" in bayes("explain", "tennis.bayes", *twice, code=2).err


def test_a_number_beyond_all_that_was_learned_is_named(bayes: Bayes, tables: Path) -> None:
    bayes("train", "cars.csv", "-t", "class")
    assert "`age` 999 is outside the training range 20 to 47" in bayes("explain", "cars.bayes", "--set", "age=999").err
    assert "outside" not in bayes("explain", "cars.bayes", "--set", "age=45").err


def test_names_that_hold_an_equals_sign(bayes: Bayes, folder: Path) -> None:
    (folder / "odd.csv").write_text("e=q,e,class\nu,v,+\nw,x,-\n")
    bayes("train", "odd.csv", "-t", "class")
    found = bayes("explain", "odd.bayes", "--set", "e=q=u", "--set", "e=x=y", "--json").json
    assert {column["name"]: column["value"] for column in found["columns"]} == {"e=q": "u", "e": "x=y"}


def test_the_work_of_one_class(bayes: Bayes, folder: Path) -> None:
    (folder / "one.csv").write_text("car,class\nsuv,+\nvan,+\n")
    bayes("train", "one.csv", "-t", "class")
    found = bayes("explain", "one.bayes", "--set", "car=suv", "--show-work", "--json").json
    assert found["work"]["posterior"] == {"+": 1}
    assert found["work"]["odds"] == []


def test_the_work_where_no_class_is_possible(bayes: Bayes, folder: Path) -> None:
    (folder / "apart.csv").write_text("car,size,class\nsuv,L,+\nvan,M,-\nvan,M,-\n")
    bayes("train", "apart.csv", "-t", "class", "--smoothing", "mle")
    case = ["explain", "apart.bayes", "--set", "car=suv", "--set", "size=M", "--show-work"]
    shown = bayes(*case)
    assert re.search(r"posterior: joint / P\(x\) +1/3 = 0.3333333 +2/3 = 0.6666667", shown.out)
    assert "the joint probability is 0 in every class, so the posterior is the prior" in shown.out
    assert "impossible in every class" in shown.err
    found = bayes(*case, "--json").json
    assert found["work"]["posterior"] == pytest.approx(found["posterior"])


def test_the_work_of_densities_too_small_for_a_number(bayes: Bayes, tables: Path) -> None:
    bayes("train", "cars.csv", "-t", "class", "--types", "age=real:floor=25")
    case = ["explain", "cars.bayes", "--set", "age=4000", "--show-work"]
    shown = bayes(*case).out
    assert re.search(r"P\(age=4000 \| class\) +N\(4000 \| 27.5, [^=]*\)[^=]* = [\d.]+e-\d+", shown)
    found = bayes(*case, "--json").json
    assert found["work"]["posterior"] == pytest.approx(found["posterior"])
    assert found["work"]["class"] == found["prediction"]
    assert float(found["work"]["odds"][0]) == pytest.approx(math.exp(found["log_odds"]))


def test_an_empty_value_is_missing(bayes: Bayes, tennis: Path) -> None:
    bayes("train", "cars.csv", "-t", "class")
    empty = bayes("explain", "cars.bayes", "--set", "age=", "--set", "car=", "--json").json
    assert empty["posterior"] == bayes("explain", "cars.bayes", "--json").json["posterior"]


def test_a_level_that_was_never_seen_is_noted(bayes: Bayes, tennis: Path) -> None:
    ended = bayes("explain", "tennis.bayes", "--set", "outlook=suny")
    assert "`outlook` = suny was not seen in training" in ended.err
    assert "Did you mean `sunny`?" in ended.err
    assert "Known levels: overcast, rainy, sunny" in ended.err
    assert "it is ignored" in bayes("explain", "tennis.bayes", "--set", "outlook=foggy").err
    bayes("train", "tennis.csv", "-t", "play", "--unseen", "smooth")
    assert "probability of a zero count" in bayes("explain", "tennis.bayes", "--set", "outlook=foggy").err


def test_rows_and_data_belong_together(bayes: Bayes, tennis: Path) -> None:
    assert "--row and DATA must be given together" in bayes("explain", "tennis.bayes", "--row", "1", code=2).err
    assert "--row N" in bayes("explain", "tennis.bayes", "tennis.csv", code=2).err
    both = ["explain", "tennis.bayes", "tennis.csv", "--row", "1", "--set", "windy=1", "--flip"]
    assert "not from both" in bayes(*both, code=2).err
    assert "the data have 14 rows" in bayes("explain", "tennis.bayes", "tennis.csv", "--row", "15", code=2).err


def test_a_number_of_zeros_and_ones_is_read_as_a_flag(bayes: Bayes, folder: Path) -> None:
    (folder / "flags.csv").write_text("x,y\n1,yes\n1,yes\n0,no\n0,no\n")
    bayes("train", "flags.csv", "-t", "y")
    found = bayes("explain", "flags.bayes", "--set", "x=1", "--json").json
    assert found["posterior"]["yes"] == pytest.approx(0.75)


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(
    ("density", "formula"),
    [
        ("gaussian", "N(30 | "),
        ("gaussian:rounded", "N(18.75 to 31.25 | "),  # ages 20, 25 and 45: the mean gap is 12.5
        ("robust", "0.9 * t(30 | "),
        ("student", "t(30 | "),
        ("kernel", "kernel(30 | 3 values, width "),
        ("lognormal", "lognormal(30 | "),
    ],
)
def test_the_work_of_a_density_names_it_and_its_parameters(bayes: Bayes, density: str, formula: str) -> None:
    bayes("train", "cars.csv", "-t", "class", "--numeric", density)
    assert formula in bayes("explain", "cars.bayes", "--set", "age=30", "--show-work").out


def test_a_case_that_no_class_allows_keeps_the_prior(bayes: Bayes, tennis: Path) -> None:
    rows = ["x,z,c", "a,p,one", "a,p,one", "b,q,two"]
    Path("rows.csv").write_text("\n".join(rows) + "\n")
    bayes("train", "rows.csv", "-t", "c", "--smoothing", "mle", "-o", "rows.bayes")
    case = ["explain", "rows.bayes", "--set", "x=a", "--set", "z=q"]
    found = bayes(*case, "--json").json
    assert found["log_odds"] == pytest.approx(found["prior_log_odds"])
    told = bayes(*case, "--show-work").out
    assert "the joint probability is 0 in every class, so the posterior is the prior" in told
    assert "so the class is one" in told


def test_what_says_nothing_has_no_bar(bayes: Bayes, tennis: Path) -> None:
    rows = ["x,z,c", *["a,p,one"] * 3, *["a,q,two"] * 7]
    Path("rows.csv").write_text("\n".join(rows) + "\n")
    bayes("train", "rows.csv", "-t", "c", "--smoothing", "lidstone:0.3", "-o", "rows.bayes")
    [line] = [line for line in bayes("explain", "rows.bayes", "--set", "x=a").out.splitlines() if "x = a" in line]
    assert line.split() == ["x", "=", "a", "+0.0000"]


def test_work_wider_than_the_terminal_is_folded(bayes: Bayes, tennis: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ("explain", "tennis.bayes", "--set", "outlook=overcast", "--show-work")
    assert "P(outlook=overcast | class)  (0 + 1)/(5 + 3) = 1/8 = 0.125  (4 + 1)" in bayes(*asked).out
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr("bayesbox.cli.print.case.on_terminal", lambda: True)
    work = bayes(*asked).out.partition("P(class)")[2]
    assert max(map(len, work.splitlines())) <= 60
    assert "= 1/8" in work


@pytest.mark.parametrize(("form", "start"), [("--latex", "\\noindent"), ("--html", "<!doctype html>")])
def test_the_work_alone_in_another_form(bayes: Bayes, tennis: Path, form: str, start: str) -> None:
    asked = ("explain", "tennis.bayes", "--set", "outlook=overcast")
    assert bayes(*asked, "--show-work", form).out.startswith(start)
    assert "requires --show-work" in bayes(*asked, form, code=2).err
    assert "choose one" in bayes(*asked, "--show-work", form, "--json", code=2).err


def test_a_case_on_the_nomogram(bayes: Bayes, tennis: Path) -> None:
    case = ["explain", "tennis.bayes", "--set", "outlook=sunny", "--set", "humidity=high"]
    ended = bayes(*case, "--svg", "case.svg", "--json")
    assert "nomogram of play = no against yes written to case.svg" in ended.err
    drawn = (tennis / "case.svg").read_text(encoding="utf-8")
    ElementTree.fromstring(drawn)
    assert f">{ended.json['log_odds']:+.2f}</text>" in drawn
    assert f">{ended.json['posterior']['no']:.4f}</text>" in drawn
    bayes("train", "tennis.csv", "-t", "play", "--model", "aode", "-o", "aode.bayes")
    refused = bayes("explain", "aode.bayes", "--set", "outlook=sunny", "--svg", "aode.svg", code=2)
    assert "Train naive Bayes" in refused.err
    assert not (tennis / "aode.svg").exists()


@pytest.mark.parametrize("model", ["naive", "full", "averaged", "tan", "kdb", "aode", "optimal"])
def test_every_kind_of_model_shows_its_work(bayes: Bayes, tables: Path, model: str) -> None:
    bayes("train", "tennis.csv", "-t", "play", "--model", model, "-o", "any.bayes")
    asked = ("explain", "any.bayes", "--set", "outlook=sunny", "--set", "windy=TRUE", "--show-work")
    found = bayes(*asked, "--json").json
    assert found["work"]["posterior"] == pytest.approx(found["posterior"], abs=1e-12)
    out = bayes(*asked).out
    assert f"so the class is {found['prediction']}" in out
    assert max(map(len, out.splitlines())) <= 100
    assert bayes(*asked, "--latex").out.startswith("\\noindent")
