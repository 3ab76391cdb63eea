"""`bayes show` and `bayes schema`."""

from __future__ import annotations

import datetime
import math
from pathlib import Path
from statistics import NormalDist
from xml.etree import ElementTree

import pytest

from bayesbox.classifier.report.size import large

from .conftest import Bayes

pytestmark = pytest.mark.usefixtures("tables")


def test_a_model_of_categories(bayes: Bayes) -> None:
    bayes("train", "tennis.csv", "-t", "play")
    out = bayes("show", "tennis.bayes").out
    parameters = 2 * ((3 - 1) + (3 - 1) + (2 - 1) + (2 - 1)) + 2 - 1
    assert f"parameters: {parameters}; the full joint would need {3 * 3 * 2 * 2 * 2 - 1}" in out
    assert "rules: smoothing laplace" in out
    report = bayes("show", "tennis.bayes", "--json").json
    assert report["parameters"] == 13
    assert report["joint_parameters"] == 71
    assert report["prior"] == pytest.approx({"no": 5 / 14, "yes": 9 / 14})
    assert report["rules"]["smoothing"] == "laplace"
    assert f"digest {report['digest']}" in out


def test_a_density_has_two_parameters_a_class_and_no_joint(bayes: Bayes) -> None:
    bayes("train", "cars.csv", "-t", "class")
    report = bayes("show", "cars.bayes", "--json").json
    assert report["parameters"] == 2 * 2 + 2 * 2 + 1
    assert report["joint_parameters"] is None
    assert "the full joint would need" not in bayes("show", "cars.bayes").out


def test_a_missing_level_is_a_parameter(bayes: Bayes, folder: Path) -> None:
    (folder / "holes.csv").write_text("x,y\na,yes\nb,yes\n,no\n")
    bayes("train", "holes.csv", "-t", "y", "--missing", "level")
    assert bayes("show", "holes.bayes", "--json").json["parameters"] == 2 * 2 + 1


def test_the_tally_of_one_column(bayes: Bayes) -> None:
    bayes("train", "cars.csv", "-t", "class")
    numbers = bayes("show", "cars.bayes", "--column", "age", "--json").json["column"]["classes"]
    assert numbers["H"] == {"n": 4, "mean": 27.5, "deviation": 10.307764064044152}
    levels = bayes("show", "cars.bayes", "--column", "car", "--json").json["column"]["classes"]
    assert levels == {"H": {"sports": 1, "suv": 2, "vintage": 1}, "L": {"sports": 2, "suv": 0, "vintage": 0}}
    assert "10.3078" in bayes("show", "cars.bayes", "--column", "age").out
    assert "Did you mean `car`?" in bayes("show", "cars.bayes", "--column", "cars", code=3).err


def test_where_most_of_the_values_are(bayes: Bayes) -> None:
    bayes("train", "cars.csv", "-t", "class", "--numeric", "gaussian")
    report = bayes("show", "cars.bayes", "--column", "age", "--json").json
    found = report["intervals"]
    assert list(found) == ["age"]
    assert found["age"] == report["column"]["interval"]
    z = NormalDist().inv_cdf(0.95)
    moments = report["column"]["classes"]["H"]
    assert found["age"]["H"] == pytest.approx([27.5 - z * moments["deviation"], 27.5 + z * moments["deviation"]])
    low, high = found["age"]["H"]
    for more in ((), ("--column", "age")):
        assert f"{low:.4g} to {high:.4g}" in bayes("show", "cars.bayes", *more).out
    levels = bayes("show", "cars.bayes", "--column", "car", "--json").json["column"]["likely_levels"]
    assert levels["H"] == ["suv", "sports", "vintage"]  # 3/7, 2/7, 2/7
    assert "H suv, sports, vintage" in bayes("show", "cars.bayes", "--column", "car").out
    bayes("train", "cars.csv", "-t", "class", "--smoothing", "mle")
    assert bayes("show", "cars.bayes", "--column", "car", "--json").json["column"]["likely_levels"]["L"] == ["sports"]
    bayes("train", "tennis.csv", "-t", "play")
    assert bayes("show", "tennis.bayes", "--json").json["intervals"] == {}


def test_columns_that_are_left_out(bayes: Bayes, folder: Path) -> None:
    (folder / "same.csv").write_text("x,z,y\n5,2,yes\n5,3,no\n")
    bayes("train", "same.csv", "-t", "y")
    assert "ignored: x, since all its values are equal" in bayes("show", "same.bayes").out


def test_large_numbers_are_powers_of_ten() -> None:
    assert large(10**15 - 1) == "999,999,999,999,999"
    assert large(123 * 10**40) == "1.23e+42"
    assert large(2 ** (10**6)) == "9.90e+301029"


