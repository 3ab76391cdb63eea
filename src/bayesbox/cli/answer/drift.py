"""`bayes drift`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.print.output import captured_warnings, emit_json, note, say

if TYPE_CHECKING:
    from bayesbox.classifier.answer.drifts import Drift
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.file.reader import Json
    from bayesbox.source.base import Batch


@click.command(
    "drift",
    cls=options.Verb,
    short_help="Report what has changed since a model was trained.",
    examples=(
        "bayes drift people.bayes new.csv",
        "zcat new.csv.gz | bayes drift people.bayes - --json",
        "bayes drift may.bayes june.bayes",
    ),
    notes="PSI is the population stability index: below 0.1 means no change, above 0.25 a large change. p is the "
    "p-value of a G-test. Numeric columns are compared in about ten groups of the counted cells, or by their "
    "means where only moments were counted. Keys of --json: target, rows_before, rows, drifted (names), columns "
    "(column, by, statistic, df, p_value, psi, drifted, missing_before, missing_after, missing_p_value, "
    "missing_psi, unseen, examples, change), classes (class, learned, expected, predicted), class_psi, "
    "class_test (of two models), notes.",
)
@click.argument("model")
@click.argument("data", nargs=-1, required=True)
@options.na_option
@options.input_format_option("-f", "--format")
@options.bad_rows_option
@options.json_option
def command(model: str, data: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Report what has changed since a model was trained: tests and PSI of each column, unseen levels, missing values,
    and predicted classes.

    DATA are rows without classes, from files or - for standard input, counted in batches and not kept; or another
    model, to compare its rows.
    """
    from bayesbox.cli.evaluate import is_model
    from bayesbox.file.load import load_classifier

    with captured_warnings() as warned:
        classifier = load_classifier(model)
        if len(data) == 1 and is_model(data[0]):
            found = classifier.drift_to(load_classifier(data[0]))
        else:
            found = _of_rows(classifier, model, data, given)
    if as_json:
        emit_json(found.to_dict())
    else:
        say(str(found))
    for text in warned:
        note(f"note: {text}")


def _of_rows(classifier: AnyClassifier, model: str, data: tuple[str, ...], given: Json) -> Drift:
    from bayesbox.classifier.predict import ROWS_AT_ONCE
    from bayesbox.cli.options.sources import Progress, as_learned, reading_of, skipped_rows
    from bayesbox.cli.predict import print_absent
    from bayesbox.source.reduce import pieces
    from bayesbox.source.wrapped import peek

    opened = classifier.open_unlabelled(list(data), reading=reading_of(given))
    progress = Progress(opened.source)

    def batches() -> Iterator[Batch]:
        first, source = peek(opened.source)
        if first is not None:
            print_absent(classifier, first.names, source.name)
        for batch in pieces(source, rows=ROWS_AT_ONCE):
            yield batch
            progress(batch.rows)
        skipped_rows(source)

    try:
        with as_learned(model):
            return classifier.drift(batches())
    finally:
        progress.close()
