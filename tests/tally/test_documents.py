"""Documents counted batch after batch: the same book as at once; with a limit, memory that stays bounded."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.refusal import refusal, warning

from bayesbox._core import ExactArray
from bayesbox.classifier.train import train
from bayesbox.errors import DroppedWords, TooCostly
from bayesbox.limits import BYTES_A_WORD, BYTES_A_WORD_ADDED, limit_context
from bayesbox.schema.encode import encode
from bayesbox.schema.tokens import Documents, Tokens
from bayesbox.source.base import Batch, Source
from bayesbox.tally.documents import WORDS, DocumentCounter, count_documents, limited
from bayesbox.tally.words import WordCounts
from bayesbox.text.classifier import DocumentClassifier
from bayesbox.text.options import TextOptions

ROWS = st.lists(
    st.tuples(st.text(alphabet="ab é", max_size=12), st.sampled_from(["x", "y", "z"]), st.integers(0, 2)), min_size=1
)


def parts(rows):
    texts, labels, weights = zip(*rows, strict=True)
    return Documents.of(list(texts)), encode(np.array(labels)), np.array(weights, dtype=np.float64)


@given(ROWS, st.integers(1, 5), st.booleans(), st.booleans())
def test_batches_give_the_book_of_all(rows, size, weighted, two) -> None:
    tokens = Tokens(shortest=1)
    counters = [counter := DocumentCounter(tokens), counter.beside()][: 2 if two else 1]
    for number, start in enumerate(range(0, len(rows), size)):
        texts, labels, weights = parts(rows[start : start + size])
        counters[number % len(counters)].add(texts, labels, weights if weighted else None)
    for other in counters[1:]:
        counter.merge(other)
    texts, labels, weights = parts(rows)
    assert counter.handed_over() == count_documents(texts, labels, tokens, weights=weights if weighted else None)


class Stream(Source):
    """Documents that never end being new: each batch brings words that no other has."""

    name = "stream"

    def __init__(self, batches: int) -> None:
        self.number = batches

    def batches(self):
        for number in range(self.number):
            texts = np.array([f"kiwi sheep rare{number}x{row}" for row in range(50)], dtype=object)
            yield Batch(("label", "text"), (np.array(["a", "b"] * 25), texts), 50, 50 * number)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("weight", [None, "weight"])
def test_a_limit_holds_while_documents_stream_in(threads: int, weight: str | None, monkeypatch) -> None:
    most = []
    added = DocumentCounter.add

    def watched(self, documents, labels, weights=None):
        added(self, documents, labels, np.ones(len(documents)) if weight else None)
        most.append(len(self._words) or len(self._rest[WORDS].levels))

    monkeypatch.setattr(DocumentCounter, "add", watched)
    classifier = DocumentClassifier(TextOptions(limit=10), Tokens())
    with warning(DroppedWords, limit=10):
        train(classifier, Stream(50), "label", threads=threads)
    assert max(most) <= 20 + 50
    assert len(classifier.words) == 10
    tally = classifier.book[WORDS]
    assert tally.counts[:, tally.levels.index("kiwi")].tolist() == [1250, 1250]
    assert classifier.dropped == 2492


def test_a_book_within_the_limit_is_left_alone() -> None:
    texts, labels, _ = parts([("aa bb bb", "x", 1)])
    book = count_documents(texts, labels, Tokens())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert limited(book, 2) == (book, 0)
        assert limited(book, None) == (book, 0)
    kept, dropped = limited(book, 1)
    assert dropped == 1
    assert kept[WORDS].levels == ("bb",)


def test_adding_two_batches_takes_more_than_either() -> None:
    """Two batches of 40 million cells took 70 bytes a cell; 32 were estimated."""
    words = tuple(f"w{number:03}" for number in range(100))
    one = WordCounts(("a", "b"), words, ExactArray.from_integers(np.ones(200, dtype=np.int64)))
    with limit_context(memory=100 * 2 * BYTES_A_WORD_ADDED):
        assert (one + one).counts.sum() == 400
    with limit_context(memory=100 * 2 * BYTES_A_WORD_ADDED - 1), refusal(TooCostly, bytes=200.0 * BYTES_A_WORD_ADDED):
        _ = one + one


def test_more_counts_than_fit_are_refused_and_a_limit_mends_it() -> None:
    source, most = Stream(1), 30 * BYTES_A_WORD
    with limit_context(memory=most), refusal(TooCostly, bytes=104.0 * BYTES_A_WORD, limit=most, remedy="limit=15"):
        train(DocumentClassifier(TextOptions(), Tokens()), source, "label")
    streamed, at_once = (DocumentClassifier(TextOptions(limit=15), Tokens()) for _ in range(2))
    (batch,) = source.batches()
    with limit_context(memory=most), warning(DroppedWords, count=37, limit=15):
        train(streamed, source, "label")
    with limit_context(memory=most), warning(DroppedWords, count=37, limit=15):
        at_once.learn(batch.select(("text",)), encode(batch["label"]))
    assert streamed.book == at_once.book
    assert len(streamed.words) == 15
    assert {"kiwi", "sheep"} < set(streamed.words)
