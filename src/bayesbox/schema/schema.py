"""The schema: the columns, the kind of each, and what was declared about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from bayesbox.described import declaring
from bayesbox.errors import KindContradiction, UnknownColumn
from bayesbox.schema.columns import Columns
from bayesbox.schema.families import family_named
from bayesbox.schema.infer import kind_of
from bayesbox.schema.kinds import NOT_DECLARED, Declared, Kind, kinds_by_key


@dataclass(frozen=True)
class Schema:
    """Columns in their order with their kinds; which of these the user declared; the declared classes.

    Nothing in it is learned, so nothing in it enters a digest.
    """

    kinds: Mapping[str, Kind]
    declared: frozenset[str] = frozenset()
    classes: tuple[str, ...] = field(default=())
    numeric: str = "gaussian"  # the density of numbers that declare none

    @property
    def used(self) -> tuple[str, ...]:
        """The columns that are not ignored."""
        return tuple(name for name, kind in self.kinds.items() if kind.is_used)

    @cached_property
    def translating(self) -> Mapping[str, Kind]:
        """The columns whose texts are read by their kinds."""
        return {name: kind for name, kind in self.kinds.items() if kind.translates}

    @classmethod
    def of(
        cls,
        columns: Columns,
        declared: Declared | None = None,
        *,
        where: str | None = None,
        numeric: str = "gaussian",
    ) -> Schema:
        """The schema of these columns: the kinds that are declared, the rest by type."""
        given = declared_kinds(declared, tuple(columns), where=where)
        kinds = {name: given[name] if name in given else kind_of(column, name=name) for name, column in columns.items()}
        return cls(kinds, frozenset(given), numeric=numeric)

    def density(self, name: str) -> str:
        """The density of a column of numbers."""
        return self.kinds[name].density or self.numeric

    def tally_form(self, name: str) -> str | None:
        """The form of the tally of a column, None where its kind leaves it open.

        >>> from bayesbox.schema.kinds import Category, Real
        >>> Schema({"age": Real("kernel"), "car": Category()}).tally_form("age")
        'values'
        """
        kind = self.kinds[name]
        return (family_named(self.density(name)).number_form if kind.is_number else None) or kind.tally

    def extended(self, columns: Columns, *, where: str | None = None) -> Schema:
        """The schema after more rows: unknown columns may get their kind, others must keep theirs."""
        for name in columns:
            if name not in self.kinds:
                raise UnknownColumn(name, available=self.kinds, where=where)
        found = {name: kind_of(column, name=name) for name, column in columns.items()}
        found = {name: self.kinds[name].reads(kind) for name, kind in found.items()}
        return self.merged(Schema(found), where=where)

    def merged(self, other: Schema, *, where: str | None = None) -> Schema:
        """The schema of the rows of both: kinds must agree where neither is declared here or unknown."""
        kinds = dict(self.kinds)
        for name, now in other.kinds.items():
            before = kinds.get(name, NOT_DECLARED)
            if name in self.declared:
                continue
            if not before.is_known:
                kinds[name] = now
            elif not before.accepts(now):
                raise KindContradiction(
                    f"column `{name}` was a {before.name} so far and is a {now.name} now",
                    where=where,
                    remedy="Declare its kind: " + declaring(name, now.name),
                    column=name,
                )
        declared = self.declared | other.declared
        return replace(self, kinds=kinds, declared=declared, classes=union_of(self.classes, other.classes))

    def with_classes(self, classes: tuple[str, ...]) -> Schema:
        """The same schema with these classes declared."""
        return replace(self, classes=classes)


def union_of(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    """The declared classes of both."""
    return one if set(other) <= set(one) else tuple(sorted({*one, *other}))


def declared_kinds(declared: Declared | None, names: tuple[str, ...], *, where: str | None = None) -> dict[str, Kind]:
    """Declarations by name; a whole number that is no name is a position."""
    given: dict[str, Kind] = {}
    for key, kind in kinds_by_key(declared).items():
        name = key if isinstance(key, str) else str(key)
        if name not in names and isinstance(key, int) and not isinstance(key, bool) and -len(names) <= key < len(names):
            name = names[key]
        if name not in names:
            raise UnknownColumn(key, available=names, where=where)
        given[name] = kind
    return given
