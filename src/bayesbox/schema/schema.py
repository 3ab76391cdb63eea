"""The schema: the columns, their kinds, and what was declared about them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from bayesbox.described import declaring
from bayesbox.errors import KindContradiction, UnknownColumn
from bayesbox.schema.columns import Column, Columns
from bayesbox.schema.families import family_named
from bayesbox.schema.infer import beginning_with_number, kind_of
from bayesbox.schema.kinds import NOT_DECLARED, Date, DatePart, Declared, Ignore, Kind, kinds_by_key


@dataclass(frozen=True)
class Schema:
    """The columns in order with their kinds; which of them are declared; the declared classes.

    Nothing in it is learned, so it is not part of a digest.
    """

    kinds: Mapping[str, Kind]
    declared: frozenset[str] = frozenset()
    classes: tuple[str, ...] = field(default=())
    numeric: str = "gaussian"  # the default density of numbers
    ignores_constants: bool = False  # whether a column with a single value is ignored; in 0.1 a flag was not

    def those(self, condition: Callable[[Kind], object]) -> dict[str, Kind]:
        """The columns whose kind meets a condition, which is evaluated once per distinct kind."""
        meeting = {key for key, kind in self._distinct.items() if condition(kind)}
        if len(meeting) == len(self._distinct):
            return dict(self.kinds)
        return {name: kind for name, kind in self.kinds.items() if id(kind) in meeting} if meeting else {}

    @cached_property
    def _distinct(self) -> Mapping[int, Kind]:
        """The kinds by their ids: thousands of columns may share one."""
        kinds = self.kinds.values()
        return dict(zip(map(id, kinds), kinds, strict=True))

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_distinct"}  # their ids change

    @cached_property
    def used(self) -> tuple[str, ...]:
        """The columns that are not ignored."""
        return tuple(self.those(lambda kind: kind.is_used))

    @cached_property
    def translating(self) -> Mapping[str, Kind]:
        """The columns whose texts are parsed by their kinds."""
        return self.those(lambda kind: kind.translates and not kind.has_parts)

    @cached_property
    def parts(self) -> Mapping[str, tuple[str, ...]]:
        """The expanded columns, such as dates, with the names of their parts."""
        found: dict[str, tuple[str, ...]] = dict.fromkeys(self.those(lambda kind: kind.has_parts), ())
        for name, kind in self.those(lambda kind: kind.part_of is not None).items():
            assert kind.part_of is not None
            found[kind.part_of] = (*found[kind.part_of], name)
        return found

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The input columns, without the parts of other columns."""
        return tuple(self.those(lambda kind: kind.part_of is None))

    @cached_property
    def used_columns(self) -> tuple[str, ...]:
        """The input columns that are not ignored."""
        return tuple(self.those(lambda kind: kind.is_used and kind.part_of is None))

    def expanded(self, columns: Columns, *, where: str | None = None, first_row: int = 0) -> dict[str, Column]:
        """The columns converted for counting: dates as seconds, with their parts as additional columns.

        Columns that are already expanded do not change.
        """
        if not self.parts:
            return dict(columns)
        found: dict[str, Column] = {}
        for name, column in columns.items():
            own = self.parts.get(name)
            if own is None or any(part in columns for part in own):
                found[name] = column
                continue
            kind = self.kinds[name]
            assert isinstance(kind, Date)  # the only kind with parts
            parts = {part: of.part for part in own if isinstance(of := self.kinds[part], DatePart)}
            from bayesbox.schema.date_columns import expanded

            found |= expanded(kind, column, parts, name=name, where=where, first_row=first_row)
        return found

    @classmethod
    def of(
        cls,
        columns: Columns,
        declared: Declared | None = None,
        *,
        where: str | None = None,
        numeric: str = "gaussian",
        dates: bool = True,
        ignores_constants: bool = False,
    ) -> Schema:
        """The schema of these columns: the declared kinds, the others by type.

        Without `dates`, dates are levels.
        """
        given = declared_kinds(declared, tuple(columns), where=where)
        kinds = beginning_with_number(columns)
        if given or len(kinds) < len(columns):
            numbers, kinds = kinds, {}
            for name, column in columns.items():
                if name in given:
                    kinds[name] = _settled(given[name], column, name, where)
                elif name in numbers:
                    kinds[name] = numbers[name]
                else:
                    kinds[name] = kind_of(column, name=name, dates=dates, where=where)
        return cls(_with_parts(kinds), frozenset(given), numeric=numeric, ignores_constants=ignores_constants)

    def density(self, name: str) -> str:
        """The density of a column of numbers."""
        return self.kinds[name].density_under(self.numeric)

    def tally_form(self, name: str) -> str | None:
        """The form of the tally of a column; None if it is not fixed.

        >>> from bayesbox.schema.kinds import Category, Real
        >>> Schema({"age": Real("kernel"), "car": Category()}).tally_form("age")
        'values'
        """
        kind = self.kinds[name]
        return (family_named(self.density(name)).number_form if kind.is_number else None) or kind.tally

    def tally_forms(self, names: Iterable[str]) -> dict[str, str | None]:
        """The forms of the tallies of these columns: one kind is shared by many of them, as a rule, and asked once."""
        if len(self._distinct) == 1:
            return dict.fromkeys(names, self.tally_form(next(iter(self.kinds))))
        forms: dict[int, str | None] = {}
        found: dict[str, str | None] = {}
        for name in names:
            key = id(self.kinds[name])
            if key not in forms:
                forms[key] = self.tally_form(name)
            found[name] = forms[key]
        return found

    def extended(self, columns: Columns, *, where: str | None = None) -> Schema:
        """The schema after more rows: unknown columns may get a kind, others must keep theirs."""
        for name in columns:
            if name not in self.kinds:
                raise UnknownColumn(name, available=self.kinds, where=where)
        found = {name: self._kind_now(name, column, where) for name, column in columns.items()}
        return self.merged(Schema(_with_parts(found, self.columns)), where=where)

    def _kind_now(self, name: str, column: Column, where: str | None) -> Kind:
        """The kind of a column after more values."""
        before = self.kinds[name]
        if isinstance(before, Date):
            return before if before.holds is not None else _settled(before, column, name, where)
        return before.reads(kind_of(column, name=name, dates=not before.is_known, where=where))

    def merged(self, other: Schema, *, where: str | None = None) -> Schema:
        """The merged schema: kinds must agree unless one is declared here or unknown."""
        kinds = dict(self.kinds)
        for name, now in other.kinds.items():
            before = kinds.get(name, NOT_DECLARED)
            if name in self.declared and not before.has_parts:
                continue
            if not before.is_known or before.is_open:
                kinds[name] = now
            elif before.accepts(now):
                kinds[name] = before.joined(now)
            else:
                raise KindContradiction(
                    f"column `{name}` was a {before.name} so far, but is a {now.name} here",
                    where=where,
                    remedy="Declare its type: " + declaring(name, now.name),
                    column=name,
                )
        declared = self.declared | other.declared
        return replace(self, kinds=kinds, declared=declared, classes=union_of(self.classes, other.classes))

    def without(self, names: Collection[str]) -> Schema:
        """The same schema with some columns ignored."""
        if not names:
            return self
        return replace(self, kinds={name: Ignore() if name in names else kind for name, kind in self.kinds.items()})

    def lasting_levels(self, name: str) -> tuple[str, ...]:
        """The levels of a column that are possible without rows: for a flag, only if it is declared.

        >>> from bayesbox.schema.kinds import Category, Flag
        >>> kinds = {"sick": Flag(), "well": Flag(), "car": Category(["suv", "van"])}
        >>> [Schema(kinds, frozenset(["well", "car"])).lasting_levels(name) for name in kinds]
        [(), ('false', 'true'), ('suv', 'van')]
        """
        kind = self.kinds[name]
        return () if kind.is_flag and name not in self.declared else kind.domain

    def with_classes(self, classes: tuple[str, ...]) -> Schema:
        """The same schema with these classes declared."""
        return replace(self, classes=classes)


