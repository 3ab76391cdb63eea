"""`bayes forget`."""

from __future__ import annotations

from typing import Any

import click

from bayesbox.cli.change.learning import change
from bayesbox.cli.options import shared as options


@click.command(
    "forget",
    cls=options.Verb,
    short_help="Remove rows from a model exactly.",
    examples=(
        "bayes forget people.bayes withdrawn.csv",
        "bayes forget people.bayes withdrawn.csv -o without.bayes",
        "bayes forget people.bayes withdrawn.csv --certificate withdrawn.json",
        "bayes forget people.bayes withdrawn.csv --certificate withdrawn.json --key company.pem",
        "bayes forget spam.bayes message.eml --class spam",
    ),
    notes="Keys of --json: model, rows, unlabelled, skipped, classes, digest_before, digest, warnings, stale, derived "
    "(parts learned from rows that are not tallies, and so stay unchanged), and certificate if one was requested.",
)
@click.argument("model")
@click.argument("data", nargs=-1, required=True)
@options.new_model
@click.option("-t", "--target", metavar="COLUMN", help="The target column, if its name differs from that in the model.")
@click.option("--certificate", metavar="FILE", help="Write a certificate of the removal; check it with bayes verify.")
@click.option("--key", metavar="FILE", help="Sign the certificate with this private key (PEM), created by bayes key.")
@click.option("--class", "label", metavar="CLASS", help="The class of all documents, if their folders do not name it.")
@options.weight_option
@options.na_option
@options.bad_rows_option
@options.follow_option
@options.input_format_option("-f", "--format")
@options.threads_option
@options.history_option
@options.wait_option
@options.json_option
def command(model: str, data: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Remove rows from a model exactly, as if they had never been learned.

    Pass the rows with the labels and weights they were learned with. Rows that were never learned are refused wherever
    the counts show it, and then nothing is changed; a ledger (bayes train --ledger) detects every such row.
    """
    if given["key"] and not given["certificate"]:
        raise click.UsageError("--key signs a certificate: add --certificate FILE")
    change(model, data, given, forget=True, as_json=as_json)
