"""What a model file reveals, and models in which rare levels and words are pooled."""

from __future__ import annotations

import numpy as np
import pytest

import bayesbox as bb
from bayesbox.classifier.privacy.redact import POOLED, redact
from bayesbox.errors import BadOption, CannotForget, CannotRedact
from bayesbox.file import container
from bayesbox.file.load import load_classifier

COMMON = ["suv", "van"]
RARE = ["secret-007", "secret-008", "one-off"]


@pytest.fixture
def people(folder):
    """40 rows; three levels of one row each, a class of one row, ids that all differ."""
    rows = [f"{20 + n},{COMMON[n % 2]},id{n},{'high' if n % 3 else 'low'}" for n in range(36)]
    rows += [f"{50 + n},{car},id9{n},high" for n, car in enumerate(RARE)]
    rows += ["123456.78,suv,id99,never"]
    (folder / "people.csv").write_text("age,car,name,risk\n" + "\n".join(rows) + "\n")
    return folder


def found(ended):
    return {(each["column"], each["what"]): each for each in ended.json["disclosures"]}


def test_what_few_rows_have_is_listed(people, bayes):
    bayes("train", "people.csv", "-t", "risk", "-o", "m.bayes")
    listed = found(bayes("show", "m.bayes", "--privacy", "--json"))
    assert listed["car", "levels"] | {"model": None} == {
        "model": None,
        "column": "car",
        "what": "levels",
        "count": 3,
        "of": 5,
    }
    assert listed["name", "levels"]["count"] == 40
    assert listed["age", "means of one row"]["count"] == 1
    assert listed["(classes)", "classes"]["count"] == 1
    shown = bayes("show", "m.bayes", "--privacy", "--json", "--values", "-k", "2")
    assert {text for text, _ in found(shown)["car", "levels"]["values"]} == set(RARE)
    assert [text for text, _ in found(shown)["age", "means of one row"]["values"]] == ["123456.78"]
    plain, whole = bayes("show", "m.bayes", "--privacy").out, bayes("show", "m.bayes", "--privacy", "--values").out
    assert "secret-007" not in plain
    assert "secret-007" in whole
    assert "age, car, name" in plain


@pytest.mark.parametrize(
    ("options", "key"),
    [
        (("--numeric", "kernel"), ("age", "numbers kept")),
        (("--model", "tan"), ("(columns together)", "combinations")),
        (("--model", "kdb:1"), ("(columns together)", "combinations")),
        (("--model", "full"), ("(columns together)", "combinations")),
        (("--model", "optimal"), ("car", "levels")),
    ],
)
def test_every_kind_says_what_it_keeps(people, bayes, options, key):
    bayes("train", "people.csv", "-t", "risk", "-o", "m.bayes", "--ignore", "name", *options)
    assert key in found(bayes("show", "m.bayes", "--privacy", "--json"))
    bayes("redact", "m.bayes", "-o", "out.bayes", code=3)
    assert not (people / "out.bayes").exists()


def test_points_of_autobayes_are_counted():
    rng = np.random.default_rng(0)
    rows = {"one": rng.normal(size=60), "two": rng.normal(size=60)}
    clf = bb.AutoBayes(budget=1).fit(rows, np.where(rows["one"] * rows["two"] > 0, "a", "b"))
    from bayesbox.classifier.privacy.disclosures import disclosures

    points = clf.classifier_.kept_points()
    listed = {each.what: each.count for each in disclosures(clf.classifier_, 5)}
    assert listed["rows kept as points"] == points == 60
    with pytest.raises(CannotRedact):
        redact(clf.classifier_, 5)


def test_nothing_of_a_rare_level_is_left(people, bayes):
    bayes("train", "people.csv", "-t", "risk", "-o", "m.bayes", "--ledger")
    ended = bayes("redact", "m.bayes", "--min-count", "5", "-o", "out.bayes", "--json")
    members = container.unpack((people / "out.bayes").read_bytes(), name="out.bayes")
    assert not any(b"secret" in data or b"id9" in data for data in members.values())
    assert {(each["column"], each["what"]) for each in ended.json["remaining"]} == {
        ("(classes)", "classes"),
        ("age", "cells of numbers"),
        ("age", "means of one row"),
    }
    before, after = load_classifier("m.bayes"), load_classifier("out.bayes")
    assert after.redacted == 5
    assert after.book.ledger is None
    assert after.book["car"].levels == (POOLED, "suv", "van")
    assert np.array_equal(after.book["car"].n, before.book["car"].n)
    assert bayes("show", "out.bayes", "--json").json["redacted"] == 5
    assert "redacted" in bayes("show", "out.bayes").out
    assert bayes("show", "m.bayes", "--json").json["redacted"] is None


@pytest.mark.parametrize("smoothing", ["mle", "laplace", "m:2", "lidstone:0.5"])
def test_the_probabilities_of_the_others_stay(people, bayes, smoothing):
    bayes("train", "people.csv", "-t", "risk", "-o", "m.bayes", "--smoothing", smoothing)
    bayes("redact", "m.bayes", "-o", "out.bayes")
    rows = [{"age": 30, "car": car} for car in COMMON]
    before, after = bb.load("m.bayes"), bb.load("out.bayes")
    assert np.array_equal(before.predict_proba(rows), after.predict_proba(rows))


