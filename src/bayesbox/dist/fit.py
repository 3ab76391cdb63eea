"""Fitting families to tallies: the options of a fit, and the registration of families."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayesbox._core import ExactArray
from bayesbox.dist.base import Distribution, Doubles
from bayesbox.dist.cells import LevelCounts, Smoothing, log_table
from bayesbox.errors import BadOption
from bayesbox.schema.families import FAMILIES, FamilyEntry, family_named
from bayesbox.schema.kinds import Kind, Number
from bayesbox.tally.base import TALLIES, added
from bayesbox.tally.grid import Grid
from bayesbox.tally.moments import Moments
from bayesbox.tally.values import Values

Family = TypeVar("Family", bound=type)
MANY_COLUMNS = 2
COLUMNS_AT_ONCE = 4096  # fitted together; two bounds on memory: this
CELLS_AT_ONCE = 1 << 13  # and columns x classes


class LevelTally(Protocol):
    """A tally with counts of levels: of a column of levels, or of numbers that are all 0 or 1."""

    classes: tuple[str, ...]

    def level_cells(self) -> tuple[tuple[str, ...], ExactArray, ExactArray]:
        """The levels, the count of each in each class, and the rows of each class that have one."""
        ...


class Presence(NamedTuple):
    """log P(observed | class) and log P(missing | class); zeros if missing values are ignored."""

    log_observed: Doubles
    log_missing: Doubles


@dataclass(frozen=True)
class FitOptions:
    """The options of a fit, besides the tally of the column.

    `density` is the declared name, such as width:10. `class_counts` are the rows of each class, if missing values count
    as a level; None if they are ignored. `lasting` are the levels that are possible without any row, if columns with a
    single value are ignored; None if they are not, as in 0.1.
    """

    smoothing: Smoothing
    kind: Kind = Number()  # noqa: RUF009  frozen
    density: str = ""
    unseen: str = "smooth"
    class_counts: ExactArray | None = None
    lasting: tuple[str, ...] | None = None

    def is_constant(self, tally: Any) -> bool:
        """Whether a column of levels or flags has a single value, and so is ignored."""
        if self.lasting is None or not (tally.form == "counts" or self.density == "bernoulli"):
            return False
        if tally.form == "counts" and tally.sparse and len(tally.levels) > 1:  # every level in it occurred
            return False
        if tally.form == "counts" and len(tally.levels) == 2:  # flags, of which there may be thousands
            return not tally.cells.signs().reshape(-1, 2).any(axis=0).all() and self._has_one_level(tally)
        return self._has_one_level(tally)

    def _has_one_level(self, tally: LevelTally) -> bool:
        return int(self.possible_levels(self.level_counts(tally)).sum()) < 2

    def possible_levels(self, counts: LevelCounts) -> NDArray[np.bool_]:
        """Which levels of a column, including missing if it is one, are possible."""
        cells = counts.as_cells().counts[:, : counts.size]
        lasting = {*(self.lasting or ()), *(self.smoothing.listed if self.kind.lists_levels else ())}
        declared = np.array([name in lasting for name in counts.names[: counts.size]], dtype=bool)
        found: NDArray[np.bool_] = declared | (cells != 0).any(axis=0)
        return found

    @property
    def floor(self) -> float:
        """The smallest variance of a normal density, as a fraction of that of the column."""
        return self.kind.floor

    @property
    def chosen(self) -> bool:
        """Whether the family was chosen from the values, so that it may change without one of them."""
        return self.density == "auto"

    @property
    def missing_is_level(self) -> bool:
        return self.class_counts is not None

    def without_missing(self) -> FitOptions:
        """The same options with missing values ignored."""
        return replace(self, class_counts=None)

    def presence(self, tally: Moments | ValueTable) -> Presence:
        """The terms of an observed and of a missing value."""
        classes = len(tally.classes)
        if self.class_counts is None:
            return Presence(np.zeros(classes), np.zeros(classes))
        moments = tally.moments() if isinstance(tally, ValueTable) else tally
        log_p, _, log_missing = log_table(self.presence_counts(moments), self.smoothing)
        return Presence(log_p[0], log_missing)

    def presence_counts(self, tally: Moments) -> LevelCounts:
        """The rows with and without a value, as counts of two levels."""
        return LevelCounts(("observed",), tally.sums.n, len(tally.classes), self.missing_counts(tally.sums.n))

    def level_counts(self, tally: LevelTally) -> LevelCounts:
        """The counts of a column of levels for the smoothing rule."""
        levels, cells, observed = tally.level_cells()
        missing = self.missing_counts(observed)
        return LevelCounts.of(levels, cells, len(tally.classes), domain=self.domain, missing=missing)

    @property
    def domain(self) -> tuple[str, ...]:
        """The levels that are possible without any row: declared, or listed by the rule."""
        return (*self.kind.domain, *(self.smoothing.listed if self.kind.lists_levels else ()))

    def missing_counts(self, observed: ExactArray) -> ExactArray | None:
        """The rows of each class without a value, if missing counts as a level."""
        return None if self.class_counts is None else added(self.class_counts, observed, sign=-1)


class ValueTable(NamedTuple):
    """Distinct values, ascending, and counts of values x classes: a tally of values for a family."""

    values: Doubles
    counts: Doubles

    @property
    def table(self) -> tuple[Doubles, Doubles]:
        return self.values, self.counts

    def present(self) -> ValueTable:
        """The table without the values that do not occur."""
        there = self.counts.any(axis=1)
        return ValueTable(self.values[there], self.counts[there])

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes, in order."""
        return tuple(f"{index:06}" for index in range(self.counts.shape[1]))

    def moments(self) -> Moments:
        """The exact moments."""
        return Moments.of(self.classes, *self._rows())

    def grid(self) -> Grid:
        """The grid, with the exact moments."""
        return Grid.of(self.classes, *self._rows())

    def _rows(self) -> tuple[Doubles, NDArray[np.int32], Doubles]:
        """The rows as arrays of value, class and weight, one per count."""
        classes = self.counts.shape[1]
        target = np.tile(np.arange(classes, dtype=np.int32), len(self.values))
        return np.repeat(self.values, classes), target, np.ascontiguousarray(self.counts.ravel())


