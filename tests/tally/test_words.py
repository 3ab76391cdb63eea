"""Few words go into many by another way than many into many: the sum is the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesbox._core import ExactArray
from bayesbox.tally import words
from bayesbox.tally.words import WordCounts

CLASSES = ("DE", "NZ")
COUNTS = st.dictionaries(st.text("abc", min_size=1, max_size=3), st.tuples(st.integers(0, 3), st.integers(0, 3)))


def words_of(counts):
    table = np.array(list(counts.values()), dtype=np.int64).reshape(-1, 2).T
    return WordCounts.of(CLASSES, list(counts), ExactArray.from_integers(np.ascontiguousarray(table).ravel()))


@given(COUNTS, COUNTS)
def test_few_and_many(one, other):
    a, b = words_of(one), words_of(other)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words, "FEW", 0)  # every sum by the way of few
        few = [a + b, a - b, (a + b) - b]
        patch.setattr(words, "FEW", 1 << 60)
        many = [a + b, a - b, (a + b) - b]
    for one_way, other_way in zip(few, many, strict=True):
        assert one_way == other_way
        assert one_way.levels == other_way.levels
    assert few[2] == a