def test_a_redacted_model_refuses_to_forget_what_was_pooled(people, bayes):
    bayes("train", "people.csv", "-t", "risk", "-o", "m.bayes", "--ignore", "name")
    bayes("redact", "m.bayes", "-o", "out.bayes")
    before = (people / "out.bayes").read_bytes()
    for car in ("secret-007", POOLED):
        (people / "gone.csv").write_text(f"age,car,risk\n50,{car},high\n")
        bayes("forget", "out.bayes", "gone.csv", code=3)
        assert (people / "out.bayes").read_bytes() == before
    clf = bb.load("out.bayes")
    with pytest.raises(CannotForget) as refused:
        clf.forget({"age": [50.0], "car": ["secret-007"]}, ["high"])
    assert refused.value.found == "secret-007"
    assert "car" in refused.value.where
    (people / "gone.csv").write_text("age,car,risk\n21,van,high\n")
    bayes("forget", "out.bayes", "gone.csv")
    bayes("update", "out.bayes", "gone.csv")
    assert load_classifier("out.bayes").redacted == 5


def test_it_can_be_redacted_again(people, bayes):
    bayes("train", "people.csv", "-t", "risk", "-o", "m.bayes", "--ignore", "name")
    classifier = load_classifier("m.bayes")
    once, twice = redact(classifier, 3), redact(redact(classifier, 3), 19)
    assert once.book["car"].levels == (POOLED, "suv", "van")
    assert twice.book["car"].levels == (POOLED, "suv")
    assert twice.redacted == 19
    assert redact(once, 3).book.digest() == once.book.digest()
    with pytest.raises(BadOption):
        redact(classifier, 1)


def test_declared_levels_and_flags_stay(people, bayes):
    (people / "flags.csv").write_text("ok,car,risk\n" + "true,suv,a\nfalse,van,b\n" * 4 + "true,truck,a\n")
    types = "car=category:suv:van:truck"
    bayes("train", "flags.csv", "-t", "risk", "-o", "m.bayes", "--types", types)
    bayes("redact", "m.bayes", "--min-count", "9", "-o", "out.bayes")
    assert load_classifier("out.bayes").book.digest() == load_classifier("m.bayes").book.digest()


TEXTS = ["kiwi sheep", "kiwi bird sheep", "kiwi hunter2 hunter2", "beer kiwi", "beer sheep"]
LABELS = ["NZ", "NZ", "NZ", "DE", "DE"]


def test_words_of_few_documents_are_pooled(folder, bayes):
    clf = bb.TextClassifier().fit(TEXTS, LABELS)
    clf.save("m.bayes")
    assert found(bayes("show", "m.bayes", "--privacy", "-k", "2", "--json"))["documents", "words"]["count"] == 2
    bayes("redact", "m.bayes", "--min-count", "2", "-o", "out.bayes")
    members = container.unpack((folder / "out.bayes").read_bytes(), name="out.bayes")
    assert not any(b"hunter2" in data or b"bird" in data for data in members.values())
    after = bb.load("out.bayes")
    assert after.book_["words"].levels == (POOLED, "beer", "kiwi", "sheep")
    assert np.array_equal(after.book_["words"].n, clf.book_["words"].n)
    assert after.book_["documents"].by_class()[1][POOLED] == 2
    assert after.predict(["kiwi sheep"]).tolist() == ["NZ"]
    for text in (TEXTS[2], "kiwi bird"):
        with pytest.raises(CannotForget):
            after.forget([text], ["NZ"])
    after.forget(["kiwi sheep"], ["NZ"])


def test_a_pooled_word_is_in_no_more_documents_than_there_are():
    texts = ["one two three", "four five"]
    clf = bb.TextClassifier(occurrence="binary").fit(texts, ["a", "b"])
    thinned = redact(clf.classifier_, 2)
    assert thinned.book["documents"].by_class() == [{POOLED: 1}, {POOLED: 1}]
    assert np.isfinite(thinned.model.log_prior).all()


@pytest.mark.parametrize("occurrence", ["table", "position"])
def test_models_that_count_more_of_a_document_are_refused(occurrence):
    clf = bb.TextClassifier(occurrence=occurrence).fit(TEXTS, LABELS)
    with pytest.raises(CannotRedact):
        redact(clf.classifier_, 2)


def test_a_model_of_given_tables_has_nothing_to_redact(folder, bayes):
    clf = bb.NaiveBayes.from_tables(prior={"a": 0.5, "b": 0.5}, tables={"x": {"a": {"u": 1.0}, "b": {"u": 1.0}}})
    clf.save("m.bayes")
    assert bayes("show", "m.bayes", "--privacy", "--json").json["disclosures"] == []
    bayes("redact", "m.bayes", "-o", "out.bayes", code=3)


def test_options_of_privacy_go_with_it(people, bayes):
    bayes("train", "people.csv", "-t", "risk", "-o", "m.bayes")
    bayes("show", "m.bayes", "--values", code=2)
    bayes("show", "m.bayes", "-k", "3", code=2)
    bayes("show", "m.bayes", "--privacy", "--column", "age", code=2)
