"""Exercises: the sheet of a seed is always the same, and its answer is that of the tables on it."""

from __future__ import annotations

import hashlib
import html.parser
from fractions import Fraction

import pytest
from tests.explain.latex import check_document, check_latex
from tests.teach.oracle import ORACLES, tables

import bayesbox as bb
from bayesbox.errors import UnknownChoice
from bayesbox.explain.steps import WIDTH, Cell, Work
from bayesbox.teach.exercise import TOPICS, exercise
from bayesbox.teach.exercise_set import exercises

SEEDS = range(15)  # every kind of question of every topic three times or more


@pytest.mark.parametrize("topic", TOPICS)
def test_the_answer_is_that_of_the_sheet(topic: str) -> None:
    for seed in SEEDS:
        drawn = exercise(topic, seed)
        assert drawn.answer == ORACLES[topic](drawn), (topic, seed)
        assert isinstance(drawn.solution, Work)
        shown = str(drawn.solution).replace("\n", " ")
        assert Cell(value=drawn.answer).decimal() in shown or str(drawn.answer) in shown
        assert drawn.check(str(drawn.answer))
        assert drawn.check(f"{float(drawn.answer):.6g}")
        assert not drawn.check(str(drawn.answer + Fraction(1, 7)))
    assert len({exercise(topic, seed).sheet.text().partition("\n")[2] for seed in SEEDS}) == len(SEEDS)


@pytest.mark.parametrize("topic", TOPICS)
def test_sheets_and_solutions_are_well_formed(topic: str) -> None:
    for seed in range(5):
        drawn = exercise(topic, seed)
        lines = f"{drawn.sheet}\n{drawn.solution}".splitlines()
        assert max(map(len, lines)) <= WIDTH
        assert "`" not in str(drawn.sheet)
        check_latex(drawn.sheet.latex().replace("section*", "section"))
        check_latex(drawn.solution.latex())
        html.parser.HTMLParser().feed(drawn.sheet.html())
        assert "<script" not in drawn.sheet.html()
        assert drawn._repr_html_().startswith("<div")


DIGESTS = {
    "rule": "93f8fe19a179a314",
    "naive": "ffb967a482158e56",
    "text": "1527a4d0e1b3d074",
    "full": "3e449781e11f053c",
    "network": "00cda2f8596bc130",
    "hmm": "0803dc33ebb3c5e4",
}


@pytest.mark.parametrize("topic", TOPICS)
def test_a_seed_is_the_same_sheet_on_every_machine(topic: str) -> None:
    """Sheets that a teacher has printed are checked years later: a change here is a change of all of them."""
    drawn = [f"{exercise(topic, seed)}\n{exercise(topic, seed).answer}\n" for seed in range(5)]
    assert hashlib.sha256("".join(drawn).encode()).hexdigest()[:16] == DIGESTS[topic]


def test_the_public_models_give_the_same_answers() -> None:
    """The solution is that of the estimators, networks and chains of the package."""
    drawn = exercise("naive", 0)
    table = tables(drawn)[0]
    *columns, labels = (list(column) for column in zip(*table.rows, strict=True))
    clf = bb.NaiveBayes(smoothing="mle").fit(dict(zip(table.columns, columns, strict=False)), labels)
    events, _, given = drawn.question.asked[2:-1].partition(" | ")
    case = dict(each.split("=") for each in given.split(", "))
    proba = clf.predict_proba({name: [value] for name, value in case.items()})[0]
    proba = dict(zip(clf.classes_, proba, strict=True))[events.partition("=")[2]]
    assert proba == pytest.approx(float(drawn.answer), rel=1e-12)
    assert str(clf.work(case)).splitlines()[1:] == str(drawn.solution).splitlines()[1:]


def test_without_a_topic_the_seed_chooses_one() -> None:
    assert [exercise(seed=seed).topic for seed in range(6)] == list(TOPICS)
    assert exercise(seed=13) == exercise("naive", 2)
    with pytest.raises(UnknownChoice):
        exercise("magic")
    with pytest.raises(bb.BadOption):
        exercise("naive", -1)


def test_a_set_has_its_answers_apart() -> None:
    drawn = bb.exercises("naive", seed=3, count=4)
    assert [each.seed for each in drawn.exercises] == [3, 4, 5, 6]
    sheets, _, answers = str(drawn).partition("\nAnswers\n")
    for each in drawn.exercises:
        assert str(each.sheet) in sheets
        assert each.answer_line() in answers
        assert each.answer_line() not in sheets
    check_document(drawn.latex())
    check_document(bb.exercises(seed=0, count=6, works=True).latex())
    assert drawn.html().count("<section>") == 5
    assert "solution" not in drawn.to_dict()["exercises"][0]
    assert "Answers" not in exercises("naive", count=2, answers=False).latex()
    with pytest.raises(bb.BadOption):
        bb.exercises(count=0)


def test_slips_are_named() -> None:
    drawn = exercise("naive", 0)
    joint = drawn.solution.step("joint").rows[-1].cells
    found = drawn.check(str(joint[1].value))
    assert not found
    assert "joint" in found.message
