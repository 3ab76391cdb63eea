"""Messages against bogofilter: learning a mailbox of spam and one of ham, and judging messages, files to answers.

Both run as commands on mbox files and on Maildir folders, bogofilter with its word list in a file of its own. The
messages are made of random words, texts of SMS, and 20 newsgroups as they were posted, half of the groups called spam:
18,846 messages, as often as it takes to have a hundred thousand. Random ones several times over show how fast messages
are read where starting Python no longer matters. The target is for a hundred thousand messages in mailboxes: with
fewer, starting decides, and with a file each, opening the files.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet

import harness
from text import synthetic

BAYES = [sys.executable, "-c", "from bayesbox.cli.main import main; main()"]
TIMES = 6
ROUNDS = 3
TARGET, TARGET_DOCUMENTS = 10, 100_000
FLAGS = (("spam", "-s"), ("ham", "-n"))  # under which bogofilter learns each class
FROM_LINE = re.compile("^From ", re.MULTILINE)
SEPARATOR = "From ann@example.org Mon Jan  1 10:00:00 2001"


def message(number: int, text: str) -> str:
    body = text.replace("\n", " ")
    return f"From: ann@example.org\nSubject: message {number}\n\n{body}\n"


def posted(folder: Path, count: int) -> tuple[list[str], list[str]]:
    """So many messages of 20 newsgroups and their classes: the first ten groups by name, and the others."""
    tables = [
        pyarrow.parquet.read_table(folder / f"20news_bydate_{part}.parquet").to_pydict() for part in ("train", "test")
    ]
    groups = [label for table in tables for label in table["label"]]
    ham = sorted(set(groups))[:10]
    pairs = list(zip([text for table in tables for text in table["text"]], groups, strict=True))
    chosen = list(islice(cycle(pairs), count))
    return [text for text, _ in chosen], ["ham" if group in ham else "spam" for _, group in chosen]


def mailbox(path: Path, messages: list[str], times: int) -> None:
    """An mbox of the messages, so many times over; a line of a message that begins like one between two gets a mark."""
    with path.open("w", encoding="utf-8", newline="") as file:
        for _ in range(times):
            for text in messages:
                file.write(f"{SEPARATOR}\n{FROM_LINE.sub('>From ', text)}\n\n")


def maildir(path: Path, messages: list[str]) -> None:
    """A Maildir with a file for each message."""
    for name in ("cur", "new", "tmp"):
        (path / name).mkdir(parents=True)
    for number, text in enumerate(messages):
        (path / "cur" / f"{number:06d}.host:2,S").write_text(text, encoding="utf-8")


def seconds_of(command: list[str], stdin: Path | None = None) -> float:
    """The CPU seconds of a command; Python may keep its bytecode, as it does where a package is installed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with open(stdin or os.devnull, "rb") as given:
        done = subprocess.run(
            command, stdin=given, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False, env=own
        )
    if done.returncode not in (0, 1, 2):
        raise SystemExit(f"{command[0]}: {done.stderr.decode()[-500:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(session: harness.Session) -> None:
    if shutil.which("bogofilter") is None:
        session.say("bogofilter is not installed (Debian: bogofilter)")
        return
    count = 5_000 if session.quick else 100_000
    texts, labels = synthetic(count)
    corpora = {"two classes": (texts, labels)}
    if session.data is not None and (session.data / "text" / "sms_spam.csv").exists():
        table = pyarrow.csv.read_csv(session.data / "text" / "sms_spam.csv").to_pydict()
        corpora["sms spam"] = (table["text"], table["label"])
    corpora = {name: ([message(*each) for each in enumerate(own)], labels) for name, (own, labels) in corpora.items()}
    if session.data is not None and (session.data / "text" / "20news_bydate_train.parquet").exists():
        corpora["20 newsgroups"] = posted(session.data / "text", count)
    seconds_of([*BAYES, "train", "--help"])  # once, so that the bytecode is there
    for name, (documents, classes) in corpora.items():
        for times in (1,) if session.quick or name == "20 newsgroups" else (1, TIMES):
            with tempfile.TemporaryDirectory() as folder:
                compare(session, name, documents, classes, times, Path(folder))
        with tempfile.TemporaryDirectory() as folder:
            compare_files(session, name, documents, classes, Path(folder))


def by_class(texts: list[str], labels: list[str]) -> dict[str, list[str]]:
    return {label: [text for text, own in zip(texts, labels, strict=True) if own == label] for label in ("ham", "spam")}


def compare(session: harness.Session, name: str, texts: list[str], labels: list[str], times: int, folder: Path) -> None:
    """Mailboxes."""
    for label, own in by_class(texts, labels).items():
        mailbox(folder / f"{label}.mbox", own, times)
    asked, model = folder / "all.mbox", folder / "spam.bayes"
    mailbox(asked, texts, times)
    megabytes = asked.stat().st_size / 1e6
    work = f"{name}, {megabytes:.0f} MB of mail"
    boxes = [str(folder / f"{label}.mbox") for label in ("ham", "spam")]
    target = TARGET if len(texts) >= TARGET_DOCUMENTS else None
    train = [*BAYES, "train", *boxes, "--model", "text", "-o", str(model), "--threads", "1"]
    learned = [
        (
            seconds_of(train),
            sum(seconds_of(taught(lists, flag, "-M"), folder / f"{label}.mbox") for label, flag in FLAGS),
        )
        for lists in word_lists(folder)
    ]
    print_report(session, f"learn, {work}", megabytes, learned, target)
    judge = [*BAYES, "predict", str(model), str(asked), "--proba", "--threads", "1"]
    lists = folder / "lists 0"
    judged = [(seconds_of(judge), seconds_of(taught(lists, "-M", "-v", "-T"), asked)) for _ in range(ROUNDS)]
    print_report(session, f"judge, {work}", megabytes, judged, target)


def compare_files(session: harness.Session, name: str, texts: list[str], labels: list[str], folder: Path) -> None:
    """Maildir folders, a file a message."""
    for label, own in by_class(texts, labels).items():
        maildir(folder / "mail" / label, own)
    mail, model = folder / "mail", folder / "spam.bayes"
    megabytes = sum(file.stat().st_size for file in mail.rglob("*") if file.is_file()) / 1e6
    work = f"{name}, {megabytes:.0f} MB in {len(texts):,} files"
    train = [*BAYES, "train", str(mail), "--model", "text", "-o", str(model), "--threads", "1"]
    learned = [
        (seconds_of(train), sum(seconds_of(taught(lists, flag, "-B", str(mail / label))) for label, flag in FLAGS))
        for lists in word_lists(folder)
    ]
    print_report(session, f"learn, {work}", megabytes, learned, None)
    judge = [*BAYES, "predict", str(model), str(mail), "--proba", "--threads", "1"]
    theirs = taught(folder / "lists 0", "-v", "-T", "-B", *(str(mail / label) for label, _ in FLAGS))
    judged = [(seconds_of(judge), seconds_of(theirs)) for _ in range(ROUNDS)]
    print_report(session, f"judge, {work}", megabytes, judged, None)


def word_lists(folder: Path) -> Iterator[Path]:
    """A folder for what bogofilter learns, a new one each round."""
    for number in range(ROUNDS):
        lists = folder / f"lists {number}"
        lists.mkdir()
        yield lists


def taught(lists: Path, *options: str) -> list[str]:
    return ["bogofilter", "-d", str(lists), *options]


def print_report(
    session: harness.Session, work: str, megabytes: float, pairs: list[tuple[float, float]], target: float | None
) -> None:
    """The medians of rounds, ours and theirs in turn."""
    mine, theirs = (statistics.median(times) for times in zip(*pairs, strict=True))
    session.say(f"{work}: {megabytes / mine:.0f} MB/s, bogofilter {megabytes / theirs:.0f} MB/s")
    session.ratio(work, mine, "bogofilter", theirs, target)


if __name__ == "__main__":
    harness.main(run)
