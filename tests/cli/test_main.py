"""The endings of the command: help, versions, and every way to fail, each in one line with its exit code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest

from bayesbox import __version__
from bayesbox.cli import show
from bayesbox.cli.main import VERBS

from .conftest import Bayes


def test_without_arguments_and_with_help_the_verbs_are_listed(bayes: Bayes) -> None:
    for arguments in ([], ["--help"], ["-h"]):
        ended = bayes(*arguments)
        assert all(verb in ended.out for verb in VERBS)
        assert ended.err == ""


def test_version(bayes: Bayes) -> None:
    assert bayes("--version").out == f"bayes {__version__}\n"


def test_a_verb_that_is_not_there(bayes: Bayes) -> None:
    assert "Did you mean `train`?" in bayes("trian", code=2).err
    assert "The commands are train, predict" in bayes("xyzzy", code=2).err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--nonsense"],
        ["train", "people.csv", "-t", "income", "--missing", "perhaps"],
        ["train"],
        ["train", "people.csv", "-t", "income", "--model", "tn"],
        ["train", "people.csv", "-t", "income", "--smoothing", "lapalce"],
        ["train", "people.csv", "-t", "income", "--types", "age=rael"],
        ["train", "people.csv", "-t", "income", "--prior", "yes"],
        ["train", "people.csv", "-t", "income", "--prior", "yes=often"],
        ["predict", "people.bayes"],
        ["explain", "people.bayes", "--set", "age"],
        ["merge", "people.bayes", "-o", "x.bayes"],
        ["rule", "--prior", ".1", "--likelihood", ".5"],
        ["rule", "--prior", "1/0", "--likelihood", ".5", "--evidence", ".5"],
        ["completion", "cobol"],
    ],
)
def test_usage_errors_are_one_line_and_exit_2(bayes: Bayes, folder: Path, arguments: list[str]) -> None:
    (folder / "people.csv").write_text("age,income\n30,high\n40,low\n")
    ended = bayes(*arguments, code=2)
    assert ended.out == ""
    assert ended.err.startswith("bayes")
    assert ended.err.count("\n") == 1


def test_a_model_that_is_not_there_names_those_that_are(bayes: Bayes, folder: Path) -> None:
    (folder / "people.csv").write_text("age,income\n30,high\n")
    assert "Choose one of: naive" in bayes("train", "people.csv", "-t", "income", "--model", "tn", code=2).err


def test_a_bug_is_told_in_one_line_and_shown_with_debug(
    bayes: Bayes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from bayesbox.cli.main import run

    def broken(**_: object) -> None:
        raise RuntimeError("the floor is lava")

    monkeypatch.setattr(show.command, "callback", broken)
    ended = bayes("show", "x.bayes", code=70)
    assert (
        ended.err
        == "bayes: internal error: RuntimeError: the floor is lava. This is a bug; run it again with --debug\n"
    )
    assert run(["show", "x.bayes", "--debug"]) == 70
    assert "Traceback" in capsys.readouterr().err


def test_packages_that_refuse_each_other_are_not_a_bug(bayes: Bayes, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(**_: object) -> None:
        raise ImportError("pyarrow requires NumPy 2.0 or newer, found 1.26.4.\nMore lines", name="pyarrow.lib")

    monkeypatch.setattr(show.command, "callback", refused)
    said = bayes("show", "x.bayes", code=2).err
    assert "pyarrow requires NumPy 2.0 or newer, found 1.26.4." in said
    assert "pip install --upgrade numpy pyarrow" in said
    assert "More lines" not in said
    assert "bug" not in said


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (PermissionError(13, "Permission denied", "secret.csv"), 74, "secret.csv: Permission denied"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (click.Abort(), 130, "interrupted"),
        (click.FileError("x.csv", "gone"), 74, "x.csv"),
        (MemoryError(), 70, "memory"),
        (BrokenPipeError(), 0, ""),
    ],
)
def test_other_endings(
    bayes: Bayes, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, words: str
) -> None:
    def broken(**_: object) -> None:
        raise error

    monkeypatch.setattr(show.command, "callback", broken)
    monkeypatch.setattr("bayesbox.cli.main._leave_pipe", lambda: None)
    ended = bayes("show", "x.bayes", code=code)
    assert words in ended.err
    assert ended.err.count("\n") == (1 if words else 0)


def test_control_characters_of_the_data_do_not_reach_the_terminal(bayes: Bayes, folder: Path) -> None:
    (folder / "evil.csv").write_text("a\x1b[2J,label\nx\x07,yes\ny,no\n")
    trained = bayes("train", "evil.csv", "-t", "label")
    refused = bayes("explain", "evil.bayes", "--set", "b\x1b[0m=1", code=3)
    for text in (trained.err, refused.err, bayes("show", "evil.bayes").out):
        assert "\x1b" not in text
        assert "\x07" not in text
    assert "a\\x1b[2J" in trained.err


def modules_after(*commands: str) -> set[str]:
    """The modules that are loaded when the commands have run in a process of their own."""
    program = (
        "import sys\n"
        "from bayesbox.cli.main import run\n"
        "for command in sys.argv[1:]:\n"
        "    sys.argv = ['bayes', *command.split()]\n"
        "    assert run() == 0\n"
        "sys.stderr.write('\\nLOADED ' + ' '.join(sys.modules))\n"
    )
    process = subprocess.run([sys.executable, "-c", program, *commands], capture_output=True, text=True, check=True)
    return set(process.stderr.rpartition("LOADED ")[2].split())


HEAVY = {"sklearn", "scipy", "pandas", "polars"}


def test_help_loads_nothing_heavy(folder: Path) -> None:
    loaded = modules_after("--help", *(f"{verb} --help" for verb in VERBS))
    assert "click" in loaded
    assert not loaded & {*HEAVY, "numpy", "pyarrow", "rich"}


@pytest.mark.usefixtures("tables")
def test_answers_and_mail_do_without_the_functions_of_arrow(bayes: Bayes, folder: Path) -> None:
    """They are hundreds, and take longer to load than a small table to answer."""
    bayes("train", "tennis.csv", "-t", "play")
    for label in ("ham", "spam"):
        (folder / f"{label}.mbox").write_text(
            f"From a\nSubject: one\n\n{label} words\n\nFrom a\nSubject: =?x\n\nmore {label}\n"
        )
    loaded = modules_after(
        "train tennis.csv -t play",
        "predict tennis.bayes tennis.csv --proba",
        "train ham.mbox spam.mbox --model text -o mail.bayes",
        "predict mail.bayes ham.mbox --proba",
    )
    assert "pyarrow.lib" in loaded
    assert "pyarrow.compute" not in loaded


@pytest.mark.usefixtures("tables")
def test_training_predicting_and_explaining_load_no_frames_and_no_scikit_learn() -> None:
    loaded = modules_after(
        "train tennis.csv -t play",
        "predict tennis.bayes tennis.csv --proba --explain 2",
        "explain tennis.bayes --set outlook=sunny --show-work",
        "schema tennis.csv",
        "forget tennis.bayes tennis.csv",
        "demo",
    )
    assert "pyarrow" in loaded
    assert not loaded & {*HEAVY, "rich"}
