"""Words are those of scikit-learn's CountVectorizer, to the last one."""

import pickle
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from tests.refusal import refusal

from bayesbox.errors import BadData, BadOption
from bayesbox.schema.tokens import CODE_POINTS, Documents, Tokens

ANALYSE = CountVectorizer().build_analyzer()
CASED = st.text(st.sampled_from("Σ\u03c3ς\u0391aİI\u0131i\u0307'.- _09ß\u00adǅ\u0345中\U00010400"), max_size=30)


@given(st.one_of(st.text(max_size=60), CASED))
@settings(max_examples=300)
def test_words(text):
    assert Tokens().count(text) == Counter(ANALYSE(text))


def test_every_character_between_letters_and_by_itself():
    for start in range(0, CODE_POINTS, 1 << 17):
        text = " ".join(
            f"a{chr(point)}b {chr(point) * 2}" for point in range(start, min(start + (1 << 17), CODE_POINTS))
        )
        assert Tokens().count(text) == Counter(ANALYSE(text))


@given(st.lists(st.sampled_from(["kiwi", "Sheep", "a", "AND", "bird!", "x-y"]), max_size=12))
def test_phrases_and_stop_words(words):
    text = " ".join(words)
    peer = CountVectorizer(ngram_range=(1, 3), stop_words=["and", "bird"]).build_analyzer()
    assert Tokens(phrases=(1, 3), stop_words=("bird", "and")).count(text) == Counter(peer(text))


@given(st.binary(max_size=40), st.sampled_from([b"", "ΑΣ ".encode()]))
@settings(max_examples=200)
def test_broken_bytes_are_separators(data, sigma):
    assert Tokens().count(sigma + data) == Counter(ANALYSE((sigma + data).decode("utf-8", errors="replace")))


def test_odd_documents():
    assert Tokens().count("") == {}
    assert Tokens().count("kiwi\0sheep") == {"kiwi": 1, "sheep": 1}
    assert Tokens().count("kiwi\ud800sheep") == {"kiwi": 1, "sheep": 1}
    assert Tokens(shortest=1).count("a b a") == {"a": 2, "b": 1}
    assert Tokens().count("x" * 3_000_000) == {"x" * 3_000_000: 1}


def test_documents_of_every_column():
    texts = ["Kiwi", None, "", "Σheep ΑΣ"]
    columns = [
        pa.array(texts),
        pa.array(texts, pa.large_string()),
        pa.array(texts, pa.string_view()),
        pa.array(texts).dictionary_encode(),
        pa.chunked_array([texts[:1], texts[1:]]),
        pa.array([None if text is None else text.encode() for text in texts]),
        pa.array(["before", *texts, "after"])[1:5],
        texts,
        np.array(texts, dtype=object),
        [texts[0], float("nan"), *texts[2:]],
    ]
    for column in columns:
        documents = Documents.of(column)
        found = [
            documents.data[start:stop].tobytes().decode().lower()
            for start, stop in zip(documents.offsets[:-1], documents.offsets[1:], strict=True)
        ]
        assert found == ["kiwi", "", "", "\u03c3heep ας"]
    assert len(Documents.of(pa.chunked_array([], pa.string()))) == 0


def test_what_is_no_text_is_refused():
    with refusal(BadData, where="row 2", found=3):
        Documents.of(["kiwi", 3])
    with refusal(BadData, found="double"):
        Documents.of(pa.array([1.5]))
    for options in ({"shortest": 0}, {"phrases": (2, 1)}, {"phrases": (1, 1000)}, {"phrases": (0, 1)}):
        with pytest.raises(BadOption):
            Tokens(**options)


def test_options_are_values():
    one = Tokens(stop_words=("b", "a", "b"))
    one.count("ab")
    again = pickle.loads(pickle.dumps(one))
    assert again == one == Tokens(stop_words=("a", "b"))
    assert again.count("ab cd") == {"ab": 1, "cd": 1}


ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
SPACED = st.lists(
    st.sampled_from(["a", "B!", "  ", "\n", "\t\n", "\u0130x", "\u03a3", "\u24b6", "\0", "\u3000", "\x85"]), max_size=9
)


@given(ANY_TEXT | SPACED.map("".join))
def test_punctuation_marks_are_words(text):
    peer = CountVectorizer(token_pattern=r"\w+|[^\w\s]").build_analyzer()
    assert Tokens(shortest=1, punctuation=True).count(text) == dict(sorted(Counter(peer(text)).items()))


def test_punctuation_among_all_code_points():
    peer = CountVectorizer(token_pattern=r"\w\w+|[^\w\s]").build_analyzer()
    text = "".join(f"{chr(point)} x" for point in range(0x110000) if not 0xD800 <= point < 0xE000)
    assert Tokens(punctuation=True).count(text) == dict(sorted(Counter(peer(text)).items()))


@given(ANY_TEXT | SPACED.map("".join), st.integers(1, 4), st.integers(0, 2))
def test_runs_of_characters_are_those_of_a_peer(text, fewest, more):
    peer = CountVectorizer(analyzer="char", ngram_range=(fewest, fewest + more)).build_analyzer()
    assert Tokens(characters=(fewest, fewest + more)).count(text) == dict(sorted(Counter(peer(text)).items()))


def test_what_cannot_go_together():
    for options in ({"phrases": (1, 2)}, {"punctuation": True}, {"stop_words": ("the",)}):
        with pytest.raises(BadOption):
            Tokens(characters=(2, 3), **options)
    with pytest.raises(BadOption):
        Tokens(characters=(3, 2))
