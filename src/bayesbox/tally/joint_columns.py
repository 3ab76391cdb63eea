"""The columns of rows for a joint tally: categories as codes, numbers as values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox.described import Remedy, declaring
from bayesbox.errors import BadOption, KindContradiction
from bayesbox.schema.columns import Column, Columns, as_numbers, whole_numbers
from bayesbox.schema.encode import MISSING, Encoded, encode
from bayesbox.schema.flags import FLAG_DIGITS, FLAG_LEVELS, flag_codes
from bayesbox.schema.kinds import Kind
from bayesbox.schema.schema import Schema
from bayesbox.tally.book import Book
from bayesbox.tally.comoments import CoMoments
from bayesbox.tally.count import checked_weights, count

NAIVE = Remedy("NaiveBayes", "--model naive")


class Roles(NamedTuple):
    """Which columns are levels of a tuple, and which are numbers."""

    categories: tuple[str, ...]
    numbers: tuple[str, ...]


def roles_of(schema: Schema, flags: Sequence[str] = ()) -> Roles:
    """The role of each column; `flags` are the numbers with only 0 and 1, which become levels."""
    categories, numbers = [], []
    for name in schema.used:
        kind = schema.kinds[name]
        if kind.part_of is not None:
            continue  # a joint table of month, weekday and hour would be nearly empty: a date is its seconds
        if kind.is_matrix or kind.is_text:
            what = "a sparse matrix of counts" if kind.is_matrix else f"free text such as column `{name}`"
            raise BadOption(
                f"full Bayes does not support {what}",
                remedy="Pass dense columns, or try " + NAIVE + ", which counts words one by one",
            )
        if kind.is_count:
            raise BadOption(
                f"full Bayes does not support counts such as column `{name}`",
                remedy="Declare it a number: " + declaring(name, "real"),
            )
        if kind.density not in (None, "gaussian"):
            raise BadOption(
                f"full Bayes models numbers as jointly normal, but column `{name}` is declared otherwise",
                found=kind.density,
                remedy="Remove its density, or try " + NAIVE,
            )
        if kind.is_number and kind.missing == "level":
            raise BadOption(
                f"full Bayes ignores missing numbers, but column `{name}` is declared to count them as a level",
                remedy="Try " + NAIVE + " for this",
            )
        if kind.has_levels or name in flags:
            categories.append(name)
        elif kind.is_number:
            numbers.append(name)
    return Roles(tuple(categories), tuple(numbers))


def numbers_that_are_flags(schema: Schema, book: Book) -> tuple[str, ...]:
    """The undeclared numbers that have only 0 and 1."""
    return tuple(
        name
        for name in schema.used
        if schema.kinds[name].may_be_flag and name in book and book[name].of_numbers and book[name].holds_only_flags
    )


def coded(
    name: str, column: Column, kind: Kind, *, flags: Sequence[str] = (), where: str | None = None
) -> tuple[NDArray[np.int32], list[str]]:
    """A category as codes and its levels; those of a flag are `false` and `true`, or 0 and 1 for a number."""
    if name in flags:
        return _flags_of_numbers(name, column, where), list(FLAG_DIGITS)
    if isinstance(column, np.ndarray) and column.dtype.kind == "f":
        column = whole_numbers(column)
    codes, texts, _ = encode(column)
    if not kind.is_flag:
        return codes, texts
    place = np.array([*flag_codes(texts, lambda: codes, name=name, where=where), MISSING], dtype=np.int32)
    return place[codes], list(FLAG_LEVELS)


def _flags_of_numbers(name: str, column: Column, where: str | None) -> NDArray[np.int32]:
    values = np.asarray(as_numbers(column, name=name, where=where), dtype=np.float64)
    missing = np.isnan(values)
    other = ~missing & (values != 0) & (values != 1)
    if other.any():
        raise KindContradiction(
            f"column `{name}` had only 0 and 1 when this model was first trained, so it is a flag",
            where=where,
            found=float(values[np.argmax(other)]),
            remedy="Declare its type and train again: " + declaring(name, "real"),
            column=name,
        )
    return np.where(missing, MISSING, values).astype(np.int32)


def count_all(columns: Columns, labels: Encoded, schema: Schema, *, flags: Sequence[str] = (), **options: Any) -> Book:
    """The book of these rows: each column separately, and all of them jointly."""
    book = count(columns, labels, schema, **options)
    if not book.classes:
        return book
    weights, where = options.get("weights"), options.get("where")
    joint = count_together(columns, labels, schema, book, flags=flags, weights=weights, where=where)
    return book.with_tallies(book.columns, joint=joint)


def count_together(
    columns: Columns,
    labels: Encoded,
    schema: Schema,
    book: Book,
    *,
    flags: Sequence[str] = (),
    weights: object = None,
    where: str | None = None,
) -> CoMoments:
    """The joint tally of the columns of these rows; `book` has each column separately."""
    roles = roles_of(schema, flags)
    categories = {
        name: coded(name, columns[name], schema.kinds[name], flags=flags, where=where)
        for name in roles.categories
        if name in columns and name in book
    }
    numbers = {
        name: as_numbers(columns[name], name=name, where=where)
        for name in roles.numbers
        if name in columns and name in book
    }
    gaps = [name for name in numbers if book[name].sums.n != book.class_counts]
    codes = np.asarray(labels.codes, dtype=np.int32)
    weights = checked_weights(weights, len(codes))
    joint = CoMoments.of(tuple(labels.levels), codes, categories, numbers, weights, gaps=gaps)
    return joint.with_classes(book.classes)
