"""`bayes update`."""

from __future__ import annotations

from typing import Any

import click

from bayesbox.cli.change.learning import change
from bayesbox.cli.options import shared as options


@click.command(
    "update",
    cls=options.Verb,
    short_help="Add rows to a model.",
    examples=(
        "bayes update people.bayes tuesday.csv",
        "bayes update people.bayes 'week/*.csv' -o week.bayes",
        "bayes update spam.bayes message.eml --class spam",
    ),
    notes="Keys of --json: model, rows, unlabelled, skipped, classes, digest_before, digest, warnings, stale.",
)
@click.argument("model")
@click.argument("data", nargs=-1, required=True)
@options.new_model
@click.option("-t", "--target", metavar="COLUMN", help="The target column, if its name differs from that in the model.")
@click.option("--class", "label", metavar="CLASS", help="The class of all documents, if their folders do not name it.")
@options.classes_limit_option
@options.weight_option
@options.na_option
@options.bad_rows_option
@options.follow_option
@options.input_format_option("-f", "--format")
@options.threads_option
@options.keep_old_option
@options.history_option
@options.wait_option
@options.json_option
def command(model: str, data: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Add rows to a model: the result is identical, bit for bit, to training on all the rows at once.

    The types of the columns and the target come from the model.
    """
    change(model, data, given, forget=False, as_json=as_json)
