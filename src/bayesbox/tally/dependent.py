"""Counts of each column with its parents and the class, for models with given arcs.

A family is sparse: it has the combinations that occurred. A combination may have missing columns, so that a row with a
missing parent still counts for queries without this parent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayesbox._core import ExactArray
from bayesbox.display.result import Result
from bayesbox.errors import CannotMerge
from bayesbox.schema.arrays import IntegerArray
from bayesbox.tally.base import Impossible, added, positions, quoted, register
from bayesbox.tally.family import Family

if TYPE_CHECKING:
    from bayesbox.tally.book import Book

Parents = Mapping[str, tuple[str, ...]]


@register
class Dependent(Result):
    """A family for each column: the counts of (class, parents, column).

    >>> colour, size = (np.array([0, 1, 1]), ["red", "blue"]), (np.array([0, 0, -1]), ["large"])
    >>> target = np.array([0, 0, 1], dtype=np.int32)
    >>> columns = {"colour": colour, "size": size}
    >>> families = Dependent.of(("+", "-"), {"colour": (), "size": ("colour",)}, columns, target)
    >>> dict(families["size"].items())
    {('+', 'blue', 'large'): 1, ('+', 'red', 'large'): 1}
    >>> (families + families) - families == families
    True
    """

    form: ClassVar[str] = "dependent"
    members: ClassVar[tuple[str, ...]] = ("dependent.arrow",)
    extends: ClassVar[str | None] = None
    together: ClassVar[bool] = True

    def __init__(self, classes: tuple[str, ...], parents: Parents, families: Mapping[str, Family]) -> None:
        self.classes = classes
        self.parents = dict(parents)
        self.families = dict(families)  # by column; the class comes first in a family, the column last

    @classmethod
    def of(
        cls,
        classes: tuple[str, ...],
        parents: Parents,
        columns: Mapping[str, tuple[IntegerArray, Sequence[str]]],
        target: NDArray[np.int32],
        weights: NDArray[np.float64] | None = None,
    ) -> Self:
        """The tally of rows, from the codes of each column (negative if missing) and their levels."""
        families = {}
        missing: tuple[IntegerArray, Sequence[str]] = (np.full(len(target), -1, dtype=np.int32), ())
        exact = None if weights is None else ExactArray.from_doubles(weights)
        for column, given in parents.items():
            members = [(target, classes), *(columns.get(name, missing) for name in (*given, column))]
            there = np.flatnonzero((target >= 0) & (members[-1][0] >= 0))
            whole = len(there) == len(target)
            codes = [codes if whole else codes[there] for codes, _ in members]
            taken = exact if exact is None or whole else exact.take(there)
            names = [f"{place}" for place in range(len(members))]
            families[column] = Family.of(names, codes, [texts for _, texts in members], taken, rows=len(there))
        return cls(classes, parents, families)

    def __getitem__(self, column: str) -> Family:
        return self.families[column]

    def zero(self) -> Self:
        return type(self)(self.classes, self.parents, {name: family.zero() for name, family in self.families.items()})

    def __add__(self, other: Dependent) -> Self:
        return self._combined(other, sign=1)

    def __sub__(self, other: Dependent) -> Self:
        return self._combined(other, sign=-1)

    def _combined(self, other: Dependent, *, sign: int) -> Self:
        common = self.parents.keys() & other.parents.keys()
        if any(self.parents[name] != other.parents[name] for name in common):
            raise CannotMerge("the two models have different arcs, so they counted different things")
        classes = tuple(sorted({*self.classes, *other.classes}))
        parents = {**other.parents, **self.parents}
        families = {}
        for name in parents:
            mine, theirs = self.families.get(name), other.families.get(name)
            mine = theirs.zero() if mine is None and theirs is not None else mine
            assert mine is not None
            families[name] = mine if theirs is None else mine + theirs if sign > 0 else mine - theirs
        return type(self)(classes, parents, families)

    def with_classes(self, classes: tuple[str, ...]) -> Self:
        return self if classes == self.classes else type(self)(classes, self.parents, self.families)

    def is_empty(self) -> bool:
        return not any(len(family) for family in self.families.values())

    def is_possible(self) -> bool:
        return self.impossible() is None

    def impossible(self) -> Impossible | None:
        """The first combination of class, parents' levels and level with a negative count."""
        for name, family in self.families.items():
            negative = family.cells.signs() < 0
            if negative.any():
                codes = family.codes[:, int(np.argmax(negative))].tolist()
                texts = [levels[code] if code >= 0 else "?" for levels, code in zip(family.levels, codes, strict=True)]
                columns = (*self.parents[name], name)
                values = (f"{column}={text}" for column, text in zip(columns, texts[1:], strict=True))
                return Impossible(texts[0], ", ".join(values))
        return None

    def fits(self, rows: ExactArray) -> bool:
        for family in self.families.values():
            by_class = family.marginal(["0"])
            counts = by_class.cells.take(positions(self.classes, by_class.levels[0]))
            if not set(by_class.levels[0]) <= set(self.classes) or np.any(added(rows, counts, sign=-1).signs() < 0):
                return False
        return True

    def canonical(self) -> Iterator[bytes]:
        for name in sorted(self.families):
            if len(self.families[name]):
                yield quoted([name, *self.parents[name]])
                yield from self.families[name].canonical()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dependent):
            return NotImplemented
        return list(self.canonical()) == list(other.canonical())

    __hash__ = None  # type: ignore[assignment]

    def _headline(self) -> str:
        return f"Dependent({', '.join(self.families)})"

    def _frame(self) -> Mapping[str, Sequence[object]]:
        return {
            "column": list(self.families),
            "parents": [", ".join(self.parents[name]) for name in self.families],
            "combinations": [len(family) for family in self.families.values()],
        }

    @classmethod
    def to_arrow(cls, tallies: Mapping[str, Self]) -> dict[str, bytes]:
        from bayesbox.tally.codec.dependent import write

        return write(cls, tallies)

    @classmethod
    def from_arrow(cls, tables: Mapping[str, bytes], book: Book) -> dict[str, Self]:
        from bayesbox.tally.codec.dependent import read

        return read(cls, tables, book)


def dense(family: Family, levels: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    """The counts as an array with one axis per column, over these levels; the last entry of each axis, except the first
    and the last axis, has the combinations in which this column is missing."""
    shape = [len(texts) + (0 < place < len(levels) - 1) for place, texts in enumerate(levels)]
    index = np.zeros(len(family), dtype=np.int64)
    kept = np.ones(len(family), dtype=bool)
    for place, texts in enumerate(levels):
        absent = len(texts) if 0 < place < len(levels) - 1 else -1
        code = np.append(positions(family.levels[place], texts), absent)[family.codes[place]]
        kept &= code >= 0
        index = index * shape[place] + code
    counts = np.zeros(int(np.prod(shape)))
    np.add.at(counts, index[kept], family.cells.to_doubles()[kept])
    return counts.reshape(shape)
