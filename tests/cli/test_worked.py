"""The worked examples by the command: the same figures as by hand."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

from .conftest import Bayes

pytestmark = pytest.mark.usefixtures("tables")


def sets(**values: object) -> list[str]:
    return [part for name, value in values.items() for part in ("--set", f"{name}={value}")]


def test_meningitis_by_the_rule_alone(bayes: Bayes) -> None:
    ended = bayes("rule", "--prior", ".00002", "--likelihood", ".5", "--evidence", ".05")
    assert "= .5 x .00002 / .05" in ended.out
    assert "= 0.0002, or 1 in 5,000" in ended.out


def test_shapes_without_smoothing(bayes: Bayes) -> None:
    bayes("train", "shapes.csv", "-t", "class", "--smoothing", "mle")
    circle = sets(shape="circle", colour="blue", size="medium")
    ended = bayes("explain", "shapes.bayes", *circle, "--show-work")
    for figure in ("9/275", "1/99", "81/106", "0.764151"):
        assert figure in ended.out
    posterior = bayes("explain", "shapes.bayes", *circle, "--json").json["posterior"]
    assert posterior["+"] == pytest.approx(81 / 106, rel=1e-12)


@pytest.mark.parametrize(
    ("rule", "with_plus", "with_minus", "posterior"),
    [
        ("replace-zero:half", "3/1210", "1/33", 0.0756303),
        ("replace-zero:prior", "3/1331", "1/33", 0.0692308),
        ("as-written:1,1", "5/297", "216/3773", 0.2272426),
    ],
)
def test_shapes_with_correction_rules(
    bayes: Bayes, rule: str, with_plus: str, with_minus: str, posterior: float
) -> None:
    bayes("train", "shapes.csv", "-t", "class", "--smoothing", rule)
    case = sets(shape="circle", colour="blue", size="small")
    found = bayes("explain", "shapes.bayes", *case, "--show-work", "--json").json
    assert found["work"]["exact_joint"] == {"+": with_plus, "-": with_minus}
    assert found["posterior"]["+"] == pytest.approx(posterior, abs=5e-8)
    exact = Fraction(with_plus) / (Fraction(with_plus) + Fraction(with_minus))
    assert found["posterior"]["+"] == pytest.approx(float(exact), rel=1e-12)


def test_easy_sell_from_given_tables(bayes: Bayes, folder: Path) -> None:
    young, old = (0.95, 0.05, 0.02, 0.20), (0.03, 0.82, 0.34, 0.92)
    tables = {
        f"Radio{index}": {
            "young": {"like": a, "dislike": 1 - a},
            "old": {"like": b, "dislike": round(1 - b, 2)},
        }
        for index, (a, b) in enumerate(zip(young, old, strict=True), start=1)
    }
    (folder / "radio.json").write_text(json.dumps({"prior": {"young": "2/5", "old": 0.6}, "tables": tables}))
    assert "written to radio.bayes" in bayes("train", "--tables", "radio.json").err
    likes = [part for index in range(1, 5) for part in ("--set", f"Radio{index}=like")]
    found = bayes("explain", "radio.bayes", *likes, "--json").json
    joint = 0.4 * 0.95 * 0.05 * 0.02 * 0.20, 0.6 * 0.03 * 0.82 * 0.34 * 0.92
    assert found["posterior"]["young"] == pytest.approx(joint[0] / sum(joint), rel=1e-12)
    refused = bayes("update", "radio.bayes", "cars.csv", code=3)
    assert "it has no counts" in refused.err


CAR_TYPES = "age=real:floor=0,car=category:sports:vintage:suv:truck"


def test_cars_with_a_point_mass_and_a_declared_level(bayes: Bayes) -> None:
    trained = bayes("train", "cars.csv", "-t", "class", "--types", CAR_TYPES)
    assert "4: sports, suv, truck, vintage" in trained.err
    case = sets(age=23, car="truck")
    shown = bayes("explain", "cars.bayes", *case, "--show-work").out
    assert "(0 + 1)/(4 + 4) = 1/8" in shown
    assert "(0 + 1)/(2 + 4) = 1/6" in shown
    assert "N(23 | 27.5, 10.30776406) = 0.03518519" in shown
    assert re.search(r"likelihood: P\(x \| class\) +0.004398", shown)
    assert re.search(r"evidence: P\(x\) = .* = 0.00293", shown)
    found = bayes("explain", "cars.bayes", *case, "--show-work", "--json").json
    assert found["posterior"] == {"H": 1.0, "L": 0.0}
    assert found["log_odds"] == "inf"
    assert found["work"]["joint"]["H"] == pytest.approx(0.00293210, abs=5e-9)


def test_cars_with_the_floor_of_a_gaussian_make_nothing_impossible(bayes: Bayes) -> None:
    bayes("train", "cars.csv", "-t", "class", "--numeric", "gaussian")
    posterior = bayes("explain", "cars.bayes", *sets(age=23, car="suv"), "--json").json["posterior"]
    assert 0 < posterior["L"] < 1e-6
    assert posterior["H"] == pytest.approx(1)


def test_heavy_odds_without_smoothing(bayes: Bayes) -> None:
    bayes("train", "heavy.csv", "-t", "label", "--smoothing", "mle")
    shown = bayes("explain", "heavy.bayes", *sets(heavy="Yes", size="M", colour="R"), "--show-work").out
    assert "odds - : + = 64/9 = 7.111111; + : - = 9/64" in shown
    assert "so the class is -" in shown
    impossible = bayes("explain", "heavy.bayes", *sets(heavy="Yes", size="M", colour="B"), "--show-work").out
    assert "the joint of - is 0" in impossible
    assert "so the class is +" in impossible


def test_heavy_odds_with_laplace_on_the_prior_too(bayes: Bayes) -> None:
    bayes("train", "heavy.csv", "-t", "label", "--smoothing", "laplace", "--prior-smoothing", "laplace")
    shown = bayes("explain", "heavy.bayes", *sets(heavy="Yes", size="M", colour="B"), "--show-work").out
    assert "+ : - = 125/189" in shown
    assert "0.6019108" in shown
    missing = bayes("explain", "heavy.bayes", *sets(heavy="Yes", size="M"), "--show-work").out
    assert "125/324" in missing
    assert "0.7216036" in missing
    assert "ignored: colour, since it is missing" in missing


def test_tennis(bayes: Bayes) -> None:
    bayes("train", "tennis.csv", "-t", "play", "--smoothing", "mle")
    day = sets(outlook="sunny", temperature="cool", humidity="high", windy="true")
    shown = bayes("explain", "tennis.bayes", *day, "--show-work").out
    for figure in ("1/189 = 0.005291005", "18/875 = 0.02057143", "0.7954173", "so the class is no"):
        assert figure in shown
    posterior = bayes("explain", "tennis.bayes", *day, "--json").json["posterior"]
    exact = Fraction(18, 875) / (Fraction(18, 875) + Fraction(1, 189))
    assert posterior["no"] == pytest.approx(float(exact), rel=1e-12)
