"""A column of identifiers is refused by name before it fills the memory."""

import pytest
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.errors import BadData
from bayesbox.tally import book


@pytest.fixture(autouse=True)
def small_limit(monkeypatch):
    monkeypatch.setattr(book, "LEVEL_LIMIT", 4)


def test_at_once():
    bb.NaiveBayes().fit({"name": list("abcd")}, [0, 1, 0, 1])
    with refusal(BadData, column="name", found="5 levels") as error:
        bb.NaiveBayes().fit({"name": list("abcde")}, [0, 1, 0, 1, 0])
    assert "columns={'name': 'ignore'}" in str(error.value)


def test_in_a_stream():
    clf = bb.NaiveBayes().fit({"name": list("abcd")}, [0, 1, 0, 1])
    before = clf.book_.digest()
    with refusal(BadData, column="name", found="5 levels"):
        clf.partial_fit({"name": ["e"]}, [0])
    assert clf.book_.digest() == before
