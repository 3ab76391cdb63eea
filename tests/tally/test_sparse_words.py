"""Counts of words that are held sparse are those of a whole table, whatever is done with them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesbox._core import ExactArray
from bayesbox.errors import TooCostly
from bayesbox.limits import limit_context
from bayesbox.tally.base import digest_of
from bayesbox.tally.sparse_words import SparseWordCounts
from bayesbox.tally.words import WordCounts

CLASSES, WORDS = ("a", "b", "c"), tuple(f"w{place:03}" for place in range(150))
Entries = dict[tuple[int, int], int]
ENTRIES = st.dictionaries(st.tuples(st.integers(0, 2), st.integers(0, 149)), st.integers(1, 9), max_size=12)


def both(entries: Entries) -> tuple[SparseWordCounts, WordCounts]:
    """The same counts, sparse and whole, of the words that occur."""
    there = sorted({word for _, word in entries})
    place = np.array(sorted(label * len(there) + there.index(word) for label, word in entries), dtype=np.int64)
    by_place = {label * len(there) + there.index(word): count for (label, word), count in entries.items()}
    some = ExactArray.from_integers(np.array([by_place[each] for each in place.tolist()], dtype=np.int64))
    sparse = SparseWordCounts(CLASSES, tuple(WORDS[word] for word in there), place, some)
    return sparse, sparse.whole()


def lines(tally: Any) -> str:
    return digest_of(tally.canonical())


@settings(max_examples=60, deadline=None)
@given(one=ENTRIES, other=ENTRIES)
def test_sums_and_differences(one: Entries, other: Entries) -> None:
    (sparse, whole), (more, more_whole) = both(one), both(other)
    assert lines(sparse) == lines(whole)
    for added in (sparse + more, sparse + more_whole, whole + more):
        assert isinstance(added, WordCounts)
        assert lines(added) == lines(whole + more_whole)
    assert lines((sparse + more) - more) == lines(whole)
    assert (sparse + more) - more_whole == whole
    np.testing.assert_array_equal(sparse.n, whole.n)
    assert sparse.is_empty() == whole.is_empty()
    assert lines(pickle.loads(pickle.dumps(sparse))) == lines(whole)


@settings(max_examples=30, deadline=None)
@given(entries=ENTRIES.filter(bool))
def test_other_classes_and_fewer_words(entries: Entries) -> None:
    sparse, whole = both(entries)
    for classes in (("c", "b", "a"), ("b", "a", "d", "c"), ("a",)):
        assert lines(sparse.with_classes(classes)) == lines(whole.with_classes(classes))
    places = np.arange(0, len(whole.levels), 2)
    np.testing.assert_array_equal(sparse.only(places).counts, whole.only(places).counts)
    assert sparse.only(places).levels == whole.only(places).levels


def test_all_cells_are_refused_beyond_the_limit() -> None:
    classes, words = tuple(f"c{k:04}" for k in range(3000)), tuple(f"w{k:04}" for k in range(3000))
    place = np.arange(3000, dtype=np.int64) * 3001
    tally = SparseWordCounts(classes, words, place, ExactArray.from_integers(np.ones(3000, dtype=np.int64)))
    with limit_context(memory="100 MiB"):
        assert len((tally + tally).levels) == 3000
        with pytest.raises(TooCostly):
            tally.whole()
