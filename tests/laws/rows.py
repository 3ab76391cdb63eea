"""For every registered tally: how its rows are drawn, and how they are counted."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

import bayesbox.tally
from bayesbox.schema.columns import CountMatrix
from bayesbox.schema.encode import Encoded, encode
from bayesbox.schema.kinds import Category, CountGroup, Kind, Real
from bayesbox.schema.schema import Schema
from bayesbox.tally.base import TALLIES
from bayesbox.tally.book import Book
from bayesbox.tally.comoments import CoMoments
from bayesbox.tally.count import count
from bayesbox.tally.dependent import Dependent
from bayesbox.tally.pairs import Pairs

for module in pkgutil.iter_modules(bayesbox.tally.__path__):
    importlib.import_module(f"bayesbox.tally.{module.name}")  # so that every tally is registered


class Row(NamedTuple):
    """A label, a value and a weight."""

    label: str
    value: Any
    weight: float


class Make(NamedTuple):
    """The kind of the column, its values, and the form in which the counter takes them."""

    kind: Kind
    values: st.SearchStrategy[Any]
    column: Callable[[Sequence[Any]], Any]


WORDS = 3


def as_matrix(values: Sequence[Sequence[int]]) -> CountMatrix:
    dense = np.array(values, dtype=np.float64).reshape(len(values), WORDS)
    rows, columns = np.nonzero(dense)
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(values)))])
    return CountMatrix(starts.astype(np.int32), columns.astype(np.int32), dense[rows, columns], WORDS)


def as_doubles(values: Sequence[float | None]) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def as_text(values: Sequence[str | None]) -> pa.Array:
    return pa.array(values, type=pa.string())


NUMBERS = st.one_of(
    st.none(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-3, 3).map(float),
    st.sampled_from([1e12 + 1, 1e300, -1e300, 1e-300, 5e-324, 0.1]),
)

MAKES: dict[str, Make] = {
    "counts": Make(Category(), st.sampled_from(["a", "b", "c", "ä", None]), as_text),
    "moments": Make(Real(), NUMBERS, as_doubles),
    "grid": Make(Real("robust"), NUMBERS, as_doubles),
    "values": Make(Real("kernel"), NUMBERS, as_doubles),
    "words": Make(CountGroup(width=WORDS), st.tuples(*[st.integers(0, 3)] * WORDS), as_matrix),
}

PAIR = st.tuples(*[st.sampled_from(["a", "b", "ä", None])] * 3)


def coded(values: Sequence[Sequence[str | None]]) -> dict[str, Any]:
    """Three columns of codes and their levels."""
    columns = (encode(as_text([row[place] for row in values])) for place in range(3))
    return {name: (column.codes, column.levels) for name, column in zip("pqr", columns, strict=True)}


def pairs_of(values: Sequence[Any], labels: Encoded, weights: np.ndarray) -> Pairs:
    return Pairs.of(tuple(labels.levels), coded(values), labels.codes, weights)


def dependent_of(values: Sequence[Any], labels: Encoded, weights: np.ndarray) -> Dependent:
    arcs: dict[str, tuple[str, ...]] = {"p": (), "q": ("p",), "r": ("q", "p")}
    return Dependent.of(tuple(labels.levels), arcs, coded(values), labels.codes, weights)


def comoments(values: Sequence[Any], labels: Encoded, weights: np.ndarray) -> CoMoments:
    kind, one, other = ([row[place] for row in values] for place in range(3))
    codes, levels, _ = encode(as_text(kind))
    numbers = {"one": as_doubles(one), "other": as_doubles(other)}
    return CoMoments.of(tuple(labels.levels), labels.codes, {"kind": (codes, levels)}, numbers, weights)


class Together(NamedTuple):
    """The values of a row in several columns, and the tally of these columns together."""

    values: st.SearchStrategy[Any]
    count: Callable[[Sequence[Any], Encoded, np.ndarray], Any]
    present: Any  # a row that has values


TOGETHER: dict[str, Together] = {
    "comoments": Together(st.tuples(st.sampled_from(["a", "b", None]), NUMBERS, NUMBERS), comoments, ("a", 2.5, 0.1)),
    "dependent": Together(PAIR, dependent_of, ("a", "b", "a")),
    "pairs": Together(PAIR, pairs_of, ("a", "b", "a")),
}

FORMS = sorted(TALLIES)

WEIGHTS = st.sampled_from([1.0, 1.0, 2.0, 0.5, 0.1, 3.0, 0.0])


def rows_of(form: str, *, min_size: int = 0, max_size: int = 6) -> st.SearchStrategy[list[Row]]:
    """Some rows for a tally of this form."""
    values = TOGETHER[form].values if form in TOGETHER else MAKES[form].values
    row = st.builds(Row, st.sampled_from(["x", "y", "z"]), values, WEIGHTS)
    return st.lists(row, min_size=min_size, max_size=max_size)


def book_of(form: str, rows: Sequence[Row]) -> Book:
    """The book of a table whose only column is `column`."""
    if not rows:
        return Book.empty()
    labels = encode(as_text([row.label for row in rows]))
    weights = np.array([row.weight for row in rows])
    if form in TOGETHER:
        book = count({}, labels, Schema({}), weights=weights)
        joint = TOGETHER[form].count([row.value for row in rows], labels, weights).with_classes(book.classes)
        return Book(book.classes, book.class_counts, {}, joint=joint).pruned()
    make = MAKES[form]
    column = make.column([row.value for row in rows])
    return count({"column": column}, labels, Schema({"column": make.kind}), weights=weights)


def tally_of(form: str, rows: Sequence[Row]) -> Any:
    """The tally of these rows; an empty one where none has a value."""
    book = book_of(form, rows)
    if form in TOGETHER:
        one = book_of(form, [Row("x", value_of(form), 1.0)]).joint
        return book.joint if book.joint is not None else one.zero()
    if "column" in book:
        return book["column"]
    return book_of(form, [Row("x", value_of(form), 1.0)])["column"].zero()


def value_of(form: str) -> Any:
    """One value that is present."""
    if form in TOGETHER:
        return TOGETHER[form].present
    return {"counts": "a", "grid": 2.5, "moments": 2.5, "values": 2.5, "words": (1, 0, 2)}[form]


def text_of(tally: Any) -> bytes:
    """A tally as its canonical bytes."""
    return b"".join(tally.canonical())
