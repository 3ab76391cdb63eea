"""Naive Bayes of a small table: a posterior, with and without smoothing, odds, a missing value, one table entry."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from bayesbox.explain.class_work import ClassWork
from bayesbox.explain.steps import Step, Work
from bayesbox.teach.answer import Slip
from bayesbox.teach.draw import Draw
from bayesbox.teach.exercise import Kind, Question
from bayesbox.teach.sheet import Sheet
from bayesbox.teach.topics.fitted import exact, fitted
from bayesbox.teach.topics.themes import DrawnTable, case_text, drawn_table, event

SHARES = "Estimate every probability by its relative frequency, without smoothing."
LAPLACE = (
    "Estimate `P(value | class)` by Laplace smoothing: add 1 to the count of each value, and the number of values of "
    "the column to the number of rows of the class. Do not smooth the prior."
)


def posterior(draw: Draw, title: str) -> Question | None:
    """P(class | x) by relative frequencies."""
    table, case = _drawn(draw)
    if table is None or not _is_possible(table, case):
        return None
    return _asked_posterior(draw, title, table, case, "mle", SHARES)


def smoothed(draw: Draw, title: str) -> Question | None:
    """P(class | x) with a zero count, by Laplace smoothing."""
    table, case = _drawn(draw)
    if table is None or _is_possible(table, case):
        return None
    return _asked_posterior(draw, title, table, case, "laplace", LAPLACE)


def missing(draw: Draw, title: str) -> Question | None:
    """P(class | x) of a case with a missing value."""
    table, case = _drawn(draw)
    if table is None or not _is_possible(table, case):
        return None
    unknown = draw.one(list(case))
    known = {name: value for name, value in case.items() if name != unknown}
    note = f" The value of {unknown} is missing: omit it."
    return _asked_posterior(draw, title, table, known, "mle", SHARES, note)


def odds(draw: Draw, title: str) -> Question | None:
    """P(one | x) / P(other | x)."""
    table, case = _drawn(draw)
    if table is None or not _is_possible(table, case):
        return None
    first, second = draw.shuffled(table.theme.classes)
    work = _work(table, case, "mle")
    one, other = (exact(work, "posterior", work.classes.index(label)) for label in (first, second))
    asked = f"{event(table.theme.target, first, case)} / {event(table.theme.target, second, case)}"
    text = (
        f"By naive Bayes, what are the odds of {first} against {second} for a new row with {case_text(case)}: "
        f"`{asked}`? {SHARES}"
    )
    slips = (("the odds the other way round", other / one), ("a probability, not the odds", one))
    return Question(Sheet(title, (table.shown(),), text), asked, one / other, work, slips)


def entry(draw: Draw, title: str) -> Question | None:
    """P(value | class) by Laplace smoothing."""
    table, case = _drawn(draw)
    if table is None:
        return None
    target, label = table.theme.target, draw.one(table.theme.classes)
    name = draw.one(list(case))
    rows = table.rows_with(label, {name: case[name]})
    classifier = fitted("naive", table.data, target, smoothing="laplace")
    learned = classifier.tables()[name]
    place = [row.name for row in learned.rows].index(f"P({name}={case[name]} | class)")
    solution = Work(f"{name} by {target}, with Laplace smoothing", (Step("table", learned.rows, learned.columns),))
    answer = exact(solution, "table", classifier.classes.index(label), place)
    asked = f"P({name}={case[name]} | {target}={label})"
    text = f"For naive Bayes of {target}, what is `{asked}`? {LAPLACE}"
    slips = (("the share without smoothing", Fraction(rows, table.labels.count(label))),)
    return Question(Sheet(title, (table.shown(),), text), asked, answer, solution, slips)


KINDS: tuple[Kind, ...] = (posterior, smoothed, odds, missing, entry)


def _drawn(draw: Draw) -> tuple[DrawnTable | None, dict[str, str]]:
    table = drawn_table(draw, columns=3, rows=draw.between(8, 10))
    if table is None:
        return None, {}
    return table, {name: draw.one(levels) for name, levels in table.theme.columns.items()}


def _is_possible(table: DrawnTable, case: Mapping[str, str]) -> bool:
    """Whether each value occurs with both classes."""
    return all(table.rows_with(label, {name: value}) for label in table.theme.classes for name, value in case.items())


def _work(table: DrawnTable, case: Mapping[str, str], smoothing: str) -> ClassWork:
    classifier = fitted("naive", table.data, table.theme.target, smoothing=smoothing)
    return classifier.work(classifier.one_row(case))


def _asked_posterior(
    draw: Draw, title: str, table: DrawnTable, case: Mapping[str, str], smoothing: str, how: str, note: str = ""
) -> Question:
    target, label = table.theme.target, draw.one(table.theme.classes)
    work = _work(table, case, smoothing)
    place = work.classes.index(label)
    asked = event(target, label, case)
    text = f"By naive Bayes, what is `{asked}`?{note} {how}"
    return Question(
        Sheet(title, (table.shown(),), text), asked, exact(work, "posterior", place), work, posterior_slips(work, place)
    )


def posterior_slips(work: ClassWork, place: int) -> tuple[Slip, ...]:
    """Common mistakes: intermediate results of a posterior, and that of the other class."""
    other = 1 - place
    return (
        ("the posterior of the other class", exact(work, "posterior", other)),
        ("the joint P(class, x): divide it by P(x)", exact(work, "joint", place)),
        ("the likelihood P(x | class)", exact(work, "likelihood", place)),
        ("the prior of the class", exact(work, "prior", place)),
        ("the evidence P(x)", exact(work, "evidence", 0)),
    )
