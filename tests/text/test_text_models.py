"""The table of 0, 1, 2 and 3+ times, and the position model: against exact fractions, and under the laws of tallies."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.errors import BadData, BadOption, CannotForget

WORDS = ("aa", "bb", "cc")
DOCUMENTS = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
TRAINING = st.lists(st.tuples(DOCUMENTS, st.sampled_from("xy")), min_size=2, max_size=8)
RULES = {
    "laplace": lambda n, total, size, prior: Fraction(n + 1, total + size),
    "lidstone:0.5": lambda n, total, size, prior: (n + Fraction(1, 2)) / (total + Fraction(size, 2)),
    "m:2": lambda n, total, size, prior: (n + Fraction(2, size)) / (total + 2),
    "as-written:1,2": lambda n, total, size, prior: Fraction(n + 1, total + 2),
    "mle": lambda n, total, size, prior: Fraction(n, total),
}


def both_classes(rows) -> bool:
    return {label for _, label in rows} == {"x", "y"} and any(text for text, _ in rows)


def posterior(joint: dict[str, Fraction], prior: dict[str, Fraction]) -> list[float]:
    total = sum(joint.values())
    return [float(joint[c] / total) if total else float(prior[c]) for c in sorted(joint)]


def table_posterior(rows, asked: str, rule) -> list[float]:
    """P(class | document) by the tables of every word, in fractions."""
    vocabulary = {word for text, _ in rows for word in text.split()}
    documents = {c: [Counter(text.split()) for text, label in rows if label == c] for c in "xy"}
    prior = {c: Fraction(len(documents[c]), len(rows)) for c in "xy"}
    joint = dict(prior)
    for word in vocabulary:
        times = min(Counter(asked.split())[word], 3)
        terms = {}
        for c in "xy":
            own = [min(counts[word], 3) for counts in documents[c]]
            terms[c] = rule(own.count(times), len(own), 4, prior[c])
        if any(terms.values()):  # what is impossible in every class says nothing
            joint = {c: joint[c] * terms[c] for c in "xy"}
    return posterior(joint, prior)


def position_posterior(rows, asked: str, rule) -> list[float]:
    vocabulary = {word for text, _ in rows for word in text.split()}
    prior = {c: Fraction(sum(label == c for _, label in rows), len(rows)) for c in "xy"}
    joint = dict(prior)
    longest = max(len(text.split()) for text, _ in rows)
    for place, word in enumerate(asked.split()[:longest]):
        if word not in vocabulary:
            continue
        at = {
            c: [text.split()[place] for text, label in rows if label == c and len(text.split()) > place] for c in "xy"
        }
        pooled = at["x"] + at["y"]
        terms = {}
        for c in "xy":
            own = at[c] if at[c] or rule is not RULES["mle"] else pooled  # 0/0 takes what all classes have
            terms[c] = rule(own.count(word), len(own), len(vocabulary), prior[c])
        if any(terms.values()):
            joint = {c: joint[c] * terms[c] for c in "xy"}
    return posterior(joint, prior)


ORACLES = {"table": table_posterior, "position": position_posterior}


@pytest.mark.filterwarnings("ignore:.*impossible in every class")
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("occurrence", ORACLES)
@settings(max_examples=25)
@given(rows=TRAINING.filter(both_classes), asked=st.lists(DOCUMENTS, min_size=1, max_size=3))
def test_posteriors_are_those_of_exact_fractions(occurrence, rule, rows, asked) -> None:
    texts, labels = zip(*rows, strict=True)
    model = bb.TextClassifier(occurrence=occurrence, smoothing=rule).fit(list(texts), list(labels))
    expected = [ORACLES[occurrence](rows, text, RULES[rule]) for text in asked]
    np.testing.assert_allclose(model.predict_proba(asked), expected, atol=1e-12)
    if rule == "laplace":
        np.testing.assert_allclose(model.explain(asked).joint(), model.joint_log_proba(asked), atol=1e-12)


@pytest.mark.parametrize("occurrence", ORACLES)
@settings(max_examples=25)
@given(rows=TRAINING, cut=st.integers(0, 8))
def test_learning_is_exact(occurrence, rows, cut) -> None:
    texts, labels = (list(column) for column in zip(*rows, strict=True))
    make = lambda: bb.TextClassifier(occurrence=occurrence)  # noqa: E731
    whole = make().fit(texts, labels)
    cut = min(max(cut, 1), len(rows) - 1)
    parts = [make().fit(texts[:cut], labels[:cut]), make().fit(texts[cut:], labels[cut:])]
    assert (parts[0] + parts[1]).book_ == whole.book_
    assert make().fit(texts[:cut], labels[:cut]).partial_fit(texts[cut:], labels[cut:]).book_ == whole.book_
    assert whole.forget(texts[cut:], labels[cut:]).book_ == parts[0].book_
    with pytest.raises(CannotForget):
        whole.forget(["dd dd dd"], labels[:1])


@pytest.mark.parametrize("occurrence", ORACLES)
def test_files_hold_all_of_it(occurrence, tmp_path) -> None:
    texts, labels = ["aa aa aa bb", "bb cc cc", "aa"], ["x", "y", "y"]
    model = bb.TextClassifier(occurrence=occurrence).fit(texts, labels)
    model.save(tmp_path / "m.bayes")
    loaded = bb.load(tmp_path / "m.bayes")
    assert loaded.book_ == model.book_
    np.testing.assert_array_equal(loaded.predict_proba(texts), model.predict_proba(texts))


def test_a_matrix_of_counts_gives_the_same_tables() -> None:
    texts = ["aa aa bb", "bb cc cc cc cc", "aa", ""]
    counts = csr_array([[Counter(text.split())[word] for word in WORDS] for text in texts])
    of_texts = bb.TextClassifier(occurrence="table").fit(texts, list("xyxy"))
    of_counts = bb.TextClassifier(occurrence="table").fit(counts, list("xyxy"))
    np.testing.assert_allclose(of_counts.predict_proba(counts), of_texts.predict_proba(texts), atol=1e-15)
    with pytest.raises(BadData):
        of_counts.predict(counts * 0.5)
    with pytest.raises(BadData):
        bb.TextClassifier(occurrence="position").fit(counts, list("xyxy"))


def test_tables_count_documents_by_how_often_they_hold_a_word() -> None:
    model = bb.TextClassifier(occurrence="table").fit(["aa aa", "aa", "bb", "aa aa aa aa"], list("xxxx"))
    held = {
        name: dict(zip(model.book_[name].levels, model.book_[name].counts[0].tolist(), strict=True))
        for name in model.book_
    }
    assert held["documents"] == {"aa": 3, "bb": 1}
    assert (held["twice"], held["thrice"]) == ({"aa": 2}, {"aa": 1})


def test_prior_counts_name_the_times() -> None:
    rule = bb.rules.PriorCounts({"0": 3, "3+": 1})
    model = bb.TextClassifier(occurrence="table", smoothing=rule).fit(["aa", "bb"], ["x", "y"])
    # three of aa: 1/5 in both classes; no bb: 4/5 in x, and 3/5 in y, whose document has one
    assert model.predict_proba(["aa aa aa"])[0].tolist() == pytest.approx([4 / 7, 3 / 7])


def test_the_number_of_probabilities() -> None:
    texts = ["kiwi sheep kiwi", "beer kiwi"]
    table = bb.TextClassifier(occurrence="table").fit(texts, ["NZ", "DE"])
    assert table.parameters() == (3 * 3 * 2 + 1, 4 * 3 * 2 + 2, 4 * 3 * 2, None)
    position = bb.TextClassifier(occurrence="position").fit(texts, ["NZ", "DE"])
    assert position.parameters() == (3 * 2 * 2 + 1, 3 * 3 * 2 + 2, 3 * 3 * 2, 3**3 * 2)
    assert len(position.words_) == 9
    assert position.parameters("count") == table.parameters("count") == (5, 8, 6, None)
    assert bb.TextClassifier(occurrence="count").fit(texts, ["NZ", "DE"]).parameters("position", length=3)[:2] == (
        13,
        20,
    )


def test_what_has_no_meaning_is_refused() -> None:
    for options in ({"top": 2}, {"limit": 5}, {"once": True}, {"phrases": (1, 2)}, {"characters": (2, 2)}):
        with pytest.raises(BadOption):
            bb.TextClassifier(occurrence="position", **options).fit(["aa"], ["x"])
    long = [" ".join(f"w{k}" for k in range(5000))] * 2
    with refusal(BadData, what="5000"):
        bb.TextClassifier(occurrence="position").fit(long, ["x", "y"]).predict(["w1"])


def test_documents_of_the_worked_example_by_position() -> None:
    texts = ["Kiwi Sheep Kiwi", "Kiwi Kiwi Bird", "Kiwi Auckland", "Munich Oktoberfest Kiwi"]
    model = bb.TextClassifier(occurrence="position").fit(texts, ["NZ", "NZ", "NZ", "DE"])
    # six words; place 1: kiwi 3 of 3 in NZ, 0 of 1 in DE; place 2: kiwi 1 of 3, 0 of 1; place 3: kiwi 1 of 2, 1 of 1
    joint = {"NZ": Fraction(3, 4) * Fraction(4, 9) * Fraction(2, 9) * Fraction(2, 8)}
    joint["DE"] = Fraction(1, 4) * Fraction(1, 7) * Fraction(1, 7) * Fraction(2, 7)
    found = np.exp(model.joint_log_proba(["Kiwi Kiwi Kiwi Munich Oktoberfest"]))[0]
    assert found.tolist() == pytest.approx([float(joint["DE"]), float(joint["NZ"])], rel=1e-12)
    assert math.isclose(sum(sum(np.exp(model.word_weights_)[:6])), 2)  # the first place of both classes


def test_every_document_has_its_share() -> None:
    """The probabilities of all documents over one word, by its times, add up to one."""
    model = bb.TextClassifier(occurrence="table").fit(["aa", "aa aa", "", "aa aa aa"], list("xyxy"))
    asked = [" ".join(["aa"] * times) for times in range(4)]
    joint = np.exp(model.joint_log_proba(asked))
    assert joint.sum() == pytest.approx(1)
    for one, other in itertools.pairwise([3, 4, 9]):
        np.testing.assert_array_equal(*(model.predict_proba([" ".join(["aa"] * times)]) for times in (one, other)))
