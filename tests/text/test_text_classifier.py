"""TextClassifier: the peers' probabilities, exact learning and forgetting, any form of documents."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from tests.refusal import refusal

import bayesbox as bb

PEERS = {"count": MultinomialNB, "binary": BernoulliNB, "complement": ComplementNB}
VOCABULARY = [
    "Kiwi",
    "sheep",
    "ÄRGER",
    "Ωμέγα",
    "ΟΔΟΣ",
    "москва",
    "東京",
    "हिन्दी",
    "naïve",
    "İzmir",
    "x1_y",
    "a",
    "Straße",
]
TEXT = st.lists(st.sampled_from(VOCABULARY), max_size=8).map(" ".join) | st.text(max_size=20)
DOCUMENTS = st.lists(st.tuples(TEXT, st.sampled_from(["DE", "NZ", "JP"])), min_size=2, max_size=12)
TEXTS = ["Kiwi Sheep Kiwi", "Kiwi Kiwi Bird", "Kiwi Auckland", "Munich Oktoberfest Kiwi"]
LABELS = ["NZ", "NZ", "NZ", "DE"]
MODELS = [*PEERS, "normalised"]


def two(pairs):
    return [text for text, _ in pairs], [label for _, label in pairs]


@pytest.mark.parametrize("occurrence", PEERS)
@given(pairs=DOCUMENTS, alpha=st.sampled_from([1.0, 0.1, 2.5]))
@settings(max_examples=60, deadline=None)
def test_the_probabilities_of_scikit_learn(occurrence, pairs, alpha):
    texts, labels = two([*pairs, ("kiwi bird", "NZ"), ("munich", "DE")])
    ours = bb.TextClassifier(occurrence=occurrence, smoothing=f"lidstone:{alpha}").fit(texts, labels)
    peer = make_pipeline(CountVectorizer(), PEERS[occurrence](alpha=alpha)).fit(texts, labels)
    asked = [*texts, "", "never seen", "kiwi kiwi munich"]
    assert list(ours.words_) == peer[0].get_feature_names_out().tolist()
    assert ours.predict_proba(asked) == pytest.approx(peer.predict_proba(asked), abs=1e-9)
    counts = peer[0].transform(texts)
    matrix = bb.TextClassifier(occurrence=occurrence, smoothing=f"lidstone:{alpha}").fit(counts, labels)
    assert matrix.predict_proba(counts) == pytest.approx(peer.predict_proba(texts), abs=1e-9)


@given(DOCUMENTS, DOCUMENTS, st.randoms())
@settings(max_examples=60, deadline=None)
def test_exactness(one, two_more, random):
    whole = bb.TextClassifier().fit(*two(one + two_more))
    shuffled = list(one + two_more)
    random.shuffle(shuffled)
    assert bb.TextClassifier().fit(*two(shuffled)).book_.digest() == whole.book_.digest()
    first = bb.TextClassifier().fit(*two(one))
    digest = first.book_.digest()
    assert (first + bb.TextClassifier().fit(*two(two_more))).book_.digest() == whole.book_.digest()
    assert first.partial_fit(*two(two_more)).book_.digest() == whole.book_.digest()
    assert first.forget(*two(two_more)).book_.digest() == digest
    weighted = bb.TextClassifier().fit(*two(one), sample_weight=[2.0] * len(one))
    assert weighted.book_.digest() == bb.TextClassifier().fit(*two(one + one)).book_.digest()


def test_weights_are_exact():
    clf = bb.TextClassifier().fit(TEXTS, LABELS, sample_weight=[0.1, 0.2, 0.3, 0.0])
    assert clf.classes_.tolist() == ["NZ"]
    clf.forget(TEXTS[:2], LABELS[:2], sample_weight=[0.1, 0.2])
    assert clf.book_.digest() == bb.TextClassifier().fit([TEXTS[2]], ["NZ"], sample_weight=[0.3]).book_.digest()


@pytest.mark.parametrize(
    "form",
    [
        tuple,
        np.array,
        lambda texts: np.array(texts, dtype=object),
        pd.Series,
        lambda texts: pd.Series(texts, dtype="string"),
        pl.Series,
        pa.array,
        lambda texts: pa.chunked_array([texts[:1], texts[1:]]),
        lambda texts: pd.DataFrame({"text": texts}),
        lambda texts: [text.encode() for text in texts],
    ],
)
def test_forms_of_documents(form):
    expected = bb.TextClassifier().fit(TEXTS, LABELS)
    clf = bb.TextClassifier().fit(form(TEXTS), LABELS)
    assert clf.book_.digest() == expected.book_.digest()
    assert clf.predict(form(TEXTS)).tolist() == expected.predict(TEXTS).tolist()


@pytest.mark.parametrize("occurrence", MODELS)
def test_odd_documents(occurrence):
    clf = bb.TextClassifier(occurrence=occurrence).fit([*TEXTS, ""], [*LABELS, "DE"])
    odd = ["", "unseen words", "\0", None, "kiwi " * 10_000, "\ud800"]
    answers = clf.predict_proba(odd)
    assert np.isfinite(answers).all()
    assert answers.sum(axis=1) == pytest.approx(1)
    assert clf.predict_proba([b"\xff\xfe kiwi \xc3"]) == pytest.approx(clf.predict_proba(["kiwi"]))
    assert clf.explain(odd).joint() == pytest.approx(clf.joint_log_proba(odd))
    nothing = bb.TextClassifier(occurrence=occurrence).fit(["", "a"], ["DE", "NZ"])
    assert nothing.predict_proba(["kiwi"])[0].tolist() == [0.5, 0.5]


@pytest.mark.parametrize("occurrence", MODELS)
@pytest.mark.parametrize("rule", ["laplace", "mle", "m:2", "replace-zero:half", "as-written:1,2"])
def test_every_rule(occurrence, rule):
    clf = bb.TextClassifier(occurrence=occurrence, smoothing=rule).fit(TEXTS, LABELS)
    assert np.isfinite(clf.predict_proba(["Kiwi Kiwi", "Kiwi Munich Oktoberfest"])).all()


def test_scikit_learn_tools():
    clf = bb.TextClassifier(top=5, phrases=(1, 2), stop_words=["bird"])
    assert clone(clf).get_params() == clf.get_params()
    texts, labels = TEXTS * 3, LABELS * 3
    search = GridSearchCV(make_pipeline(bb.TextClassifier()), {"textclassifier__occurrence": MODELS}, cv=3)
    assert search.fit(texts, labels).best_score_ > 0.5
    expected = clf.fit(texts, labels).predict(texts).tolist()
    assert pickle.loads(pickle.dumps(clf)).predict(texts).tolist() == expected
    assert clf.words_ == ("auckland", "kiwi", "kiwi auckland", "kiwi kiwi", "kiwi sheep")
    with pytest.raises(NotFittedError):
        bb.TextClassifier().predict(texts)


def test_integer_labels_and_declared_classes():
    clf = bb.TextClassifier().partial_fit(["kiwi", "sheep"], [2, 10], classes=[2, 10, 3])
    assert clf.classes_.tolist() == [2, 3, 10]
    assert clf.predict(["sheep", "kiwi"]).tolist() == [10, 2]
    assert clf.predict_proba(["kiwi"])[0, 1] == 0


def test_many_classes():
    labels = [f"class{index}" for index in range(3000)]
    clf = bb.TextClassifier().fit([f"word{index % 50} kiwi" for index in range(3000)], labels)
    assert clf.predict_proba(["word3"]).shape == (1, 3000)


def test_long_documents_are_less_certain_when_normalised():
    long = [" ".join(["Kiwi sheep"] * 100)]
    plain, normalised = (bb.TextClassifier(occurrence=each).fit(TEXTS, LABELS) for each in ("count", "normalised"))
    assert plain.predict_proba(long).max() > 0.9999 > normalised.predict_proba(long).max() > 0.75
    terms = plain.joint_log_proba(long) - plain.class_log_prior_
    expected = plain.class_log_prior_ + terms / np.sqrt(200)
    assert normalised.joint_log_proba(long) == pytest.approx(expected, rel=1e-12)
    assert plain.predict(long) == normalised.predict(long)


def test_explanation():
    clf = bb.TextClassifier().fit(TEXTS, LABELS)
    found = clf.explain(["Kiwi Kiwi Kiwi Munich Oktoberfest"])
    assert [each.word for each in found.top(0, "NZ", "DE")] == ["kiwi", "munich", "oktoberfest"]
    assert found.top(0, "NZ", "DE", 1)[0].times == 3
    assert [word for word, _ in clf.telling_words("DE", 2)] == ["munich", "oktoberfest"]
    assert clf.with_prior({"NZ": 0.1, "DE": 0.9}).predict(["kiwi"]).tolist() == ["DE"]


@pytest.mark.parametrize("occurrence", MODELS)
def test_save_and_load(occurrence, tmp_path):
    path = tmp_path / "mail.bayes"
    clf = bb.TextClassifier(3, occurrence, smoothing="lidstone:0.5", stop_words=["bird"]).fit(TEXTS, LABELS)
    clf.save(path)
    again = bb.load(path)
    assert again.predict_proba(TEXTS).tolist() == clf.predict_proba(TEXTS).tolist()
    assert again.book_.digest() == clf.book_.digest()
    again.partial_fit(["Bayern"], ["DE"]).forget(["Bayern"], ["DE"])
    again.save(tmp_path / "again.bayes")
    assert (tmp_path / "again.bayes").read_bytes() == path.read_bytes()
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(bb.BadModelFile):
        bb.load(path)


def test_refusals():
    clf = bb.TextClassifier().fit(TEXTS, LABELS)
    before = clf.book_.digest()
    with pytest.raises(bb.CannotForget):
        clf.forget(["Kiwi Zebra"], ["NZ"])
    assert clf.book_.digest() == before
    with pytest.raises(bb.CannotMerge):
        clf + bb.TextClassifier(top=3).fit(TEXTS, LABELS)
    with refusal(bb.BadData, found="kiwi"):
        clf.predict("kiwi")
    with refusal(bb.BadData, found="a matrix of counts"):
        clf.predict(sparse.csr_matrix(np.eye(3)))
    for options in ({"occurrence": "often"}, {"top": 0}, {"min_documents": 0}, {"phrases": (3, 1)}):
        with pytest.raises(bb.BadOption):
            bb.TextClassifier(**options).fit(TEXTS, LABELS)
    with refusal(bb.BadData, what="0 sample"):
        clf.predict([])
    with refusal(bb.BadOption, remedy="-t COLUMN"):
        bb.train({"text": TEXTS, "label": LABELS}, model=bb.TextClassifier())
    with refusal(bb.BadOption, remedy="text='COLUMN'"):
        bb.train({"one": TEXTS, "two": TEXTS, "label": LABELS}, "label", model=bb.TextClassifier())


def test_train_takes_a_column_of_a_table():
    table = {"one": TEXTS, "two": LABELS, "label": LABELS}
    trained = bb.train(table, "label", model=bb.TextClassifier(), text="one")
    assert trained.book_.digest() == bb.TextClassifier().fit(TEXTS, LABELS).book_.digest()
    assert trained.training_.rows == len(TEXTS)


def test_a_path_is_the_name_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mail.csv"
    file.write_text("text,label\nkiwi sheep,nz\nbeer,de\n")
    by_path, by_name = (bb.train(each, "label", model=bb.TextClassifier()) for each in (file, str(file)))
    assert by_path.book_ == by_name.book_
