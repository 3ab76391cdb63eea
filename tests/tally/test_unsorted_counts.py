"""Counts of many levels, added up as bytes: the same tally to the last byte as texts counted one by one."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.refusal import refusal

import bayesbox as bb
from bayesbox._core import ExactArray, LevelDictionary
from bayesbox.errors import BadData
from bayesbox.schema.encode import encode
from bayesbox.schema.schema import Schema
from bayesbox.tally import book as books
from bayesbox.tally import count as counting
from bayesbox.tally.base import digest_of
from bayesbox.tally.codec.book import book_to_arrow
from bayesbox.tally.counts import Counts
from bayesbox.tally.unsorted_counts import MANY_LEVELS, UnsortedCounts

LETTERS = ["", "a", "b", "é", "z", "日本", "\U0001f600", "\x00", "aa", "A", "true", "1"]
batches = st.lists(
    st.lists(st.tuples(st.sampled_from(LETTERS), st.sampled_from(["x", "y", "z"]), st.integers(1, 8)), max_size=12),
    min_size=1,
    max_size=5,
)


def book_of(rows: list[tuple[str, str, int]], *, weighted: bool = False) -> books.Book:
    levels, labels, eighths = zip(*rows, strict=True) if rows else ((), (), ())
    column = pa.array(levels, pa.string())
    weights = np.array(eighths, dtype=np.float64) / 8 if weighted else None
    schema = Schema.of({"v": column})
    return counting.count({"v": column}, encode(pa.array(labels, pa.string())), schema, weights=weights)


@pytest.fixture
def every_column_unsorted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "MANY_LEVELS", 1)


@pytest.mark.parametrize("weighted", [False, True])
@given(parts=batches)
@settings(max_examples=60)
def test_any_sum_of_batches_is_what_was_counted(weighted: bool, parts: list[list[tuple[str, str, int]]]) -> None:
    expected: Counter[tuple[str, str]] = Counter()
    for level, label, eighths in (row for part in parts for row in part):
        expected[label, level] += Fraction(eighths, 8) if weighted else 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "MANY_LEVELS", 1)
        mine = [book_of(part, weighted=weighted) for part in parts]
        patch.setattr(counting, "MANY_LEVELS", 1 << 30)
        plain = [book_of(part, weighted=weighted) for part in parts]
    assert all(isinstance(book["v"], UnsortedCounts) for book in mine if "v" in book)
    total, mixed, other = mine[0], plain[0], plain[0]
    for place, (one, two) in enumerate(zip(mine[1:], plain[1:], strict=True)):
        total, mixed, other = total + one, mixed + (one if place % 2 else two), other + two
    assert total.digest() == mixed.digest() == other.digest()
    assert book_to_arrow(total) == book_to_arrow(other)
    if expected:
        tally = total["v"]
        assert tally.levels == tuple(sorted({level for _, level in expected}))
        found = {
            (label, level): Fraction(*float(tally.counts[i, j]).as_integer_ratio())
            for i, label in enumerate(tally.classes)
            for j, level in enumerate(tally.levels)
            if tally.counts[i, j]
        }
        assert found == expected


def test_sums_that_share_a_dictionary_do_not_see_each_other(every_column_unsorted: None) -> None:
    base = book_of([("b", "x", 1)])["v"] + book_of([("a", "x", 1)])["v"]
    left, right = base + book_of([("c", "x", 1)])["v"], base + book_of([("d", "x", 1), ("d", "x", 1)])["v"]
    assert (base.levels, left.levels, right.levels) == (("a", "b"), ("a", "b", "c"), ("a", "b", "d"))
    assert (left + right).counts.tolist() == [[2, 2, 1, 2]]
    assert left - base == book_of([("c", "x", 1)])["v"]
    assert not (base - left).is_possible()


def test_equal_texts_of_one_dictionary_are_one_level() -> None:
    texts = pa.array(["b", "a", "b"])
    tally = UnsortedCounts.of_dictionary(("x",), texts, ExactArray.from_integers(np.array([1, 2, 4])))
    assert (tally.levels, tally.counts.tolist()) == (("a", "b"), [[2, 5]])
    assert (tally + tally).counts.tolist() == [[4, 10]]


def test_copies_and_new_classes(every_column_unsorted: None) -> None:
    tally = book_of([("b", "x", 1), ("a", "y", 1)])["v"]
    assert digest_of(pickle.loads(pickle.dumps(tally)).canonical()) == digest_of(tally.canonical())
    assert copy.deepcopy(tally) == tally
    fresh = book_of([("b", "x", 1), ("a", "y", 1)])["v"]
    wider = fresh.with_classes(("w", "x", "y"))
    assert isinstance(wider, UnsortedCounts)
    assert wider.counts.tolist() == [[0, 0], [0, 1], [1, 0]]
    assert fresh.with_classes(("y",)).levels == ("a",)
    assert fresh.zero() + fresh == fresh
    assert not fresh.is_empty()


def test_a_file_read_in_batches_and_by_threads_keeps_its_levels_in_the_core(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(0)
    levels = np.array([f"customer {index}" for index in range(2000)])[random.integers(0, 2000, 200_000)]
    labels = np.array(["a", "b"])[random.integers(0, 2, 200_000)]
    table = pa.table({"customer": levels, "y": labels})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=40_000)
    settled: list[int] = []
    really = UnsortedCounts._sorted
    monkeypatch.setattr(UnsortedCounts, "_sorted", lambda self: settled.append(self.width) or really(self))
    digests = []
    for threads in (1, 2, 3, 5):
        settled.clear()
        model = bb.train(tmp_path / "rows.parquet", target="y", threads=threads)
        digests.append(model.book_.digest())
        assert settled == [2000], "levels become texts once, at the end"
    assert {*digests} == {bb.NaiveBayes().fit(table.select(["customer"]), labels).book_.digest()}


def test_too_many_levels_are_refused_before_they_are_texts(
    monkeypatch: pytest.MonkeyPatch, every_column_unsorted: None
) -> None:
    monkeypatch.setattr(books, "LEVEL_LIMIT", 3)
    one, other = book_of([("a", "x", 1), ("b", "x", 1)]), book_of([("c", "x", 1), ("d", "x", 1)])
    assert (one + one).digest()
    with refusal(BadData, found="4 levels"):
        one + other


def test_a_dictionary_knows_its_levels_by_their_bytes() -> None:
    dictionary = LevelDictionary()
    letters = np.frombuffer("suvéa".encode(), dtype=np.uint8)
    offsets = np.array([0, 3, 5, 6])
    assert dictionary.codes(letters, offsets).tolist() == [0, 1, 2]
    assert dictionary.codes(letters, np.array([0, 3, 3, 6])).tolist() == [0, 3, 4]  # the same letters, cut otherwise
    assert dictionary.codes(letters, offsets).tolist() == [0, 1, 2]
    assert len(dictionary) == 5
    order = dictionary.sorted(np.arange(5))
    assert dictionary.texts(order) == sorted(["suv", "é", "a", "", "éa"])
    other = LevelDictionary()
    assert other.codes_of(dictionary).tolist() == [0, 1, 2, 3, 4]
    for code in (-1, 5):
        with pytest.raises(ValueError, match="no such level"):
            dictionary.texts(np.array([code]))
    with pytest.raises(ValueError, match="past the end"):
        dictionary.codes(letters, np.array([0, 7]))


def test_a_dictionary_adds_what_was_counted_by_other_texts() -> None:
    dictionary = LevelDictionary()
    letters, offsets = np.frombuffer(b"suv", dtype=np.uint8), np.array([0, 1, 2, 3])
    none, counted = ExactArray(0), ExactArray.from_integers(np.arange(6))
    first = dictionary.sum(none, letters, offsets, counted, 2)
    assert first.to_integers().tolist() == [0, 1, 2, 3, 4, 5]
    more = np.frombuffer(b"vsxs", dtype=np.uint8)
    second = dictionary.sum(first, more, np.array([0, 1, 2, 3, 4]), ExactArray.from_integers(np.arange(8)), 2)
    assert second.to_integers().tolist() == [2 + 6, 1 + 3 + 7, 2, 3, 4, 5 + 1, 4, 5]
    assert len(none) == 0
    assert first.to_integers().tolist() == [0, 1, 2, 3, 4, 5]
    for cells, other, classes in ((first, counted, 0), (first, ExactArray(5), 2), (ExactArray(10), counted, 2)):
        with pytest.raises(ValueError, match=r"classes|counted|cells"):
            dictionary.sum(cells, letters, offsets, other, classes)


def test_a_dictionary_adds_what_was_counted_by_another() -> None:
    one, other = LevelDictionary(), LevelDictionary()
    one.codes(np.frombuffer(b"suv", dtype=np.uint8), np.arange(4))
    other.codes(np.frombuffer(b"vxs", dtype=np.uint8), np.arange(4))
    mine, theirs = ExactArray.from_integers(np.arange(6)), ExactArray.from_integers(np.arange(4))
    total = one.sum_of(mine, other, theirs, 2)  # of "v" and "x" only, since there are no cells of "s"
    assert total.to_integers().tolist() == [0, 1, 2, 3, 4 + 0, 5 + 1, 2, 3]
    assert (len(one), len(other)) == (4, 3)
    assert one.sum_of(total, one, total, 2).to_integers().tolist() == [2 * n for n in total.to_integers()]
    for cells, counted, classes in ((mine, theirs, 0), (mine, ExactArray(5), 2), (mine, ExactArray(8), 2)):
        with pytest.raises(ValueError, match=r"classes|counted"):
            one.sum_of(cells, other, counted, classes)


def test_threads_may_share_a_dictionary() -> None:
    dictionary, texts = LevelDictionary(), [f"level {index}" for index in range(3000)]

    def counted(part: int) -> np.ndarray:
        mine = texts[part::4] + texts[:: part + 1]
        letters = np.frombuffer("".join(mine).encode(), dtype=np.uint8)
        codes = dictionary.codes(letters, np.cumsum([0, *map(len, mine)]))
        assert dictionary.texts(codes) == mine
        cells = dictionary.sum(ExactArray(0), letters, np.cumsum([0, *map(len, mine)]), ExactArray(len(mine)), 1)
        assert len(cells) <= len(dictionary)
        return dictionary.sorted(codes)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(counted, [0, 1, 2, 3] * 8))
    assert dictionary.texts(dictionary.sorted(np.arange(len(dictionary)))) == sorted(texts)


@given(st.sets(st.text("ab\x00é", max_size=12)), st.sampled_from(["", "customer-", "b"]))
def test_levels_are_sorted_by_their_letters(endings: set[str], beginning: str) -> None:
    levels = [beginning + text for text in endings]
    dictionary = LevelDictionary()
    encoded = [text.encode() for text in levels]
    dictionary.codes(np.frombuffer(b"".join(encoded), dtype=np.uint8), np.cumsum([0, *map(len, encoded)]))
    assert dictionary.texts(dictionary.sorted(np.arange(len(levels)))) == sorted(levels)


def test_few_levels_are_counted_as_before() -> None:
    rows = [(f"level {index % (MANY_LEVELS - 1)}", "x", 1) for index in range(4 * MANY_LEVELS)]
    assert type(book_of(rows)["v"]) is Counts
    assert type(book_of([*rows, ("one more", "x", 1)])["v"]) is UnsortedCounts
