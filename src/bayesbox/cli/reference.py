"""The reference of the command, made of its help texts: `python -m bayesbox.cli.reference PAGE`."""

from __future__ import annotations

import sys

import click

from bayesbox.cli import HELP_NAMES
from bayesbox.cli.main import VERBS, bayes

WIDTH = 100
HEAD = """# The command

This page is made of the help texts: `python -m bayesbox.cli.reference docs/reference/command.md`.

Data go to standard output, all else to standard error. Every verb takes `--json`; its keys stand in the verb's help.
An error is one line, and the exit code says of which sort it is:

| code | meaning |
|---|---|
| 0 | done; also where the reader of a pipe has gone |
| 2 | usage: an option or argument that cannot be used |
| 3 | bad data |
| 4 | a model file that is damaged, newer, or none at all |
| 70 | a bug; `--debug` shows where |
| 74 | a file that cannot be read or written |
| 130 | interrupted (Ctrl-C, SIGINT); a second signal ends the process at once |
| 143 | terminated (SIGTERM) |

Files are written to a temporary neighbour first, which then takes the name: the old file or the new one is there, never
a part of one.
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD, _section("bayes", bayes, ["bayes"])]
    context = click.Context(bayes, info_name="bayes")
    for name in VERBS:
        command = bayes.get_command(context, name)
        assert command is not None
        parts.append(_section(f"bayes {name}", command, ["bayes", name]))
    return "\n".join(parts)


def _section(title: str, command: click.Command, names: list[str]) -> str:
    """One command: its help as it is printed."""
    parent = click.Context(bayes, info_name="bayes") if len(names) > 1 else None
    with click.Context(
        command,
        info_name=names[-1],
        parent=parent,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        help_option_names=HELP_NAMES,
    ) as context:
        return f"## {title}\n\n```text\n{command.get_help(context)}\n```\n"


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(page())
