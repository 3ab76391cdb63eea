"""The sheet of an exercise: paragraphs, tables and a question, as text, HTML or LaTeX.

Text between backquotes in a paragraph is a formula: `P(rain=yes | wet=yes)`.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from bayesbox.explain.steps import WIDTH
from bayesbox.explain.work_latex import text as latex_text

if TYPE_CHECKING:
    from bayesbox.file.reader import Json

FORMULA = re.compile("`([^`]*)`")


@dataclass(frozen=True)
class SheetTable:
    """A table of texts with a caption."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def text(self) -> str:
        """The table as text, in columns separated by two spaces."""
        lines = (self.columns, *self.rows)
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        shown = ("  ".join(cell.ljust(width) for cell, width in zip(each, widths, strict=True)) for each in lines)
        return "\n".join([self.caption, *("  " + each.rstrip() for each in shown)])

    def html(self) -> str:
        """The table as HTML, with its caption above it."""
        heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in self.columns)
        rows = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in self.rows)
        body = "\n".join(f"<tr>{row}</tr>" for row in rows)
        return (
            f"<table>\n<caption>{escape(self.caption)}</caption>\n"
            f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"
        )

    def latex(self) -> str:
        """The table as a LaTeX `tabular` below its caption."""
        rows = (" & ".join(map(latex_formula, row)) + r" \\" for row in self.rows)
        return "\n".join(
            [
                rf"\medskip\noindent {latex_text(self.caption)}",
                "",
                r"\smallskip\noindent",
                rf"\begin{{tabular}}{{{'l' * len(self.columns)}}}",
                " & ".join(map(latex_formula, self.columns)) + r" \\ \hline",
                *rows,
                r"\end{tabular}",
                "",
            ]
        )

    def to_dict(self) -> Json:
        """A plain dict, for JSON."""
        return {"caption": self.caption, "columns": list(self.columns), "rows": [list(row) for row in self.rows]}


@dataclass(frozen=True, repr=False)
class Sheet:
    """The sheet for a student: what is given, and the question."""

    title: str
    given: tuple[str | SheetTable, ...]
    question: str
    picture: str = ""  # SVG, for HTML

    def text(self, width: int = WIDTH) -> str:
        """The sheet as text."""
        parts = [each.text() if isinstance(each, SheetTable) else _wrapped(each, width) for each in self.given]
        return "\n\n".join([self.title, *parts, _wrapped(self.question, width)])

    def html(self) -> str:
        """The sheet as a self-contained HTML page without scripts."""
        from bayesbox.teach.documents import html_page

        return html_page(self.title, self.fragment())

    def fragment(self) -> str:
        """The sheet as an HTML fragment."""
        parts = [each.html() if isinstance(each, SheetTable) else f"<p>{_html(each)}</p>" for each in self.given]
        picture = [f"<figure>{self.picture}</figure>"] if self.picture else []
        question = f'<p class="question">{_html(self.question)}</p>'
        return "\n".join([f"<h2>{escape(self.title)}</h2>", *parts, *picture, question])

    def latex(self) -> str:
        r"""The sheet as LaTeX; needs `\usepackage{amsmath}`."""
        parts = [each.latex() if isinstance(each, SheetTable) else f"{_latex(each)}\n" for each in self.given]
        heading = rf"\section*{{{latex_text(self.title)}}}"
        return "\n".join([heading, *parts, rf"\medskip\noindent {_latex(self.question)}", ""])

    def to_dict(self) -> Json:
        """A plain dict, for JSON: paragraphs and tables in order."""
        given = [each if isinstance(each, str) else each.to_dict() for each in self.given]
        return {"title": self.title, "given": given, "question": self.question}

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from bayesbox.teach.documents import html_fragment

        return html_fragment(self.fragment())


def plain(paragraph: str) -> str:
    """A paragraph without the backquotes of its formulas."""
    return FORMULA.sub(r"\1", paragraph)


def listed(names: Sequence[str], last: str = "and") -> str:
    """Names in a sentence.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return f" {last} ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _wrapped(paragraph: str, width: int) -> str:
    return textwrap.fill(plain(paragraph), width, break_on_hyphens=False)


def _html(paragraph: str) -> str:
    return FORMULA.sub(r'<span class="formula">\1</span>', escape(paragraph))


def _latex(paragraph: str) -> str:
    pieces = FORMULA.split(paragraph)  # text and formulas alternate
    return "".join(latex_formula(each) if place % 2 else latex_text(each) for place, each in enumerate(pieces))


def latex_formula(shown: str) -> str:
    r"""A formula within a paragraph, which can be wrapped, unlike in math mode.

    >>> print(latex_formula("P(rain=yes | wet=yes)"))
    $P$(rain=yes $\mid$ wet=yes)
    """
    parts = (r" $\mid$ ".join(map(latex_text, part.split(" | "))) for part in shown.split("P("))
    return "$P$(".join(parts)
