"""A book as Arrow tables: the class counts, and the tables of each form of tally.

    classes.arrow   class, count
    ledger.arrow    lane: the hash of the rows, if one is kept

A tally defines its tables (`Tally.members`, `to_arrow` and `from_arrow`), and is found through the registry. Only
non-zero counts have a row, rows are sorted by their texts, and no row is repeated: equal books give equal tables.
Numbers are exact: a column of numbers is int64 if all of them fit, else text, in which `-1bp-3` is -27 / 8: hexadecimal
digits and a power of two, as `float.fromhex` and C read them.
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import cast

from bayesbox.file import arrow
from bayesbox.file.arrow import TEXT, WHOLE
from bayesbox.file.faults import require_members, within
from bayesbox.schema.arrays import text_array
from bayesbox.schema.levels import label_order
from bayesbox.tally.base import TALLIES, StoredTally, Tally
from bayesbox.tally.book import TOGETHER, Book
from bayesbox.tally.codec.columns import Exact, exact_column, require_ordered
from bayesbox.tally.ledger import Ledger

CLASSES = "classes.arrow"  # always there
MODULES = {
    "comoments.arrow": "comoments",
    "counts.arrow": "counts",
    "dependent.arrow": "dependent",
    "grid.arrow": "grid",
    "moments.arrow": "moments",
    "pairs.arrow": "pairs",
    "values.arrow": "values",
    "vocabulary.arrow": "words",
    "word-counts.arrow": "words",
    "words.arrow": "words",
}
"""The tables of the tallies of this package, and the modules that register them."""

_COLUMNS = {"class": (TEXT,), "count": (WHOLE, TEXT)}


def forms(tables: Collection[str] = MODULES) -> list[type[StoredTally]]:
    """Every registered tally, including those of these tables, in the order of the file: of columns, extending another,
    joint."""
    for table in tables:
        if table in MODULES:
            importlib.import_module(f"bayesbox.tally.{MODULES[table]}")
    return sorted(TALLIES.values(), key=lambda tally: (tally.together, _depth(tally), tally.form))


def _depth(tally: type[StoredTally]) -> int:
    return 0 if tally.extends is None else 1 + _depth(TALLIES[tally.extends])


def member_names(tables: Collection[str] = MODULES) -> tuple[str, ...]:
    """The tables among these names that `book_to_arrow` may write; the first is always present."""
    return (CLASSES, *(member for form in forms(tables) for member in form.members), Ledger.member)


def book_to_arrow(book: Book) -> dict[str, bytes]:
    """The tables of a book by file name; a form without a tally has none."""
    present = book.class_counts.signs() != 0
    book = book.with_classes(tuple(sorted(itertools.compress(book.classes, present))))
    by_form: dict[str, dict[str, StoredTally]] = {}
    for name in sorted(book):
        tally, form = book[name], book[name].form
        while form is not None:
            by_form.setdefault(form, {})[name] = tally
            form = _registered(form).extends
    if book.joint is not None:
        by_form[_registered(book.joint.form).form] = {TOGETHER: cast("StoredTally", book.joint)}
    tables = {CLASSES: _write_classes(book)}
    for each in forms(()):
        if each.form in by_form:
            tables |= each.to_arrow(by_form[each.form])
    if book.ledger is not None:
        tables[Ledger.member] = book.ledger.to_arrow()
    return tables


def _registered(form: str) -> type[StoredTally]:
    if form not in TALLIES:
        raise ValueError(f"its tallies of {form} are not registered")
    return TALLIES[form]


def book_from_arrow(tables: Mapping[str, bytes], label_type: str, order: Sequence[str]) -> Book:
    """The book in these tables, its columns in the given order as far as they are named.

    MemberFault if a table is not as `book_to_arrow` writes it.
    """
    require_members(tables, known=tables, needed=(CLASSES,))
    with within(CLASSES):
        book = _read_classes(tables[CLASSES], label_type)
    for form in forms(tables):
        if any(member in tables for member in form.members):
            require_members(tables, known=tables, needed=form.members)
            with within(form.members[0]):
                found = form.from_arrow({member: tables[member] for member in form.members}, book)
                book = _completed(book, form, found)
    columns = {name: book.columns[name] for name in order if name in book} | book.columns
    book = book.with_tallies(columns, joint=book.joint)
    if Ledger.member in tables:
        with within(Ledger.member):
            book = book.with_ledger(Ledger.from_arrow(tables[Ledger.member]))
    return book.with_classes(tuple(label_order(list(book.classes), label_type)))


def _completed(book: Book, form: type[StoredTally], found: Mapping[str, Tally]) -> Book:
    """The book with these tallies added."""
    columns, joint = book.columns, book.joint
    if form.together:
        if joint is not None:
            raise ValueError("the model has two joint tallies")
        joint = found[TOGETHER]
    else:
        for name in found:
            before = columns[name].form if name in columns else None
            if before != form.extends:
                raise ValueError(
                    f"a column has two tallies: `{name}`"
                    if form.extends is None
                    else f"column `{name}` has {form.form} without {form.extends}"
                )
        columns = {**columns, **found}
    return book.with_tallies(columns, joint=joint)


def _write_classes(book: Book) -> bytes:
    return arrow.write({"class": text_array(book.classes), "count": exact_column([book.class_counts])})


def _read_classes(data: bytes, label_type: str) -> Book:
    table = arrow.read(data, _COLUMNS)
    texts = tuple(table["class"].to_pylist())
    require_ordered(texts, "classes")
    counts = Exact(table["count"])[0 : len(texts)]
    if (counts.signs() <= 0).any():
        raise ValueError("a class has a count that is not positive")
    return Book(texts, counts, {}, label_type=label_type)
