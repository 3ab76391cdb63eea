"""A column of free text among others: one model, exact, and the same as the two models it is made of."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.errors import MissingColumns

NOTES = [
    "the guest liked the quiet room and the breakfast very much",
    "a quiet room with a fine view of the harbour and the town",
    "the breakfast was cold and the staff at the desk was rude",
    "a rude answer at the desk and a cold room for two long nights",
    "the view is fine and the staff is kind to every single guest",
]
NIGHTS = [2.0, 7.0, 1.0, 2.0, 4.0]
TABLE = {"note": NOTES, "nights": NIGHTS, "city": ["Rome", "Oslo", "Rome", "Oslo", "Rome"]}
STARS = ["good", "good", "bad", "bad", "good"]
SHORT = st.lists(st.sampled_from(["kiwi", "sheep", "bird", "munich", "beer"]), max_size=6).map(" ".join)


def rows(table, chosen):
    return {name: [column[row] for row in chosen] for name, column in table.items()}


def test_long_text_is_words_and_short_text_a_category() -> None:
    clf = bb.NaiveBayes().fit(TABLE, STARS)
    kinds = clf.classifier_.schema.kinds
    assert kinds["note"] == bb.Words()
    assert isinstance(kinds["city"], bb.Category)
    names = [f"Mr. {name}" for name in "ABCDE"]
    assert isinstance(
        bb.NaiveBayes().fit({"name": names, "x": NIGHTS}, STARS).classifier_.schema.kinds["name"], bb.Category
    )
    same = [NOTES[0]] * 5
    assert isinstance(
        bb.NaiveBayes().fit({"note": same, "x": NIGHTS}, STARS).classifier_.schema.kinds["note"], bb.Category
    )


def test_it_is_the_sum_of_its_parts() -> None:
    clf = bb.NaiveBayes(columns={"note": bb.Words()}).fit(TABLE, STARS)
    text = bb.TextClassifier().fit(NOTES, STARS)
    rest = bb.NaiveBayes().fit({name: TABLE[name] for name in ("nights", "city")}, STARS)
    expected = text.joint_log_proba(NOTES) + rest.joint_log_proba(TABLE) - np.log([2 / 5, 3 / 5])
    np.testing.assert_allclose(clf.joint_log_proba(TABLE), expected, rtol=1e-13)
    explained = clf.explain(TABLE)
    np.testing.assert_allclose(explained.joint(), clf.joint_log_proba(TABLE), rtol=1e-13)
    place = explained.columns.index("note")
    np.testing.assert_allclose(
        explained.terms[:, :, place], text.joint_log_proba(NOTES) - np.log([2 / 5, 3 / 5]), rtol=1e-13
    )


def test_options_are_those_of_a_text_classifier() -> None:
    options = {"top": 6, "phrases": (1, 2), "stop_words": ("the", "and")}
    clf = bb.NaiveBayes(columns={"note": bb.Words("normalised", **options)}).fit({"note": NOTES}, STARS)
    text = bb.TextClassifier(occurrence="normalised", **options).fit(NOTES, STARS)
    np.testing.assert_allclose(clf.predict_proba({"note": NOTES}), text.predict_proba(NOTES), rtol=1e-13)


def test_a_missing_text_has_no_words() -> None:
    table = {**TABLE, "note": [None, *NOTES[1:]]}
    clf = bb.NaiveBayes(columns={"note": "words"}).fit(table, STARS)
    without = bb.NaiveBayes(columns={"note": "words"}).fit({**TABLE, "note": ["", *NOTES[1:]]}, STARS)
    assert clf.book_.digest() == without.book_.digest()
    asked = {"note": [None], "nights": [2.0], "city": ["Rome"]}
    absent = {"nights": [2.0], "city": ["Rome"]}
    with pytest.warns(MissingColumns):
        found = clf.predict_proba(absent)
    np.testing.assert_array_equal(clf.predict_proba(asked), found)


def test_learn_forget_merge_and_save(tmp_path) -> None:
    kinds = {"note": bb.Words(top=40, stop_words=["the"])}
    whole = bb.NaiveBayes(columns=kinds).fit(TABLE, STARS)
    parts = [
        bb.NaiveBayes(columns=kinds).fit(rows(TABLE, part), [STARS[k] for k in part]) for part in ([0, 2], [1, 3, 4])
    ]
    assert (parts[0] + parts[1]).book_.digest() == whole.book_.digest()
    parts[0].partial_fit(rows(TABLE, [1, 3, 4]), [STARS[k] for k in (1, 3, 4)])
    assert parts[0].book_.digest() == whole.book_.digest()
    before = bb.NaiveBayes(columns=kinds).fit(rows(TABLE, [0, 1, 2, 3]), STARS[:4]).book_.digest()
    whole.save(tmp_path / "m.bayes")
    loaded = bb.load(tmp_path / "m.bayes")
    np.testing.assert_array_equal(loaded.predict_proba(TABLE), whole.predict_proba(TABLE))
    assert loaded.classifier_.schema.kinds["note"] == bb.Words(top=40, stop_words=("the",))
    loaded.forget(rows(TABLE, [4]), STARS[4:])
    assert loaded.book_.digest() == before
    with pytest.raises(bb.CannotForget):
        loaded.forget(rows(TABLE, [4]), STARS[4:])


@given(
    st.lists(st.tuples(SHORT, st.integers(0, 3), st.sampled_from("ab")), min_size=3, max_size=12),
    st.sampled_from(["laplace", "mle", "m:2"]),
    st.sampled_from(["count", "normalised"]),
)
@settings(max_examples=30, deadline=None)
@pytest.mark.filterwarnings("ignore::bayesbox.DataWarning")
def test_leave_one_out_is_fitting_without_the_row(data, smoothing, occurrence) -> None:
    texts, numbers, labels = (list(column) for column in zip(*data, strict=True))
    kinds = {"note": bb.Words(occurrence), "x": bb.Category()}
    clf = bb.NaiveBayes(smoothing=smoothing, columns=kinds).fit({"note": texts, "x": numbers}, labels)
    found = clf.leave_one_out({"note": texts, "x": numbers}, labels)
    for row in range(len(labels)):
        others = [k for k in range(len(labels)) if k != row]
        one = bb.NaiveBayes(smoothing=smoothing, columns=kinds).fit(
            {"note": [texts[k] for k in others], "x": [numbers[k] for k in others]}, [labels[k] for k in others]
        )
        expected = dict(
            zip(one.classes_, one.predict_proba({"note": [texts[row]], "x": [numbers[row]]})[0], strict=True)
        )
        np.testing.assert_allclose(found[row], [expected.get(name, 0.0) for name in clf.classes_], atol=1e-12)


def test_leave_one_out_with_a_choice_of_words_is_refused() -> None:
    clf = bb.NaiveBayes(columns={"note": bb.Words(top=3)}).fit({"note": NOTES}, STARS)
    with refusal(bb.BadOption, what="`note`"):
        clf.leave_one_out({"note": NOTES}, STARS)


def test_weights_count_a_row_so_often() -> None:
    clf = bb.NaiveBayes(columns={"note": "words"}).fit(TABLE, STARS, sample_weight=[2, 1, 0, 1, 3])
    often = [0, 0, 1, 3, 4, 4, 4]
    plain = bb.NaiveBayes(columns={"note": "words"}).fit(rows(TABLE, often), [STARS[k] for k in often])
    assert clf.book_.digest() == plain.book_.digest()


def test_what_words_refuse() -> None:
    for options in ({"occurrence": "often"}, {"top": 0}, {"phrases": (2, 1)}, {"missing": "level"}):
        with pytest.raises(bb.BadOption):
            bb.Words(**options)
    with refusal(bb.BadData, where="column `x`", found="double"):
        bb.NaiveBayes(columns={"x": "words"}).fit({"x": [1.5, 2.5]}, ["a", "b"])
    with pytest.raises(bb.NotLinear):
        bb.NaiveBayes(columns={"note": "words"}).fit(TABLE, STARS).linear_weights()


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
)
def test_every_form_of_a_text_column(kind) -> None:
    column = pa.array(NOTES).dictionary_encode() if pa.types.is_dictionary(kind) else pa.array(NOTES).cast(kind)
    clf = bb.NaiveBayes(columns={"note": "words"}).fit(pa.table({"note": column}), STARS)
    assert clf.book_.digest() == bb.NaiveBayes(columns={"note": "words"}).fit({"note": NOTES}, STARS).book_.digest()


def test_a_file_with_texts_by_command(tmp_path, monkeypatch, capsys) -> None:
    from bayesbox.cli.main import run

    monkeypatch.chdir(tmp_path)
    lines = [f"{city},{night:g},{note},{star}" for note, night, city, star in zip(*TABLE.values(), STARS, strict=True)]
    (tmp_path / "stays.csv").write_text("city,nights,note,stars\n" + "\n".join(lines) + "\n")
    assert run(["train", "stays.csv", "-t", "stars"]) == 0
    assert "distinct words" in capsys.readouterr().err
    trained = bb.load("stays.bayes")
    assert trained.book_.digest() == bb.NaiveBayes().fit(TABLE, STARS).book_.digest()
    for arguments in (
        ["predict", "stays.bayes", "stays.csv", "--proba", "--explain", "2"],
        ["explain", "stays.bayes", "--set", f"note={NOTES[0]}", "--set", "nights=2", "--show-work"],
        ["show", "stays.bayes", "--column", "note"],
        ["show", "stays.bayes", "--json"],
        ["schema", "stays.csv", "-t", "stars"],
        ["evaluate", "stays.csv", "-t", "stars", "--cv", "2"],
        ["evaluate", "stays.csv", "-t", "stars", "--loo"],
        ["train", "stays.csv", "-t", "stars", "--types", "note=words:normalised"],
        ["update", "stays.bayes", "stays.csv"],
        ["forget", "stays.bayes", "stays.csv"],
    ):
        assert run(arguments) == 0, arguments
        assert capsys.readouterr().out or arguments[0] in ("train", "update", "forget")
