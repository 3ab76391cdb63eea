"""Documents in folders and mailboxes."""

from __future__ import annotations

import bz2
import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from tests.refusal import refusal, warning

from bayesbox.errors import BadData, SkippedLinks, SourceUnavailable
from bayesbox.source.files import documents
from bayesbox.source.files.documents import is_table, open_documents

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
    with refusal(BadData, what="classes"):
        open_documents(mail / path)


def test_an_empty_folder_and_an_absent_file(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    with refusal(BadData, where="none"):
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


@pytest.fixture
def linked(mail: Path) -> Path:
    """A folder with links: to a file elsewhere, to a folder elsewhere, back up, to nothing, and a class that is one."""
    (mail.parent / "secret").write_text("the secret")
    (mail.parent / "elsewhere").mkdir()
    (mail.parent / "elsewhere" / "other.txt").write_text("from elsewhere")
    (mail / "ham" / "file").symlink_to(mail.parent / "secret")
    (mail / "ham" / "folder").symlink_to(mail.parent / "elsewhere", target_is_directory=True)
    (mail / "ham" / "loop").symlink_to(mail, target_is_directory=True)
    (mail / "ham" / "nothing").symlink_to(mail / "absent")
    (mail / "zebra").symlink_to(mail.parent / "elsewhere", target_is_directory=True)
    return mail


def test_links_in_folders_are_skipped_and_counted(linked: Path) -> None:
    with warning(SkippedLinks, count=4, where="mail"):
        source = open_documents(linked)
    (batch,) = source.batches()
    assert batch["class"].to_pylist() == ["ham"] * 2 + ["lists"] * 3 + ["spam"] * 2
    assert not any("secret" in text or "elsewhere" in text for text in batch["text"].to_pylist())
    with warning(SkippedLinks, count=3, where="ham"):
        open_documents(linked / "ham", classes=False)


def test_links_are_followed_where_it_is_asked_for(linked: Path) -> None:
    (linked / "ham" / "loop").unlink()
    (batch,) = open_documents(linked, follow_links=True).batches()
    assert batch["class"].to_pylist() == ["ham"] * 4 + ["lists"] * 3 + ["spam"] * 2 + ["zebra"]
    texts = batch["text"].to_pylist()
    assert sum("secret" in text for text in texts) == 1
    assert sum("from elsewhere" in text for text in texts) == 2


def test_links_that_lead_back_up_end(linked: Path) -> None:
    (batch,) = open_documents(linked / "ham", classes=False, follow_links=True).batches()
    texts = batch["text"].to_pylist()
    assert sum("secret" in text for text in texts) == 1  # ham is not gone into again from below
    assert sum("you won" in text for text in texts) == 1


def test_a_path_that_is_given_may_be_a_link(linked: Path) -> None:
    (batch,) = open_documents(linked / "zebra", classes=False).batches()
    assert batch["text"].to_pylist() == ["from elsewhere"]


def test_documents_come_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayesbox.source.files.documents.BATCH_BYTES", 10)
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text("word " * 3)
    batches = list(open_documents(tmp_path, classes=False).batches())
    assert [(batch.first_row, batch.rows) for batch in batches] == [(row, 1) for row in range(5)]


def test_small_files_read_at_once_are_what_they_are_one_by_one(mail: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (mail / "ham" / "empty.txt").write_bytes(b"")
    (mail / "ham" / "large.txt").write_bytes(b"kiwi " * 300_000)
    (mail / "ham" / "note").write_bytes(b"To: ann\r\n\r\nnoon")
    (mail / "ham" / "packed").write_bytes(gzip.compress(b"To: bob\n\nsheep"))
    (mail / "ham" / "box").write_text(f"{SEPARATOR}Subject: one\n\nfirst\n\n{SEPARATOR}Subject: two\n\nsecond\n")
    (mail / "spam" / "new" / os.fsdecode(b"\xff.eml")).write_bytes(b"no field\xff")
    monkeypatch.setattr(documents, "FILES_AT_ONCE", 3)
    read = [[batch[name].to_pylist() for name in batch.names] for batch in open_documents(mail).batches()]
    assert sum(len(columns[0]) for columns in read) == 14

    def none_is_small(paths: list[str]) -> documents.SmallFiles:
        size = len(paths)
        kinds = np.full(size, documents.OTHER, dtype=np.uint8)
        return documents.SmallFiles(paths, np.empty(0, np.uint8), np.zeros(size + 1, np.int64), kinds)

    monkeypatch.setattr(documents, "read_small", none_is_small)
    again = [[batch[name].to_pylist() for name in batch.names] for batch in open_documents(mail).batches()]
    assert again == read


def test_a_source_is_read_again_from_the_beginning(mail: Path) -> None:
    source = open_documents(mail)
    first, second = ([batch["text"].to_pylist() for batch in source.batches()] for _ in range(2))
    assert first == second
    assert source.progress == 1


def test_mailboxes_in_a_folder_by_every_ending(tmp_path: Path) -> None:
    box = b"From a@b Mon Jan  1 00:00:00 2020\nSubject: hello\n\nlunch\n"
    (tmp_path / "ham.mbox.bz2").write_bytes(bz2.compress(box))
    (tmp_path / "spam.mbx.gz").write_bytes(gzip.compress(box))
    (tmp_path / "notes.txt.gz").write_bytes(gzip.compress(b"no mailbox, so no class"))
    [batch] = open_documents(tmp_path).batches()
    assert batch["class"].to_pylist() == ["ham", "spam"]
