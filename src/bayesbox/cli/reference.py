"""The command reference, made from the help texts: `python -m bayesbox.cli.reference PAGE`."""

from __future__ import annotations

import sys

import click

from bayesbox.cli import HELP_NAMES
from bayesbox.cli.main import VERBS, bayes

WIDTH = 100
HEAD = (
    "# The command\n\nThis page is generated from the help texts: `python -m bayesbox.cli.reference "
    "docs/reference/command.md`.\n\nResults go to standard output, everything else to standard error. Every command "
    "has `--json`; its help lists the keys.\nAn error is printed in one line, and the exit code gives its type:\n\n| "
    "code | meaning |\n|---|---|\n| 0 | success; also if the reader of a pipe has closed it |\n| 2 | usage error: an "
    "invalid option or argument |\n| 3 | bad data |\n| 4 | not a valid model file: damaged, from a newer version, or "
    "not a model |\n| 70 | a bug; `--debug` shows where |\n| 74 | a file cannot be read or written |\n| 130 | "
    "interrupted (Ctrl-C, SIGINT); a second signal ends the process at once |\n| 143 | terminated (SIGTERM) "
    "|\n\nFiles are written to a temporary file first and then renamed: you find the old file or the complete new "
    "one, never a\npart of it.\n"
)


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
    """The section of one command: its help."""
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
