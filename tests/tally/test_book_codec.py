"""Tables of tallies: texts and keys in order, by the core and by numpy."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from bayesbox._core import ExactArray
from bayesbox.tally.book import Book
from bayesbox.tally.codec.book import book_from_arrow, book_to_arrow
from bayesbox.tally.codec.columns import distinct, ranked
from bayesbox.tally.words import WordCounts


@given(st.lists(st.text(alphabet="ab\0é😀", max_size=14)), st.integers(0, 3))
def test_texts_are_ranked_as_python_sorts_them(texts, skipped) -> None:
    column = pa.array(texts, pa.string())[skipped:]
    expected = sorted(set(texts[skipped:]))
    found, ranks = ranked(column)
    assert found == tuple(expected)
    assert ranks.tolist() == [expected.index(text) for text in texts[skipped:]]


@given(st.lists(st.integers(0, 40)), st.sampled_from([41, 10_000]))
def test_distinct_keys_are_those_of_numpy(keys, most) -> None:
    expected = np.unique(np.array(keys, dtype=np.int64), return_inverse=True)
    found = distinct(np.array(keys, dtype=np.int64), most)
    for one, other in zip(found, expected, strict=True):
        assert one.tolist() == other.tolist()


def tally(levels, counts) -> WordCounts:
    return WordCounts(("DE", "NZ"), levels, ExactArray.from_integers(np.array(counts, dtype=np.int64).ravel()))


def test_tallies_with_all_words_and_with_some_come_back() -> None:
    every, some = ("beer", "kiwi", "sheep"), ("beer", "sheep")
    book = Book(
        ("DE", "NZ"),
        ExactArray.from_integers(np.array([1, 2])),
        {
            "a": tally(every, [[1, 0, 0], [0, 2, 1]]),
            "b": tally(some, [[1, 0], [0, 1]]),
            "c": tally(every, [[9, 1, 0], [0, 1, 2]]),
        },
    )
    tables = book_to_arrow(book)
    again = book_from_arrow(tables, "text", ("a", "b", "c"))
    assert again == book
    assert [again[name].levels for name in again] == [every, some, every]
    assert book_to_arrow(again) == tables


def test_words_without_a_count_are_not_written() -> None:
    counts = ExactArray.from_integers(np.array([1, 2]))
    one = Book(("DE", "NZ"), counts, {"a": tally(("beer", "gone", "kiwi"), [[1, 0, 0], [0, 0, 2]])})
    other = Book(("DE", "NZ"), counts, {"a": tally(("beer", "kiwi"), [[1, 0], [0, 2]])})
    assert book_to_arrow(one) == book_to_arrow(other)


@given(st.lists(st.dictionaries(st.sampled_from(["a", "b", "é", "zz"]), st.integers(0, 2**69), max_size=4), min_size=1))
def test_tallies_of_any_words_and_numbers_come_back(columns) -> None:
    """Each column has the words it has; numbers beyond int64 are texts."""
    tallies = {}
    for number, column in enumerate(columns):
        if column:
            words = sorted(column)
            cells = ExactArray.from_text("".join(f"{2 * column[word] + 1:x}p0\n" for word in words).encode())
            spread = cells.take(np.array([*range(len(words)), *[-1] * len(words)], dtype=np.int64))
            tallies[f"{number}"] = WordCounts(("DE", "NZ"), tuple(words), spread)
    book = Book(("DE", "NZ"), ExactArray.from_integers(np.array([1, 1])), tallies)
    tables = book_to_arrow(book)
    again = book_from_arrow(tables, "text", ())
    assert again == book
    assert book_to_arrow(again) == tables
