"""The interface of tallies: counts that can be added, compared and, mostly, subtracted.

The laws, tested for everything in `TALLIES`:

    a + b == b + a            (a + b) + c == a + (b + c)
    a + a.zero() == a         (a + b) - b == a              count(rows) == sum of count(row)

A tally has the classes it is split by, as texts. Adding aligns classes and levels by name, so the result depends
neither on their order of appearance nor on batches. `canonical` is the tally as lines of bytes without zeros; equality
and digest are those of the lines.
"""

from __future__ import annotations

import copyreg
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self, TypeGuard, TypeVar, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox._core import ExactArray
from bayesbox.errors import BadOption
from bayesbox.schema.arrays import CountArray
from bayesbox.tally.exact import Dyadic

if TYPE_CHECKING:
    from bayesbox.tally.book import Book

Index = NDArray[np.int64]
Weights = NDArray[np.float64] | None  # of rows; None if each row counts once


@runtime_checkable
class Tally(Protocol):
    """The counts of one column, split by class."""

    form: ClassVar[str]
    classes: tuple[str, ...]

    def zero(self) -> Self: ...
    def __add__(self, other: Any, /) -> Any: ...
    def with_classes(self, classes: tuple[str, ...]) -> Self: ...
    def is_empty(self) -> bool: ...
    def canonical(self) -> Iterator[bytes]: ...


class StoredTally(Tally, Protocol):
    """A tally that a model file can store: it defines its tables, for all tallies of its form at once."""

    members: ClassVar[tuple[str, ...]]
    """The names of its tables, unique to this form; errors that concern several tables name the first one."""
    extends: ClassVar[str | None]
    """The form whose tables have a part of it; None if its own tables have everything."""
    together: ClassVar[bool]
    """Whether it is the joint tally of several columns of a book; otherwise it is of one column."""

    @classmethod
    def to_arrow(cls, tallies: Mapping[str, Self]) -> dict[str, bytes]:
        """The tables of these tallies by column, or of the joint tally. Equal tallies give equal bytes.

        The classes are those of the book, in the order of their texts.
        """
        ...

    @classmethod
    def from_arrow(cls, tables: Mapping[str, bytes], book: Book) -> Mapping[str, Self]:
        """The tallies in such tables, by name.

        The book has the classes and the tallies read so far: those of the form that this extends, and for a joint tally
        those of all columns. ValueError if no rows can have such a tally.
        """
        ...


@runtime_checkable
class Removable(Tally, Protocol):
    """A tally that supports subtraction."""

    def __sub__(self, other: Any, /) -> Any: ...
    def is_possible(self) -> bool:
        """Whether some rows can have this tally: no negative count, no sum without a row."""
        ...

    def fits(self, rows: ExactArray) -> bool:
        """Whether classes with these numbers of rows can have this tally: no class has more values than rows."""
        ...


class Impossible(NamedTuple):
    """Where a tally is impossible: the class and the value, if it is a single one."""

    label: str | None = None
    value: str | None = None


@runtime_checkable
class NamesImpossible(Removable, Protocol):
    """A tally that can locate an impossible count."""

    def impossible(self) -> Impossible | None:
        """The first impossible count; None if some rows can have this tally."""
        ...


def impossible_part(tally: Removable) -> Impossible | None:
    """Where a tally is impossible, if it can tell; None if some rows can have it."""
    if hasattr(type(tally), "impossible"):
        return cast("NamesImpossible", tally).impossible()
    return None if tally.is_possible() else Impossible()


def class_column(name: str, *taken: str) -> str:
    """The column name of a class in a DataFrame with other columns.

    >>> class_column("yes", "level"), class_column("level", "level")
    ('yes', 'level (class)')
    """
    return f"{name} (class)" if name in taken else name


def is_removable(tally: Tally) -> TypeGuard[Removable]:
    """Whether it supports subtraction. Faster than `isinstance` of a protocol, for a hundred thousand columns."""
    return hasattr(type(tally), "__sub__")


TALLIES: dict[str, type[StoredTally]] = {}
"""Every tally by the name of its form; registered tallies are tested for the laws and stored in the file."""

T = TypeVar("T", bound=StoredTally)


def register(tally: type[T]) -> type[T]:
    """Register a tally; another of the same form is replaced, one with the same tables is an error."""
    for other in TALLIES.values():
        if other.form != tally.form and not set(other.members).isdisjoint(tally.members):
            raise BadOption(f"tallies of {tally.form} and of {other.form} have the same tables", found=tally.members)
    TALLIES[tally.form] = tally
    return tally


def _rebuild_exact(text: bytes) -> ExactArray:
    return ExactArray.from_text(text)


def _reduce_exact(array: ExactArray) -> tuple[Callable[[bytes], ExactArray], tuple[bytes]]:
    return _rebuild_exact, (array.text(),)


copyreg.pickle(ExactArray, _reduce_exact)


def digest_of(lines: Iterable[bytes]) -> str:
    """SHA-256 of canonical lines, in hex."""
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line)
    return digest.hexdigest()


def positions(wanted: Sequence[str], present: Sequence[str]) -> Index:
    """The position of each wanted name among those present, -1 if absent."""
    place = {name: index for index, name in enumerate(present)}
    return np.array([place.get(name, -1) for name in wanted], dtype=np.int64)


def union(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    """The sorted union of names; the same tuple if nothing is new."""
    if one == other:
        return one
    return tuple(sorted({*one, *other}))


def added(one: ExactArray, other: ExactArray, *, sign: int = 1) -> ExactArray:
    """A new array: one + sign * other, cell by cell."""
    result = one.copy()
    result.add(other, sign=sign)
    return result


def dyadic(array: ExactArray, cell: int) -> Dyadic:
    """One cell as an exact number."""
    return Dyadic(*array.parts(cell))


def numbers(array: ExactArray) -> CountArray:
    """The cells as integers if all are, else as the nearest floats."""
    if array.is_integral():
        try:
            return array.to_integers().view(np.int64)  # the C name of the type may differ, which shows in the repr
        except OverflowError:
            pass
    return array.to_doubles()


def quoted(names: Sequence[str]) -> bytes:
    r"""Names as one line of JSON strings.

    >>> quoted(["red", "blue"]), quoted(["\"", "\u00e9"])
    (b'["red","blue"]\n', b'["\\"","\\u00e9"]\n')
    """
    return _core.quoted(names)
