"""A calculation of any model: a title and named steps, each a table of numbers or some lines.

A step without columns has lines: "P(x) = 1/8 + 3/8 = 1/2 = 0.5", or a sentence. A number is shown as its formula, as an
exact fraction if it is one, and as a decimal. The renderers are `work_text`, `work_html` and `work_latex`; none of them
depends on models.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from bayesbox.dist.factor import Logged, Number, log_of

if TYPE_CHECKING:
    from bayesbox.file.reader import Json

DIGITS = 12  # of numerator and denominator: longer fractions are shown as decimals
MOST_BITS = 14_000  # of an integer: Python does not print more than 4,300 digits
WIDTH = 100  # of the text, in characters


def fraction_text(value: object) -> str:
    """An exact number as a fraction; empty if it is not exact, or has more digits than Python prints.

    >>> fraction_text(Fraction(2, 6)), fraction_text(0.5), fraction_text(Fraction(1, 3**100_000))
    ('1/3', '', '')
    """
    if not isinstance(value, Fraction) or max(value.numerator.bit_length(), value.denominator.bit_length()) > MOST_BITS:
        return ""
    return str(value)


@dataclass(frozen=True)
class Cell:
    """A number with its formula, or a formula alone, such as the name of a state.

    >>> print(Cell("(0 + 1)/(5 + 3)", Fraction(1, 8)))
    (0 + 1)/(5 + 3) = 1/8 = 0.125
    >>> print(Cell("sunny"), Cell(value=0.25))
    sunny 0.25
    """

    formula: str = ""
    value: Number | float | None = None

    def parts(self) -> list[str]:
        """The formula, the fraction and the decimal, without repetition."""
        return [part for part in dict.fromkeys([self.formula, self.fraction(), self.decimal()]) if part]

    def fraction(self) -> str:
        """The exact value as a fraction in lowest terms; empty if it is not exact, or too long to read."""
        text = fraction_text(self.value)
        return text if len(text) <= 2 * DIGITS + 1 else ""

    def decimal(self) -> str:
        """The value to seven significant digits."""
        value = self.value
        if value is None:
            return ""
        if isinstance(value, float):
            return f"{value:.7g}"
        return Logged(log_of(value)).text() if value and not float(value) else f"{float(value):.7g}"

    def __str__(self) -> str:
        return " = ".join(self.parts())

    def to_dict(self) -> Json:
        """A plain dict, for JSON: the formula, the exact fraction or None, the number and the full text."""
        value = self.value
        number = None if value is None else float(value)
        return {
            "formula": self.formula,
            "fraction": fraction_text(value) or None,
            "value": number if number is None or math.isfinite(number) else str(number),
            "text": str(self),
        }


@dataclass(frozen=True)
class Row:
    """A row of a table, or a line: its name and its values."""

    name: str
    cells: tuple[Cell, ...] = ()

    def __str__(self) -> str:
        return " = ".join([self.name, *map(str, self.cells)])

    def to_dict(self) -> Json:
        """A plain dict, for JSON."""
        return {"name": self.name, "cells": [cell.to_dict() for cell in self.cells]}


@dataclass(frozen=True)
class Step:
    """One step: a table if it has `columns`, else lines."""

    name: str
    rows: tuple[Row, ...]
    columns: tuple[str, ...] = ()

    def to_dict(self) -> Json:
        """A plain dict, for JSON."""
        return {"name": self.name, "columns": list(self.columns), "rows": [row.to_dict() for row in self.rows]}


def line(name: str, formula: str = "", value: Number | float | None = None) -> Row:
    """A line: a sentence, or a name with its value.

    >>> print(line("so the class is yes"))
    so the class is yes
    >>> print(line("P(x)", "1/8 + 3/8", Fraction(1, 2)))
    P(x) = 1/8 + 3/8 = 1/2 = 0.5
    """
    return Row(name, (Cell(formula, value),) if formula or value is not None else ())


@dataclass(frozen=True, repr=False)
class Work:
    """A calculation: prints as text, shows as HTML in a notebook, and is exported as HTML, LaTeX or JSON.

    >>> half, third = Fraction(1, 2), Fraction(1, 3)
    >>> prior = Step("prior", (Row("P(class)", (Cell("3/6", half), Cell("2/6", third))),), ("no", "yes"))
    >>> print(Work("an example", (prior, Step("decision", (line("so the class is no"),)))))
    an example
              no               yes
    P(class)  3/6 = 1/2 = 0.5  2/6 = 1/3 = 0.3333333
    so the class is no
    """

    title: str
    steps: tuple[Step, ...]

    def step(self, name: str) -> Step:
        """The last step of this name."""
        for each in reversed(self.steps):
            if each.name == name:
                return each
        raise KeyError(name)

    def text(self, width: int = WIDTH, *, title: bool = True) -> str:
        """The calculation as text of this many characters per line."""
        from bayesbox.explain.work_text import as_text

        return as_text(self.title if title else "", self.steps, width)

    def html(self) -> str:
        """A self-contained HTML page without scripts."""
        from bayesbox.explain.work_html import page

        return page(self.title, self.steps)

    def latex(self) -> str:
        r"""The calculation as LaTeX; needs `\usepackage{amsmath}`."""
        from bayesbox.explain.work_latex import as_latex

        return as_latex(self.title, self.steps)

    def to_dict(self) -> Json:
        """A plain dict, for JSON."""
        return {"title": self.title, "steps": [step.to_dict() for step in self.steps]}

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from bayesbox.explain.work_html import fragment

        return fragment(self.title, self.steps)


def parts_between(steps: Sequence[Step]) -> list[list[Step]]:
    """Steps grouped into tables: those with the same columns, and the lines between and below them."""
    parts: list[list[Step]] = []
    columns: tuple[str, ...] = ()
    for step in steps:
        if not parts or (step.columns and columns and step.columns != columns):
            parts.append([])
            columns = ()
        parts[-1].append(step)
        columns = step.columns or columns
    return parts