def _settled(kind: Kind, column: Column, name: str, where: str | None) -> Kind:
    """A declared kind completed from the values of its column."""
    if not isinstance(kind, Date):
        return kind
    from bayesbox.schema.date_columns import settled

    return settled(kind, column, name=name, where=where)


def _with_parts(kinds: Mapping[str, Kind], others: Iterable[str] = ()) -> dict[str, Kind]:
    """The kinds with the parts of dates, each next to its column, under unused names.

    >>> list(_with_parts({"day": Date(holds="time"), "day hour": Date(holds="duration")}))
    ['day', 'day hour 2', 'day hour']
    """
    if not any(kind.has_parts for kind in {id(kind): kind for kind in kinds.values()}.values()):
        return dict(kinds)
    taken = {*kinds, *others}
    found: dict[str, Kind] = {}
    for name, kind in kinds.items():
        found[name] = kind
        for part in kind.part_names if isinstance(kind, Date) else ():
            own = next(text for text in _names(f"{name} {part}") if text not in taken)
            found[own] = DatePart(name, part)
            taken.add(own)
    return found


def _names(text: str) -> Iterator[str]:
    yield text
    yield from (f"{text} {number}" for number in itertools.count(2))


def union_of(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    """The declared classes of both."""
    return one if set(other) <= set(one) else tuple(sorted({*one, *other}))


def declared_kinds(declared: Declared | None, names: tuple[str, ...], *, where: str | None = None) -> dict[str, Kind]:
    """Declarations by name; an integer that is not a name is a position."""
    given: dict[str, Kind] = {}
    for key, kind in kinds_by_key(declared).items():
        name = key if isinstance(key, str) else str(key)
        if name not in names and isinstance(key, int) and not isinstance(key, bool) and -len(names) <= key < len(names):
            name = names[key]
        if name not in names:
            raise UnknownColumn(key, available=names, where=where)
        given[name] = kind
    return given
