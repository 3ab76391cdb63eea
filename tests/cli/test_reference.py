"""Every verb has help, examples and options that say what they are for; the page of the reference is made of them."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from bayesbox.classifier.registry import KINDS
from bayesbox.cli import reference
from bayesbox.cli.main import VERBS, bayes

ROOT = Path(__file__).parents[2]


def verb(name: str) -> click.Command:
    command = bayes.get_command(click.Context(bayes), name)
    assert command is not None
    return command


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_is_helpful(name: str) -> None:
    command = verb(name)
    assert command.name == name
    assert command.short_help == VERBS[name]
    assert command.help
    assert len(command.help) > 40
    assert command.examples
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    assert all(option.help for option in options)
    assert {"--json", "--debug"} <= {name for option in options for name in option.opts}
    assert "Keys of --json" in command.notes


@pytest.mark.parametrize("name", VERBS)
def test_the_examples_can_be_typed(name: str) -> None:
    command = verb(name)
    for example in command.examples:
        words = shlex.split(example if example.startswith("bayes") else example.partition(" | ")[2])
        for mark in (">", ">>"):
            words = words[: words.index(mark)] if mark in words else words
        assert words[:2] == ["bayes", name]
        context = command.make_context(name, words[2:])
        assert context.params


def test_the_page_is_current(tmp_path: Path) -> None:
    """Made in a process of its own, in which no test has registered anything."""
    page = (ROOT / "docs" / "reference" / "command.md").read_text(encoding="utf-8")
    subprocess.run([sys.executable, "-m", "bayesbox.cli.reference", str(tmp_path / "page.md")], check=True)
    now = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert page == now, "run: python -m bayesbox.cli.reference docs/reference/command.md"


def test_the_page_names_every_verb_and_option() -> None:
    page = reference.page()
    for name in VERBS:
        assert f"## bayes {name}\n" in page
        shown = [parameter for parameter in verb(name).params if not getattr(parameter, "hidden", False)]
        assert all(option in page for parameter in shown for option in parameter.opts if option.startswith("-"))


@pytest.mark.parametrize("name", ["train", "evaluate"])
def test_the_kinds_of_model_are_all_named(name: str) -> None:
    (option,) = (parameter for parameter in verb(name).params if parameter.name == "model")
    assert isinstance(option, click.Option)
    assert set(KINDS) <= set(re.findall(r"\w+", option.help or ""))
