"""`bayes importance`."""

from __future__ import annotations

from typing import Any

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.print.output import captured_warnings, emit_json, note, say


@click.command(
    "importance",
    cls=options.Verb,
    short_help="Say which columns matter.",
    examples=(
        "bayes importance people.bayes",
        "bayes importance people.bayes test.csv",
        "bayes importance spam.bayes --most 20",
    ),
    notes="The loss is the rise of the mean log loss (natural logarithms, probabilities of at least 2.2e-16) where the "
    "column is marginalised. Keys of --json: target, of (column or word), entropy, rows, log_loss, accuracy, columns "
    "(column, information in bits, loss, accuracy_drop), notes.",
)
@click.argument("model")
@click.argument("data", nargs=-1)
@click.option("-t", "--target", metavar="COLUMN", help="The column that holds the classes; by default the model's.")
@click.option("--most", type=click.IntRange(min=1), metavar="N", help="Print the N that matter most; all by default.")
@options.na_option
@options.input_format_option("-f", "--format")
@options.json_option
def command(model: str, data: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Say what each column, or each word of documents, says of the class by itself, in bits.

    With DATA, rows with their classes that were not learned, also what is lost without it: naive Bayes leaves out its
    term, and other models are asked with the column missing in every row.
    """
    from dataclasses import replace

    from bayesbox.classifier.train import labelled_rows
    from bayesbox.cli.options.sources import Progress, as_learned, reading_of
    from bayesbox.file.load import load_classifier

    with captured_warnings() as warned:
        classifier = load_classifier(model)
        losses = classifier.losses()
        if data:
            if classifier.needs_target and (given["target"] or classifier.target) is None:
                raise click.UsageError("the model does not know its target: say which column it is, with -t")
            reading = reading_of(given)
            opened = classifier.open_rows(list(data), target=given["target"], learning=False, reading=reading)
            progress = Progress(opened.source)
            try:
                with as_learned(model):
                    for batch in opened.source.batches():
                        losses.add(labelled_rows(batch, opened.target, None, where=opened.source.name))
                        progress(batch.rows)
            finally:
                progress.close()
        found = losses.result()
    if given["most"] is not None:
        found = replace(found, columns=found.columns[: given["most"]])
    if as_json:
        emit_json(found.to_dict())
    else:
        say(str(found))
    for text in warned:
        note(f"note: {text}")
