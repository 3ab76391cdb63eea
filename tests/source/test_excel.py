"""Excel workbooks: what each cell becomes, and what a hostile one gets."""

from __future__ import annotations

import datetime
import io
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from tests.refusal import refusal, warning

import bayesbox as bb
from bayesbox.errors import BadData, BadRow, KindContradiction, SuspiciousData
from bayesbox.source.files import workbook
from bayesbox.source.files.dialect import TextDialect
from bayesbox.source.files.open import open_source

HEADER = ["age", "car", "seen", "member", "y"]
DAY = datetime.datetime(2024, 2, 29, 12, 30)
ROWS: list[list[Any]] = [
    [25, "suv", DAY, True, "a"],
    [None, "truck", None, False, "b"],
    [1.5, "#N/A", DAY, None, "a"],
]


def written(path: Path, rows: list[list[Any]], *, above: int = 0, sheet: str = "Sheet") -> Path:
    book = openpyxl.Workbook()
    book.active.title = sheet
    for _ in range(above):
        book.active.append(["a title"])
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def columns(path: Path, **options: Any) -> dict[str, list[Any]]:
    (batch,) = open_source(path, **options).batches()
    return {name: batch[name].to_pylist() for name in batch.names}


def test_cells(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.xlsx", [HEADER, *ROWS, [None] * 5])
    assert columns(path) == {
        "age": [25.0, None, 1.5],
        "car": ["suv", "truck", None],
        "seen": [DAY, None, DAY],
        "member": [True, False, None],
        "y": ["a", "b", "a"],
    }
    assert columns(path, text=frozenset({"age"}))["age"] == ["25", None, "1.5"]


def test_one_digest_with_csv(tmp_path: Path) -> None:
    rows = [[place * 0.5, "ab"[place % 2], f"{place % 3}", "xy"[place % 2]] for place in range(20)]
    path = written(tmp_path / "rows.xlsx", [["size", "letter", "code", "y"], *rows], above=2)
    text = tmp_path / "rows.csv"
    text.write_text("size,letter,code,y\n" + "".join(f"{a},{b},{c},{d}\n" for a, b, c, d in rows))
    model = bb.NaiveBayes(columns={"code": "category"})
    there = bb.train(path, "y", model=model, skip_rows=2)
    assert there.book_.digest() == bb.train(text, "y", model=model).book_.digest()


def test_formulas_give_their_stored_values(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.xlsx", [["age", "y"], [1, "a"], ["=A2+1", "b"]])
    stored = rewritten(path, "xl/worksheets/sheet1.xml", b"<v></v>", b"<v>2</v>")
    if b"<v>2</v>" not in zipfile.ZipFile(stored).read("xl/worksheets/sheet1.xml"):
        stored = rewritten(path, "xl/worksheets/sheet1.xml", b"<v />", b"<v>2</v>")
    assert columns(stored)["age"] == [1.0, 2.0]


def rewritten(path: Path, part: str, before: bytes, after: bytes) -> Path:
    """The workbook with one part changed."""
    out = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, data.replace(before, after) if name == part else data)
    other = path.with_name("other.xlsx")
    other.write_bytes(out.getvalue())
    return other


def test_sheets(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.xlsx", [["age", "y"], [1, "a"]])
    book = openpyxl.load_workbook(path)
    book.create_sheet("second").append(["size", "y"])
    book["second"].append([5, "b"])
    book.save(path)
    with warning(SuspiciousData, reason="sheets"):
        assert columns(path) == {"age": [1.0], "y": ["a"]}
    assert columns(path, dialect=TextDialect(sheet="second")) == {"size": [5.0], "y": ["b"]}
    with refusal(BadData, found="third", remedy="second"):
        columns(path, dialect=TextDialect(sheet="third"))


def test_numbers_in_text_cells(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.xlsx", [["price", "rate", "y"], ["$1,000", "5%", "a"], [7, 0.25, "b"]])
    dialect = TextDialect(thousands=",")
    found = columns(path, number=frozenset({"price", "rate"}), dialect=dialect)
    assert (found["price"], found["rate"]) == ([1000.0, 7.0], [0.05, 0.25])
    assert columns(path)["price"] == ["$1,000", "7"]


def test_broken_rows(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.xlsx", [["age", "y"], [1, "a"], [2, "b", "more"], [3, "a"]])
    with refusal(BadRow, where="row 3", found="more"):
        bb.train(path, "y")
    assert bb.train(path, "y", bad_rows="skip").training_.rows == 2
    path = written(tmp_path / "mixed.xlsx", [["age", "y"], [1, "a"], ["old", "b"]])
    with refusal(KindContradiction, where="row 3", found="old"):
        bb.train(path, "y", model=bb.NaiveBayes(columns={"age": "real"}))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"no workbook at all", b"PK\x05\x06" + bytes(18)])
def test_what_is_not_a_workbook(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "rows.xlsx"
    path.write_bytes(content)
    with refusal(BadData, where="rows.xlsx"):
        columns(path)


def test_every_cut_of_a_workbook_is_refused(tmp_path: Path) -> None:
    whole = written(tmp_path / "rows.xlsx", [HEADER, *ROWS]).read_bytes()
    cut = tmp_path / "cut.xlsx"
    for length in range(0, len(whole), 97):
        cut.write_bytes(whole[:length])
        with pytest.raises(BadData):
            columns(cut)


@pytest.mark.parametrize("ending", [".xls", ".ods", ".xlsb"])
def test_other_workbooks_are_refused_by_name(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows{ending}"
    path.write_bytes(b"whatever")
    with refusal(BadData, what=ending, remedy=".xlsx"):
        columns(path)


def test_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "rows.xlsx", [["age", "y"], [1, "a"]])
    monkeypatch.setattr(workbook, "INFLATION_FLOOR", 1 << 20)
    monkeypatch.setattr(workbook, "INFLATION", 1)
    bomb = rewritten(path, "xl/worksheets/sheet1.xml", b"<sheetData>", b" " * (2 << 20) + b"<sheetData>")
    with refusal(BadData, where="other.xlsx", remedy="CSV"):
        columns(bomb)
    data = bytearray(bomb.read_bytes())
    for mark, place in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):  # the size that the archive states, made small
        start = 0
        while (start := data.find(mark, start)) >= 0:
            data[start + place : start + place + 4] = (100).to_bytes(4, "little")
            start += 4
    bomb.write_bytes(data)
    with pytest.raises(BadData):
        columns(bomb)


def test_entities_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.xlsx", [["age", "y"], [1, "a"]])
    evil = rewritten(path, "xl/worksheets/sheet1.xml", b"<worksheet", b'<!DOCTYPE x [<!ENTITY a "b">]><worksheet')
    with refusal(BadData, found="xl/worksheets/sheet1.xml"):
        columns(evil)


def test_without_the_package_the_extra_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.xlsx", [["age", "y"], [1, "a"]])
    code = (
        "import sys; sys.modules['openpyxl'] = None\n"
        "from bayesbox.cli.main import run\n"
        f"sys.exit(run(['schema', {str(path)!r}]))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ended.returncode, "bayesbox[excel]" in ended.stderr) == (2, True)
