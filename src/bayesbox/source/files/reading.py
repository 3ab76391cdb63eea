"""What the readers of all file formats share: options, what is known of the columns, rows left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from bayesbox.described import declaring, missing_mark, parameter
from bayesbox.errors import BadData, BadWeight, KindContradiction
from bayesbox.schema.columns import Column
from bayesbox.source.base import Skipped
from bayesbox.source.files.dialect import AS_WRITTEN, TextDialect

CELL_LIMIT = 1 << 20  # bytes of one cell
DOCUMENT_LIMIT = 256 << 20  # bytes of one cell of a column of documents
ROW_LIMIT = 64 << 20  # bytes of one row
COLUMN_LIMIT = 100_000

NUMBER, FLAG, TEXT = "number", "true or false", "text"
UNREAD = "not read"  # what is not asked for is not looked at, so nothing in it is wrong

FEW_TEXTS = 20  # a column of numbers may hold one text in this many values, to be still one,
MANY_NUMBERS = 20  # where it holds more different numbers than a category would


def is_broken_number(texts: int, values: int, different: int) -> bool:
    """Whether a column with so few texts among so many different numbers is one of numbers, and the texts are wrong.

    >>> is_broken_number(1, 500, different=90), is_broken_number(1, 500, different=4)
    (True, False)
    """
    return texts * FEW_TEXTS <= values and different > MANY_NUMBERS


@dataclass
class Reading:
    """One pass over a set of files: what was requested, and what is known so far."""

    text: frozenset[str] = frozenset()
    number: frozenset[str] = frozenset()
    documents: frozenset[str] = frozenset()  # columns whose texts may be long
    unread: frozenset[str] = frozenset()  # columns that come without their values,
    only: frozenset[str] | None = None  # as do all but these, if they are given
    as_text: bool = False  # whether columns that are not named are read as they are
    na: tuple[str, ...] = ()
    skip: bool = False
    threads: int = 1
    refuse_mixed: bool = False
    finite: bool = False  # whether an infinite number makes a row a malformed one
    weight: str | None = None  # the column of the weights
    dialect: TextDialect = AS_WRITTEN
    skipped: Skipped = field(default_factory=Skipped)
    kinds: dict[str, str] = field(default_factory=dict)
    noted: set[str] = field(default_factory=set)  # columns of money or percent that were reported, in any pass
    spelled: set[str] = field(default_factory=set)  # columns whose numbers are not written as Arrow reads them
    names: tuple[str, ...] | None = None
    first_file: str = ""

    def kind_of(self, name: str) -> str | None:
        """NUMBER, FLAG, TEXT or UNREAD; None as long as no value of the column was seen."""
        if name in self.unread or (self.only is not None and name not in self.only):
            return UNREAD
        if name in self.text:
            return TEXT
        if name in self.number:
            return NUMBER
        return self.kinds.get(name, TEXT if self.as_text else None)

    def cell_limit(self, name: str) -> int:
        """The bytes that a cell of a column may have."""
        return DOCUMENT_LIMIT if name in self.documents else CELL_LIMIT

    @property
    def row_limit(self) -> int:
        """The bytes that a row may have."""
        return ROW_LIMIT + DOCUMENT_LIMIT * len(self.documents)

    def report(self, error: BadData) -> None:
        """A malformed row: raise it, or count it where rows are skipped."""
        if not self.skip:
            raise error
        self.skipped.add(error)


class OpenedFile:
    """A file opened in its format; a format of its own needs `names` and `tables`."""

    names: tuple[str, ...] = ()
    """The names of the columns."""

    schema: pa.Schema | None = None
    """The types of the columns, where the file holds them."""

    share_read: float | None = None
    """How much of the rows was read, where the file says how many there are."""

    @property
    def untyped(self) -> bool:
        """Whether numbers come as text in columns that are declared text."""
        return False

    def tables(self) -> Iterator[tuple[tuple[Column, ...], int]]:
        """Columns in the order of the names, and their length, piece after piece."""
        raise NotImplementedError(f"{type(self).__name__} does not define `tables`")


def place(file: str, *, line: int | None = None, column: str | None = None, row: int | None = None) -> str:
    """Where something is: `people.csv, line 3, column `age``.

    >>> place("people.csv", line=3, column="age")
    'people.csv, line 3, column `age`'
    """
    parts = [file]
    if line is not None:
        parts.append(f"line {line}")
    if row is not None:
        parts.append(f"row {row}")
    if column is not None:
        parts.append(f"column `{column}`")
    return ", ".join(parts)


SKIP = "Correct the row, or skip malformed rows: " + parameter("bad_rows", "skip")


def contradiction(kind: str, column: str, value: object, where: str, *, weight: str | None = None) -> BadData:
    """A value that does not fit the type of its column."""
    if column == weight:
        return BadWeight("a weight must be a finite non-negative number", where=where, found=value, remedy=SKIP)
    remedy = "If the column is a category: " + declaring(column, "category")
    if kind == NUMBER and isinstance(value, str):
        from bayesbox.source.files.numerals import spelling_of

        spelling = spelling_of([value])
        if spelling is not None:
            remedy = "If it is a number: " + spelling.remedy(column)
    if isinstance(value, str) and 0 < len(value) <= 10:
        remedy += "; if this means missing: " + missing_mark(value)
    wanted = {NUMBER: "a number", FLAG: "true or false"}.get(kind, kind)
    what = f"expected {wanted} in this column"
    return KindContradiction(what, where=where, found=value, remedy=remedy, column=column)


def check_names(names: tuple[str, ...], file: str) -> None:
    """Every column has a name, no two the same, and there are not too many."""
    if len(names) > COLUMN_LIMIT:
        raise BadData(f"has more than {COLUMN_LIMIT} columns", where=file, found=len(names))
    seen: set[str] = set()
    for position, name in enumerate(names, start=1):
        if not name:
            raise BadData(
                f"column {position} has no name",
                where=file,
                remedy="Name it in the header; if pandas wrote its index, use index=False",
            )
        if name in seen:
            raise BadData(f"two columns are named `{name}`", where=file, remedy="Rename one of them")
        seen.add(name)


def same_columns(names: tuple[str, ...], file: str, reading: Reading) -> None:
    """All files of a set have the same columns, in any order, as far as they are read."""
    if reading.names is None:
        reading.names, reading.first_file = names, file
        return
    here, there = frozenset(names), frozenset(reading.names)
    lacking = [name for name in reading.names if name not in here and reading.kind_of(name) != UNREAD]
    added = [name for name in names if name not in there and reading.kind_of(name) != UNREAD]
    if lacking or added:
        parts = [f"lacks `{name}`" for name in lacking[:5]] + [f"adds `{name}`" for name in added[:5]]
        raise BadData(
            f"the columns differ from those of {reading.first_file}: it {', '.join(parts)}",
            where=file,
            remedy="Pass files with the same columns, or train on them one by one",
        )
