"""`bayes importance`."""

from __future__ import annotations

from typing import Any

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.print.output import captured_warnings, emit_json, note, say


@click.command(
    "importance",
    cls=options.Verb,
    renamed={"--most": "--top"},
    short_help="Rank the columns by how much they matter.",
    examples=(
        "bayes importance people.bayes",
        "bayes importance people.bayes test.csv",
        "bayes importance spam.bayes --top 20",
    ),
    notes="The loss is the increase of the mean log loss (natural logarithms, probabilities clipped at 2.2e-16) when "
    "the column is marginalised. Keys of --json: target, of (column or word), entropy, rows, log_loss, accuracy, "
    "columns (column, information in bits, loss, accuracy_drop), notes.",
)
@click.argument("model")
@click.argument("data", nargs=-1)
@click.option("-t", "--target", metavar="COLUMN", help="The target column; by default the model's.")
@click.option("--top", type=click.IntRange(min=1), metavar="N", help="Print only the N most important; by default all.")
@options.na_option
@options.input_format_option("-f", "--format")
@options.json_option
def command(model: str, data: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Rank the columns, or the words of documents, by their mutual information with the class, in bits.

    With DATA (labelled held-out rows), also by the increase in log loss without the column: its
    term is dropped in naive Bayes, and its values are set to missing in other models.
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
                raise click.UsageError("the model does not record its target column: pass -t COLUMN")
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
    if given["top"] is not None:
        found = replace(found, columns=found.columns[: given["top"]])
    if as_json:
        emit_json(found.to_dict())
    else:
        say(str(found))
    for text in warned:
        note(f"note: {text}")
