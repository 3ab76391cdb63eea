"""Documents as strangers send them: every one gets a defined answer."""

from __future__ import annotations

import numpy as np
import pytest
from tests.refusal import refusal, warning

import bayesbox as bb
from bayesbox.errors import DroppedWords

TEXTS = ["kiwi sheep kiwi", "kiwi auckland", "munich oktoberfest beer", "beer munich"]
LABELS = ["NZ", "NZ", "DE", "DE"]
OPTIONS = [
    {},
    {"occurrence": "binary"},
    {"occurrence": "complement", "once": True},
    {"occurrence": "normalised"},
    {"occurrence": "poisson"},
    {"punctuation": True, "phrases": (1, 2)},
    {"characters": (1, 3)},
    {"calibration": "temperature"},
]


def probabilities(clf, texts) -> np.ndarray:
    shares = clf.predict_proba(texts)
    assert np.isfinite(shares).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    return shares


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_odd_documents_get_an_answer(options) -> None:
    clf = bb.TextClassifier(**options).fit(TEXTS, LABELS)
    odd = [
        b"kiwi \xff\xfe\xc3 beer",
        b"\x80",
        "kiwi\0beer",
        "",
        None,
        "unheard of",
        "\ud800 kiwi",
        "中文 🐑",
        " " * 1000,
        "!" * 99,
    ]
    probabilities(clf, odd)
    if "characters" not in options and options.get("occurrence") not in ("binary", "poisson"):
        nothing = probabilities(clf, ["", "unheard of", None])
        np.testing.assert_allclose(nothing, 0.5)  # the prior, or none
    clf.partial_fit(odd, ["NZ"] * len(odd))
    before = clf.book_.digest()
    clf.forget(odd, ["NZ"] * len(odd)).partial_fit(odd, ["NZ"] * len(odd))
    assert clf.book_.digest() == before


