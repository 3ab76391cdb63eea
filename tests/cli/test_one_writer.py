"""Several commands that change one model at the same time: nothing is lost, nothing that was forgotten comes back."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any

import pytest
from tests.refusal import refusal

from bayesbox.cli.change import learning
from bayesbox.cli.change.replacing import ModelSummary, replaced
from bayesbox.errors import BadModelFile, BadOption
from bayesbox.file.load import load_classifier
from bayesbox.file.lock import FileLock, lock_name

from .conftest import Bayes

COMMAND = [sys.executable, "-m", "bayesbox.cli.main"]


def start(*arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen([*COMMAND, *map(str, arguments)], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str], code: int = 0) -> str:
    _, error = process.communicate(timeout=120)
    assert process.returncode == code, error
    return error


def opened(pipe: Path) -> IO[str]:
    """A pipe to write to, once somebody reads it: whoever does has loaded the model."""
    return pipe.open("w")


def rows_of(path: Path) -> float:
    return float(load_classifier(path).book.n.sum())


@pytest.fixture
def small(bayes: Bayes, folder: Path) -> Path:
    """A model of 20 rows."""
    rows = "".join(f"{number},{'red' if number % 3 else 'blue'},{'pq'[number % 2]}\n" for number in range(20))
    (folder / "a.csv").write_text("age,colour,class\n" + rows)
    bayes("train", "a.csv", "-t", "class", "-o", "m.bayes")
    return folder


def test_three_updates_at_once(bayes: Bayes, small: Path) -> None:
    rows = "".join(f"{number % 97},{'red' if number % 7 else 'green'},{'pq'[number % 2]}\n" for number in range(30_000))
    (small / "b.csv").write_text("age,colour,class\n" + rows)
    processes = [start("update", "m.bayes", "b.csv", "--wait", "100") for _ in range(3)]
    for process in processes:
        ended(process)
    assert rows_of(small / "m.bayes") == 90_020
    bayes("train", "a.csv", "b.csv", "b.csv", "b.csv", "-t", "class", "--calibrate", "none", "-o", "all.bayes")
    assert (small / "m.bayes").read_bytes() == (small / "all.bayes").read_bytes()
    assert not Path(lock_name("m.bayes")).exists()


def test_what_is_forgotten_while_an_update_waits_for_its_rows_stays_forgotten(bayes: Bayes, small: Path) -> None:
    (small / "s.csv").write_text("age,colour,class\n33,SECRET,p\n")
    (small / "n.csv").write_text("age,colour,class\n44,red,q\n")
    bayes("update", "m.bayes", "s.csv")
    os.mkfifo(small / "new.csv")
    update = start("update", "m.bayes", "new.csv")
    with opened(small / "new.csv") as pipe:
        bayes("forget", "m.bayes", "s.csv", "--certificate", "c.json")  # at once: no lock is held while rows are read
        assert bayes("verify", "c.json", "m.bayes", "--rows", "s.csv", "--json").json["holds"]
        pipe.write((small / "n.csv").read_text())
    ended(update)
    assert rows_of(small / "m.bayes") == 21
    assert "SECRET" not in load_classifier(small / "m.bayes").book["colour"].levels
    bayes("train", "a.csv", "n.csv", "-t", "class", "-o", "all.bayes")
    assert (small / "m.bayes").read_bytes() == (small / "all.bayes").read_bytes()
    refused = bayes("verify", "c.json", "m.bayes", "--rows", "s.csv", code=3)
    assert "--since" in refused.err
    assert bayes("verify", "c.json", "m.bayes", "--rows", "s.csv", "--since", "n.csv", "--json").json["holds"]
    assert "never learned" in bayes("verify", "c.json", "m.bayes", "--rows", "s.csv", "--since", "s.csv", code=3).err
    bayes("forget", "m.bayes", "n.csv")  # what was learned since taken out, the certificate holds again
    assert bayes("verify", "c.json", "m.bayes", "--rows", "s.csv", "--json").json["holds"]


@pytest.mark.parametrize("verb", ["update", "forget", "merge", "average", "train"])
def test_who_waits_in_vain_names_the_holder(bayes: Bayes, small: Path, verb: str) -> None:
    before = (small / "m.bayes").read_bytes()
    bayes("train", "a.csv", "-t", "class", "-o", "n.bayes")
    arguments = {
        "update": ["m.bayes", "a.csv"],
        "forget": ["m.bayes", "a.csv"],
        "merge": ["m.bayes", "n.bayes", "-o", "m.bayes"],
        "average": ["n.bayes", "n.bayes", "-o", "m.bayes"],
        "train": ["a.csv", "-t", "class", "-o", "m.bayes"],
    }[verb]
    with FileLock("m.bayes", verb="a long update"):
        begin = time.monotonic()
        error = bayes(verb, *arguments, "--wait", "0.2", code=74).err
        assert time.monotonic() - begin >= 0.2
    assert f"process {os.getpid()} on {os.uname().nodename}" in error
    assert "a long update" in error
    assert (small / "m.bayes").read_bytes() == before


def test_a_model_with_something_derived_is_locked_throughout(bayes: Bayes, small: Path) -> None:
    bayes("train", "a.csv", "-t", "class", "-o", "m.bayes", "--calibrate", "temperature")
    os.mkfifo(small / "new.csv")
    update = start("update", "m.bayes", "new.csv")
    with opened(small / "new.csv") as pipe:
        assert f"process {update.pid} on" in bayes("update", "m.bayes", "a.csv", "--wait", "0", code=74).err
        pipe.write((small / "a.csv").read_text())
    ended(update)
    assert rows_of(small / "m.bayes") == 40


@pytest.fixture
def unknown(bayes: Bayes, folder: Path) -> Path:
    """A model one of whose columns has no value yet, so that its kind is open."""
    (folder / "a.csv").write_text("age,colour,class\n1,,p\n2,,q\n")
    (folder / "text.csv").write_text("age,colour,class\n3,red,p\n")
    (folder / "more.csv").write_text("age,colour,class\n5,blue,q\n")
    bayes("train", "a.csv", "-t", "class", "-o", "m.bayes")
    return folder


def changed_meanwhile(bayes: Bayes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let another update come in between the counting of rows and the lock."""
    real, came = learning.ChangingRows.count, [False]

    def count(self: Any, classifier: Any) -> Any:
        found = real(self, classifier)
        if not came[0]:
            came[0] = True
            bayes("update", "m.bayes", "text.csv")
        return found

    monkeypatch.setattr(learning.ChangingRows, "count", count)


