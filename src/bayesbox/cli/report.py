"""`bayes report`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.print.output import emit_json, note


@click.command(
    "report",
    cls=options.Verb,
    short_help="Write a self-contained HTML report on a model, a table or a network.",
    examples=(
        "bayes report people.csv -t income -o report.html",
        "bayes report people.bayes test.csv -o report.html --rows 10",
        "bayes report people.csv -t income -o report.html --suppress 5",
        "bayes report people.csv -t income --na NA --delimiter ';'",
        "bayes report asia.bif -o asia.html",
    ),
    notes="The report works offline and loads nothing from the network. It contains rows of DATA only with --rows. "
    "Keys of --json: path, bytes.",
)
@click.argument("files", nargs=-1, required=True, metavar="MODEL|DATA [DATA]", type=click.Path())
@click.option("-t", "--target", metavar="COLUMN", help="The target column; by default the model's.")
@click.option("-o", "--output", metavar="FILE", default="report.html", show_default=True, help="The file to write.")
@click.option("--weight", metavar="COLUMN", help="A column of weights: a row counts as this many rows.")
@click.option("--rows", type=click.IntRange(min=0), default=0, metavar="N", help="Show and explain the first N rows.")
@click.option(
    "--suppress",
    type=click.IntRange(min=2),
    metavar="K",
    help="Pool levels with fewer than K rows in a class, in the tables of the page as well.",
)
@options.na_option
@options.input_format_option("-f", "--format")
@click.option("--force", is_flag=True, help="Replace an existing file.")
@options.json_option
def command(files: tuple[str, ...], output: str, force: bool, as_json: bool, **given: Any) -> None:
    """Write a self-contained HTML report on a model, a table or a network.

    A MODEL is evaluated on DATA, if given; DATA alone are used to train and cross-validate a model, with -t. The report
    shows the data, the quality of the model and the importance of the columns; its what-if, nomogram and network views
    are interactive.
    """
    from bayesbox.app.report.make import write_report

    if len(files) > 2:
        raise click.UsageError("pass a model, data, or a model and data")
    if os.path.exists(output) and not force:
        raise click.UsageError(f"{output} already exists: pass another -o FILE, or --force")
    text = _text(files, given)
    write_report(text, output)
    if as_json:
        emit_json({"path": output, "bytes": len(text.encode())})
    else:
        note(f"written to {output}, {len(text.encode()) / 1000:,.0f} KB; open it in a browser")


def _text(files: tuple[str, ...], given: dict[str, Any]) -> str:
    from bayesbox.app.report.make import report_of_model, report_of_rows
    from bayesbox.cli.options.sources import reading_of
    from bayesbox.file.load import load_classifier
    from bayesbox.network.formats import format_of
    from bayesbox.network.network import read_network

    first, *data = files
    name = Path(first).name
    reading = reading_of(given)
    common = {
        "rows": given["rows"],
        "suppress": given["suppress"] or 0,
        "name": name,
        "weight": given["weight"],
        "reading": reading,
    }
    if first.endswith(".bayes"):
        return report_of_model(load_classifier(first), data[0] if data else None, target=given["target"], **common)
    if data:
        raise click.UsageError("with two files, the first must be a model (.bayes) and the second its data")
    if format_of(first) is not None:
        return report_of_model(read_network(first), name=name)
    from bayesbox.rule.options import NaiveOptions
    from bayesbox.table.naive.classifier import NaiveClassifier

    if given["target"] is None:
        from bayesbox.source.files.open import listed_columns

        columns = listed_columns(first, format=reading.format, dialect=reading.dialect)
        raise click.UsageError(f"no target column: pass -t COLUMN. {columns}")
    return report_of_rows(NaiveClassifier(NaiveOptions()), first, given["target"], **common)
