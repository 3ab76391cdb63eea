"""Counts of several columns together: the laws of every tally, and the marginals."""

import pickle
from collections import Counter
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.refusal import refusal

from bayesbox._core import ExactArray
from bayesbox.errors import CannotMerge
from bayesbox.tally.base import dyadic
from bayesbox.tally.family import Family

NAMES = ("colour", "size")
VALUES = st.sampled_from(["a", "b", "ä", None])
ROWS = st.lists(st.tuples(VALUES, VALUES, st.sampled_from([1.0, 1.0, 2.0, 0.5, 0.1, 0.0])), max_size=8)
cases = settings(max_examples=150)


def family_of(rows, names=NAMES):
    """The levels in the order they turn up, as a source brings them."""
    columns, levels = [], []
    for place in range(len(names)):
        texts = list(dict.fromkeys(row[place] for row in rows if row[place] is not None))
        columns.append(np.array([-1 if row[place] is None else texts.index(row[place]) for row in rows], np.int32))
        levels.append(texts)
    return Family.of(names, columns, levels, ExactArray.from_doubles(np.array([row[-1] for row in rows])))


def counted(rows, places=(0, 1)):
    counts = Counter()
    for row in rows:
        counts[tuple(row[place] for place in places)] += Fraction(row[-1])
    return {key: count for key, count in counts.items() if count}


def exact(family):
    return {key: dyadic(family.cells, place).fraction for place, (key, _) in enumerate(family.items())}


def text_of(family):
    return b"".join(family.canonical())


@given(one=ROWS, two=ROWS, three=ROWS)
@cases
def test_addition(one, two, three):
    a, b, c = family_of(one), family_of(two), family_of(three)
    assert exact(a) == counted(one)
    assert text_of(a + b) == text_of(b + a) == text_of(family_of(one + two))
    assert text_of((a + b) + c) == text_of(a + (b + c))
    assert text_of(a + a.zero()) == text_of(a) == text_of(a.zero() + a)
    assert text_of(reduce(lambda total, row: total + family_of([row]), one, a.zero())) == text_of(a)
    assert text_of(Family.total([a, b, c])) == text_of(a + b + c)


@given(one=ROWS, two=ROWS)
@cases
def test_subtraction_undoes_addition(one, two):
    a, b = family_of(one), family_of(two)
    assert (a + b) - b == a
    assert text_of(a - a) == text_of(a.zero())
    assert ((a + b) - b).is_possible()
    if counted(two):
        assert not (a - (a + b)).is_possible()
        assert a + b != a
    assert text_of((a - b) + b) == text_of(a)


@given(data=st.data(), rows=ROWS)
@cases
def test_neither_order_nor_the_order_of_columns_is_seen(data, rows):
    shuffled = data.draw(st.permutations(rows))
    assert text_of(family_of(rows)) == text_of(family_of(shuffled))
    turned = family_of([(size, colour, weight) for colour, size, weight in rows], NAMES[::-1])
    assert turned == family_of(rows)
    assert family_of(rows) + turned == family_of(rows + rows)


@given(rows=ROWS)
@cases
def test_marginals(rows):
    family = family_of(rows)
    assert exact(family.marginal(["size"])) == counted(rows, (1,))
    assert exact(family.marginal(["size", "colour"])) == counted(rows, (1, 0))
    assert family.n.fraction == sum(counted(rows).values())
    assert exact(family.marginal([])) == counted(rows, ())
    complete = [row for row in rows if None not in row]
    assert text_of(family.complete()) == text_of(family_of(complete))


@given(rows=ROWS)
@cases
def test_integers(rows):
    family = family_of(rows)
    counts, exponent = family.integers()
    assert [int(count) * Fraction(2) ** exponent for count in counts] == list(exact(family).values())


@pytest.mark.parametrize("count", [2**31 - 1, 2**31, 2**62])
def test_integers_whose_products_fit(count):
    family = Family.of(["a"], [np.array([0])], [["x"]], ExactArray.from_integers(np.array([count])))
    counts, exponent = family.integers()
    assert int(counts[0] * counts[0]) << (2 * exponent) == count**2
    assert (counts.dtype == np.int64) == (count < 2**31)


def test_many_columns_of_many_levels():
    """The key of a combination would need more than 64 bits."""
    rng = np.random.default_rng(0)
    columns = [rng.integers(-1, 1000, 300).astype(np.int32) for _ in range(12)]
    columns = [np.concatenate([column, column[:50]]) for column in columns]
    levels = [[f"{level:04}" for level in range(1000)]] * 12
    family = Family.of([str(place) for place in range(12)], columns, levels)
    rows = Counter(zip(*(column.tolist() for column in columns), strict=True))
    found = {tuple(-1 if text is None else int(text) for text in key): count for key, count in family.items()}
    assert found == rows
    assert list(found) == sorted(rows)
    assert len(family) == 300


def test_what_came_and_went_leaves_no_trace():
    stays = family_of([("a", "b", 1.0)])
    left = (stays + family_of([("ä", None, 1.0)])) - family_of([("ä", None, 1.0)])
    assert left.levels == (("a",), ("b",))
    assert len(left) == 1


def test_different_columns():
    with refusal(CannotMerge, found="without size, with weight"):
        family_of([]) + family_of([], ("colour", "weight"))


def test_a_value_and_nothing_else():
    family = family_of([("a", None, 1.0), ("a", None, 1.0)])
    assert pickle.loads(pickle.dumps(family)) == family
    assert family != "a family"
    assert repr(family) == "Family(colour, size: 1 combinations)"
    assert Family.total([]) is None
