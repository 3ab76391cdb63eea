"""What the readers of all file formats share: options, the types of the columns, skipped rows."""

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
UNREAD = "not read"  # columns that are not used are not parsed, so they cannot cause errors

FEW_TEXTS = 20  # a numeric column may have one text per this many values,
MANY_NUMBERS = 20  # if it has more distinct numbers than a category would


def is_broken_number(texts: int, values: int, different: int) -> bool:
    """Whether a column is numeric with a few invalid texts, given the numbers of texts, values and distinct numbers.

    >>> is_broken_number(1, 500, different=90), is_broken_number(1, 500, different=4)
    (True, False)
    """
    return texts * FEW_TEXTS <= values and different > MANY_NUMBERS


@dataclass
class Reading:
    """The state of one pass over a set of files: the options, and the types found so far."""

    text: frozenset[str] = frozenset()
    number: frozenset[str] = frozenset()
    documents: frozenset[str] = frozenset()  # columns whose texts may be long
    unread: frozenset[str] = frozenset()  # columns that are not parsed,
    only: frozenset[str] | None = None  # or all except these, if given
    as_text: bool = False  # whether unnamed columns are read as text
    na: tuple[str, ...] = ()
    skip: bool = False
    threads: int = 1
    refuse_mixed: bool = False
    finite: bool = False  # whether an infinite number makes a row malformed
    weight: str | None = None  # the column of the weights
    dialect: TextDialect = AS_WRITTEN
    skipped: Skipped = field(default_factory=Skipped)
    kinds: dict[str, str] = field(default_factory=dict)
    noted: set[str] = field(default_factory=set)  # columns with currency or percent signs, reported
    spelled: set[str] = field(default_factory=set)  # columns with numbers in a format that Arrow does not parse
    names: tuple[str, ...] | None = None
    first_file: str = ""

    def kind_of(self, name: str) -> str | None:
        """NUMBER, FLAG, TEXT or UNREAD; None until a value of the column is seen."""
        if name in self.unread or (self.only is not None and name not in self.only):
            return UNREAD
        if name in self.text:
            return TEXT
        if name in self.number:
            return NUMBER
        return self.kinds.get(name, TEXT if self.as_text else None)

    def cell_limit(self, name: str) -> int:
        """The maximum bytes of a cell of a column."""
        return DOCUMENT_LIMIT if name in self.documents else CELL_LIMIT

    @property
    def row_limit(self) -> int:
        """The maximum bytes of a row."""
        return ROW_LIMIT + DOCUMENT_LIMIT * len(self.documents)

    def report(self, error: BadData) -> None:
        """Raise the error of a malformed row, or count it if rows are skipped."""
        if not self.skip:
            raise error
        self.skipped.add(error)


class OpenedFile:
    """A file opened in its format; a format must define `names` and `tables`."""

    names: tuple[str, ...] = ()
    """The names of the columns."""

    schema: pa.Schema | None = None
    """The types of the columns, if the file has them."""

    share_read: float | None = None
    """The share of the rows read so far, if the file states their number."""

    @property
    def untyped(self) -> bool:
        """Whether columns declared as text may have numbers."""
        return False

    def tables(self) -> Iterator[tuple[tuple[Column, ...], int]]:
        """Pieces of the rows: columns in the order of the names, and their length."""
        raise NotImplementedError(f"{type(self).__name__} does not define `tables`")


def place(file: str, *, line: int | None = None, column: str | None = None, row: int | None = None) -> str:
    """A location for messages: `people.csv, line 3, column `age``.

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
    """Raise an error unless every column has a unique name and there are not too many."""
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
    """Raise an error unless a file has the same columns as the first, in any order, as far as they are read."""
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
