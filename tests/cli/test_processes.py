"""The command as a process of its own: closed pipes, interrupts, full devices, terminals, completion."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bayesbox.cli.options import sources

from .conftest import Bayes

COMMAND = [sys.executable, "-m", "bayesbox.cli.main"]


@pytest.fixture
def long(bayes: Bayes, tables: Path) -> Path:
    """A folder with a model and a table that takes a while to predict."""
    bayes("train", "tennis.csv", "-t", "play")
    header, *rows = (tables / "tennis.csv").read_text().splitlines(keepends=True)
    (tables / "long.csv").write_text(header + "".join(rows * 10_000))
    return tables


def wait_for(path: Path, pattern: str, process: subprocess.Popen[bytes]) -> None:
    """Wait until the process has begun to write beside `path`."""
    for _ in range(3000):
        if list(path.glob(pattern)):
            return
        assert process.poll() is None, "it ended before it could be stopped"
        time.sleep(0.01)
    raise AssertionError("it never began")


def test_a_reader_that_goes_away_ends_it_quietly(long: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "predict", "tennis.bayes", "long.csv", "--keep", "*", "--proba"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b"outlook")
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_the_old_file(long: Path, number: signal.Signals, code: int) -> None:
    (long / "answers.csv").write_text("old")
    arguments = [*COMMAND, "predict", "tennis.bayes", "-", "-o", "answers.csv"]
    process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None
    text = (long / "long.csv").read_bytes()
    process.stdin.write(text + text.partition(b"\n")[2])  # more than is read at a time, and no end: it waits for more
    process.stdin.flush()
    wait_for(long, ".bayesbox-*", process)
    process.send_signal(number)
    _, err = process.communicate()
    assert process.returncode == code
    assert b"Traceback" not in err
    assert (long / "answers.csv").read_text() == "old"
    assert list(long.glob(".*")) == []


def test_an_interrupt_while_training_leaves_the_old_model(long: Path) -> None:
    before = (long / "tennis.bayes").read_bytes()
    arguments = [*COMMAND, "train", "-", "-t", "play", "-o", "tennis.bayes", "--debug"]
    process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write((long / "long.csv").read_bytes())
    process.stdin.flush()  # more than a pipe holds, so it is reading by now
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert err == b"bayes: interrupted\n"
    assert (long / "tennis.bayes").read_bytes() == before


def test_a_killed_run_leaves_the_old_file_and_the_next_one_replaces_it(long: Path) -> None:
    (long / "answers.csv").write_text("old")
    arguments = [*COMMAND, "predict", "tennis.bayes", "-", "-o", "answers.csv"]
    process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None
    text = (long / "long.csv").read_bytes()
    process.stdin.write(text + text.partition(b"\n")[2])
    process.stdin.flush()
    wait_for(long, ".bayesbox-*", process)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert (long / "answers.csv").read_text() == "old"
    subprocess.run(
        [*COMMAND, "predict", "tennis.bayes", "tennis.csv", "-o", "answers.csv"], check=True, capture_output=True
    )
    assert (long / "answers.csv").read_text().count("\n") == 15


def test_a_killed_training_over_a_folder_leaves_the_old_model(long: Path) -> None:
    before = (long / "tennis.bayes").read_bytes()
    (long / "parts").mkdir()
    (long / "parts" / "1.csv").write_bytes((long / "long.csv").read_bytes())
    os.mkfifo(long / "parts" / "2.csv")  # nobody writes to it: the run waits there, with the first part learned
    process = subprocess.Popen(
        [*COMMAND, "train", "parts/1.csv", "parts/2.csv", "-t", "play", "-o", "tennis.bayes"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=2)
    process.kill()
    process.communicate()
    assert (long / "tennis.bayes").read_bytes() == before
    assert list(long.glob(".bayesbox-*")) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["predict", "tennis.bayes", "long.csv", "-o", "answers.csv"],
        ["train", "long.csv", "-t", "play", "-o", "answers.csv", "--force"],
        ["update", "tennis.bayes", "long.csv", "-o", "answers.csv"],
    ],
)
def test_no_room_for_the_output(long: Path, arguments: list[str]) -> None:
    """A file may have 512 bytes: as on a full disk, the system takes the beginning and refuses the rest."""
    import resource

    def little_room() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))

    (long / "answers.csv").write_text("old")
    process = subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, check=False, preexec_fn=little_room
    )
    assert process.returncode == 74
    assert "answers.csv" in process.stderr
    assert "cannot be written: file too large" in process.stderr
    assert "Traceback" not in process.stderr
    assert (long / "answers.csv").read_text() == "old"
    assert list(long.glob(".bayesbox-*")) == []


@pytest.mark.parametrize("verb", ["train", "predict", "update", "evaluate"])
def test_a_bad_row_in_the_middle_of_a_stream(long: Path, verb: str) -> None:
    """The third of four files has a row too many cells wide: named with its line, and nothing is written."""
    header, *rows = (long / "long.csv").read_text().splitlines(keepends=True)
    (long / "parts").mkdir()
    for part in range(4):
        text = [header, *rows[:30_000]]
        if part == 2:
            text[20_001] = "sunny,hot,high,false,no,and,more\n"
        (long / "parts" / f"{part}.csv").write_text("".join(text))
    (long / "answers").write_text("old")
    before = (long / "tennis.bayes").read_bytes()
    arguments = {
        "train": ["parts/*.csv", "-t", "play", "-o", "answers", "--force"],
        "predict": ["tennis.bayes", "parts/*.csv", "-o", "answers", "--format", "csv"],
        "update": ["tennis.bayes", "parts/*.csv", "-o", "answers"],
        "evaluate": ["tennis.bayes", "parts/*.csv"],
    }[verb]
    process = subprocess.run([*COMMAND, verb, *arguments], capture_output=True, text=True, check=False)
    assert process.returncode == 3, process.stderr
    assert "2.csv" in process.stderr
    assert "20002" in process.stderr.replace(",", "").replace(" ", "")
    assert "Traceback" not in process.stderr
    assert process.stdout == ""
    assert (long / "answers").read_text() == "old"
    assert (long / "tennis.bayes").read_bytes() == before
    assert list(long.glob(".bayesbox-*")) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device here")
@pytest.mark.parametrize("arguments", [["predict", "tennis.bayes", "long.csv"], ["show", "tennis.bayes"], ["demo"]])
def test_a_full_device(long: Path, arguments: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        process = subprocess.run([*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, check=False)
    assert process.returncode == 74
    assert b"No space left on device" in process.stderr
    assert process.stderr.count(b"\n") == 1


def test_exit_codes_reach_the_shell(tables: Path) -> None:
    for arguments, code in (
        (["--version"], 0),
        (["train", "cars.csv", "-t", "clas"], 3),
        (["show", "cars.csv"], 4),
        (["train", "nowhere.csv", "-t", "class"], 74),
        (["train", "--nonsense"], 2),
    ):
        process = subprocess.run([*COMMAND, *arguments], capture_output=True, check=False)
        assert process.returncode == code
        assert b"Traceback" not in process.stderr


def test_completion(folder: Path) -> None:
    script = subprocess.run([*COMMAND, "completion", "fish"], capture_output=True, text=True, check=True).stdout
    assert "_BAYES_COMPLETE=fish_complete" in script
    asked = os.environ | {"_BAYES_COMPLETE": "bash_complete", "COMP_WORDS": "bayes for", "COMP_CWORD": "1"}
    answer = subprocess.run(COMMAND, env=asked, capture_output=True, text=True, check=True).stdout
    assert answer == "plain,forget\n"


def test_a_terminal_gets_a_drawn_table(tables: Path) -> None:
    import pty

    leader, follower = pty.openpty()
    process = subprocess.Popen([*COMMAND, "schema", "cars.csv"], stdout=follower, stderr=follower)
    os.close(follower)
    assert process.wait() == 0
    text = os.read(leader, 100_000).decode()
    os.close(leader)
    assert "─────" in text
    assert "20 to 45, mean 26.6667" in text


def test_a_terminal_without_unicode_is_no_reason_to_fail(tables: Path) -> None:
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    process = subprocess.run([*COMMAND, "demo"], env=environment, capture_output=True, check=True)
    assert b"so the class is yes" in process.stdout


def test_progress_is_for_terminals_and_for_what_takes_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Half:
        progress = 0.5

    clock = iter([0.0, 0.5, 2.0, 2.1, 4.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    progress = sources.Progress(Half())
    for _ in range(4):
        progress(1000)
    progress.close()
    shown = capsys.readouterr().err
    assert shown == "\r2,000 rows, 1,000 rows/s, 2 s left\x1b[K\r4,000 rows, 1,000 rows/s, 4 s left\x1b[K\r\x1b[K"
    monkeypatch.setattr("sys.stderr.isatty", lambda: False)
    monkeypatch.setattr("time.monotonic", lambda: 99.0)
    quiet = sources.Progress()
    quiet(1000)
    quiet.close()
    assert capsys.readouterr().err == ""


def shell(line: str) -> subprocess.CompletedProcess[str]:
    """A line of the shell, in which `bayes` is the command."""
    command = f'bayes() {{ {sys.executable} -m bayesbox.cli.main "$@"; }}; {line}'
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("bayes train tennis.csv -t play -o new.bayes 2>&-", 0),
        ("bayes demo --data >&-", 0),
        ("bayes schema - <&-", 3),
        ("bayes show nowhere.bayes 2>&-", 74),
    ],
)
def test_streams_that_the_caller_closed(tables: Path, line: str, code: int) -> None:
    ended = shell(line)
    assert ended.returncode == code
    assert "bug" not in ended.stderr


def test_standard_output_by_its_name(long: Path) -> None:
    ended = shell("bayes predict tennis.bayes tennis.csv -o /dev/stdout | head -1")
    assert ended.stdout == "prediction\n"
