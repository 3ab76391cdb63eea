"""Several exercises, with separate answers: as text, HTML or LaTeX."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from bayesbox.errors import BadOption, require_whole
from bayesbox.explain.steps import Cell
from bayesbox.explain.work_latex import formula, text
from bayesbox.teach.documents import fitted_to_page, html_fragment, html_page, latex_document
from bayesbox.teach.exercise import Exercise, exercise
from bayesbox.teach.sheet import latex_formula

if TYPE_CHECKING:
    from bayesbox.file.reader import Json

MOST = 1000  # the maximum number of sheets


@dataclass(frozen=True, repr=False)
class ExerciseSet:
    """Sheets first, then the answers, with calculations if `works`; prints as text."""

    exercises: tuple[Exercise, ...]
    works: bool = False
    answers: bool = True

    def text(self) -> str:
        """The set as text, with lines between the sheets."""
        rule = "-" * 78
        return f"\n\n{rule}\n\n".join([*map(str, self.exercises), *self._answer_texts()])

    def html(self) -> str:
        """A self-contained HTML page without scripts; every sheet is printed on separate pages."""
        return html_page(self._title(), *self._html_sections())

    def latex(self) -> str:
        """A complete LaTeX document, every sheet on separate pages."""
        return latex_document(*(each.sheet.latex() for each in self.exercises), *self._latex_answers())

    def to_dict(self) -> Json:
        """A plain dict, for JSON; without answers only the sheets."""
        hidden = set() if self.works else {"solution"} if self.answers else {"solution", "answer"}
        found = [each.to_dict() for each in self.exercises]
        return {"exercises": [{key: value for key, value in one.items() if key not in hidden} for one in found]}

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return str(self)

    def __len__(self) -> int:
        return len(self.exercises)

    def _repr_html_(self) -> str:
        return html_fragment(*self._html_sections())

    def _title(self) -> str:
        one = len(self.exercises) == 1
        return self.exercises[0].sheet.title if one else f"{len(self.exercises)} exercises"

    def _answer_texts(self) -> list[str]:
        if self.works:
            return [f"Solution of {_name(each)}\n\n{each.solution}\n\n{each.answer_line()}" for each in self.exercises]
        lines = [f"{_name(each)}: {each.answer_line()}" for each in self.exercises]
        return ["\n".join(["Answers", "", *lines])] if self.answers else []

    def _html_sections(self) -> list[str]:
        sheets = [each.sheet.fragment() for each in self.exercises]
        if self.works:
            return [*sheets, *map(_html_solution, self.exercises)]
        if not self.answers:
            return sheets
        rows = (
            f"<tr><td>{escape(_name(each))}</td><td>{escape(each.answer_line())}</td></tr>" for each in self.exercises
        )
        return [*sheets, "\n".join(["<h2>Answers</h2>\n<table>\n<tbody>", *rows, "</tbody>\n</table>"])]

    def _latex_answers(self) -> list[str]:
        if self.works:
            return list(map(_latex_solution, self.exercises))
        if not self.answers:
            return []
        lines = (rf"\noindent {text(_name(each))}: {_latex_answer(each)}" for each in self.exercises)
        return ["\n\n".join([r"\section*{Answers}", *lines, ""])]


def exercises(
    topic: str | None = None, seed: int = 0, count: int = 10, *, works: bool = False, answers: bool = True
) -> ExerciseSet:
    """This many different exercises, starting from a seed, with separate answers; `works` adds the calculations.

    Parameters
    ----------
    topic : "rule", "naive", "text", "full", "network", "hmm", or None (default) for any
    seed : int, default 0; the first seed
    count : int, default 10; the number of exercises
    works : bool, default False; add the calculation of each
    answers : bool, default True; add the answers

    Returns
    -------
    ExerciseSet

    Examples
    --------
    >>> drawn = exercises("naive", count=3)
    >>> len(drawn), len({str(each) for each in drawn.exercises})
    (3, 3)
    """
    require_whole("count", count, least=1)
    if count > MOST:
        raise BadOption(f"count must be at most {MOST:,}", found=count)
    found: dict[str, Exercise] = {}
    while len(found) < count:
        drawn = exercise(topic, seed)
        found.setdefault(str(drawn.sheet).partition("\n")[2], drawn)  # the title names the seed
        seed += 1
    return ExerciseSet(tuple(found.values()), works, answers)


def _name(each: Exercise) -> str:
    return f"{each.topic} {each.seed}"


def _html_solution(each: Exercise) -> str:
    return "\n".join(
        [
            f"<h2>Solution of {escape(_name(each))}</h2>",
            each.solution._repr_html_(),
            f'<p class="question">{escape(each.answer_line())}</p>',
        ]
    )


def _latex_solution(each: Exercise) -> str:
    heading = rf"\section*{{Solution of {text(_name(each))}}}"
    return "\n".join(
        [heading, r"{\footnotesize", fitted_to_page(each.solution.latex()), r"\par}", "", _latex_answer(each), ""]
    )


def _latex_answer(each: Exercise) -> str:
    return f"{latex_formula(each.question.asked)} $= {' = '.join(map(formula, Cell(value=each.answer).parts()))}$"