ValuesTally: TypeAlias = Values | ValueTable
"""Distinct values with their counts, exact or as floats."""


class Fitted(NamedTuple):
    """A distribution, or None and the reason why the column is ignored."""

    distribution: Distribution | None
    reason: str = ""


def fitted(column: str, tally: Any, options: FitOptions) -> Fitted:
    """The family named in the options, fitted to the tally of a column or to a table of its values."""
    entry = family_named(options.density)
    family = entry.load()
    if isinstance(tally, ValueTable):
        tally = _in_form(entry, tally)
    _require_form(entry, [column], [tally])
    if entry.needs_values and len(tally.table[0]) < family.least_values:
        return Fitted(None, "all its values are equal")
    return Fitted(family.fit(column, tally, options), family.silent)


def places_by(parts: Sequence[Any], key: Callable[[Any], Any]) -> list[tuple[Any, list[int]]]:
    """The places of those with the same key, ascending. The key is asked of each object once: thousands may be one.

    >>> places_by(["cat", "dog", "ape", "cat"], lambda animal: animal[0])
    [('c', [0, 3]), ('d', [1]), ('a', [2])]
    """
    if len(set(map(id, parts))) == 1:
        return [(key(parts[0]), list(range(len(parts))))]
    keys = {name: key(each) for name, each in dict(zip(map(id, parts), parts, strict=True)).items()}
    found: dict[Any, list[int]] = {}
    for place, name in enumerate(map(id, parts)):
        found.setdefault(keys[name], []).append(place)
    return list(found.items())


