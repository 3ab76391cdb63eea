"""Full Bayes: the joint table of categories, its number of parameters, and the bivariate normal."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

from bayesbox.classifier.report.size import Parameters
from bayesbox.explain.class_work import ClassWork
from bayesbox.explain.steps import Step, Work, line
from bayesbox.teach.answer import Slip
from bayesbox.teach.draw import Draw
from bayesbox.teach.exercise import Kind, Question
from bayesbox.teach.sheet import Sheet, SheetTable
from bayesbox.teach.topics.fitted import exact, fitted
from bayesbox.teach.topics.naive import posterior_slips
from bayesbox.teach.topics.themes import case_text, drawn_table, event

HOW = (
    "Divide by the number of rows of the class, not by one less: the covariance of u and v is the mean of "
    "(u - mean of u)(v - mean of v)."
)
PLANTS = (("leaves", "height", "width"), ("seeds", "length", "weight"), ("shells", "length", "height"))
LARGEST = 10_000  # denominator of a number computed from small integers


def joint_table(draw: Draw, title: str) -> Question | None:
    """P(class | x), counting each combination of values."""
    table = drawn_table(draw, columns=2, rows=draw.between(10, 12))
    if table is None:
        return None
    case = {name: draw.one(levels) for name, levels in table.theme.columns.items()}
    if not all(table.rows_with(label, case) for label in table.theme.classes):
        return None
    target, label = table.theme.target, draw.one(table.theme.classes)
    classifier = fitted("full", table.data, target, smoothing="mle")
    work = classifier.work(classifier.one_row(case))
    place = work.classes.index(label)
    asked = event(target, label, case)
    text = (
        f"By full Bayes, what is `{asked}`? Estimate `P(x | class)` by the share of the rows of the class that have "
        "this combination of values, without smoothing."
    )
    naive = fitted("naive", table.data, target, smoothing="mle")
    by_naive = exact(naive.work(naive.one_row(case)), "posterior", place)
    slips = (*posterior_slips(work, place), ("the answer of naive Bayes", by_naive))
    return Question(Sheet(title, (table.shown(),), text), asked, exact(work, "posterior", place), work, slips)


def numbers_needed(draw: Draw, title: str) -> Question | None:
    """The number of probabilities P(x | class) of the joint table, or of naive Bayes."""
    levels = [draw.between(2, 4) for _ in range(draw.between(3, 5))]
    classes = draw.between(2, 3)
    is_full = bool(draw.below(2))
    found = _parameters(levels, classes)
    combinations, values = math.prod(levels), sum(levels)
    answer, other = (found.joint, found.naive) if is_full else (found.naive, found.joint)
    if answer is None or other is None:
        return None
    what = "one for each combination of values" if is_full else "one for each value of each column"
    terms = (" x " if is_full else " + ").join(map(str, levels))
    whole = combinations if is_full else values
    asked = "number of probabilities P(x | class)" if is_full else "number of probabilities P(value | class)"
    solution = Work(
        f"how many numbers {'full' if is_full else 'naive'} Bayes needs",
        (
            Step("a class", (line(f"{what}, of one class", terms, Fraction(whole)),)),
            Step("all classes", (line(f"of {classes} classes", f"{whole} x {classes}", Fraction(answer)),)),
        ),
    )
    columns = tuple((f"column {place}", str(count)) for place, count in enumerate(levels, start=1))
    table = SheetTable(
        f"A table has {len(levels)} columns, and a target of {classes} classes:", ("", "values"), columns
    )
    model = "full Bayes, which has a probability for each combination of values," if is_full else "naive Bayes"
    text = (
        f"How many probabilities `P({'x' if is_full else 'value'} | class)` has {model} to estimate? Count all of "
        "them, also those that follow since the others sum to 1, but not the prior."
    )
    slips = ((f"the number of {'naive' if is_full else 'full'} Bayes", Fraction(other)),)
    return Question(Sheet(title, (table,), text), asked, Fraction(answer), solution, slips)


def covariance(draw: Draw, title: str) -> Question | None:
    """An entry of the covariance matrix of a class."""
    drawn = _points(draw)
    if drawn is None:
        return None
    label = draw.one(drawn.work.classes)
    first, second = drawn.columns
    row = next(row for row in drawn.work.step("covariance").rows if row.name == f"covariance {label}: {first}")
    asked = f"covariance of {first} and {second} in {label}"
    text = f"For full Bayes with normals, what is the {asked}? {HOW}"
    answer = _rational(row.cells[1].value)
    slips = (("the sum of squares over n - 1", answer * Fraction(drawn.size, drawn.size - 1)),)
    return drawn.question(title, text, asked, answer, slips, drawn.normals())


def determinant(draw: Draw, title: str) -> Question | None:
    """The determinant of the covariance matrix of a class."""
    drawn = _points(draw)
    if drawn is None:
        return None
    label = draw.one(drawn.work.classes)
    answer = _rational(drawn.work.step("density").rows[0].cells[drawn.work.classes.index(label)].value)
    asked = f"determinant of the covariance matrix of {label}"
    text = f"For full Bayes with normals, what is the {asked}? {HOW}"
    return drawn.question(title, text, asked, answer, (), drawn.normals())


def distance(draw: Draw, title: str) -> Question | None:
    """The quadratic form in the exponent of the normal of a class."""
    drawn = _points(draw)
    if drawn is None:
        return None
    label = draw.one(drawn.work.classes)
    answer = _rational(drawn.work.step("density").rows[1].cells[drawn.work.classes.index(label)].value)
    asked = f"(x - mean)' inverse (x - mean) of {label}"
    text = (
        f"For full Bayes with normals and the point {case_text(drawn.case)}, what is the quadratic form in the "
        f"exponent of the normal of {label}: (x - mean)' times the inverse of the covariance matrix times "
        f"(x - mean)? {HOW}"
    )
    slips = (("half of it, as in the exponent", answer / 2),)
    return drawn.question(title, text, asked, answer, slips)


KINDS: tuple[Kind, ...] = (joint_table, covariance, numbers_needed, determinant, distance)


class DrawnPoints(NamedTuple):
    """Two classes of points, and the calculation for a new one."""

    table: SheetTable
    columns: tuple[str, str]
    case: dict[str, str]
    work: ClassWork
    size: int

    def question(
        self, title: str, text: str, asked: str, answer: Fraction, slips: tuple[Slip, ...], work: Work | None = None
    ) -> Question:
        """The question about them."""
        return Question(Sheet(title, (self.table,), text), asked, answer, work or self.work, slips)

    def normals(self) -> Work:
        """The part of the calculation about the classes, without the new point."""
        determinants = self.work.step("density")
        steps = (
            *(self.work.step(name) for name in ("mean", "covariance")),
            replace(determinants, rows=determinants.rows[:1]),
        )
        return Work("full Bayes: the normals of the kinds", steps)


def _points(draw: Draw) -> DrawnPoints | None:
    """Four points per class, in pairs symmetric around an integer, so that the mean is an integer."""
    rows, first, second = draw.one(PLANTS)
    points: list[tuple[int, int, str]] = []
    for label in ("A", "B"):
        centre = draw.between(6, 12), draw.between(6, 12)
        steps = [(draw.between(-3, 3), draw.between(0, 3)) for _ in range(2)]
        if steps[0][0] * steps[1][1] == steps[0][1] * steps[1][0]:  # collinear
            return None
        for across, up in steps:
            points += [(centre[0] + side * across, centre[1] + side * up, label) for side in (1, -1)]
    points = draw.shuffled(points)
    case = {first: str(draw.between(6, 12)), second: str(draw.between(6, 12))}
    columns: dict[str, list[Any]] = {
        first: [x for x, _, _ in points],
        second: [y for _, y, _ in points],
        "kind": [c for _, _, c in points],
    }
    classifier = fitted("full:shrink=auto", columns, "kind")
    work = classifier.work(classifier.one_row(case))
    if work.steps[0].name != "mean":  # a column of 0 and 1 is a flag, and has no mean
        return None
    shown = tuple((str(x), str(y), label) for x, y, label in points)
    table = SheetTable(f"{len(points)} {rows} of two kinds:", (first, second, "kind"), shown)
    return DrawnPoints(table, (first, second), case, work, len(points) // 2)


def _rational(value: object) -> Fraction:
    """A number computed from a few small integers, as its exact fraction."""
    number = float(value)  # type: ignore[arg-type]
    found = Fraction(number).limit_denominator(LARGEST)
    if abs(float(found) - number) > 1e-9 * max(1.0, abs(number)):
        raise TypeError(f"{number!r} is not a simple fraction")
    return found


def _parameters(levels: list[int], classes: int) -> Parameters:
    """The number of parameters of a model with this many levels and classes, trained on rows that have all of them."""
    rows = max(*levels, classes) * 2
    columns = {f"column {place}": [f"v{row % count}" for row in range(rows)] for place, count in enumerate(levels)}
    labels = [f"c{(row // 2) % classes}" for row in range(rows)]
    return fitted("full", {**columns, "class": labels}, "class").parameters()
