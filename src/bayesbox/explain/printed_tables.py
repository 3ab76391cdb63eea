"""All tables of a model: a mapping from name to table that prints as text, HTML and LaTeX."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayesbox.explain.steps import Step, Work, line

if TYPE_CHECKING:
    from bayesbox.file.reader import Json


@dataclass(frozen=True)
class PrintedTables(Mapping[str, Step]):
    """The tables of a model by name, and lines about all of them, such as the number of parameters.

    >>> from fractions import Fraction
    >>> from bayesbox.explain.steps import Cell, Row
    >>> row = Row("P(rain)", (Cell("3/4", Fraction(3, 4)), Cell("1/4", Fraction(1, 4))))
    >>> rain = Step("rain", (row,), ("no", "yes"))
    >>> print(PrintedTables("a model", {"rain": rain}, ("free parameters: 1",)))
    a model
             no          yes
    P(rain)  3/4 = 0.75  1/4 = 0.25
    free parameters: 1
    """

    title: str
    tables: Mapping[str, Step]
    notes: tuple[str, ...] = ()
    parameters: Mapping[str, int] | None = None

    def __getitem__(self, name: str) -> Step:
        return self.tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    def _work(self) -> Work:
        notes = (Step("parameters", tuple(line(note) for note in self.notes)),) if self.notes else ()
        return Work(self.title, (*self.tables.values(), *notes))

    def html(self) -> str:
        """A self-contained HTML page without scripts."""
        return self._work().html()

    def latex(self) -> str:
        r"""The tables as LaTeX; needs `\usepackage{amsmath}`."""
        return self._work().latex()

    def to_dict(self) -> Json:
        """A plain dict, for JSON."""
        counted = {} if self.parameters is None else {"parameters": dict(self.parameters)}
        return {"title": self.title, "tables": [step.to_dict() for step in self.tables.values()], **counted}

    def __str__(self) -> str:
        return str(self._work())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self._work()._repr_html_()
