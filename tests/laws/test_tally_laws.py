"""The laws of every registered tally, on its canonical bytes."""

import pickle
from functools import reduce

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws.rows import FORMS, MAKES, TOGETHER, Row, book_of, rows_of, tally_of, text_of, value_of

from bayesbox._core import ExactArray
from bayesbox.errors import NeverLearned
from bayesbox.tally.base import TALLIES, Removable, Tally
from bayesbox.tally.book import Book

each_form = pytest.mark.parametrize("form", FORMS)
cases = settings(max_examples=100)


def test_every_tally_is_under_the_laws():
    assert {*MAKES, *TOGETHER} == set(TALLIES), "a tally is registered without its rows in tests/laws/rows.py"


@each_form
def test_protocol(form):
    tally = tally_of(form, [Row("x", value_of(form), 1.0)])
    assert type(tally) is TALLIES[form]
    assert tally.form == form
    assert isinstance(tally, Tally)
    assert isinstance(tally, Removable)


@each_form
@given(data=st.data())
@cases
def test_addition(form, data):
    one, two, three = (data.draw(rows_of(form)) for _ in range(3))
    a, b, c = (tally_of(form, rows) for rows in (one, two, three))
    assert text_of(a + b) == text_of(b + a)
    assert text_of((a + b) + c) == text_of(a + (b + c))
    assert text_of(a + a.zero()) == text_of(a) == text_of(a.zero() + a)
    assert text_of(a + b) == text_of(tally_of(form, one + two))
    assert a + b == tally_of(form, one + two)
    assert text_of(reduce(lambda s, row: s + tally_of(form, [row]), one, a.zero())) == text_of(a)


@each_form
@given(data=st.data())
@cases
def test_subtraction_undoes_addition(form, data):
    one, two = data.draw(rows_of(form)), data.draw(rows_of(form))
    a, b = tally_of(form, one), tally_of(form, two)
    assert text_of((a + b) - b) == text_of(a)
    assert text_of(a - a) == text_of(a.zero())
    assert ((a + b) - b).is_possible()
    if text_of(b) != text_of(b.zero()):
        assert not (a - (a + b)).is_possible()


@each_form
@given(data=st.data())
@cases
def test_order_is_not_seen(form, data):
    rows = data.draw(rows_of(form))
    shuffled = data.draw(st.permutations(rows))
    assert text_of(tally_of(form, rows)) == text_of(tally_of(form, shuffled))
    assert book_of(form, rows).digest() == book_of(form, shuffled).digest()


@each_form
@given(data=st.data())
@cases
def test_what_came_and_went_leaves_no_trace(form, data):
    stay, guest = data.draw(rows_of(form)), data.draw(rows_of(form, min_size=1))
    guests = [row._replace(label="guest") for row in guest]
    before = book_of(form, stay)
    after = (before + book_of(form, guests)) - book_of(form, guests)
    assert b"".join(after.canonical()) == b"".join(before.canonical())
    assert after.classes == before.classes
    assert list(after) == list(before)


@each_form
@given(data=st.data())
@cases
def test_weights(form, data):
    rows = data.draw(rows_of(form))
    twice = [row._replace(weight=2 * row.weight) for row in rows]
    assert text_of(tally_of(form, twice)) == text_of(tally_of(form, rows + rows))
    ghosts = [row._replace(label="ghost", weight=0.0) for row in rows]
    assert b"".join(book_of(form, rows + ghosts).canonical()) == b"".join(book_of(form, rows).canonical())


@each_form
def test_equality_is_of_numbers(form):
    a = tally_of(form, [Row("x", value_of(form), 1.0)])
    b = tally_of(form, [Row("y", value_of(form), 1.0)])
    assert a == a.with_classes(("w", "x", "y"))
    assert a != b
    assert a != "a tally"
    assert (a == 1) is False


@each_form
def test_opposite_counts_in_two_classes_are_not_possible(form):
    a = tally_of(form, [Row("x", value_of(form), 1.0)])
    b = tally_of(form, [Row("y", value_of(form), 1.0)])
    assert not (a - b).is_possible()
    assert text_of((a - b) + b) == text_of(a)
    assert text_of(a - b) != text_of(a.zero())


@each_form
@given(data=st.data())
@settings(max_examples=30)
def test_pickle(form, data):
    tally = tally_of(form, data.draw(rows_of(form)))
    assert text_of(pickle.loads(pickle.dumps(tally))) == text_of(tally)


@each_form
def test_tallies_are_not_changed_by_arithmetic(form):
    a, b = (tally_of(form, [Row(label, value_of(form), 1.0)]) for label in "xy")
    before = text_of(a), text_of(b)
    _ = a + b, a - b, a.with_classes(("q", "x"))
    assert (text_of(a), text_of(b)) == before


@each_form
@given(data=st.data())
@settings(max_examples=50)
def test_no_class_has_more_values_than_rows(form, data):
    book = book_of(form, data.draw(rows_of(form, min_size=1)))
    for tally in [*book.columns.values(), *([book.joint] if book.joint else [])]:
        assert tally.fits(book.class_counts)
        assert not tally.fits(ExactArray(len(book.classes)))


@each_form
def test_a_row_cannot_be_forgotten_without_its_value(form):
    book = book_of(form, [Row("x", value_of(form), 1.0)])
    bare = Book(book.classes, book.class_counts, {})
    with pytest.raises(NeverLearned):
        book - bare