ColumnToFit: TypeAlias = tuple[str, Any, FitOptions]
"""A column, its tally, and the options of its fit: a plain tuple, as there may be thousands."""


def fitted_columns(columns: Sequence[ColumnToFit]) -> Iterator[Distribution | str]:
    """The fitted families of columns with the same classes, in order; many of one family at once.

    A column without a distribution has the reason why it is ignored.
    """
    made: list[Distribution | str | None] = [None] * len(columns)
    singly = len(columns)  # how many of them are fitted one by one
    for density, places in places_by([options for _, _, options in columns], attrgetter("density")):
        entry = family_named(density)
        family = entry.load()
        own = vars(family).get("fits_columns", False)  # a subclass may override `fit`
        if not own or len(places) < MANY_COLUMNS:
            continue
        singly -= len(places)
        step = min(COLUMNS_AT_ONCE, max(CELLS_AT_ONCE // max(len(columns[places[0]][1].classes), 1), 1))
        for start in range(0, len(places), step):
            some = places[start : start + step]
            names, tallies, options = zip(*map(columns.__getitem__, some), strict=True)
            _require_form(entry, names, tallies)
            found = family.fit_columns(names, tallies, options)
            for place, each in zip(some, found, strict=True):
                made[place] = family.silent if each is None else each
    if not singly:
        yield from made  # type: ignore[misc]  # none of them is None
        return
    for column, ready in zip(columns, made, strict=True):
        if ready is not None:
            yield ready
            continue
        distribution, reason = fitted(*column)
        yield reason if distribution is None else distribution


def _require_form(entry: FamilyEntry, columns: Sequence[str], tallies: Sequence[Any]) -> None:
    """Raise an error if a family cannot be fitted to this form of tally."""
    if not entry.tally or {tally.form for tally in tallies} == {entry.tally}:
        return
    column, form = next(
        (name, tally.form) for name, tally in zip(columns, tallies, strict=True) if tally.form != entry.tally
    )
    raise BadOption(
        f"the family `{entry.name}` of column `{column}` is fitted to {entry.tally}",
        found=form,
        remedy="Let the type of the column be counted in this form: its `tally`",
    )


def _in_form(entry: FamilyEntry, table: ValueTable) -> Any:
    """A table of values in the form that a family needs."""
    if entry.needs_values:
        return table.present()
    return table.grid() if entry.tally == Grid.form else table.moments()


def register(*names: str) -> Callable[[Family], Family]:
    """Register a family under its names, for columns, options, files and messages.

    Its `tally` determines where it applies: with Moments, Grid or Values it is a density for any column of numbers;
    with another form, such as Counts, it belongs to the kinds whose `family` names it.

    The families of the package are listed in `bayesbox.schema.families`, so that each is imported only when needed.
    """

    def enter(family: Family) -> Family:
        path = f"{family.__module__}:{family.__qualname__}"
        for name in names:
            known = dict.get(FAMILIES, name)
            if known is not None and known.path != path:
                raise BadOption(f"a family of distributions `{name}` already exists", found=known.path)
            if known is None or known.family is not None:
                FAMILIES[name] = _entry(name, path, family)
        family.family = names[0]  # type: ignore[attr-defined]
        return family

    return enter


def _entry(name: str, path: str, family: Any) -> FamilyEntry:
    """The entry of a family by its tally."""
    tally: Any = family.tally
    if tally in (Moments, Values):
        return FamilyEntry(name, path, "real", needs_values=tally is Values, family=family)
    if tally is Grid:
        return FamilyEntry(name, path, "real", tally=tally.form, family=family)
    if tally not in TALLIES.values() or tally.together or issubclass(tally, Moments):
        raise BadOption(
            "a family must be fitted to Moments, Grid or Values of numbers, or to a registered tally such as Counts",
            found=tally.__name__,
        )
    return FamilyEntry(name, path, tally=tally.form, family=family)
