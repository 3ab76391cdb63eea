"""`bayes forget`."""

from __future__ import annotations

from typing import Any

import click

from bayesbox.cli.change.learning import change
from bayesbox.cli.options import shared as options


@click.command(
    "forget",
    cls=options.Verb,
    short_help="Take rows out of a model again, exactly.",
    examples=(
        "bayes forget people.bayes withdrawn.csv",
        "bayes forget people.bayes withdrawn.csv -o without.bayes",
        "bayes forget people.bayes withdrawn.csv --certificate withdrawn.json",
        "bayes forget people.bayes withdrawn.csv --certificate withdrawn.json --key company.pem",
        "bayes forget spam.bayes message.eml --class spam",
    ),
    notes="Keys of --json: model, rows, unlabelled, skipped, classes, digest_before, digest, warnings, stale, "
    "derived (what was learned of the rows and is no tally, so that it stays as it is), "
    "and certificate where one was asked for.",
)
@click.argument("model")
@click.argument("data", nargs=-1, required=True)
@options.new_model
@click.option(
    "-t", "--target", metavar="COLUMN", help="The column of the classes, if it has another name than in the model."
)
@click.option(
    "--certificate", metavar="FILE", help="Write a certificate of what was taken out, which `bayes verify` checks."
)
@click.option("--key", metavar="FILE", help="Sign the certificate by this private key (PEM), made by bayes key.")
@click.option(
    "--class", "label", metavar="CLASS", help="The class of all documents, where their folders do not say it."
)
@options.weight_option
@options.na_option
@options.bad_rows_option
@options.follow_option
@options.input_format_option("-f", "--format")
@options.threads_option
@options.wait_option
@options.json_option
def command(model: str, data: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Take rows out of a model again, exactly: as if they had never been learned.

    The rows are given with the labels, and the weights, they were learned with. Rows that were never learned are
    refused as far as the counts can tell, and nothing is changed then.
    """
    if given["key"] and not given["certificate"]:
        raise click.UsageError("--key signs a certificate, and none is written: add --certificate FILE")
    change(model, data, given, forget=True, as_json=as_json)
