"""The table of distinct values: it comes back as it was, and one that no rows have is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import bayesbox as bb
from bayesbox.file import arrow, container
from bayesbox.file.faults import MemberFault
from bayesbox.tally.book import Book
from bayesbox.tally.codec.book import book_from_arrow, book_to_arrow

Columns = dict[str, list[Any]]
MEMBER = "values.arrow"


def book() -> Book:
    x, z = [1.0, 2.5, 2.5, -3.0], [0.5, None, 7.0, 7.0]
    return bb.NaiveBayes(numeric="kernel").fit({"x": x, "z": z}, ["b", "a", "b", "b"]).book_


def read(tables: dict[str, bytes]) -> Book:
    return book_from_arrow(tables, "text", ("x", "z"))


def test_values_come_back() -> None:
    given = book()
    again = read(book_to_arrow(given))
    assert again.digest() == given.digest()
    assert again["x"].values.tolist() == [-3.0, 1.0, 2.5]
    assert book_to_arrow(again) == book_to_arrow(given)


def crafted(change: Callable[[Columns], None]) -> dict[str, bytes]:
    members = book_to_arrow(book())
    types = {
        "column": pa.string(),
        "class": pa.string(),
        "value": pa.float64(),
        "count": pa.int64(),
        "bits": pa.int64(),
    }
    found = arrow.read(members[MEMBER], {name: (kind,) for name, kind in types.items()})
    columns = {name: column.to_pylist() for name, column in found.items()}
    change(columns)
    arrays = {name: pa.array(columns[name], type=kind) for name, kind in types.items()}
    return members | {MEMBER: arrow.write(arrays)}


def put(name: str, row: int, value: Any) -> Callable[[Columns], None]:
    def change(columns: Columns) -> None:
        columns[name][row] = value

    return change


def drop_last(columns: Columns) -> None:
    for column in columns.values():
        column.pop()


def swap(columns: Columns) -> None:
    for column in columns.values():
        column[1], column[2] = column[2], column[1]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (put("value", 0, float("nan")), "not a number"),
        (put("value", 0, float("inf")), "not a number"),
        (put("value", 0, -0.0), "not a number"),
        (put("value", 0, 9.0), "do not match its values"),
        (put("count", 0, 0), "not positive"),
        (put("count", 0, 2), "does not match its moments"),
        (put("count", 0, -1), "not positive"),
        (put("bits", 0, 52), "the same for all"),
        (lambda columns: columns.update(bits=[0] * len(columns["bits"])), "1 to 53"),
        (lambda columns: columns.update(bits=[1] * len(columns["bits"])), "more binary digits"),
        (lambda columns: columns.update(column=[name * 2 for name in columns["column"]]), "without moments"),
        (put("class", 0, "c"), "has no rows"),
        (drop_last, "does not match its moments"),
        (swap, "out of order"),
    ],
)
def test_values_that_no_rows_have(change: Callable[[Columns], None], reason: str) -> None:
    with pytest.raises(MemberFault, match=reason) as caught:
        read(crafted(change))
    assert caught.value.member == MEMBER


def test_a_model_without_its_values_is_refused(tmp_path: Any) -> None:
    clf = bb.NaiveBayes(numeric="kernel").fit({"x": np.arange(4.0)}, list("abab"))
    clf.save(tmp_path / "m.bayes")
    members = container.unpack((tmp_path / "m.bayes").read_bytes())
    del members[MEMBER]
    (tmp_path / "less.bayes").write_bytes(container.pack(members))
    with pytest.raises(bb.BadModelFile):
        bb.load(tmp_path / "less.bayes")
