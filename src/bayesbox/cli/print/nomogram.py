"""The nomogram on a terminal and in a file, for the verbs that show one."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import click

from bayesbox.cli.print.output import note, say

if TYPE_CHECKING:
    from bayesbox.explain.nomogram import Nomogram
    from bayesbox.file.reader import Json

TOP = 10
WIDEST = 120  # the most characters per line, however wide the terminal is


def asked(classifier: object, given: Json) -> Nomogram | None:
    """The nomogram requested by the options of `bayes show`."""
    if not given["nomogram"]:
        return None
    from bayesbox.table.naive.nomogram import nomogram

    top = TOP if given["top"] is None else given["top"]
    return nomogram(classifier, given["label"], given["against"], top=top)


def require_fitting(column: str | None, svg: str | None, given: Json) -> None:
    """Raise an error for options without effect, or that contradict each other."""
    if svg and not column and not given["nomogram"]:
        raise click.UsageError("what should --svg draw? Add --column NAME or --nomogram")
    if svg and column and given["nomogram"]:
        raise click.UsageError("--svg draws one picture: choose --column NAME or --nomogram")
    for option, value in (("--class", given["label"]), ("--against", given["against"]), ("--top", given["top"])):
        if value is not None and not given["nomogram"]:
            raise click.UsageError(f"{option} requires --nomogram")


def write(found: Nomogram, path: str) -> None:
    """Write the picture to a file."""
    from bayesbox.cli.network.network import write_text

    write_text(path, found.svg())
    note(f"nomogram of {found.title} written to {path}")


def print_report(found: Nomogram) -> None:
    """Print the nomogram in characters, as wide as the terminal."""
    say(found.text(min(shutil.get_terminal_size().columns, WIDEST)))
