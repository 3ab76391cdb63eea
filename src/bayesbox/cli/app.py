"""`bayes app`."""

from __future__ import annotations

import sys
from typing import Any

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.print.output import emit_json, note, say
from bayesbox.errors import require_packages


@click.command(
    "app",
    cls=options.Verb,
    short_help="Open models, tables and networks in the browser.",
    examples=(
        "bayes app",
        "bayes app titanic.bayes asia.bif",
        "bayes app people.bayes test.csv",
        "bayes app people.csv -t income",
        "bayes app people.csv -t income --na NA --delimiter ';'",
        "bayes app m.bayes --port 8123 --no-open",
        "bayes app asia.bif --save",
    ),
    notes="The page is served on this machine only, at an address with a secret that changes with each run. It can "
    "read the named files and no others. Press Ctrl-C to stop it. Keys of --json, printed at the start: address, "
    "files (name, kind, views, lesson, about, path).",
)
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path())
@click.option("-t", "--target", metavar="COLUMN", help="The target column of a table.")
@click.option("--weight", metavar="COLUMN", help="The weight column of a table.")
@options.na_option
@options.input_format_option("-f", "--format")
@click.option("--save", is_flag=True, help="Let the page save edited networks to their files.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port; by default 0, any free port.")
@click.option("--no-open", is_flag=True, help="Print the address without opening the browser.")
@click.option("--for", "seconds", type=click.FloatRange(min=0, min_open=True), help="Stop after this many seconds.")
@options.json_option
def command(
    files: tuple[str, ...],
    target: str | None,
    weight: str | None,
    save: bool,
    port: int,
    no_open: bool,
    seconds: float | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Open models (.bayes), tables and networks in the browser, and explore their answers interactively.

    A model is a classifier of tables or a hidden Markov model. A table after a classifier evaluates it; a table with a
    target is used to train and cross-validate. Without a FILE the app opens three lessons: the people of the Titanic, a
    screening test, and a network.
    """
    require_packages("app", "msgspec", "starlette", "uvicorn")
    from bayesbox.app.server.opened import open_files, shipped
    from bayesbox.app.server.run import serve
    from bayesbox.cli.options.sources import reading_of

    if save and not files:
        raise click.UsageError("--save needs the FILE of a network")
    opened = open_files(files, target, weight, reading=reading_of(given), save=save) or shipped()

    def started(address: str) -> None:
        if as_json:
            emit_json({"address": address, "files": [each.summary() for each in opened]})
        else:
            say(address)
            note("Open this address in a browser; Ctrl-C stops the app.")
        sys.stdout.flush()
        if not no_open:
            click.launch(address)

    serve(opened, port=port, seconds=seconds, started=started)
