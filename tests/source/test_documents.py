"""Documents in folders and mailboxes."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from bayesbox.errors import BadData, SourceUnavailable
from bayesbox.source.documents import is_table, open_documents

SEPARATOR = "From ann@example.org Mon Jan  1 10:00:00 2001\n"


@pytest.fixture
def mail(tmp_path: Path) -> Path:
    """A class in each form: text files, a Maildir, a compressed mbox."""
    folder = tmp_path / "mail"
    (folder / "ham" / "deeper").mkdir(parents=True)
    (folder / "ham" / "1.txt").write_text("see you at noon")
    (folder / "ham" / "deeper" / "2.eml").write_text("Subject: lunch\n\nat the harbour")
    (folder / "ham" / ".hidden").write_text("not this")
    for name in ("cur", "new", "tmp"):
        (folder / "spam" / name).mkdir(parents=True)
    (folder / "spam" / "cur" / "1.host:2,S").write_text("Subject: prize\nFrom: x@y\n\nyou won")
    (folder / "spam" / "new" / "2.host").write_text("Subject: loan\nFrom: x@y\n\ncheap")
    (folder / "spam" / "tmp" / "3.host").write_text("Subject: half written")
    box = "".join(f"{SEPARATOR}Subject: news {number}\n\nbody {number}\n\n" for number in range(3))
    (folder / "lists.mbox.gz").write_bytes(gzip.compress(box.encode()))
    return folder


def test_folders_and_mailboxes_are_classes(mail: Path) -> None:
    (batch,) = open_documents(mail).batches()
    assert batch.names == ("class", "text", "file")
    assert batch["class"].to_pylist() == ["ham", "ham", "lists", "lists", "lists", "spam", "spam"]
    texts = batch["text"].to_pylist()
    assert "see you at noon" in texts[0]
    assert "harbour" in texts[1]
    assert [("news", f"body {number}") == ("news", text.split("\n")[2]) for number, text in enumerate(texts[2:5])]
    assert "won" in texts[5]
    assert not any("half written" in text or "not this" in text for text in texts)
    assert batch["file"].to_pylist()[4].endswith("lists.mbox.gz, message 3")


def test_several_paths_are_a_class_each(mail: Path) -> None:
    (batch,) = open_documents([mail / "ham", mail / "spam"]).batches()
    assert batch["class"].to_pylist() == ["ham", "ham", "spam", "spam"]


def test_a_label_for_all_and_none(mail: Path) -> None:
    (batch,) = open_documents(mail / "spam", label="junk").batches()
    assert batch["class"].to_pylist() == ["junk", "junk"]
    (batch,) = open_documents(mail / "spam", classes=False).batches()
    assert batch.names == ("text", "file")


@pytest.mark.parametrize("path", ["ham", "spam", "ham/1.txt"])
def test_documents_without_classes_are_refused(mail: Path, path: str) -> None:
    if path == "ham":
        (mail / "ham" / "deeper" / "2.eml").unlink()
        (mail / "ham" / "deeper").rmdir()
    with pytest.raises(BadData, match="no classes"):
        open_documents(mail / path)


def test_an_empty_folder_and_an_absent_file(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    with pytest.raises(BadData, match="no documents"):
        open_documents(tmp_path / "none", classes=False)
    with pytest.raises(SourceUnavailable):
        list(open_documents(tmp_path / "absent.eml", classes=False).batches())
    (tmp_path / "there.txt").write_text("x")
    source = open_documents([tmp_path / "absent.eml", tmp_path / "there.txt"], classes=False, bad_rows="skip")
    assert [batch.rows for batch in source.batches()] == [1]
    assert source.skipped.count == 1


def test_any_bytes_are_a_document(tmp_path: Path) -> None:
    for name, content in {
        "nul": b"a\0b",
        "broken": b"caf\xe9 \xff",
        "empty": b"",
        "wide": "süß".encode("utf-16"),
    }.items():
        (tmp_path / name).write_bytes(content)
        (batch,) = open_documents(str(tmp_path / name), classes=False).batches()
        (text,) = batch["text"].to_pylist()
        assert text == {"nul": "a\0b", "broken": "café ÿ", "empty": "", "wide": "süß"}[name]


def test_tables_are_told_by_their_names(mail: Path) -> None:
    assert is_table("people.csv.gz")
    assert is_table("-", "csv")
    assert not is_table("-")
    assert not is_table(mail)
    assert not is_table("letter.eml")
    (mail / "table.csv").write_text("a\n1\n")
    assert is_table(mail)


def test_links_to_folders_are_not_followed(mail: Path) -> None:
    (mail / "ham" / "loop").symlink_to(mail, target_is_directory=True)
    (batch,) = open_documents(mail).batches()
    assert batch["class"].to_pylist().count("ham") == 2


def test_documents_come_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayesbox.source.documents.BATCH_BYTES", 10)
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text("word " * 3)
    batches = list(open_documents(tmp_path, classes=False).batches())
    assert [(batch.first_row, batch.rows) for batch in batches] == [(row, 1) for row in range(5)]
