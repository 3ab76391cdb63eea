"""An exercise: its sheet, its solution and its answer, generated from a topic and a seed."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from bayesbox.errors import BadOption, UnknownChoice, require_whole
from bayesbox.explain.steps import Cell, Work
from bayesbox.teach.answer import CheckedAnswer, Slip, check_answer
from bayesbox.teach.draw import Draw
from bayesbox.teach.sheet import Sheet

if TYPE_CHECKING:
    from bayesbox.file.reader import Json

TOPICS = {
    "rule": "Bayes' rule by itself",
    "naive": "naive Bayes of a table",
    "text": "naive Bayes of documents",
    "full": "full Bayes",
    "network": "a Bayesian network",
    "hmm": "a hidden Markov model",
}
"""The topics; each is a module of `topics`."""

MOST_DRAWS = 1000  # the maximum number of draws until one has a good question
LONGEST = 6  # digits of the numerator or denominator of an answer


@dataclass(frozen=True)
class Question:
    """A generated question: the sheet, what is asked, its value, the calculation, and common mistakes."""

    sheet: Sheet
    asked: str
    answer: Fraction
    solution: Work
    slips: tuple[Slip, ...] = ()

    @property
    def is_short(self) -> bool:
        """Whether the answer is short enough to write down."""
        return max(len(str(self.answer.numerator)), len(str(self.answer.denominator))) <= LONGEST


Kind = Callable[[Draw, str], Question | None]
"""A kind of question: generates one under a title, or None if the draw has no good one."""


@dataclass(frozen=True, repr=False)
class Exercise:
    """A sheet with its solution; prints as the sheet.

    >>> drawn = exercise("naive", seed=2)
    >>> bool(drawn.check(str(drawn.answer))), bool(drawn.check("2"))
    (True, False)
    """

    topic: str
    seed: int
    question: Question

    @property
    def sheet(self) -> Sheet:
        """The sheet: what is given and asked; prints as text, shows as HTML, and has `.html()` and `.latex()`."""
        return self.question.sheet

    @property
    def solution(self) -> Work:
        """The calculation of the answer."""
        return self.question.solution

    @property
    def answer(self) -> Fraction:
        """The exact answer."""
        return self.question.answer

    def answer_line(self) -> str:
        """What is asked, with the answer as a fraction and as a decimal."""
        return f"{self.question.asked} = {Cell(value=self.answer)}"

    def check(self, text: str) -> CheckedAnswer:
        """Whether an answer is right: a fraction, a decimal to its last digit, or a percentage."""
        return check_answer(text, self.answer, self.question.slips)

    def to_dict(self) -> Json:
        """A plain dict, for JSON."""
        return {
            "topic": self.topic,
            "seed": self.seed,
            "sheet": self.sheet.to_dict(),
            "asked": self.question.asked,
            "answer": {"fraction": str(self.answer), "value": float(self.answer)},
            "solution": self.solution.to_dict(),
        }

    def __str__(self) -> str:
        return str(self.sheet)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self.sheet._repr_html_()


def exercise(topic: str | None = None, seed: int = 0) -> Exercise:
    """The exercise of a seed, the same on every machine; without a topic the seed chooses one.

    The topics are rule, naive, text, full, network and hmm. `print` shows the sheet; `.solution` is the calculation,
    `.answer` a Fraction, and `.check("9/64")` says whether an answer is right.

    Parameters
    ----------
    topic : "rule", "naive", "text", "full", "network", "hmm", or None (default) for any
    seed : int, default 0; the same seed gives the same result

    Returns
    -------
    Exercise

    Examples
    --------
    >>> drawn = exercise("rule", seed=0)
    >>> print(drawn)
    Exercise rule 0: Bayes' rule by itself
    <BLANKLINE>
    2% of the patients are ill. A test is positive for 80% of the patients that are ill, and for 5% of
    those that are well.
    <BLANKLINE>
    A test of one of the patients is positive. What is P(ill | positive)?
    >>> print(drawn.check("80%"))
    wrong: that is the probability of the evidence given the hypothesis
    >>> print(drawn.check("0.246"))
    right: 16/65 = 0.2461538
    """
    require_whole("seed", seed)
    topics = list(TOPICS)
    if topic is None:
        topic, seed = topics[seed % len(topics)], seed // len(topics)
    if topic not in TOPICS:
        raise UnknownChoice("topic", topic, topics)
    kinds: Sequence[Kind] = importlib.import_module(f"bayesbox.teach.topics.{topic}").KINDS
    kind, draw = kinds[seed % len(kinds)], Draw(topic, seed)
    title = f"Exercise {topic} {seed}: {TOPICS[topic]}"
    for _ in range(MOST_DRAWS):
        question = kind(draw, title)
        if question is not None and question.is_short:
            return Exercise(topic, seed, question)
    raise BadOption("this seed draws no question", found=seed, remedy="Try another seed")
