"""One table, however it is written: encodings, delimiters, marks of numbers, comments, lines above the header."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.refusal import refusal, warning

import bayesbox as bb
from bayesbox.errors import BadData, BadOption, BadRow, KindContradiction, SourceUnavailable, SuspiciousData
from bayesbox.source.files.dialect import TextDialect
from bayesbox.source.files.encodings import likely_encoding
from bayesbox.source.files.numerals import Numerals, spelling_of
from bayesbox.source.files.open import open_source

CITIES = ["Zürich", "Genève", "Köln", "a\n# b", 'say "hi", you']
ROWS = [(1234.5 * place - 3000.25, CITIES[place % 5], place / 8, "xy"[place % 2]) for place in range(60)]
NAMES = ("price", "city", "share", "class")


def spelled(number: float, decimal: str, thousands: str) -> str:
    return f"{number:,}".translate(str.maketrans({",": thousands, ".": decimal}))


def table_text(delimiter: str = ",", decimal: str = ".", thousands: str = "", comment: str = "") -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    if comment:
        out.write(f'{comment} two "lines\n{comment} above\n')
    writer.writerow(NAMES)
    for index, (price, city, share, label) in enumerate(ROWS):
        writer.writerow([spelled(price, decimal, thousands), city, spelled(share, decimal, thousands), label])
        if comment and index % 7 == 0:
            out.write(f'{comment} an "aside, {index}\n')
    return out.getvalue()


def digest(path: Path, **options: Any) -> str:
    return str(bb.train(path, "class", **options).book_.digest())


FORMS = {
    "semicolon, decimal comma, cp1252": (table_text(";", ","), "cp1252", {"decimal": ","}),
    "tab, thousands, latin-1": (table_text("\t", ".", ","), "latin-1", {"thousands": ","}),
    "pipe, 1.234,56": (table_text("|", ",", "."), "utf-8", {"delimiter": "|", "decimal": ",", "thousands": "."}),
    "apostrophes": (table_text(";", ".", "\u2019"), "utf-8", {"thousands": "'"}),
    "narrow spaces": (table_text(";", ",", "\u202f"), "utf-8", {"decimal": ",", "thousands": " "}),
    "byte order mark": (table_text(), "utf-8-sig", {}),
    "UTF-16 with its mark": (table_text(), "utf-16", {}),
    "UTF-16 without": (table_text(), "utf-16-be", {"encoding": "utf-16-be"}),
    "UTF-32": (table_text(), "utf-32", {}),
    "comments": (table_text(comment="#"), "utf-8", {"comment": "#"}),
    "comments of two letters": (table_text(comment="//"), "utf-8", {"comment": "//"}),
    "lines above": ('made "by me\n\n' + table_text(), "utf-8", {"skip_rows": 2}),
    "carriage returns": (
        table_text(comment="#").replace("a\n# b", "a\x01# b").replace("\n", "\r"),
        "utf-8",
        {"comment": "#"},
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("blocks", ["large", "small"])
def test_one_digest_whatever_the_form(form: str, blocks: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if blocks == "small":
        request.getfixturevalue("small_blocks")
    text, encoding, options = FORMS[form]
    if encoding in ("cp1252", "latin-1"):
        options = {**options, "encoding": encoding}
    plain, other = tmp_path / "plain.csv", tmp_path / "other.csv"
    plain.write_text(table_text().replace("a\n# b", "a\x01# b") if form == "carriage returns" else table_text())
    other.write_bytes(text.encode(encoding))
    assert digest(other, **options) == digest(plain)


def test_the_command_reads_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bayesbox.cli.main import run

    monkeypatch.chdir(tmp_path)
    Path("plain.csv").write_text(table_text())
    Path("other.csv").write_bytes(table_text(";", ",", ".", "#").encode("cp1252"))
    form = ["--encoding", "cp1252", "--decimal", ",", "--thousands", ".", "--comment", "#", "--delimiter", ";"]
    assert run(["train", "plain.csv", "-t", "class"]) == 0
    assert run(["train", "other.csv", "-t", "class", *form]) == 0
    assert bb.load("other.bayes").book_.digest() == bb.load("plain.bayes").book_.digest()
    for verb in (["predict", "plain.bayes"], ["evaluate", "plain.bayes"], ["update", "plain.bayes"], ["schema"]):
        assert run([*verb, "other.csv", *form]) == 0
    assert run(["explain", "plain.bayes", "--row", "2", "other.csv", *form]) == 0
    assert run(["query", "other.csv", "P(class=x)", *form]) == 0
    assert run(["forget", "plain.bayes", "other.csv", *form]) == 0
    assert bb.load("other.bayes").book_.digest() == bb.load("plain.bayes").book_.digest()


def test_predict_takes_the_same_keywords(tmp_path: Path) -> None:
    plain, other = tmp_path / "plain.csv", tmp_path / "other.csv"
    plain.write_text(table_text())
    other.write_bytes(table_text(";", ",", ".").encode("cp1252"))
    model = bb.train(plain, "class")
    answers = bb.predict(model, other, proba=True, encoding="cp1252", decimal=",", thousands=".")
    assert answers.equals(bb.predict(model, plain, proba=True))


def test_declared_columns_may_be_of_money_and_percent(tmp_path: Path) -> None:
    path = tmp_path / "money.csv"
    rows = "".join(f'"${place},000.50",{place}.5%,"- {place} €",{"ab"[place % 2]}\n' for place in range(1, 20))
    path.write_text("price,rate,cost,y\n" + rows)
    columns = dict.fromkeys(["price", "rate", "cost"], "real")
    with warning(SuspiciousData, reason="marked-numbers", columns=("rate",), what="`1.5%` as 0.015"):
        model = bb.train(path, "y", model=bb.NaiveBayes(columns=columns), thousands=",")
    bare = tmp_path / "bare.csv"
    bare.write_text("price,rate,cost,y\n" + "".join(f"{p}000.5,{p}.5e-2,-{p},{'ab'[p % 2]}\n" for p in range(1, 20)))
    assert model.book_.digest() == bb.train(bare, "y", model=bb.NaiveBayes(columns=columns)).book_.digest()
    typed = tmp_path / "typed.parquet"
    pq.write_table(pa.table({"price": ["$5", "7"], "y": ["a", "b"]}), typed)
    model = bb.train(typed, "y", model=bb.NaiveBayes(columns={"price": "real"}))
    assert list(model.book_["price"].mean) == [5.0, 7.0]


def test_what_is_not_declared_is_offered_and_not_converted(tmp_path: Path) -> None:
    path = tmp_path / "money.csv"
    path.write_text("price,y\n" + "".join(f'"${place},000",{"ab"[place % 2]}\n' for place in range(1, 20)))
    read = "thousands=',' and columns={'price': 'real'}"
    with warning(SuspiciousData, reason="marked-numbers", columns=("price",), remedy=read):
        model = bb.train(path, "y")
    assert len(model.book_["price"].levels) == 19
    with refusal(KindContradiction, found="$1,000", remedy=read):
        bb.train(path, "y", model=bb.NaiveBayes(columns={"price": "real"}))


@pytest.mark.parametrize(
    ("texts", "numerals", "marked"),
    [
        (["1,000", "20,500", "7"], Numerals(".", ","), False),
        (["1,5", "20,25"], Numerals(",", None), False),
        (["1.234,56", "7"], Numerals(",", "."), False),
        (["1,234.5"], Numerals(".", ","), False),
        (["12%", "3.5 %"], Numerals(), True),
        (["€ 5", "-$7", "8£"], Numerals(), True),
        (["1 234,5", "7"], Numerals(",", " "), False),
    ],
)
def test_spellings_are_recognised(texts: list[str], numerals: Numerals, marked: bool) -> None:
    spelling = spelling_of(texts)
    assert spelling is not None
    assert (spelling.numerals, spelling.is_marked) == (numerals, marked)


@pytest.mark.parametrize(
    "texts", [["1", "2.5"], ["1,5,7", "1,5"], ["a"], ["12-3"], ["%"], ["$"], [], ["1,00,0"], ["15/03/2021"]]
)
def test_other_texts_are_not_called_numbers(texts: list[str]) -> None:
    assert spelling_of(texts) is None


@settings(max_examples=60, deadline=None)
@given(
    st.floats(allow_nan=False, allow_infinity=False, width=64), st.sampled_from([(".", ","), (",", "."), (",", " ")])
)
def test_a_spelled_number_is_the_number(value: float, marks: tuple[str, str]) -> None:
    text = f"{value:,f}" if abs(value) < 1e15 else repr(value)
    number = float(text.replace(",", ""))
    decimal, thousands = marks
    there = text.translate(str.maketrans({",": thousands, ".": decimal}))
    assert Numerals(decimal, thousands).is_number(there)
    assert Numerals(decimal, thousands).doubles(pa.array([there])).to_pylist() == [number]
    if "e" not in text:
        percent = Numerals(decimal, thousands).doubles(pa.array([f"{there} %"])).to_pylist()
        assert percent == [float(text.replace(",", "") + "e-2")]


@pytest.mark.parametrize(
    ("encoding", "likely"),
    [("latin-1", "cp1252"), ("utf-16-le", "utf-16-le"), ("utf-16-be", "utf-16-be"), ("utf-32-le", "utf-32-le")],
)
def test_a_wrong_encoding_names_the_likely_one(encoding: str, likely: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes("ville,y\nGenève,a\nZürich,b\n".encode(encoding))
    with refusal(BadRow, remedy=f"encoding={likely!r}"):
        bb.train(path, "y")


def test_text_that_is_not_in_the_given_encoding(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes("ville,y\nGenève,a\nZürich,b\n".encode())
    with refusal(BadRow, where="line 1", remedy="encoding='utf-8'"):
        bb.train(path, "y", encoding="utf-16-le")
    with warning(SuspiciousData, reason="encoding"):
        bb.train(path, "y", encoding="cp1252")
    path.write_bytes(b"ville,y\nGen\x81ve,a\n")
    with refusal(BadRow, where="line 2", remedy="encoding='latin-1'"):
        bb.train(path, "y", encoding="cp1252")
    assert likely_encoding("привет мир".encode("cp1251")) is not None


def test_jsonl_in_other_encodings(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes('{"city": "Zürich", "y": "a"}\n{"city": "Köln", "y": "b"}\n'.encode("utf-16"))
    assert bb.train(path, "y").book_["city"].levels == ("Köln", "Zürich")


@pytest.mark.parametrize(
    "options",
    [
        {"encoding": "rot13"},
        {"encoding": "no such"},
        {"decimal": ";"},
        {"thousands": "x"},
        {"thousands": ""},
        {"decimal": ",", "thousands": ","},
        {"delimiter": "ab"},
        {"delimiter": '"'},
        {"delimiter": "é"},
        {"skip_rows": -1},
        {"skip_rows": True},
        {"comment": ""},
        {"comment": '"'},
    ],
)
def test_bad_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(BadOption):
        TextDialect(**options)


@pytest.mark.parametrize("options", [{"encoding": "cp1252"}, {"decimal": ","}, {"skip_rows": 1}, {"sheet": "x"}])
def test_options_that_a_format_has_no_use_for(options: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"age": [1, 2], "y": ["a", "b"]}), path)
    with refusal(BadOption, where="rows.parquet"):
        bb.train(path, "y", **options)
    with pytest.raises(BadOption):
        bb.train({"age": [1, 2], "y": ["a", "b"]}, "y", **options)


def test_broken_rows_are_named_by_their_line_under_comments(tmp_path: Path, small_blocks: None) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("# one\n# two\nage,y\n1,a\n# three\n2,b,c\n3,a\n")
    with refusal(BadRow, where="line 6"):
        bb.train(path, "y", comment="#")
    assert bb.train(path, "y", comment="#", bad_rows="skip").training_.rows == 2


def test_many_lines_that_look_like_comments_in_a_quote_are_read_in_linear_time(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    inner = "\n# x" * 200_000
    path.write_text(f'a "b,text,y\n5 "big,"{inner}",a\n# "gone\n6,"{inner}",b\n')
    source = open_source(path, documents=frozenset({"text"}), dialect=TextDialect(comment="#"))
    texts = [text for batch in source.batches() for text in batch["text"].to_pylist()]
    assert texts == [inner, inner]


def test_skipping_more_lines_than_there_are(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("age,y\n1,a\n")
    with pytest.raises(BadData):
        bb.train(path, "y", skip_rows=5)


def test_suggested_file_names_are_near(tmp_path: Path) -> None:
    (tmp_path / "latin1.csv").write_text("a,y\n")
    with pytest.raises(SourceUnavailable) as caught:
        bb.train(tmp_path / "titanic.csv", "y")
    assert caught.value.remedy is None
    (tmp_path / "titanic.csv.gz").write_text("")
    with refusal(SourceUnavailable, remedy="titanic.csv.gz"):
        bb.train(tmp_path / "titanc.csv", "y")
