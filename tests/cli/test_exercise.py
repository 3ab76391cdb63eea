"""`bayes exercise`: the sheet, the solution, the check and its exit code, and sets of sheets."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.explain.latex import check_document

from bayesbox.cli.exercise import TOPICS
from bayesbox.teach.exercise import TOPICS as ALL
from bayesbox.teach.exercise import exercise

from .conftest import Bayes


def test_the_command_has_every_topic() -> None:
    assert tuple(ALL) == TOPICS


def test_the_sheet_and_the_solution(bayes: Bayes) -> None:
    drawn = exercise("naive", 3)
    shown = bayes("exercise", "--topic", "naive", "--seed", "3")
    assert shown.out.strip() == str(drawn)
    assert "--check ANSWER" in shown.err
    assert drawn.answer_line() not in shown.out
    solved = bayes("exercise", "--topic", "naive", "--seed", "3", "--solution").out
    assert str(drawn.solution) in solved
    assert drawn.answer_line() in solved


def test_an_answer_is_checked(bayes: Bayes) -> None:
    answer = exercise("naive", 3).answer
    ask = ("exercise", "--topic", "naive", "--seed", "3", "--check")
    assert bayes(*ask, str(answer)).out.startswith("right")
    assert bayes(*ask, f"{float(answer) * 100:.3f}%").out.startswith("right")
    assert bayes(*ask, str(1 - answer), code=1).out == "wrong: that is the posterior of the other class\n"
    assert bayes(*ask, "3/2", "--json", code=1).json == {
        "topic": "naive",
        "seed": 3,
        "right": False,
        "message": "wrong: it is too large",
    }
    assert "9/64" in bayes(*ask, "a lot", code=2).err
    assert "--check can only be combined with --topic" in bayes(*ask, "1/2", "--solution", code=2).err


def test_sets_are_written(bayes: Bayes, folder: Path) -> None:
    assert "written to sheets.tex" in bayes("exercise", "--count", "6", "--latex", "-o", "sheets.tex").err
    check_document((folder / "sheets.tex").read_text())
    bayes("exercise", "--count", "3", "--html", "-o", "sheets.html")
    assert (folder / "sheets.html").read_text().startswith("<!doctype html>")
    drawn = bayes("exercise", "--count", "3", "--json").json["exercises"]
    assert [each["topic"] for each in drawn] == ["rule", "naive", "text"]
    assert drawn[1]["answer"]["fraction"] == str(exercise("naive", 0).answer)
    assert set(bayes("exercise", "--json").json) == {"topic", "seed", "sheet", "asked"}
    assert "solution" in bayes("exercise", "--json", "--solution").json


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--topic", "magic"], "magic"),
        (["--seed", "-1"], "seed"),
        (["--count", "0"], "count"),
        (["--count", "100000"], "at most 1,000"),
        (["--latex", "--html"], "choose one of"),
    ],
)
def test_what_is_refused(bayes: Bayes, arguments: list[str], said: str) -> None:
    assert said in bayes("exercise", *arguments, code=2).err
