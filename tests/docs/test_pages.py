"""Every page of the documentation runs: Python sessions as doctests, command sessions line by line.

A command session is an indented block whose commands begin with `$ `; what follows a command is what it prints, on both
streams, blank lines aside. The sessions of a page share one folder; `$ cat FILE` makes the file it shows.
"""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.registries import foreign, remove

from bayesbox.cli import main

ROOT = Path(__file__).parents[2]
API = ROOT / "docs" / "reference" / "api"  # made of docstrings, which run where they are, and of pages of examples
PAGES = [ROOT / "README.md", *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent != API)]
COMMAND = [sys.executable, "-c", "from bayesbox.cli.main import main; main()"]


def page_name(page):
    return str(page.relative_to(ROOT))


@pytest.fixture
def registries():
    """What a page registers is gone after it."""
    yield
    remove(foreign())


@pytest.mark.parametrize("page", PAGES, ids=page_name)
@pytest.mark.usefixtures("registries")
def test_python_sessions(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    found = doctest.testfile(str(page), module_relative=False, optionflags=flags, encoding="utf-8")
    assert found.failed == 0


def sessions(text):
    """(command, expected lines) of every session, in order."""
    command, expected = None, []
    for line in text.splitlines():
        inside = line.startswith("    ") or not line.strip()
        content = line[4:] if line.startswith("    ") else line
        if content.startswith("$ ") and inside:
            if command:
                yield command, expected
            command, expected = content[2:], []
        elif command and inside:
            expected.append(content.rstrip())
        elif command:
            yield command, expected
            command = None
    if command:
        yield command, expected


def words_of(command):
    """The words of a command, and the file that its output is sent to."""
    words = shlex.split(command, comments=True)
    output = None
    if ">" in words:
        place = words.index(">")
        output, words = words[place + 1], words[:place]
    assert words[0] == "bayes", command
    return words, output


def run_here(command, folder, capsys):
    """The same without a process of its own, which takes a tenth of the time; `folder` is the current one."""
    words, output = words_of(command)
    assert output is None, command
    assert Path.cwd() == folder
    capsys.readouterr()
    main.run(words[1:])
    printed = capsys.readouterr()
    return [*printed.err.splitlines(), *printed.out.splitlines()]


MODEL_DIGEST = re.compile("(?<=model digest )[0-9a-f]{64}")  # of weights whose last bit is that of the processor's log


def shown(lines):
    return [MODEL_DIGEST.sub("...", line.rstrip()) for line in lines if line.strip()]


def run(command, folder):
    """What a `bayes` command prints; its output may be sent to a file."""
    words, output = words_of(command)
    environment = {**os.environ, "COLUMNS": "120", "PYTHONIOENCODING": "utf-8", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [*COMMAND, *words[1:]],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment,
        timeout=120,
    )
    if output:
        (folder / output).write_text(done.stdout, encoding="utf-8")
        return done.stderr.splitlines()
    return [*done.stderr.splitlines(), *done.stdout.splitlines()]


WITH_COMMANDS = [page for page in PAGES if re.search(r"^    \$ bayes", page.read_text(encoding="utf-8"), re.MULTILINE)]


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=page_name)
def test_command_sessions(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    in_process = page.parent.name == "teach"  # many and short
    for command, expected in sessions(page.read_text(encoding="utf-8")):
        if command.startswith("cat "):  # the page shows a file: here it is made
            (tmp_path / command.split()[1]).write_text("\n".join(shown(expected)) + "\n", encoding="utf-8")
            continue
        found = run_here(command, tmp_path, capsys) if in_process else run(command, tmp_path)
        assert shown(found) == shown(expected), command


def test_a_changed_page_fails():
    """The gate itself: a wrong figure on a page is seen."""
    text = "\n    $ bayes rule --prior .5 --likelihood .5 --evidence .5\n    wrong\n\nnext"
    [(command, expected)] = list(sessions(text))
    assert command.startswith("bayes rule")
    assert shown(run(command, ROOT)) != shown(expected)
