"""The command on documents: folders, mail, columns of tables; exit codes for a mail filter."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest

import bayesbox as bb
from bayesbox.classifier import predict as predict_rows

HAM = ["see you at noon", "lunch at the harbour", "the meeting is at noon", "thanks for lunch"]
SPAM = ["win a prize now", "you won a free prize", "free loan now"]


class Input(io.TextIOWrapper):
    """Standard input with these bytes."""

    def __init__(self, content: bytes) -> None:
        super().__init__(io.BytesIO(content))


@pytest.fixture
def mail(folder: Path) -> Path:
    for name, texts in (("ham", HAM), ("spam", SPAM)):
        (folder / "mail" / name).mkdir(parents=True)
        for number, text in enumerate(texts):
            (folder / "mail" / name / f"{number}.eml").write_text(f"Subject: {text}\nFrom: a@b\n\n{text}\n")
    lines = [f"{label},{text}\n" for label, texts in (("ham", HAM), ("spam", SPAM)) for text in texts]
    (folder / "texts.csv").write_text("label,text\n" + "".join(lines))
    return folder


@pytest.fixture
def trained(mail, bayes):
    bayes("train", "mail", "--model", "text", "-o", "spam.bayes")
    bayes("train", "texts.csv", "-t", "label", "--model", "text", "-o", "texts.bayes")
    return mail


def test_train_says_what_was_learned(mail, bayes) -> None:
    told = bayes("train", "mail/", "--model", "text").err
    assert "7 documents; class: ham 4, spam 3" in told
    assert (mail / "mail.bayes").exists()
    report = bayes("train", "texts.csv", "-t", "label", "--model", "text", "--json").json
    assert report["kind"] == "text"
    assert report["classes"] == {"ham": 4, "spam": 3}
    assert report["text"] == "text"
    assert "prize" in report["telling"]["spam"]
    same = bb.train("texts.csv", "label", model=bb.TextClassifier())
    assert same.book_.digest() == report["digest"]
    assert bb.load("texts.bayes").predict(["a prize"]).tolist() == ["spam"]
    assert bb.train("mail", model=bb.TextClassifier()).book_.digest() == bb.load("mail.bayes").book_.digest()


def test_options_of_documents(mail, bayes) -> None:
    (mail / "stop.txt").write_text("the\nat\n")
    options = ["--occurrence", "binary", "--top", "5", "--phrases", "1-2", "--stop-words", "stop.txt"]
    report = bayes("train", "texts.csv", "-t", "label", "--model", "text", *options, "-o", "m.bayes", "--json").json
    assert report["used"] == 5
    loaded = bb.load("m.bayes")
    assert loaded.get_params()["phrases"] == (1, 2)
    assert loaded.get_params()["stop_words"] == ("at", "the")
    rules = bayes("show", "m.bayes", "--json").json["rules"]
    assert rules["occurrence"] == "binary"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "texts.csv", "-t", "label", "--text", "text"], "--model text"),
        (["train", "texts.csv", "-t", "label", "--model", "text", "--missing", "level"], "--missing"),
        (["train", "texts.csv", "--model", "text"], "no target column"),
        (["train", "mail/ham/0.eml", "--model", "text"], "no classes"),
        (["train", "--model", "text"], "no data"),
        (["evaluate", "mail", "--model", "text", "--loo", "--cv", "3"], "--loo"),
        (["evaluate", "mail", "--model", "text", "--loo", "--top", "3"], "may change"),
        (["evaluate", "texts.csv", "-t", "label", "--top", "3"], "--model text"),
    ],
)
def test_what_makes_no_sense_is_refused(mail, bayes, arguments, said) -> None:
    code = 3 if "0.eml" in " ".join(arguments) else 2
    assert said in bayes(*arguments, code=code).err


def test_several_columns_need_to_be_told_apart(mail, bayes) -> None:
    (mail / "more.csv").write_text("label,title,body\nham,hello,see you\nspam,win,a prize\n")
    said = bayes("train", "more.csv", "-t", "label", "--model", "text", code=2).err
    assert "title, body" in said
    bayes("train", "more.csv", "-t", "label", "--model", "text", "--text", "body")
    assert (
        "no column `bdy`" in bayes("train", "more.csv", "-t", "label", "--model", "text", "--text", "bdy", code=3).err
    )


def test_predict_files_tables_and_folders(trained, bayes) -> None:
    assert bayes("predict", "spam.bayes", "mail/spam/0.eml").out == "file,prediction\nmail/spam/0.eml,spam\n"
    lines = bayes("predict", "spam.bayes", "mail").out.splitlines()
    assert len(lines) == 8
    answers = bayes("predict", "texts.bayes", "texts.csv", "--proba", "--explain", "2", "--keep", "label").out
    header, first, *_ = answers.splitlines()
    assert header == "label,prediction,P(ham),P(spam),explanation"
    assert first.startswith("ham,ham,0.")
    assert "no column `text`" in _without_text(trained, bayes)


def test_answers_are_the_same_in_pieces(trained, bayes, monkeypatch) -> None:
    whole = bayes("predict", "texts.bayes", "texts.csv", "--proba", "--explain", "2").out
    monkeypatch.setattr(predict_rows, "CELLS_A_PIECE", 6)  # three documents of two classes
    assert bayes("predict", "texts.bayes", "texts.csv", "--proba", "--explain", "2").out == whole


@pytest.fixture
def reviews(folder: Path) -> Path:
    """Documents enough to choose by, whose pairs of words say more than their words."""
    random = np.random.default_rng(0)
    lines = ["label,text\n"]
    for row in range(90):
        words = [f"w{each}" for each in random.integers(0, 9, 4)]
        lines.append(f"{('bad', 'fine')[row % 2]},{' '.join(words)} {('good not', 'not good')[row % 2]}\n")
    (folder / "texts.csv").write_text("".join(lines))
    return folder


def test_the_model_is_chosen_calibrated_and_printed(reviews, bayes) -> None:
    done = bayes("train", "texts.csv", "-t", "label", "--model", "text", "-o", "m.bayes")
    assert "phrases of 1 to 2 words, on 90 documents, each held out of the counts:\n" in done.err
    assert "  complement, each word once: " in done.err
    assert "calibrated by temperature: log loss " in done.err
    report = bayes("train", "texts.csv", "-t", "label", "--model", "text", "--json").json
    assert len(report["tried"]) == 8
    assert report["phrases"] == [1, 2]
    assert report["calibration"]["after"] < report["calibration"]["before"]
    assert report["occurrence"] == bb.load("m.bayes").chosen_["occurrence"]
    shown = bayes("show", "m.bayes").out
    assert "chosen on held-out documents: occurrence " in shown
    assert "; phrases 1-2\n" in shown
    assert "calibration: temperature\n" in shown
    certificate = bayes("forget", "m.bayes", "texts.csv", "--json", "-o", "n.bayes").json
    assert certificate["derived"][1:] == ["the choice of phrases (1-2)", "the calibration (temperature)"]
    judged = bayes("evaluate", "texts.csv", "-t", "label", "--model", "text", "--cv", "3", "--json").json
    assert judged["rows"] == 90
    assert judged["before_calibration"]["log_loss"] > judged["log_loss"]["value"]


def test_the_textbooks_model_is_asked_for(reviews, bayes) -> None:
    options = ["--model", "text", "--occurrence", "count", "--calibrate", "none"]
    report = bayes("train", "texts.csv", "-t", "label", *options, "-o", "m.bayes", "--json").json
    assert (report["tried"], report["calibration"], report["notes"]) == ([], None, [])
    with open("texts.csv") as file:
        labels, texts = zip(*(line.strip().split(",") for line in list(file)[1:]), strict=True)
    plain = bb.TextClassifier().fit(list(texts), list(labels))
    assert np.array_equal(bb.load("m.bayes").predict_proba(list(texts)), plain.predict_proba(list(texts)))
    one = bayes("evaluate", "texts.csv", "-t", "label", "--model", "text", "--loo", "--json").json
    other = bayes("evaluate", "texts.csv", "-t", "label", *options, "--loo", "--json").json
    assert one["log_loss"] == other["log_loss"]  # each document is held out of the textbook's model


def test_options_that_are_given_are_not_chosen(reviews, bayes) -> None:
    train = ["train", "texts.csv", "-t", "label", "--model", "text", "--json"]
    given = bayes(*train, "--phrases", "1", "--calibrate", "isotonic").json
    assert {tuple(each["phrases"]) for each in given["tried"]} == {(1, 1)}
    assert given["calibration"]["kind"] == "isotonic"
    assert len(bayes(*train, "--characters", "3-3", "--force").json["tried"]) == 4
    assert len(bayes(*train, "--occurrence", "binary", "--phrases", "auto", "--force").json["tried"]) == 2
    limited = bayes(*train, "--limit", "5", "--force").json
    assert limited["tried"] == []
    assert "dropped by the limit" in limited["notes"][0]


def test_few_documents_leave_the_textbooks_model(mail, bayes) -> None:
    done = bayes("train", "texts.csv", "-t", "label", "--model", "text", "-o", "m.bayes")
    assert "note: fewer than 50 documents have a class" in done.err
    bayes("train", "texts.csv", "-t", "label", "--model", "text", "--occurrence", "count", "-o", "n.bayes")
    assert np.array_equal(*(bb.load(each).predict_proba(["prize noon"]) for each in ("m.bayes", "n.bayes")))
    assert bayes("evaluate", "texts.csv", "-t", "label", "--model", "text", "--cv", "2", "--json").json["rows"] == 7


def _without_text(folder, bayes) -> str:
    (folder / "other.csv").write_text("body\nhello\n")
    return bayes("predict", "texts.bayes", "other.csv", code=3).err


def test_a_message_on_standard_input_ends_the_command_by_its_class(trained, bayes, monkeypatch) -> None:
    for content, more, code, answer in [
        (b"Subject: prize\n\nfree prize", [], 0, "spam"),
        (b"see you at noon", [], 1, "ham"),
        (b"", ["--unsure", "0.9"], 5, "unsure"),
        (b"unheard words", ["--unsure", "0.9"], 5, "unsure"),
        (b"\xff\xfe\x00", [], 1, "ham"),
    ]:
        monkeypatch.setattr(sys, "stdin", Input(content))
        ended = bayes("predict", "spam.bayes", "-", "--exit-class", "spam", *more, code=code)
        assert ended.out == f"prediction\n{answer}\n"
    assert "one" in bayes("predict", "spam.bayes", "mail", "--exit-class", "spam", code=2).err
    assert "ham, spam" in bayes("predict", "spam.bayes", "mail/ham/0.eml", "--exit-class", "eggs", code=2).err


def test_unsure_and_exit_codes_for_a_table(tables, bayes) -> None:
    bayes("train", "cars.csv", "-t", "class")
    answers = bayes("predict", "cars.bayes", "cars.csv", "--unsure", "0.99").out.splitlines()
    assert set(answers[1:]) <= {"H", "L", "unsure"}
    assert "unsure" in answers
    (tables / "one.csv").write_text("age,car\n20,vintage\n")
    bayes("predict", "cars.bayes", "one.csv", "--exit-class", "H")
    bayes("predict", "cars.bayes", "one.csv", "--exit-class", "L", code=1)


def test_explain_shows_the_words_with_their_counts(trained, bayes) -> None:
    told = bayes("explain", "texts.bayes", "--set", "text=free prize at noon", "--against", "ham").out
    assert "free" in told
    case = bayes("explain", "texts.bayes", "--set", "text=free prize at noon", "--json").json
    words = {each["word"]: each for each in case["words"]}
    assert words["prize"]["counts"] == {"spam": 2, "ham": 0}
    total = case["prior_log_odds"] + case["absent_log_odds"] + sum(each["log_odds"] for each in case["words"])
    assert case["log_odds"] == pytest.approx(total)
    row = bayes("explain", "texts.bayes", "texts.csv", "--row", "5", "--json").json
    assert row["prediction"] == "spam"
    assert bayes("explain", "spam.bayes", "mail/spam/1.eml", "--json").json["prediction"] == "spam"
    assert "--row" in bayes("explain", "texts.bayes", "texts.csv", code=2).err
    assert "--set text" in bayes("explain", "texts.bayes", code=2).err


def test_evaluate_by_leaving_one_out(trained, bayes) -> None:
    report = bayes("evaluate", "texts.csv", "-t", "label", "--model", "text", "--loo", "--json").json
    texts, labels = HAM + SPAM, ["ham"] * len(HAM) + ["spam"] * len(SPAM)
    model = bb.TextClassifier().fit(texts, labels)
    shares = model.leave_one_out(texts, labels)
    right = model.classes_[shares.argmax(axis=1)] == labels
    assert (report["how"], report["rows"]) == ("leave-one-out", 7)
    assert report["accuracy"]["value"] == pytest.approx(right.mean())


def test_evaluate_held_out_and_by_folds(trained, bayes) -> None:
    held = bayes("evaluate", "texts.bayes", "texts.csv", "--json").json
    assert held["accuracy"]["value"] == 1
    folds = bayes("evaluate", "mail", "--model", "text", "--cv", "2", "--json").json
    assert folds["rows"] == 7
    same = bayes("evaluate", "mail", "--model", "text", "--cv", "2", "--threads", "1", "--json").json
    assert same == folds
    assert bayes("evaluate", "spam.bayes", "mail").out.startswith("training rows: mail, target class")


def test_update_forget_certify_merge_and_diff(trained, bayes) -> None:
    before = bb.load("spam.bayes").book_.digest()
    (trained / "new.eml").write_text("Subject: loan\n\ncheap loan")
    report = bayes("update", "spam.bayes", "new.eml", "--class", "spam", "--json").json
    assert report["digest_before"] == before
    assert report["classes"]["spam"] == 4
    bayes("forget", "spam.bayes", "new.eml", "--class", "spam", "--certificate", "gone.json")
    assert bb.load("spam.bayes").book_.digest() == before
    assert "NO" not in bayes("verify", "gone.json", "spam.bayes", "--rest", "mail").out
    assert "never" in bayes("forget", "spam.bayes", "new.eml", "--class", "spam", code=3).err
    bayes("train", "texts.csv", "-t", "label", "--model", "text", "-o", "again.bayes")
    bayes("merge", "texts.bayes", "again.bayes", "-o", "both.bayes")
    assert bb.load("both.bayes").book_.n.tolist() == [8, 6]
    assert "the same" in bayes("diff", "texts.bayes", "again.bayes").out
    assert "(classes)" in bayes("diff", "texts.bayes", "both.bayes").out
    bayes("train", "texts.csv", "-t", "label", "--model", "text", "-o", "half.bayes", "--smoothing", "lidstone:0.5")
    assert "smoothing" in bayes("diff", "texts.bayes", "half.bayes", "--json").json["rules"]


def test_show(trained, bayes) -> None:
    told = bayes("show", "texts.bayes", "--column", "prize").out
    assert "most informative for spam" in told
    report = bayes("show", "texts.bayes", "--column", "prize", "--json").json
    assert report["column"]["classes"] == {
        "ham": {"words": 0, "documents": 0},
        "spam": {"words": 2, "documents": 2},
    }
    assert report["vocabulary"] == len(bb.load("texts.bayes").words_)
    assert "`unheard` does not occur" in bayes("show", "texts.bayes", "--column", "unheard", code=2).err


def test_a_model_of_rows_and_one_of_documents_do_not_merge(trained, tables, bayes) -> None:
    bayes("train", "cars.csv", "-t", "class")
    assert "documents" in bayes("merge", "cars.bayes", "texts.bayes", "-o", "x.bayes", code=3).err


def test_documents_of_a_query(mail, bayes) -> None:
    query = ["--sql", "select * from 'texts.csv'", "-t", "label", "--model", "text"]
    asked = bayes("train", *query, "--text", "text", "-o", "asked.bayes", "--json").json
    assert asked["digest"] == bayes("train", "texts.csv", "-t", "label", "--model", "text", "--json").json["digest"]
    assert "--text COLUMN" in bayes("train", *query, code=2).err


def test_what_is_not_there_is_said_to_be_not_there(mail, bayes) -> None:
    assert "nowhere: file not found" in bayes("train", "nowhere", "--model", "text", code=74).err


def test_documents_without_a_word(folder, bayes) -> None:
    (folder / "marks.csv").write_text("label,text\na,!\nb,?\n")
    told = bayes("train", "marks.csv", "-t", "label", "--model", "text").err
    assert "0 distinct words" in told
    assert "most informative for a: no word" in told
    assert "parameters: 2, 1 of them free" in bayes("show", "marks.bayes").out


def test_the_class_to_hold_against_is_another_one(trained, bayes) -> None:
    case = ["explain", "spam.bayes", "--set", "text=a free prize"]
    assert "unknown class `hum`" in bayes(*case, "--against", "hum", code=2).err
    assert "`spam` is the predicted class itself" in bayes(*case, "--against", "spam", code=2).err
    assert "log-odds of spam against ham" in bayes(*case, "--against", "ham").out


def test_a_text_is_set_once(trained, bayes) -> None:
    twice = ["--set", "text=a free prize", "--set", "text=see you"]
    assert "`text` is set twice" in bayes("explain", "spam.bayes", *twice, code=2).err


def test_one_row_of_difference(trained, bayes) -> None:
    (trained / "one.csv").write_text("label,text\nham,see you\n")
    bayes("train", "texts.csv", "-t", "label", "--model", "text", "-o", "more.bayes")
    bayes("update", "more.bayes", "one.csv")
    assert "(classes): rows, 1 row; p " in bayes("diff", "texts.bayes", "more.bayes").out


def test_a_document_that_no_class_allows_keeps_the_prior(mail, bayes) -> None:
    bayes("train", "texts.csv", "-t", "label", "--model", "text", "--smoothing", "mle", "-o", "plain.bayes")
    found = bayes("explain", "plain.bayes", "--set", "text=noon prize", "--json").json
    assert found["log_odds"] == pytest.approx(found["prior_log_odds"])


def test_a_weight_of_documents_is_a_column_of_numbers(bayes, folder):
    (folder / "w.csv").write_text("text,w,class\nhello world,1,a\nbye now,two,b\n")
    weighed = ["train", "w.csv", "-t", "class", "--model", "text", "--text", "text", "--weight"]
    assert "w.csv, line 3, column `w`" in bayes(*weighed, "w", code=3).err
    assert bayes(*weighed, "w", "--bad-rows", "skip", "--json").json["classes"] == {"a": 1}
    assert "both the target and the weight" in bayes(*weighed, "class", code=2).err


def test_links_in_folders_are_followed_only_with_follow(bayes, folder) -> None:
    (folder / "secret").write_text("password hunter")
    for name, text in (("ham", "see you at noon"), ("spam", "win a prize")):
        (folder / "mail" / name).mkdir(parents=True)
        (folder / "mail" / name / "1.txt").write_text(text)
        (folder / "mail" / name / "link.txt").symlink_to(folder / "secret")
    skipped = bayes("train", "mail", "--model", "text", "-o", "m.bayes", "--json").json
    assert skipped["rows"] == 2
    assert any("2 links" in text for text in skipped["warnings"])
    followed = bayes("train", "mail", "--model", "text", "-o", "f.bayes", "--follow", "--json").json
    assert (followed["rows"], followed["warnings"]) == (4, [])
    assert bayes("update", "m.bayes", "mail", "--json").json["rows"] == 2
    assert bayes("forget", "m.bayes", "mail", "--json").json["rows"] == 2
    assert bayes("update", "m.bayes", "mail", "--follow", "--json").json["rows"] == 4
    assert len(bayes("predict", "m.bayes", "mail").out.splitlines()) == 3
    assert len(bayes("predict", "m.bayes", "mail", "--follow").out.splitlines()) == 5
    assert bayes("evaluate", "m.bayes", "mail", "--follow", "--json").json["rows"] == 4
    (folder / "t.csv").write_text("a,y\n1,p\n2,q\n")
    bayes("train", "t.csv", "-t", "y", "--follow", code=2)
    bayes("train", "t.csv", "-t", "y")
    bayes("predict", "t.bayes", "t.csv", "--follow", code=2)


def test_the_work_of_a_document(trained, bayes):
    asked = ("explain", "texts.bayes", "--set", "text=free lunch free", "--show-work")
    out = bayes(*asked).out
    assert "P(free | class)^2" in out
    assert "so the class is" in out
    found = bayes(*asked, "--json").json
    assert found["work"]["posterior"] == pytest.approx(found["posterior"], abs=1e-12)
    assert bayes(*asked, "--html").out.startswith("<!doctype html>")