def test_rows_that_would_count_differently_now_are_counted_again(
    bayes: Bayes,
    unknown: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changed_meanwhile(bayes, monkeypatch)
    bayes("update", "m.bayes", "more.csv")
    bayes("train", "a.csv", "text.csv", "more.csv", "-t", "class", "-o", "all.bayes")
    assert load_classifier("m.bayes").book.digest() == load_classifier("all.bayes").book.digest()


def test_rows_of_a_pipe_that_would_count_differently_now_are_refused(bayes: Bayes, unknown: Path) -> None:
    os.mkfifo(unknown / "new.csv")
    update = start("update", "m.bayes", "new.csv")
    with opened(unknown / "new.csv") as pipe:
        bayes("update", "m.bayes", "text.csv")
        pipe.write((unknown / "more.csv").read_text())
    before = (unknown / "m.bayes").read_bytes()
    assert "changed by another writer" in ended(update, 74)
    assert (unknown / "m.bayes").read_bytes() == before


def test_merging_into_one_of_the_models_keeps_what_it_learns_meanwhile(bayes: Bayes, small: Path) -> None:
    bayes("train", "a.csv", "-t", "class", "-o", "n.bayes")
    with FileLock("m.bayes"):
        merge = start("merge", "m.bayes", "n.bayes", "-o", "m.bayes", "--wait", "100")
        update = start("update", "m.bayes", "a.csv", "--wait", "100")
    ended(merge)
    ended(update)
    assert rows_of(small / "m.bayes") == 60


def test_hidden_markov_models_too(bayes: Bayes, folder: Path) -> None:
    (folder / "days.csv").write_text("weather,seen\n" + "dry,walk\nwet,shop\ndry,walk\n" * 3)
    bayes("hmm", "train", "days.csv", "--labels", "weather", "-o", "m.bayes")
    processes = [
        start("hmm", "update", "m.bayes", "days.csv", "--labels", "weather", "--wait", "100") for _ in range(3)
    ]
    for process in processes:
        ended(process)
    assert bayes("hmm", "update", "m.bayes", "days.csv", "--labels", "weather", "--json").json["steps"] == 45
    with FileLock("m.bayes"):
        bayes("hmm", "forget", "m.bayes", "days.csv", "--labels", "weather", "--wait", "0", code=74)
    again = bayes("hmm", "train", "days.csv", "--labels", "weather", "-o", "m.bayes", "--keep-old", "--json").json
    assert again["replaced"]["rows"] == 45
    assert not bayes("diff", "m.old.bayes", "m.bayes", "--json").json["equal"]
    bayes("hmm", "decode", "m.bayes", "days.csv", "--wait", "3", code=2)


# -- replacing a model -------------------------------------------------------------------------------------------------


def test_training_over_a_model_of_the_same_kind_says_what_it_replaces(bayes: Bayes, small: Path) -> None:
    digest = load_classifier("m.bayes").book.digest()
    report = bayes("train", "a.csv", "-t", "class", "-o", "m.bayes", "--json").json
    assert report["replaced"] == {"rows": 20, "digest": digest}
    assert digest in bayes("train", "a.csv", "-t", "class", "-o", "m.bayes").err
    assert "replaced" not in bayes("train", "a.csv", "-t", "class", "-o", "new.bayes", "--json").json
    assert (small / "m.bayes").read_bytes() == (small / "new.bayes").read_bytes()


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["a.csv", "-t", "colour"], id="target"),
        pytest.param(["a.csv", "-t", "class", "--model", "averaged"], id="kind"),
        pytest.param(["other.csv", "-t", "class"], id="classes"),
    ],
)
def test_training_over_an_unlike_model_needs_force(bayes: Bayes, small: Path, arguments: list[str]) -> None:
    (small / "other.csv").write_text("age,colour,class\n1,red,yes\n2,blue,no\n")
    before = (small / "m.bayes").read_bytes()
    assert "--force" in bayes("train", *arguments, "-o", "m.bayes", code=2).err
    assert (small / "m.bayes").read_bytes() == before
    bayes("train", *arguments, "-o", "m.bayes", "--force", "--keep-old")
    assert (small / "m.bayes").read_bytes() != before
    assert (small / "m.old.bayes").read_bytes() == before


