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
    short_help="Write one HTML file about a model, a table or a network.",
    examples=(
        "bayes report people.csv -t income -o report.html",
        "bayes report people.bayes test.csv -o report.html --rows 10",
        "bayes report people.csv -t income -o report.html --suppress 5",
        "bayes report asia.bif -o asia.html",
    ),
    notes="The file works offline and fetches nothing. Rows of DATA are in it only with --rows. Keys of --json: path, "
    "bytes.",
)
@click.argument("files", nargs=-1, required=True, metavar="MODEL|DATA [DATA]", type=click.Path())
@click.option("-t", "--target", metavar="COLUMN", help="The column that holds the classes; by default the model's.")
@click.option("-o", "--output", metavar="FILE", default="report.html", show_default=True, help="The file to write.")
@click.option("--weight", metavar="COLUMN", help="The column of weights: a row counts as so many.")
@click.option("--rows", type=click.IntRange(min=0), default=0, metavar="N", help="Show and explain the first N rows.")
@click.option(
    "--suppress",
    type=click.IntRange(min=2),
    metavar="K",
    help="Pool levels with fewer than K rows in a class, in the tables of the page too.",
)
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@options.json_option
def command(files: tuple[str, ...], output: str, force: bool, as_json: bool, **given: Any) -> None:
    """Write a report of a MODEL (judged on DATA, if given), of DATA (trained and cross-validated), or of a network.

    It says what the data are, how good the model is, and which columns matter; what-if, nomogram and network answer in
    the page itself.
    """
    from bayesbox.app.report.make import write_report

    if len(files) > 2:
        raise click.UsageError("give a model and data, or one of them")
    if os.path.exists(output) and not force:
        raise click.UsageError(f"{output} is there already: give another -o, or --force")
    text = _text(files, given)
    write_report(text, output)
    if as_json:
        emit_json({"path": output, "bytes": len(text.encode())})
    else:
        note(f"wrote {output}, {len(text.encode()) / 1000:,.0f} KB; open it in a browser")


def _text(files: tuple[str, ...], given: dict[str, Any]) -> str:
    from bayesbox.app.report.make import report_of_model, report_of_rows
    from bayesbox.file.load import load_classifier
    from bayesbox.network.formats import format_of
    from bayesbox.network.network import read_network

    first, *data = files
    name = Path(first).name
    common = {"rows": given["rows"], "suppress": given["suppress"] or 0, "name": name, "weight": given["weight"]}
    if first.endswith(".bayes"):
        return report_of_model(load_classifier(first), data[0] if data else None, target=given["target"], **common)
    if data:
        raise click.UsageError("two files are a model (.bayes) and its data")
    if format_of(first) is not None:
        return report_of_model(read_network(first), name=name)
    from bayesbox.rule.options import NaiveOptions
    from bayesbox.table.naive.classifier import NaiveClassifier

    if given["target"] is None:
        raise click.UsageError("no target column: pass -t COLUMN")
    return report_of_rows(NaiveClassifier(NaiveOptions()), first, given["target"], **common)
