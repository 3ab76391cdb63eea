"""The table of distinct values: it comes back as it was, and one that no rows have is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import bayesbox as bb
from bayesbox.file import arrow as arrow_file
from bayesbox.tally.book import Book
from bayesbox.tally.codec import book as tally_tables
from bayesbox.tally.codec import values as value_tables

Columns = dict[str, list[Any]]


def book() -> Book:
    x, z = [1.0, 2.5, 2.5, -3.0], [0.5, None, 7.0, 7.0]
    return bb.NaiveBayes(numeric="kernel").fit({"x": x, "z": z}, ["b", "a", "b", "b"]).book_


def tables(given: Book) -> dict[str, bytes]:
    return tally_tables.members(given) | value_tables.members(given)


def read(members: dict[str, bytes]) -> Book:
    plain = tally_tables.book_of(members, "text", ("x", "z"))
    return value_tables.completed(plain, members)


def test_values_come_back() -> None:
    given = book()
    again = read(tables(given))
    assert again.digest() == given.digest()
    assert again["x"].values.tolist() == [-3.0, 1.0, 2.5]
    assert tables(again) == tables(given)


def crafted(change: Callable[[Columns], None]) -> dict[str, bytes]:
    members = tables(book())
    types = {
        "column": pa.string(),
        "class": pa.string(),
        "value": pa.float64(),
        "count": pa.int64(),
        "bits": pa.int64(),
    }
    found = arrow_file.read(members[value_tables.MEMBER], {name: (kind,) for name, kind in types.items()})
    columns = {name: column.to_pylist() for name, column in found.items()}
    change(columns)
    arrays = {name: pa.array(columns[name], type=kind) for name, kind in types.items()}
    return members | {value_tables.MEMBER: arrow_file.write(arrays)}


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
        (put("value", 0, float("nan")), "no number"),
        (put("value", 0, float("inf")), "no number"),
        (put("value", 0, -0.0), "no number"),
        (put("value", 0, 9.0), "not those of its values"),
        (put("count", 0, 0), "not above zero"),
        (put("count", 0, 2), "not as many"),
        (put("count", 0, -1), "not above zero"),
        (put("bits", 0, 52), "all of them as many"),
        (lambda columns: columns.update(bits=[0] * len(columns["bits"])), "1 to 53"),
        (lambda columns: columns.update(bits=[1] * len(columns["bits"])), "more binary digits"),
        (lambda columns: columns.update(column=[name * 2 for name in columns["column"]]), "without moments"),
        (put("class", 0, "c"), "has no rows"),
        (drop_last, "not as many"),
        (swap, "out of order"),
    ],
)
def test_values_that_no_rows_have(change: Callable[[Columns], None], reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as caught:
        read(crafted(change))
    assert caught.value.args[0] == value_tables.MEMBER


def test_a_model_without_its_values_is_refused(tmp_path: Any) -> None:
    clf = bb.NaiveBayes(numeric="kernel").fit({"x": np.arange(4.0)}, list("abab"))
    clf.save(tmp_path / "m.bayes")
    from bayesbox.file import container

    members = container.unpack((tmp_path / "m.bayes").read_bytes())
    del members[value_tables.MEMBER]
    (tmp_path / "less.bayes").write_bytes(container.pack(members))
    with pytest.raises(bb.BadModelFile):
        bb.load(tmp_path / "less.bayes")
