"""Tables of probabilities: the answer to a query with a target that has no value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from bayesbox.display.blocks import TableBlock
from bayesbox.display.frame import frame_of
from bayesbox.display.html import as_html
from bayesbox.schema.levels import level_text

Key = str | tuple[str, ...]

SHOWN_ROWS = 20


class ProbabilityTable(Mapping[Key, float]):
    """A mapping from level, or from tuple of levels for several targets, to probability.

    With one target the table has every level; with several, the combinations that occur. Any other combination
    of known levels has probability 0. A key may be a value of its own type: 34 for "34", True for "true".

    >>> car = ProbabilityTable("P(car)", ["car"], {("suv",): Fraction(1, 3), ("sports",): Fraction(2, 3)})
    >>> car["suv"] == 1 / 3, car.fractions["sports"]
    (True, Fraction(2, 3))
    >>> car
    P(car)
      suv     1/3  0.3333333
      sports  2/3  0.6666667
    """

    figures = ("fraction", "probability")  # the columns of `rows` after the levels

    def __init__(
        self,
        title: str,
        columns: Sequence[str],
        probabilities: Mapping[tuple[str, ...], Fraction | float],
        *,
        levels: Sequence[Sequence[str]] | None = None,
        counted: Fraction | None = None,
        left_out: Fraction | None = None,
    ) -> None:
        self.title = title
        self.columns = tuple(columns)
        self.counted = counted
        self.left_out = left_out
        self._exact = dict(probabilities)
        self._levels = [
            frozenset(key[place] for key in self._exact) if levels is None else frozenset(levels[place])
            for place in range(len(self.columns))
        ]

    @property
    def fractions(self) -> dict[Key, Fraction]:
        """The exact probabilities, before rounding to floats."""
        return {self._outer(key): Fraction(value) for key, value in self._exact.items()}

    def __getitem__(self, key: object) -> float:
        levels = self._inner(key)
        if levels in self._exact:
            return float(self._exact[levels])
        if len(levels) == len(self.columns) and all(
            level in known for level, known in zip(levels, self._levels, strict=True)
        ):
            return 0.0
        raise KeyError(key)

    def __iter__(self) -> Iterator[Key]:
        return (self._outer(key) for key in self._exact)

    def __len__(self) -> int:
        return len(self._exact)

    def __contains__(self, key: object) -> bool:
        try:
            self[key]
        except KeyError:
            return False
        return True

    def _inner(self, key: object) -> tuple[str, ...]:
        return tuple(level_text(level) for level in (key if isinstance(key, tuple) else (key,)))

    def _outer(self, key: tuple[str, ...]) -> Key:
        return key[0] if len(self.columns) == 1 else key

    def rows(self) -> list[list[str]]:
        """The rows of the table as text: levels, fraction if it is short, decimal."""
        return [[*key, fraction_text(value), decimal_text(value)] for key, value in self._exact.items()]

    def __repr__(self) -> str:
        rows = self.rows()
        cells = rows[:SHOWN_ROWS]
        widths = [max((len(row[place]) for row in cells), default=0) for place in range(len(self.columns) + 2)]
        lines = [
            "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in cells
        ]
        if len(rows) > SHOWN_ROWS:
            lines.append(f"  ... {len(rows) - SHOWN_ROWS:,} more")
        return "\n".join([self.title, *lines])

    def _repr_html_(self) -> str:
        head = (*self.columns, *self.figures)
        return as_html(self.title, [TableBlock(head, self.rows(), most=SHOWN_ROWS)])

    def to_frame(self) -> Any:
        """The levels and their probabilities as a pandas DataFrame; without pandas as a pyarrow Table."""
        keys = list(self._exact)
        levels = {name: [key[place] for key in keys] for place, name in enumerate(self.columns)}
        return frame_of({**levels, "probability": [float(value) for value in self._exact.values()]})


LONGEST_FRACTION = 24  # characters; a longer one is not readable


def fraction_text(value: Fraction | float) -> str:
    """A fraction as text; empty if it is too long to read, or if only a float is known.

    >>> fraction_text(Fraction(2, 11)), fraction_text(0.5)
    ('2/11', '')
    """
    text = str(value) if isinstance(value, Fraction) else ""
    return text if len(text) <= LONGEST_FRACTION else ""


def decimal_text(value: Fraction | float) -> str:
    """A number to seven digits.

    >>> decimal_text(Fraction(2, 11)), decimal_text(Fraction(1))
    ('0.1818182', '1')
    """
    return f"{float(value):.7g}"


def figure(value: Fraction | float) -> str:
    """A probability as a fraction and as a decimal.

    >>> figure(Fraction(2, 11)), figure(Fraction(1)), figure(0.25)
    ('2/11 = 0.1818182', '1', '0.25')
    """
    fraction, decimal = fraction_text(value), decimal_text(value)
    return decimal if fraction in ("", decimal) else f"{fraction} = {decimal}"