def test_an_unlike_model_is_found_before_the_rows_are_read(bayes: Bayes, small: Path) -> None:
    bayes("train", "absent.csv", "-t", "colour", "-o", "m.bayes", code=2)


def test_what_is_not_a_model_is_replaced_only_by_force(bayes: Bayes, small: Path) -> None:
    table = (small / "a.csv").read_text()
    bayes("train", "a.csv", "-t", "class", "-o", "a.csv", code=4)
    assert (small / "a.csv").read_text() == table
    (small / "empty.bayes").touch()
    bayes("train", "a.csv", "-t", "class", "-o", "empty.bayes")
    (small / "note.txt").write_text("not a model")
    bayes("train", "a.csv", "-t", "class", "-o", "note.txt", "--force")
    assert rows_of(small / "note.txt") == 20


def test_refusals_name_both(small: Path) -> None:
    new = ModelSummary("naive-bayes", "colour", None)
    with refusal(BadOption, what="`class`, not `colour`", where="m.bayes", exit_code=2):
        replaced("m.bayes", new, force=False)
    with refusal(BadOption, what="averaged"):
        replaced("m.bayes", ModelSummary("averaged", "class", None), force=False)
    with refusal(BadModelFile, remedy="--force"):
        replaced("a.csv", new, force=False)
    old = replaced("m.bayes", new, force=True)
    assert old is not None
    assert (old.kind, old.rows, old.classes) == ("naive-bayes", 20, ("p", "q"))


def test_the_last_version_is_kept_and_can_be_compared(bayes: Bayes, small: Path) -> None:
    first = (small / "m.bayes").read_bytes()
    bayes("update", "m.bayes", "a.csv", "--keep-old")
    second = (small / "m.bayes").read_bytes()
    assert (small / "m.old.bayes").read_bytes() == first
    report = bayes("diff", "m.old.bayes", "m.bayes", "--json").json
    assert (report["equal"], report["differences"][0]["rows"]) == (False, 20)
    bayes("merge", "m.bayes", "m.old.bayes", "-o", "m.bayes", "--keep-old")
    assert (small / "m.old.bayes").read_bytes() == second
    assert rows_of(small / "m.bayes") == 60
    (small / "m.bayes").rename(small / "n.bayes")
    bayes("train", "a.csv", "-t", "class", "-o", "m.bayes", "--keep-old")  # nothing to be kept
    assert (small / "m.old.bayes").read_bytes() == second
    assert sorted(path.name for path in small.iterdir() if path.name.startswith(".")) == []
    assert any("m.old.bayes" in text for text in bayes("forget", "m.bayes", "a.csv", "--json").json["warnings"])
    bayes("update", "m.bayes", "a.csv")
    bayes("forget", "m.bayes", "a.csv", "--keep-old", code=2)  # the rows would still be there
