"""Full Bayes by command: trained, shown, used, refused."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from .conftest import Bayes

VALVE = """inlet,outlet,pressure,state
open,open,3.1,normal
closed,closed,1.2,normal
open,open,2.2,normal
closed,closed,,normal
open,closed,2.9,fault
closed,open,1.4,fault
open,closed,1.3,fault
closed,,2.0,fault
"""


@pytest.fixture
def valve(bayes: Bayes, folder: Path) -> Path:
    """A folder with the table and its model."""
    (folder / "valve.csv").write_text(VALVE)
    bayes("train", "valve.csv", "-t", "state", "--model", "full")
    return folder


@pytest.mark.usefixtures("valve")
def test_show_counts_parameters_of_both(bayes: Bayes) -> None:
    report = bayes("show", "valve.bayes", "--json").json
    assert report["kind"] == "full"
    assert report["rules"]["covariance"] == "full"
    assert (report["parameters"], report["naive_parameters"]) == (2 * 3 + 1 + 2 * 2, 2 * 2 + 1 + 2 * 2)
    assert "parameters: 11; naive Bayes would need 9" in bayes("show", "valve.bayes").out


def test_predict_forget_and_update(bayes: Bayes, valve: Path) -> None:
    before = (valve / "valve.bayes").read_bytes()
    answers = bayes("predict", "valve.bayes", "valve.csv", "--proba").out.splitlines()
    assert len(answers) == 9
    (valve / "two.csv").write_text("\n".join(VALVE.splitlines()[:3]) + "\n")
    bayes("forget", "valve.bayes", "two.csv")
    assert (valve / "valve.bayes").read_bytes() != before
    bayes("update", "valve.bayes", "two.csv")
    assert (valve / "valve.bayes").read_bytes() == before


def test_threads_and_merge(bayes: Bayes, valve: Path) -> None:
    lines = VALVE.splitlines()
    for name, part in (("a", lines[1:4]), ("b", lines[4:])):
        (valve / f"{name}.csv").write_text("\n".join([lines[0], *part]) + "\n")
        bayes("train", f"{name}.csv", "-t", "state", "--model", "full", "-o", f"{name}.bayes")
    bayes("merge", "a.bayes", "b.bayes", "-o", "c.bayes")
    assert (valve / "c.bayes").read_bytes() == (valve / "valve.bayes").read_bytes()
    bayes("train", "valve.csv", "-t", "state", "--model", "full", "-o", "t.bayes", "--threads", "2")
    assert (valve / "t.bayes").read_bytes() == (valve / "valve.bayes").read_bytes()


@pytest.mark.usefixtures("valve")
def test_parameters_behind_a_colon(bayes: Bayes) -> None:
    bayes("train", "valve.csv", "-t", "state", "--model", "full:pooled,shrink=4,enough=9", "-o", "p.bayes")
    rules = bayes("show", "p.bayes", "--json").json["rules"]
    assert (rules["covariance"], rules["shrink"], rules["enough"]) == ("pooled", 4.0, 9)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("full:round", "covariance must be one of"),
        ("full:shrink=x", "ledoit-wolf"),
        ("full:colour=red", "after a colon"),
    ],
)
def test_wrong_parameters(bayes: Bayes, valve: Path, model: str, message: str) -> None:
    ended = bayes("train", "valve.csv", "-t", "state", "--model", model, "-o", "p.bayes", code=2)
    assert message in ended.err
    assert not (valve / "p.bayes").exists()


def test_a_joint_that_would_not_fit(bayes: Bayes, folder: Path) -> None:
    names = [f"x{index}" for index in range(25)]
    rows = [",".join([*("ab"[(row >> index % 5) & 1] for index in range(25)), "yn"[row % 2]]) for row in range(32)]
    (folder / "wide.csv").write_text("\n".join([",".join([*names, "class"]), *rows]) + "\n")
    ended = bayes("train", "wide.csv", "-t", "class", "--model", "full", code=3)
    assert "67,108,864 cells" in ended.err
    assert "naive Bayes needs 51 numbers" in ended.err


@pytest.mark.usefixtures("valve")
def test_explain_and_evaluate(bayes: Bayes) -> None:
    told = bayes("explain", "valve.bayes", "--set", "inlet=open", "--set", "outlet=closed").out
    assert "state = fault" in told
    assert "so the class is fault" in bayes("explain", "valve.bayes", "--set", "inlet=open", "--show-work").out
    assert "accuracy" in bayes("evaluate", "valve.csv", "-t", "state", "--model", "full", "--loo").out
    assert "accuracy" in bayes("evaluate", "valve.csv", "-t", "state", "--model", "full", "--cv", "2").out


def test_leave_one_out_says_how_far_to_shrink(bayes: Bayes, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of numbers that have nothing to do with each other; from a pipe as from a file."""
    random = np.random.default_rng(1)
    table = "x,y,z,label\n"
    for label, width in (("wide", 1.7), ("narrow", 0.8)):
        for row in random.normal(size=(12, 3)) * width:
            table += ",".join(f"{value:.6f}" for value in row) + f",{label}\n"
    (folder / "rows.csv").write_text(table)
    bayes("train", "rows.csv", "-t", "label", "--model", "full")
    shown = bayes("show", "rows.bayes", "--json").json
    assert shown["rules"]["shrink"] == "loo"
    assert "correlations shrunk" in bayes("show", "rows.bayes").out
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(table.encode())))
    bayes("train", "-", "-t", "label", "--model", "full", "-o", "piped.bayes")
    assert (folder / "piped.bayes").read_bytes() == (folder / "rows.bayes").read_bytes()
    bayes("train", "rows.csv", "-t", "label", "--model", "full:shrink=auto", "-o", "plain.bayes")
    assert bayes("show", "plain.bayes", "--json").json["rules"]["shrink"] == "auto"
