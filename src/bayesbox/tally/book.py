"""The book: the tallies of all columns and of the class labels. Training adds to it, forgetting subtracts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from bayesbox._core import ExactArray
from bayesbox.described import Remedy, ignoring
from bayesbox.display.result import Result
from bayesbox.errors import BadData, CannotForget, KindContradiction, NeverLearned, UnknownColumn
from bayesbox.limits import BYTES_A_COUNT, BYTES_A_MOMENT, current_limits
from bayesbox.schema.arrays import CountArray
from bayesbox.schema.levels import common_label_type, label_order, natural_label_type
from bayesbox.tally.base import (
    Impossible,
    Tally,
    added,
    digest_of,
    impossible_part,
    is_removable,
    numbers,
    positions,
    quoted,
)
from bayesbox.tally.moments import ClearlyDiffering, clearly_differing
from bayesbox.tally.room import require_room_for_levels, require_room_for_numbers

if TYPE_CHECKING:
    from bayesbox.tally.ledger import Ledger

VERSION = b"bayesbox book 1\n"
LEVEL_LIMIT = 1_000_000  # of one column
SHOWN_LEVELS = 6  # of a column, printed
TOGETHER = "(columns together)"  # the name of the joint tally in messages


class Book(Result):
    """The tallies by column, split by class; `+` adds rows, `-` subtracts them, `digest()` identifies the counts.

    Classes are in the order of their labels' own type; a class with a zero count is omitted, and so is a column without
    values. `joint` is the joint tally of several columns, for models that need one. `ledger` is a hash of the rows, if
    one is kept; it is not part of the digest.
    """

    def __init__(
        self,
        classes: tuple[str, ...],
        class_counts: ExactArray,
        columns: Mapping[str, Tally],
        *,
        label_type: str = "text",
        joint: Tally | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        self.classes = classes
        self.class_counts = class_counts
        self.columns = dict(columns)
        self.label_type = label_type
        self.joint = joint
        self.ledger = ledger
        self._digest: str | None = None

    @classmethod
    def empty(cls, label_type: str = "text") -> Self:
        """An empty book."""
        return cls((), ExactArray(0), {}, label_type=label_type)

    @property
    def n(self) -> CountArray:
        """The rows of each class (with weights, the sum of the weights)."""
        return numbers(self.class_counts)

    def __getitem__(self, column: str | int) -> Any:
        name = str(column)
        if name not in self.columns:
            raise UnknownColumn(name, available=self.columns)
        return self.columns[name]

    def __contains__(self, column: object) -> bool:
        return str(column) in self.columns

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __add__(self, other: Book) -> Book:
        if not other.classes:
            return self
        if not self.classes:
            return other
        label_type = common_label_type(self.label_type, other.label_type)
        classes = tuple(label_order(list({*self.classes, *other.classes}), label_type))
        for book in (self, other):
            book.require_room(len(classes))
        mine, theirs = self.with_classes(classes), other.with_classes(classes)
        columns = dict(mine.columns)
        room = _Room(len(classes))
        for name, tally in theirs.columns.items():
            columns[name] = _added(name, columns[name], tally) if name in columns else tally
            room.take(name, columns[name])
        counts = added(mine.class_counts, theirs.class_counts)
        joint = mine.joint if theirs.joint is None else theirs.joint
        if mine.joint is not None and theirs.joint is not None:
            joint = _added(TOGETHER, mine.joint, theirs.joint)
        ledger = None if self.ledger is None or other.ledger is None else self.ledger + other.ledger
        return Book(classes, counts, columns, label_type=label_type, joint=joint, ledger=ledger)

    def __sub__(self, other: Book) -> Book:
        if not other.classes:
            return self
        classes = tuple(label_order(list({*self.classes, *other.classes}), self.label_type))
        mine, theirs = self.with_classes(classes), other.with_classes(classes)
        counts = added(mine.class_counts, theirs.class_counts, sign=-1)
        for name, sign in zip(classes, counts.signs(), strict=True):
            _require_learned(sign >= 0, f"the class `{name}`", place=Impossible(name))
        columns = dict(mine.columns)
        for name, tally in theirs.columns.items():
            if name not in columns:
                _require_learned(tally.is_empty(), f"column `{name}`", column=name)
                continue
            columns[name] = _subtracted(name, columns[name], tally)
        joint = mine.joint
        if theirs.joint is not None:
            _require_learned(joint is not None or theirs.joint.is_empty(), TOGETHER)
            joint = None if joint is None else _subtracted(TOGETHER, joint, theirs.joint)
        left = columns if joint is None else {**columns, TOGETHER: joint}
        for name, tally in left.items():  # including those that were not changed
            _require_learned(not is_removable(tally) or tally.fits(counts), f"column `{name}`", column=name)
        ledger = None if self.ledger is None or other.ledger is None else self.ledger - other.ledger
        return Book(classes, counts, columns, label_type=self.label_type, joint=joint, ledger=ledger).pruned()

    @cached_property
    def clearly_differing(self) -> ClearlyDiffering:
        """The numeric columns whose values clearly differ, which are neither empty nor constant."""
        return clearly_differing(self.columns)

    def pruned(self) -> Book:
        """The book without empty classes and columns."""
        present = self.class_counts.signs() != 0
        differ = self.clearly_differing.differ
        empty = {name for name, tally in self.columns.items() if name not in differ and tally.is_empty()}
        joint = None if self.joint is None or self.joint.is_empty() else self.joint
        if not empty and joint is self.joint and present.all():
            return self
        columns = {name: tally for name, tally in self.columns.items() if name not in empty}
        kept = tuple(name for name, some in zip(self.classes, present, strict=True) if some)
        return self.with_tallies(columns, joint=joint).with_classes(kept)

    def with_tallies(self, columns: Mapping[str, Tally], *, joint: Tally | None = None) -> Book:
        """The book with other tallies of the same rows."""
        return Book(
            self.classes, self.class_counts, columns, label_type=self.label_type, joint=joint, ledger=self.ledger
        )

    def with_ledger(self, ledger: Ledger | None) -> Book:
        """The book with a hash of the rows, or without one."""
        return Book(
            self.classes, self.class_counts, self.columns, label_type=self.label_type, joint=self.joint, ledger=ledger
        )

    def require_room(self, classes: int) -> None:
        """Raise an error if these columns for this many classes would take too much memory."""
        room = _Room(classes)
        for name, tally in self.columns.items():
            room.take(name, tally)

    def with_classes(self, classes: tuple[str, ...]) -> Book:
        """The book with these classes in this order; new ones are empty."""
        if classes == self.classes:
            return self
        counts = self.class_counts.take(positions(classes, self.classes))
        columns = {name: tally.with_classes(classes) for name, tally in self.columns.items()}
        joint = None if self.joint is None else self.joint.with_classes(classes)
        return Book(classes, counts, columns, label_type=self.label_type, joint=joint, ledger=self.ledger)

    def with_label_type(self, label_type: str) -> Book:
        """The book with its labels read as this type, if possible."""
        if label_type == self.label_type or not self.classes:
            return self
        if label_type == "integer" and natural_label_type(self.classes) != "integer":
            raise BadData(
                "the labels were integers so far, but these are not",
                found=", ".join(self.classes),
                remedy="Correct the target",
            )
        typed = Book(
            self.classes, self.class_counts, self.columns, label_type=label_type, joint=self.joint, ledger=self.ledger
        )
        return typed.with_classes(tuple(label_order(list(self.classes), label_type)))

    def canonical(self) -> Iterator[bytes]:
        """The book as lines: the classes and their counts, then each column in the order of the names."""
        present = self.class_counts.signs() != 0
        classes = sorted(name for name, some in zip(self.classes, present, strict=True) if some)
        yield VERSION
        yield quoted(classes)
        yield self.class_counts.take(positions(classes, self.classes)).text()
        for name in sorted(self.columns):
            tally = self.columns[name]
            if not tally.is_empty():
                yield quoted([name, tally.form])
                yield from tally.canonical()
        if self.joint is not None and not self.joint.is_empty():
            yield quoted([self.joint.form])
            yield from self.joint.canonical()

    def digest(self) -> str:
        """SHA-256 of the canonical lines, in hex: equal for the same multiset of rows, in any order and batches."""
        if self._digest is None:  # a book is immutable
            self._digest = digest_of(self.canonical())
        return self._digest

    def ledger_digest(self) -> str | None:
        """SHA-256 of the ledger, in hex; None if none is kept."""
        return None if self.ledger is None else self.ledger.digest()

    def __getstate__(self) -> dict[str, Any]:
        """All but what follows from the tallies."""
        return {name: value for name, value in self.__dict__.items() if name != "clearly_differing"}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Book):
            return NotImplemented
        return self.digest() == other.digest()

    __hash__ = None  # type: ignore[assignment]

    def _headline(self) -> str:
        counts = ", ".join(f"{name}: {count}" for name, count in zip(self.classes, self.n, strict=True))
        return f"Book({{{counts}}}, columns={list(self.columns)})"

    def _title(self) -> str:
        rows = ", ".join(f"{name} {count:,}" for name, count in zip(self.classes, self.n.tolist(), strict=True))
        return f"what was counted: {rows or 'nothing'}"

    def _frame(self) -> Mapping[str, Sequence[object]]:
        tallies = list(self.columns.values())
        return {
            "column": list(self.columns),
            "tally": [type(tally).__name__ for tally in tallies],
            "n": [sum(tally.n.tolist()) if hasattr(tally, "n") else None for tally in tallies],
            "counted": [_in_words(tally) for tally in tallies],
        }


def _in_words(tally: Any) -> str:
    """A tally in short: its levels, or its mean and std."""
    if getattr(tally, "of_numbers", False) and tally.n.any():
        whole = tally.pooled()
        return f"mean {whole.mean:.6g}, std {whole.std:.6g}"
    levels = tuple(getattr(tally, "levels", ()))
    shown = ", ".join(map(str, levels[:SHOWN_LEVELS]))
    return f"{len(levels):,} levels: {shown}{', ...' if len(levels) > SHOWN_LEVELS else ''}"


class _Room:
    """Adds up the memory of columns, and raises an error at the limit."""

    def __init__(self, classes: int) -> None:
        self.classes = classes
        self._levels: dict[str, int] = {}
        self._total, self._widest, self._numbers = 0, 0, 0
        self._most = current_limits().memory // max(classes, 1)

    def take(self, name: str, tally: Tally) -> None:
        """Add a column."""
        if tally.form != "counts":
            self._numbers += 1
            if self._numbers * BYTES_A_MOMENT > self._most:
                require_room_for_numbers(self.classes, self._numbers)
        elif not tally.sparse:  # type: ignore[attr-defined]  # what is sparse takes no more than its rows
            levels = level_count(tally)
            self._levels[name] = levels
            self._total += levels
            self._widest = max(self._widest, levels)
            if (self._total + self._widest) * BYTES_A_COUNT > self._most:
                require_room_for_levels(self.classes, self._levels)


def level_count(tally: Any) -> int:
    """The number of levels of a tally of counts; an upper bound if they are not texts yet."""
    return tally.width if tally.unsorted else len(tally.levels)


def _added(name: str, one: Tally, other: Tally) -> Tally:
    _require_same_form(name, one, other)
    total: Tally = one + other
    require_few_levels(name, total)
    return total


def require_few_levels(name: str, tally: Tally) -> None:
    """Raise an error for a category with too many levels."""
    if tally.form != "counts" or level_count(tally) <= LEVEL_LIMIT:
        return
    levels = len(tally.levels)  # type: ignore[attr-defined]
    if levels > LEVEL_LIMIT:
        raise BadData(
            f"column `{name}` has more than {LEVEL_LIMIT:,} levels: it looks like an identifier",
            found=f"{levels:,} levels",
            remedy="Ignore it: " + ignoring(name),
            column=name,
        )


def _require_same_form(name: str, one: Tally, other: Tally) -> None:
    if one.form != other.form:
        raise KindContradiction(
            f"column `{name}` was counted as {one.form} so far, but as {other.form} here",
            remedy="Declare its type for both: " + Remedy("columns=", "--types"),
            column=name,
        )


def _subtracted(name: str, one: Tally, other: Tally) -> Tally:
    _require_same_form(name, one, other)
    if not is_removable(one):
        raise CannotForget(f"column `{name}` has a tally that does not support subtraction")
    left = one - other
    place = impossible_part(left)
    _require_learned(place is None, f"column `{name}`", column=name, place=place)
    return left  # type: ignore[no-any-return]


def _require_learned(possible: bool, what: str, *, column: str | None = None, place: Impossible | None = None) -> None:
    if not possible:
        place = place or Impossible()
        of_class = f" in the class `{place.label}`" if place.label is not None and column is not None else ""
        raise NeverLearned(
            f"some of these rows were never learned: {what} would have an impossible count{of_class}",
            found=place.value,
            remedy="Nothing was changed. Forget only training rows, with their labels and weights",
            column=column,
            label=place.label,
        )
