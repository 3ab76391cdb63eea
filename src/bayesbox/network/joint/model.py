"""The joint counts of the columns of a table."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from bayesbox.errors import BadOption, CannotForget, UnknownColumn
from bayesbox.schema.flags import FLAG_DIGITS, FLAG_LEVELS, flag_code, flag_level
from bayesbox.schema.levels import label_order, level_text
from bayesbox.tally.family import Family

MOST_COMPARED = 5_000  # levels searched for the nearest one
LISTED = 12


@dataclass(frozen=True)
class JointCounts:
    """The joint counts of all columns, the type of each column's values, and the declared levels."""

    family: Family
    types: Mapping[str, str] = field(default_factory=dict)
    domains: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    name: str = "data"

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.family.names

    @property
    def n(self) -> Fraction:
        """The number of rows, or the sum of the weights."""
        return self.family.n.fraction

    def levels(self, column: str) -> list[str]:
        """The levels of a column, including declared ones, in the order of their type."""
        self.require(column)
        occurring = self.family.levels[self.columns.index(column)]
        texts = sorted({*occurring, *self.domains.get(column, ())})
        return label_order(texts, self.types.get(column, "text"))

    def require(self, column: str) -> None:
        """Raise UnknownColumn if there is no such column."""
        require_column(column, self.columns, where=self.name)

    def level(self, column: str, text: str) -> str:
        """The level that a text in a question refers to: 34.0 is 34 in a column of numbers, True is true among
        flags."""
        levels = self.levels(column)
        known = set(levels)
        if text in known:
            return text
        other = _other_text(text, self.types.get(column), known)
        if other in known:
            return other
        raise BadOption(
            f"column `{column}` never has the value `{text}`",
            where=self.name,
            remedy=_nearest(text, levels) if levels else "It has no values",
        )

    def __add__(self, other: JointCounts) -> JointCounts:
        if not other.columns:
            return self
        if not self.columns:
            return other
        return self._with(self.family + other.family, other)

    def __sub__(self, other: JointCounts) -> JointCounts:
        if not other.columns:
            return self
        left = self.family - other.family if self.columns else None
        if left is None or not left.is_possible():
            raise CannotForget(
                "some of these rows are not in the table",
                where=self.name,
                remedy="Nothing was changed. Forget only rows that the table contains, with their weights",
            )
        return self._with(left, other)

    def _with(self, family: Family, other: JointCounts) -> JointCounts:
        types = dict(self.types)
        for column, kind in other.types.items():
            types[column] = common_type(types.get(column, kind), kind)
        domains = dict(self.domains)
        for column, levels in other.domains.items():
            domains[column] = tuple(sorted({*domains.get(column, ()), *levels}))
        return JointCounts(family, types, domains, self.name)


def require_column(column: str, columns: Collection[str], *, where: str) -> None:
    """Raise UnknownColumn if a queried column does not exist; `age<` is a comparison, which is not supported."""
    if column in columns:
        return
    compared = column.rstrip("<>! ")
    if compared != column and compared in columns:
        raise BadOption(
            f"comparisons are not supported, only equality: `{compared}=value`",
            where=where,
            remedy=f"If the value itself begins with such a sign, write {compared}=<=...",
        )
    raise UnknownColumn(column, available=columns, where=where)


def common_type(one: str, other: str) -> str:
    """The common type of a column's values from two sources."""
    if one == other:
        return one
    return "real" if {one, other} == {"integer", "real"} else "text"


def _other_text(text: str, kind: str | None, known: set[str]) -> str | None:
    """Another way to write a level: as a number in a column of numbers, as a flag if there are only two."""
    if kind == "flag":
        return flag_level(text)
    if kind not in ("integer", "real"):
        return None
    code = flag_code(text)
    if code is not None and text.lower() in FLAG_LEVELS and known <= set(FLAG_DIGITS):
        return FLAG_DIGITS[code]
    try:
        return level_text(float(text))
    except ValueError:
        return None


def _nearest(text: str, levels: list[str]) -> str:
    few = levels[:MOST_COMPARED]
    same = [level for level in few if level.casefold() == text.casefold()]
    near = same or difflib.get_close_matches(text, few, n=1)
    if near:
        return f"Did you mean `{near[0]}`?"
    listed = ", ".join(f"`{level}`" for level in levels[:LISTED])
    return f"Its values are {listed}{', ...' if len(levels) > LISTED else ''}"
