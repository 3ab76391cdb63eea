"""Reading the columns of a table in SQL, each once: as numbers, and as positions of levels or bins.

A category, a flag, a one-hot group or a bin becomes its position, a number a double that is NULL if missing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bayesbox.dist.expression import ReadBin, ReadFlag, ReadLevel, ReadNumber, ReadPosition
from bayesbox.export.dialect import Dialect
from bayesbox.schema.flags import FLAG_CODES
from bayesbox.schema.levels import level_text

MISSING, UNSEEN = -1, -2  # the positions of missing and unseen values


@dataclass(frozen=True)
class SqlReader:
    """How columns are read: the dialect, the table's name in the statement, and the one-hot groups."""

    dialect: Dialect
    table: str
    one_hot: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def column(self, name: str) -> str:
        """A qualified column of the table: SQLite would treat an unknown quoted name as a text."""
        return f"{self.dialect.identifier(self.table)}.{self.dialect.identifier(name)}"

    def read(self, reading: ReadNumber | ReadPosition) -> str:
        """The SQL for a tree's read of a column."""
        match reading:
            case ReadNumber(name):
                return self._number(name)
            case ReadBin(name, cuts):
                return self._bin(name, cuts)
            case ReadFlag(name):
                return self._flag(name)
            case ReadLevel(name, levels):
                return self._level(name, levels)

    def _number(self, name: str) -> str:
        return self.dialect.as_double(self.column(name))

    def _bin(self, name: str, cuts: Sequence[float]) -> str:
        number = self._number(name)
        cases = [f"WHEN {number} <= {self.dialect.double(cut)} THEN {place}" for place, cut in enumerate(cuts)]
        return f"CASE {' '.join([f'WHEN {number} IS NULL THEN {MISSING}', *cases])} ELSE {len(cuts)} END"

    def _level(self, name: str, levels: Sequence[str]) -> str:
        """The position of a category's level. Reals are compared as numbers, so that 3.0 is the level 3."""
        if name in self.one_hot:
            return self._one_hot_code(self.one_hot[name], levels)
        texts = [(self.dialect.text(level), place) for place, level in enumerate(levels)]
        reals = [(float(level), place) for place, level in enumerate(levels) if _is_number(level)]
        return self._known(self.column(name), self.dialect.as_text(self.column(name)), texts, reals)

    def _flag(self, name: str) -> str:
        """0 or 1, or the position of missing or unseen."""
        texts = [(self.dialect.text(text), code) for text, code in FLAG_CODES.items()]
        lowered = f"LOWER({self.dialect.as_text(self.column(name))})"
        return self._known(self.column(name), lowered, texts, [(0.0, 0), (1.0, 1)])

    def _known(
        self, column: str, text: str, texts: Sequence[tuple[str, int]], reals: Sequence[tuple[float, int]]
    ) -> str:
        """The position of a level if there is a value: by its text, or by its number in columns of reals."""
        dialect = self.dialect
        cases = [f"WHEN {column} IS NULL THEN {MISSING}"]
        if reals:
            nan = [] if dialect.nan is None else [(dialect.nan, MISSING)]
            numbers = [*nan, *((dialect.double(value), place) for value, place in reals)]
            # PostgreSQL rejects some casts even if they are never executed, but any type casts to text.
            real = dialect.as_text(column) if dialect.name == "postgres" else column
            by_number = switch(f"CAST({real} AS {dialect.double_type})", numbers, UNSEEN)
            cases.append(f"WHEN {dialect.is_real.format(column)} THEN {by_number}")
        return f"CASE {' '.join(cases)} ELSE {switch(text, texts, UNSEEN)} END"

    def _one_hot_code(self, flags: Sequence[str], levels: Sequence[str]) -> str:
        place = {level: index for index, level in enumerate(levels)}
        cases = [f"WHEN {self._flag(flag)} = 1 THEN {place.get(flag, UNSEEN)}" for flag in flags]
        return f"CASE {' '.join(cases)} ELSE {MISSING} END"


def switch(expression: str, cases: Sequence[tuple[str, Any]], otherwise: object) -> str:
    """A CASE that maps the values of an expression.

    >>> switch("x", [("0", "'no'"), ("1", "'yes'")], "NULL")
    "CASE x WHEN 0 THEN 'no' WHEN 1 THEN 'yes' ELSE NULL END"
    """
    if not cases:
        return str(otherwise)
    listed = " ".join(f"WHEN {value} THEN {result}" for value, result in cases)
    return f"CASE {expression} {listed} ELSE {otherwise} END"


def _is_number(level: str) -> bool:
    """Whether a level is the text of a number."""
    try:
        value = float(level)
    except ValueError:
        return False
    return math.isfinite(value) and level_text(value) == level
