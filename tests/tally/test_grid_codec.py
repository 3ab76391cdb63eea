"""The table of grids: it comes back as it was, and one that no rows have is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
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
MEMBER = "grid.arrow"


def book(weights: list[float] | None = None) -> Book:
    x, z = [1.0, 2.5, 2.5, -3.0], [0.0, None, 7.0, 7.0]
    clf = bb.NaiveBayes(numeric="robust").fit({"x": x, "z": z}, ["b", "a", "b", "b"], sample_weight=weights)
    return clf.book_


def read(tables: dict[str, bytes]) -> Book:
    return book_from_arrow(tables, "text", ("x", "z"))


@pytest.mark.parametrize("weights", [None, [0.1, 2.0, 0.3, 1e-20]])
def test_grids_come_back(weights: list[float] | None) -> None:
    given = book(weights)
    again = read(book_to_arrow(given))
    assert again.digest() == given.digest()
    assert again["z"] == given["z"]
    assert book_to_arrow(again) == book_to_arrow(given)


def crafted(change: Callable[[Columns], None]) -> dict[str, bytes]:
    members = book_to_arrow(book())
    types = {"column": pa.string(), "class": pa.string(), "cell": pa.int64(), "count": pa.int64()}
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
    "change",
    [
        put("cell", 0, 16_377),
        put("cell", 0, -40_000),
        put("count", 0, 0),
        put("count", 0, 2),
        put("count", 0, -1),
        put("class", 0, "c"),
        lambda columns: columns.update(column=[name * 2 for name in columns["column"]]),
        drop_last,
        swap,
    ],
)
def test_grids_that_no_rows_have(change: Callable[[Columns], None]) -> None:
    with pytest.raises(MemberFault) as caught:
        read(crafted(change))
    assert caught.value.member == MEMBER


def test_a_model_without_its_grids_is_refused(tmp_path: Path) -> None:
    clf = bb.NaiveBayes(numeric="robust").fit({"x": np.arange(4.0) * 3}, list("abab"))
    clf.save(tmp_path / "m.bayes")
    members = container.unpack((tmp_path / "m.bayes").read_bytes())
    del members[MEMBER]
    (tmp_path / "less.bayes").write_bytes(container.pack(members))
    with pytest.raises(bb.BadModelFile):
        bb.load(tmp_path / "less.bayes")