def test_not_a_model(bayes: Bayes, folder: Path) -> None:
    bayes("show", "cars.csv", code=4)
    bayes("train", "cars.csv", "-t", "class")
    data = bytearray((folder / "cars.bayes").read_bytes())
    data[len(data) // 2] ^= 1
    (folder / "cars.bayes").write_bytes(data)
    bayes("show", "cars.bayes", code=4)


def test_schema_without_a_target(bayes: Bayes) -> None:
    report = bayes("schema", "cars.csv", "--json").json
    assert [column["kind"] for column in report["columns"]] == ["real", "category", "category"]
    age = report["columns"][0]
    assert (age["least"], age["greatest"]) == (20, 45)
    assert report["rows"] == 6
    assert "20 to 45, mean 26.6667" in bayes("schema", "cars.csv").out


def test_schema_without_a_target_names_what_training_refuses(bayes: Bayes, folder: Path) -> None:
    lines = [f"{'three' if row == 300 else row % 90},{'ab'[row % 2]}" for row in range(400)]
    (folder / "mixed.csv").write_text("x,y\n" + "\n".join(lines) + "\n")
    (told,) = bayes("schema", "mixed.csv", "--json").json["warnings"]
    assert "column `x` is numeric except for 1 of 400 values, such as 'three'" in told
    assert "--na three" in told
    bayes("train", "mixed.csv", "-t", "y", code=3)
    bayes("train", "mixed.csv", "-t", "y", "--na", "three")
    assert bayes("schema", "mixed.csv", "--types", "x=category", "--json").json["warnings"] == []


@pytest.mark.parametrize("step", [1, 2])
def test_dates_are_told_from_identifiers(bayes: Bayes, folder: Path, step: int) -> None:
    first = datetime.date(2024, 1, 31)
    days = [first + datetime.timedelta(days=row - row % step) for row in range(60)]
    days += [first + datetime.timedelta(days=100 + row) for row in range(20)]
    (folder / "days.csv").write_text("day,y\n" + "".join(f"{day},{'ab'[day.day % 2]}\n" for day in days))
    told = bayes("train", "days.csv", "-t", "y", "--types", "day=category").err
    assert ("has a different date in every row" if step == 1 else "has 50 dates in 80 values") in told
    assert "--types day=date" in told
    assert "identifier" not in told
    assert "note" not in bayes("train", "days.csv", "-t", "y", "--force").err


def test_schema_with_a_target_and_declared_kinds(bayes: Bayes, folder: Path) -> None:
    (folder / "new.csv").write_text("zip,x,y\n00501,,a\n10115,2,b\n10115,3,\n")
    report = bayes("schema", "new.csv", "-t", "y", "--types", "zip=category", "--json").json
    assert report["classes"] == {"a": 1, "b": 1}
    assert report["unlabelled"] == 1
    zip_code, x = report["columns"]
    assert zip_code["levels"] == ["00501", "10115"]
    assert (zip_code["declared"], x["missing"]) == (True, 1)
    assert not (folder / "new.bayes").exists()


def test_schema_of_data_in_pieces(bayes: Bayes, folder: Path) -> None:
    (folder / "a.csv").write_text("x\n1\n5\n")
    (folder / "b.csv").write_text("x\n-3\n2\n")
    column = bayes("schema", "a.csv", "b.csv", "--json").json["columns"][0]
    assert (column["least"], column["greatest"], column["mean"]) == (-3, 5, 1.25)


def test_schema_of_nothing(bayes: Bayes, folder: Path) -> None:
    (folder / "empty.csv").write_text("x,y\n")
    assert "the data have no rows" in bayes("schema", "empty.csv", code=3).err
    assert "Did you mean `class`?" in bayes("schema", "cars.csv", "-t", "clas", code=3).err


def test_a_model_of_which_every_row_was_forgotten(bayes: Bayes) -> None:
    bayes("train", "tennis.csv", "-t", "play")
    bayes("forget", "tennis.bayes", "tennis.csv")
    assert "every row was forgotten" in bayes("show", "tennis.bayes").out
    report = bayes("show", "tennis.bayes", "--json").json
    assert report["classes"] == {}
    assert report["rules"]["smoothing"] == "laplace"
    assert "nothing to predict" in bayes("predict", "tennis.bayes", "tennis.csv", code=3).err
    bayes("update", "tennis.bayes", "tennis.csv")
    assert bayes("show", "tennis.bayes", "--json").json["classes"] == {"no": 5, "yes": 9}


def test_an_unknown_column_is_refused_before_anything_is_said(bayes: Bayes, tables: Path) -> None:
    bayes("train", "cars.csv", "-t", "class", "-o", "cars.bayes")
    refused = bayes("show", "cars.bayes", "--column", "agee", code=3)
    assert "Did you mean `age`?" in refused.err
    assert not refused.out


def test_the_nomogram(bayes: Bayes, folder: Path) -> None:
    bayes("train", "tennis.csv", "-t", "play")
    out = bayes("show", "tennis.bayes", "--nomogram").out
    assert "play = yes against no: what each value adds to the log-odds" in out
    assert "overcast" in out
    assert "P(yes)" in out
    assert max(map(len, out.splitlines())) <= 120
    found = bayes("show", "tennis.bayes", "--nomogram", "--class", "no", "--top", "2", "--json").json["nomogram"]
    assert (found["class"], found["against"]) == ("no", "yes")
    assert [column["name"] for column in found["columns"]] == ["outlook", "humidity"]
    assert found["others"] == ["windy", "temperature"]
    marks = {mark["value"]: mark["log_odds"] for mark in found["columns"][0]["marks"]}
    assert marks == pytest.approx(
        {
            "overcast": math.log((1 / 8) / (5 / 12)),
            "rainy": math.log((3 / 8) / (4 / 12)),
            "sunny": math.log((4 / 8) / (3 / 12)),
        }
    )
    ended = bayes("show", "tennis.bayes", "--nomogram", "--svg", "tennis.svg", "--json")
    assert "nomogram of play = yes against no written to tennis.svg" in ended.err
    assert "nomogram" in ended.json
    ElementTree.parse(folder / "tennis.svg")


def test_zeros_of_a_nomogram_are_texts_in_json(bayes: Bayes) -> None:
    bayes("train", "tennis.csv", "-t", "play", "--smoothing", "mle")
    found = bayes("show", "tennis.bayes", "--nomogram", "--json").json["nomogram"]["columns"][0]
    assert {"value": "overcast", "log_odds": "inf"} in found["marks"]
    assert "overcast (+inf)" in bayes("show", "tennis.bayes", "--nomogram").out


def test_what_the_nomogram_refuses(bayes: Bayes) -> None:
    bayes("train", "tennis.csv", "-t", "play")
    assert "--top requires --nomogram" in bayes("show", "tennis.bayes", "--top", "3", code=2).err
    both = bayes("show", "tennis.bayes", "--nomogram", "--column", "windy", "--svg", "x.svg", code=2)
    assert "one picture" in both.err
    assert "--column NAME or --nomogram" in bayes("show", "tennis.bayes", "--svg", "x.svg", code=2).err
    assert "unknown class" in bayes("show", "tennis.bayes", "--nomogram", "--class", "perhaps", code=2).err
    same = bayes("show", "tennis.bayes", "--nomogram", "--class", "no", "--against", "no", code=2)
    assert "`no` is the predicted class itself" in same.err
    bayes("train", "tennis.csv", "-t", "play", "--model", "tan", "-o", "tan.bayes")
    refused = bayes("show", "tan.bayes", "--nomogram", code=2)
    assert "needs naive Bayes" in refused.err
    assert not refused.out
    Path("notes.csv").write_text("text,label\ngood film,yes\nbad film,no\n")
    bayes("train", "notes.csv", "-t", "label", "--model", "text", "-o", "notes.bayes")
    assert "a model of documents" in bayes("show", "notes.bayes", "--nomogram", code=2).err
    assert "a model of documents" in bayes("explain", "notes.bayes", "notes.csv", "--svg", "x.svg", code=2).err
    Path("steps.csv").write_text("run,state,seen\na,rain,shop\na,dry,walk\na,dry,walk\n")
    bayes("hmm", "train", "steps.csv", "--sequence", "run", "--labels", "state", "-o", "steps.bayes")
    assert "hidden Markov" in bayes("show", "steps.bayes", "--nomogram", code=2).err


def test_prior_in_json_is_rounded_once(bayes: Bayes, folder: Path) -> None:
    """6 of 12 rows are 0.5, 5 of 14 are 5/14."""
    for name, rows in (("even", "ab" * 6), ("odd", "a" * 9 + "b" * 5)):
        (folder / f"{name}.csv").write_text("x,y\n" + "".join(f"{i % 3}.5,{label}\n" for i, label in enumerate(rows)))
        bayes("train", f"{name}.csv", "-t", "y")
    assert bayes("show", "even.bayes", "--json").json["prior"] == {"a": 0.5, "b": 0.5}
    assert bayes("show", "odd.bayes", "--json").json["prior"] == {"a": 9 / 14, "b": 5 / 14}
    assert bayes("explain", "even.bayes", "--set", "x=1", "--json").json["prior"] == {"a": 0.5, "b": 0.5}


def test_the_interval_of_a_column_is_printed_once(bayes: Bayes) -> None:
    bayes("train", "cars.csv", "-t", "class")
    both = bayes("show", "cars.bayes").out
    ends = next(line for line in both.splitlines() if line.split()[:1] == ["age"] and " to " in line).split("  ")[-1]
    assert bayes("show", "cars.bayes", "--column", "age").out.count(ends.strip()) == 1