def test_a_document_of_a_hundred_megabytes() -> None:
    words = " ".join(f"w{number}" for number in range(20_000))
    huge = (words + " ") * (100_000_000 // len(words) + 1)
    assert len(huge) > 100_000_000
    clf = bb.TextClassifier().fit(["w1 w2", huge], ["a", "b"])
    assert clf.book_["words"].n.tolist() == [2, 20_000 * (100_000_000 // len(words) + 1)]
    assert clf.predict([huge]).tolist() == ["b"]
    one_word = bb.TextClassifier().fit(["x" * 3_000_000, "yy"], ["a", "b"])
    assert one_word.predict(["x" * 3_000_000]).tolist() == ["a"]


def test_ten_thousand_classes() -> None:
    labels = [f"class {number:05}" for number in range(10_000)]
    texts = [f"word{number} shared" for number in range(10_000)]
    clf = bb.TextClassifier(occurrence="count").fit(texts[:500], labels[:500])
    assert clf.predict(texts[:50]).tolist() == labels[:50]
    few = bb.TextClassifier(top=20).fit([f"word{number % 7} shared" for number in range(10_000)], labels)
    assert len(few.classes_) == 10_000
    assert probabilities(few, ["word3"]).shape == (1, 10_000)
    with refusal(bb.BadData, bytes=6400320000.0):
        bb.TextClassifier().fit([f"{text} v{row}" for row, text in enumerate(texts)], labels)


def test_a_limit_drops_the_rarest_words_and_says_so(tmp_path) -> None:
    with warning(DroppedWords, count=5, limit=3):
        clf = bb.TextClassifier(limit=3).fit([*TEXTS, "x1 x2"], [*LABELS, "DE"])
    assert clf.words_ == ("beer", "kiwi", "munich")
    with refusal(bb.CannotForget, what="5"):
        clf.forget(TEXTS[:1], LABELS[:1])
    clf.save(tmp_path / "m.bayes")
    loaded = bb.load(tmp_path / "m.bayes")
    with refusal(bb.CannotForget, what="5"):
        loaded.forget(TEXTS[:1], LABELS[:1])
    assert loaded.limit == 3
    whole = bb.TextClassifier(limit=100).fit(TEXTS, LABELS)
    assert whole.forget(TEXTS[:1], LABELS[:1]).book_.n.tolist() == [2, 1]
    with pytest.raises(bb.BadOption):
        bb.TextClassifier(limit=0).fit(TEXTS, LABELS)


def test_poisson_rates_are_those_of_the_formula() -> None:
    clf = bb.TextClassifier(occurrence="poisson", smoothing="lidstone:0.5").fit(TEXTS, LABELS)
    counts = {"DE": {"munich": 2, "beer": 2, "oktoberfest": 1}, "NZ": {"kiwi": 3, "sheep": 1, "auckland": 1}}
    joint = []
    for label in ("DE", "NZ"):
        total = np.log(0.5)
        for word in clf.words_:
            mean = sum(counts[each].get(word, 0) for each in counts) / 4
            rate = (counts[label].get(word, 0) + 0.5 * mean) / 2.5
            times = {"kiwi": 2, "beer": 1}.get(word, 0)
            total += times * np.log(rate) - rate
        joint.append(total)
    np.testing.assert_allclose(clf.joint_log_proba(["kiwi beer kiwi"])[0], joint)


def test_words_that_count_once() -> None:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import ComplementNB, MultinomialNB
    from sklearn.pipeline import make_pipeline

    texts = [f"{text} {text} beer" for text in TEXTS]
    asked = ["kiwi kiwi kiwi beer", "munich sheep sheep"]
    for occurrence, peer in (("count", MultinomialNB()), ("complement", ComplementNB())):
        theirs = make_pipeline(CountVectorizer(binary=True), peer).fit(texts, LABELS)
        ours = bb.TextClassifier(occurrence=occurrence, once=True).fit(texts, LABELS)
        np.testing.assert_allclose(ours.predict_proba(asked), theirs.predict_proba(asked), rtol=1e-12)
        np.testing.assert_allclose(ours.explain(asked).joint(), ours.joint_log_proba(asked), rtol=1e-12)
    for occurrence in ("binary", "poisson"):
        with pytest.raises(bb.BadOption):
            bb.TextClassifier(occurrence=occurrence, once=True).fit(TEXTS, LABELS)


def test_stop_words_are_words_in_whatever_case() -> None:
    assert bb.TextClassifier(stop_words=["Kiwi", "BEER"]).fit(TEXTS, LABELS).words_ == (
        bb.TextClassifier(stop_words=["kiwi", "beer"]).fit(TEXTS, LABELS).words_
    )
    for given in ("english", ["kiwi", 3]):  # scikit-learn's word for its own list; its letters are no words
        with pytest.raises(bb.BadOption):
            bb.TextClassifier(stop_words=given).fit(TEXTS, LABELS)
        with pytest.raises(bb.BadOption):
            bb.Words(stop_words=given)


def test_options_of_the_wrong_type_are_named() -> None:
    with refusal(bb.BadOption, found=2):
        bb.TextClassifier(phrases=2).fit(TEXTS, LABELS)
    with refusal(bb.BadOption, found="counts"):
        bb.TextClassifier(occurrence="counts").fit(TEXTS, LABELS)


@pytest.mark.parametrize(
    "documents",
    [
        [text.split() for text in TEXTS],
        {"text": TEXTS},
        (text for text in TEXTS),
    ],
    ids=["words", "mapping", "generator"],
)
def test_what_is_no_column_of_texts_is_told_of_documents(documents) -> None:
    with pytest.raises(bb.BadData):
        bb.TextClassifier().fit(documents, LABELS)


def test_log_odds_are_those_of_the_answer() -> None:
    clf = bb.TextClassifier().fit(TEXTS, LABELS)
    asked = [*TEXTS, "never seen", ""]
    shares = clf.predict_log_proba(asked)
    np.testing.assert_allclose(clf.explain(asked).log_odds("NZ", against="DE"), shares[:, 1] - shares[:, 0])
    with refusal(bb.BadOption, found="AU"):
        clf.explain(asked).log_odds("AU", against="DE")
