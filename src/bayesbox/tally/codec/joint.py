"""The joint tally of a book as a table of the model file: how each form of it is written and read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from bayesbox.file.faults import MemberFault, within
from bayesbox.tally.base import Tally
from bayesbox.tally.book import Book
from bayesbox.tally.codec import comoments as comoment_tables
from bayesbox.tally.codec import pairs as together_tables
from bayesbox.tally.comoments import CoMoments
from bayesbox.tally.dependent import Dependent
from bayesbox.tally.pairs import Pairs


class JointForm(NamedTuple):
    """How a joint tally becomes a table, and the table the tally; ValueError(reason) where it is not one."""

    tally: type
    write: Callable[[Any], bytes]
    read: Callable[[bytes, Book], Tally]  # the book has the classes, and the columns' own tallies


FORMS: dict[str, JointForm] = {
    CoMoments.form: JointForm(CoMoments, comoment_tables.write, comoment_tables.read),
    Dependent.form: JointForm(Dependent, together_tables.write_dependent, together_tables.read_dependent),
    Pairs.form: JointForm(Pairs, together_tables.write_pairs, together_tables.read_pairs),
}
"""Every form of tally of several columns together. A new one is saved once it is entered here."""


def members(book: Book) -> dict[str, bytes]:
    """The table of the joint tally by the name of its file; nothing where there is none."""
    if book.joint is None:
        return {}
    return {f"{book.joint.form}.arrow": FORMS[book.joint.form].write(book.joint)}


def completed(book: Book, tables: Mapping[str, bytes]) -> Book:
    """The book with the joint tally of these tables, where one is there. MemberFault if it is none."""
    found = [form for form in sorted(FORMS) if f"{form}.arrow" in tables]
    if not found:
        return book
    if len(found) > 1:
        raise MemberFault(f"{found[1]}.arrow", "the model has two tallies of columns together")
    member = f"{found[0]}.arrow"
    with within(member):
        joint = FORMS[found[0]].read(tables[member], book)
    return Book(book.classes, book.class_counts, book.columns, label_type=book.label_type, joint=joint)
