"""A sparse table of counts is the dense one to the last byte, and takes no more than its rows."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pytest
from tests.refusal import refusal

from bayesbox._core import ExactArray
from bayesbox.errors import TooCostly
from bayesbox.limits import limit_context
from bayesbox.schema.encode import encode
from bayesbox.schema.schema import Schema
from bayesbox.tally.base import digest_of
from bayesbox.tally.book import Book
from bayesbox.tally.codec.book import book_from_arrow, book_to_arrow
from bayesbox.tally.count import count
from bayesbox.tally.counts import Counts
from bayesbox.tally.sparse_counts import SparseCounts

CLASSES, LEVELS, ROWS = 1500, 1200, 6000


def rows(seed: int, size: int = ROWS) -> tuple[pa.Array, pa.Array, np.ndarray]:
    random = np.random.default_rng(seed)
    levels = pa.array([f"v{index}" for index in random.integers(0, LEVELS, size)])
    labels = pa.array([f"c{index}" for index in random.integers(0, CLASSES, size)])
    return levels, labels, random.integers(1, 9, size) / 4


def book_of(seed: int, *, weighted: bool = False) -> Book:
    levels, labels, weights = rows(seed)
    schema = Schema.of({"v": levels})
    return count({"v": levels}, encode(labels), schema, weights=weights if weighted else None)


def dense(tally: SparseCounts) -> Counts:
    return Counts(tally.classes, tally.levels, tally.cells)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_digest_and_the_file_are_those_of_the_dense_table(weighted: bool) -> None:
    book = book_of(0, weighted=weighted)
    sparse = book["v"]
    assert isinstance(sparse, SparseCounts)
    plain = Book(book.classes, book.class_counts, {"v": dense(sparse)})
    assert sparse == plain["v"]
    assert digest_of(sparse.canonical()) == digest_of(plain["v"].canonical())
    assert book.digest() == plain.digest()
    assert book_to_arrow(book) == book_to_arrow(plain)
    read = book_from_arrow(book_to_arrow(book), "text", ("v",))
    assert isinstance(read["v"], SparseCounts)
    assert read == book
    assert pickle.loads(pickle.dumps(sparse)) == sparse


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_and_differences_are_those_of_dense_tables(weighted: bool) -> None:
    one, other = book_of(1, weighted=weighted)["v"], book_of(2, weighted=weighted)["v"]
    both = one + other
    assert isinstance(both, SparseCounts)
    assert both == dense(one) + dense(other)
    assert both - other == one
    assert (both - one - other).is_empty()
    assert not (one - both).is_possible()
    assert np.array_equal(both.counts, dense(both).counts)
    for name in ("n", "levels", "classes"):
        assert np.array_equal(getattr(both, name), getattr(dense(both), name))
    assert both.by_level() == dense(both).by_level()
    assert both.totals() == dense(both).totals()
    assert np.array_equal(both.most_by_level(), dense(both).most_by_level())
    fewer = tuple(reversed(both.classes[::7]))
    assert both.with_classes(fewer) == dense(both).with_classes(fewer)
    assert np.array_equal(both.with_classes(fewer).counts, dense(both).with_classes(fewer).counts)


def test_a_table_becomes_sparse_when_it_grows_empty_and_dense_when_it_fills() -> None:
    half = ROWS // 2
    levels, labels, _ = rows(3)
    schema = Schema.of({"v": levels})
    parts = [
        count({"v": levels[part]}, encode(labels[part]), schema)
        for part in (slice(0, 40), slice(40, half), slice(half, ROWS))
    ]
    assert type(parts[0]["v"]) is Counts
    total = parts[0] + parts[1] + parts[2]
    assert isinstance(total["v"], SparseCounts)
    assert total == book_of(3)
    few = total.with_classes(total.classes[:2])
    assert type(few["v"]) is Counts
    full = ExactArray.from_integers(np.ones(CLASSES * 800, dtype=np.int64))
    names = tuple(sorted(f"c{index}" for index in range(CLASSES)))
    filled = Counts(names, tuple(sorted(f"v{index}" for index in range(800))), full)
    assert type(total["v"] + filled) is Counts


def test_what_needs_all_cells_at_once_is_refused_with_the_bytes() -> None:
    tally = book_of(4)["v"]
    with limit_context(memory="8 MiB"), refusal(TooCostly, limit=8 << 20):
        _ = tally.cells
    assert len(tally.cells) == len(tally.classes) * len(tally.levels)
