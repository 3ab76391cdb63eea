"""The book: what it shows, and what its digest is made of."""

import json
import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.refusal import refusal

from bayesbox.errors import BadData, KindContradiction, UnknownColumn
from bayesbox.schema.encode import encode
from bayesbox.schema.schema import Schema
from bayesbox.tally.base import quoted
from bayesbox.tally.book import Book
from bayesbox.tally.count import count


def book_of(columns, labels, **options):
    arrays = {name: pa.array(values) for name, values in columns.items()}
    return count(arrays, encode(pa.array(labels)), Schema.of(arrays), **options)


CARS = {"car": ["suv", "van", None, "suv"], "age": [20, 30, 40, None]}


@pytest.fixture
def book():
    return book_of(CARS, ["b", "a", "b", "b"])


def test_a_book_remembers_what_differs_but_does_not_pickle_it(book):
    fresh = pickle.dumps(book_of(CARS, ["b", "a", "b", "b"]))
    assert book.clearly_differing is book.clearly_differing
    assert pickle.dumps(book) == fresh
    assert pickle.loads(fresh).clearly_differing == book.clearly_differing


def test_a_book_without_empty_columns_and_classes_is_its_own_pruned_one(book):
    assert book.pruned() is book
    more = book_of(CARS, ["c", "a", "b", "b"])
    less = more.with_classes(("a", "b", "c", "d")).with_tallies({**more.columns, "none": more["age"].zero()}).pruned()
    assert list(less) == list(more)
    assert less.classes == more.classes
    assert less.digest() == more.digest()


def test_arrays_stand_in_the_order_of_the_classes(book):
    assert book.classes == ("a", "b")
    assert book.n.tolist() == [1, 3]
    assert book["car"].levels == ("suv", "van")
    assert book["car"].counts.tolist() == [[0, 1], [2, 0]]
    assert book["car"].n.tolist() == [1, 2]
    assert book["age"].n.tolist() == [1, 2]
    assert book["age"].mean.tolist() == [30.0, 30.0]
    assert book["age"].variance.tolist() == [0.0, 100.0]
    assert book["age"].std.tolist() == [0.0, 10.0]


def test_as_a_mapping(book):
    assert list(book) == ["car", "age"]
    assert len(book) == 2
    assert "car" in book
    assert "weight" not in book
    with refusal(UnknownColumn, column="agee"):
        book["agee"]


def test_integer_classes_in_their_own_order():
    book = book_of({"x": [1.5, 2.5, 3.5]}, [10, 2, 10])
    assert book.classes == ("2", "10")
    assert book["x"].n.tolist() == [1, 2]


def test_a_digest_is_of_texts_in_sorted_order(book):
    """Numbers as labels and their texts give the same lines, whatever order the classes stand in."""
    numbers = book_of({"x": ["u", "v", "u"]}, [10, 2, 10])
    texts = book_of({"x": ["u", "v", "u"]}, ["10", "2", "10"])
    assert numbers.digest() == texts.digest()
    assert len(book.digest()) == 64
    assert book == book_of(CARS, ["b", "a", "b", "b"])
    assert book != Book.empty()
    assert (book == "book") is False


def test_names_cannot_be_confused_in_the_digest():
    """Quoting keeps a, b apart from "a,b", and a column apart from a level."""
    one = book_of({"a": ['x","y'], "b": ["z"]}, ["c"])
    other = book_of({"a": ["x", "y"], "b": ["z", "z"]}, ["c", "c"])
    assert one.digest() != other.digest()
    assert book_of({"a": ["b"]}, ["c"]).digest() != book_of({"b": ["a"]}, ["c"]).digest()
    assert book_of({"a": ["1"]}, ["c"]).digest() != book_of({"a": [1]}, ["c"]).digest()


def test_empty_books():
    empty = Book.empty()
    book = book_of({"x": [1.5]}, ["a"])
    assert empty + book == book + empty == book - empty == book
    assert (book - book).classes == ()
    assert (book - book).digest() == empty.digest()


def test_columns_of_two_forms_do_not_add():
    with refusal(KindContradiction, column="x"):
        book_of({"x": [1.5]}, ["a"]) + book_of({"x": ["u"]}, ["a"])


def test_rows_without_a_label_are_left_out():
    book = book_of({"x": ["u", "v", "w"]}, ["a", None, "b"])
    assert book.n.tolist() == [1, 1]
    assert book["x"].levels == ("u", "w")


def test_labels_of_a_file_may_be_integers():
    book = book_of({"x": ["u", "v"]}, ["10", "2"])
    assert book.classes == ("10", "2")
    assert book.with_label_type("integer").classes == ("2", "10")
    with refusal(BadData, found="ten"):
        book_of({"x": ["u"]}, ["ten"]).with_label_type("integer")


@pytest.mark.parametrize("columns", [{"x": [1.5, 2.5]}, {"x": ["u", "v"]}, {"x": [True, False]}])
def test_weights_that_are_fractions(columns):
    book = book_of(columns, ["a", "a"], weights=np.array([0.1, 0.2]))
    assert book.n.tolist() == [0.1 + 0.2]
    assert book["x"].n.tolist() == [0.1 + 0.2]
    thrice = book + book + book
    assert (thrice - book - book) == book


@given(st.lists(st.text(alphabet='ab",\\\b\f\n\r\t\0\x7f é😀\ud800', max_size=4)))
def test_names_are_quoted_as_json_quotes_them(names):
    assert quoted(names) == (json.dumps(names, separators=(",", ":")) + "\n").encode()
