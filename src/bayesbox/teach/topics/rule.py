"""Bayes' rule: three numbers, a test, two tests in turn, and several hypotheses."""

from __future__ import annotations

from fractions import Fraction

from bayesbox.explain.bayes_rule import bayes_rule
from bayesbox.explain.class_work import ClassWork
from bayesbox.teach.answer import Slip
from bayesbox.teach.draw import Draw
from bayesbox.teach.exercise import Kind, Question
from bayesbox.teach.sheet import Sheet, SheetTable
from bayesbox.teach.topics.fitted import exact

CAUSES = (
    ("a rare fever", "a rash", "patients"),
    ("a loose cable", "a flickering lamp", "lamps"),
    ("root rot", "yellow leaves", "plants"),
    ("a flat battery", "a silent start", "cars"),
)
TESTS = (("ill", "well", "patients"), ("faulty", "sound", "parts"), ("forged", "genuine", "coins"))
BOXES = ("red box", "green box", "blue box")


def three_numbers(draw: Draw, title: str) -> Question | None:
    """P(h | e) from P(h), P(e | h) and P(e)."""
    cause, sign, among = draw.one(CAUSES)
    prior = Fraction(1, draw.one((50, 100, 200, 500, 1000, 2000, 5000)))
    likelihood, evidence = draw.tenths(2, 9), Fraction(1, draw.one((4, 5, 8, 10, 20, 25)))
    if likelihood * prior * 2 > evidence:
        return None
    work = bayes_rule(prior=prior, likelihood=likelihood, evidence=evidence, work=True)
    given = (
        f"Of all {among}, one in {prior.denominator:,} has {cause}, and one in {evidence.denominator} has {sign}. Of "
        f"the {among} with {cause}, {_percent(likelihood)} have {sign}."
    )
    asked = f"P({cause} | {sign})"
    text = f"One of the {among} has {sign}. How probable is {cause}: `{asked}`?"
    answer = exact(work, "posterior", 0)
    slips = (
        ("P(e | h), the probability the other way round", likelihood),
        ("the joint: divide it by the probability of the evidence", likelihood * prior),
    )
    return Question(Sheet(title, (given,), text), asked, answer, work, slips)


def one_test(draw: Draw, title: str) -> Question | None:
    """A test for a rare condition: the false positive rate matters."""
    return _test(draw, title, times=1)


def two_tests(draw: Draw, title: str) -> Question | None:
    """The posterior after one test is the prior of the next."""
    return _test(draw, title, times=2)


def boxes(draw: Draw, title: str) -> Question | None:
    """The probability that a ball is from one of three boxes."""
    sizes = [(draw.between(1, 5), draw.between(1, 5)) for _ in BOXES]
    if len({Fraction(white, white + black) for white, black in sizes}) < len(BOXES):
        return None
    prior = dict(zip(BOXES, draw.shares(3), strict=True))
    likelihood = {box: Fraction(white, white + black) for box, (white, black) in zip(BOXES, sizes, strict=True)}
    work = bayes_rule(prior=prior, likelihood=likelihood, work=True)
    rows = tuple(
        (box, f"{float(prior[box]):g}", str(white), str(black))
        for box, (white, black) in zip(BOXES, sizes, strict=True)
    )
    table = SheetTable("Three boxes, and how often each is chosen:", ("", "chosen", "white", "black"), rows)
    place = draw.below(3)
    asked = f"P({BOXES[place]} | white)"
    text = f"A box is chosen, and a ball is drawn from it: it is white. What is `{asked}`?"
    slips = _slips(work, place)
    return Question(Sheet(title, (table,), text), asked, exact(work, "posterior", place), work, slips)


KINDS: tuple[Kind, ...] = (one_test, three_numbers, boxes, two_tests)


def _test(draw: Draw, title: str, times: int) -> Question | None:
    yes, no, among = draw.one(TESTS)
    share = Fraction(draw.one((1, 2, 5, 10)), 100)
    found, false = Fraction(draw.one((80, 90, 95)), 100), Fraction(draw.one((2, 5, 10, 20)), 100)
    likelihood = {yes: found, no: false}
    work = bayes_rule(prior={yes: share, no: 1 - share}, likelihood=[likelihood] * times, work=True)
    given = (
        f"{_percent(share)} of the {among} are {yes}. A test is positive for {_percent(found)} of the {among} that are "
        f"{yes}, and for {_percent(false)} of those that are {no}."
    )
    positive = "positive" if times == 1 else "positive twice"
    again = "" if times == 1 else " Given the state, the two results are independent."
    asked = f"P({yes} | {positive})"
    text = f"A test of one of the {among} is {positive}.{again} What is `{asked}`?"
    return Question(Sheet(title, (given,), text), asked, exact(work, "posterior", 0), work, _slips(work, 0))


def _slips(work: ClassWork, place: int) -> tuple[Slip, ...]:
    first = next(step for step in work.steps if step.name == "posterior")
    once = first.rows[0].cells[place].value
    again: tuple[Slip, ...] = (("that after the first test", once),) if isinstance(once, Fraction) else ()
    last = exact(work, "posterior", place)
    return (
        ("the probability of the evidence given the hypothesis", exact(work, "likelihood", place)),
        ("the joint: divide it by the probability of the evidence", exact(work, "joint", place)),
        *(each for each in again if each[1] != last),
        ("that it is something else", 1 - last),
    )


def _percent(p: Fraction) -> str:
    return f"{float(p * 100):g}%"
