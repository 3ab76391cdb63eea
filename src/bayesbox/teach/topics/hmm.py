"""A hidden Markov model of two states: the forward table, filtering, the forecast and the best path."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from bayesbox.sequence.hmm import HiddenMarkovModel
from bayesbox.teach.draw import Draw
from bayesbox.teach.exercise import Kind, Question
from bayesbox.teach.sheet import Sheet, SheetTable, listed
from bayesbox.teach.topics.fitted import exact

STORIES = (
    ("weather", ("rain", "dry"), ("walk", "read", "shop")),
    ("mood of a cat", ("calm", "wild"), ("sleeps", "plays", "eats")),
    ("state of a machine", ("good", "worn"), ("quiet", "hums", "rattles")),
)


class DrawnChain(NamedTuple):
    """A model with tables in tenths, and the observations."""

    model: HiddenMarkovModel
    states: tuple[str, str]
    observed: list[str]
    given: tuple[str | SheetTable, ...]

    @property
    def sequence(self) -> str:
        """The observations in a sentence."""
        return ", ".join(self.observed)


def likelihood(draw: Draw, title: str) -> Question | None:
    """P(sequence), by the forward algorithm."""
    drawn = _drawn(draw)
    work = drawn.model.work(drawn.observed, "forward")
    asked = f"P({drawn.sequence})"
    text = f"What is the probability of the sequence {drawn.sequence}? Fill in the forward table."
    answer = exact(work, "likelihood", 0, 0)
    alpha = work.step("alpha").rows[-1].cells
    slips = tuple(
        (f"alpha({state}) of the last step alone: add those of all states", _fraction(cell.value))
        for state, cell in zip(drawn.states, alpha, strict=True)
    )
    return Question(Sheet(title, drawn.given, text), asked, answer, work, slips)


def filtering(draw: Draw, title: str) -> Question | None:
    """P(last state | all observations)."""
    drawn = _drawn(draw)
    work = drawn.model.work(drawn.observed, "forward")
    place = draw.below(2)
    asked = f"P({drawn.states[place]} at step {len(drawn.observed)} | {drawn.sequence})"
    text = f"What is `{asked}`? Fill in the forward table."
    answer = exact(work, "scaled", place + 1)
    slips = (
        ("that of the other state", 1 - answer),
        ("alpha: divide it by the sum of alpha over the states", exact(work, "alpha", place)),
    )
    return Question(Sheet(title, drawn.given, text), asked, answer, work, slips)


def best_path(draw: Draw, title: str) -> Question | None:
    """P(best path, sequence), by Viterbi."""
    drawn = _drawn(draw)
    work = drawn.model.work(drawn.observed, "viterbi")
    last = [_fraction(cell.value) for row in work.step("trellis").rows for cell in row.cells if cell.value is not None]
    if len(set(last[-2:])) < 2:  # two paths are equally probable
        return None
    asked = f"P(best path, {drawn.sequence})"
    text = (
        f"Observed: {drawn.sequence}. What is the probability of the most probable path of states and of this sequence "
        f"together, `{asked}`? Fill in the trellis of Viterbi, and name the path."
    )
    forward = drawn.model.work(drawn.observed, "forward")
    slips = (("P(sequence), the sum over all paths: take the largest", exact(forward, "likelihood", 0, 0)),)
    return Question(Sheet(title, drawn.given, text), asked, exact(work, "path", 0, 0), work, slips)


KINDS: tuple[Kind, ...] = (likelihood, best_path, filtering)


def _drawn(draw: Draw) -> DrawnChain:
    about, states, all_symbols = draw.one(STORIES)
    symbols = tuple(draw.some(all_symbols, draw.between(2, 3)))
    start = draw.shares(2)
    stays = [draw.tenths(6, 9), draw.tenths(5, 8)]
    transition = [[stays[0], 1 - stays[0]], [1 - stays[1], stays[1]]]
    emission = [draw.shares(len(symbols)) for _ in states]
    observed = [draw.one(symbols) for _ in range(draw.between(2, 3))]
    model = HiddenMarkovModel.from_tables(
        start=start, transition=transition, emission=emission, states=list(states), symbols=list(symbols)
    )
    given = (
        f"A hidden Markov model: the {about} is {states[0]} or {states[1]} and not seen; what is seen is "
        f"{listed(symbols, 'or')}.",
        SheetTable("P(first state)", states, (tuple(map(_text, start)),)),
        _table("P(next state | state)", states, states, transition),
        _table("P(seen | state)", states, symbols, emission),
    )
    return DrawnChain(model, states, observed, given)


def _table(caption: str, states: tuple[str, ...], heads: tuple[str, ...], rows: list[list[Fraction]]) -> SheetTable:
    cells = tuple((state, *map(_text, row)) for state, row in zip(states, rows, strict=True))
    return SheetTable(caption, ("", *heads), cells)


def _text(p: Fraction) -> str:
    return f"{float(p):g}"


def _fraction(value: object) -> Fraction:
    if not isinstance(value, Fraction):
        raise TypeError(f"{value!r} is not exact")
    return value
