"""`bayes predict`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.print.output import captured_warnings, note, plural
from bayesbox.errors import BadOption

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.file.reader import Json

OUTPUT_FORMATS = ["csv", "tsv", "jsonl", "parquet"]
EXIT_OTHER, EXIT_UNSURE = 1, 5  # the exit code of --exit-class if the row is not of the class


@click.command(
    "predict",
    cls=options.Verb,
    groups={"Decision": ("unsure", "cost", "threshold", "exit_class", "prior")},
    short_help="Predict the class of each row.",
    examples=(
        "bayes predict people.bayes new.csv",
        "bayes predict people.bayes new.csv --proba --keep id -o answers.parquet",
        "bayes predict people.bayes new.csv --explain 3 --prior '<=50K=.9,>50K=.1'",
        "bayes predict screening.bayes new.csv --cost 'ill->well=50' --abstain .6",
        "zcat new.csv.gz | bayes predict people.bayes - --keep '*' > answers.csv",
        "bayes predict spam.bayes - --exit-class spam --unsure .9 < message.eml",
    ),
    notes="In CSV and TSV, text cells that begin with = + - @ (also after tabs and line breaks) get a leading "
    "apostrophe, so that spreadsheets do not run them as formulas; single characters and numbers are not "
    "changed. Keys of --json, one line per row: the kept columns, prediction, P(class) for each class with "
    "--proba, explanation with --explain.",
)
@click.argument("model")
@click.argument("data", nargs=-1, required=True)
@click.option("--proba", is_flag=True, help="Add the posterior probability of each class, in columns P(class).")
@click.option(
    "--explain",
    type=click.IntRange(min=1),
    metavar="K",
    help="Add the K columns that contribute most to the log-odds of the predicted class against the runner-up.",
)
@click.option(
    "--keep", type=options.WORDS, multiple=True, metavar="COLUMN,...", help="Columns to copy to the output; * for all."
)
@click.option(
    "--unsure",
    "--abstain",
    "unsure",
    type=options.PROBABILITY,
    metavar="P",
    help="Predict `unsure` if no class has a probability of at least P.",
)
@click.option(
    "--cost",
    type=options.COSTS,
    metavar="TRUE->ANSWER=C,...",
    help="Minimise the expected cost: ill->well=50. Errors that are not named cost 1.",
)
@click.option(
    "--threshold",
    type=options.THRESHOLD,
    metavar="CLASS=P",
    help="Predict CLASS if its probability is at least P, else the most probable other class; bayes evaluate "
    "--threshold CLASS finds P.",
)
@click.option(
    "--exit-class",
    metavar="CLASS",
    help="For one row or document: exit with 0 if it is CLASS, 1 if another class, 5 if unsure.",
)
@options.prior_option
@click.option(
    "-f",
    "--format",
    "output_format",
    type=click.Choice(OUTPUT_FORMATS),
    help="The output format; by default from the file name, else CSV.",
)
@options.input_format_option("--input-format")
@options.na_option
@options.bad_rows_option
@options.follow_option
@click.option("-o", "--output", metavar="FILE", help="The file to write; standard output by default.")
@click.option("--no-escape", is_flag=True, help="Do not escape cells that begin with = + - @.")
@options.threads_option
@click.option("--json", "as_json", is_flag=True, help="The same as --format jsonl.")
def command(model: str, data: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Predict the class of each row, in batches.

    DATA are files, patterns or folders, or - for standard input. If DATA lack a column of the model, it is treated as
    missing in every row, with a warning. A model of documents also takes text files, messages, mbox files and Maildir
    folders; standard input is then one document, unless --input-format is given.
    """
    from bayesbox.cli.options.sources import as_learned
    from bayesbox.cli.print.printer import printer_of
    from bayesbox.file.load import load_classifier

    with captured_warnings() as warned:
        classifier = load_classifier(model)
        if given["prior"]:
            classifier = classifier.with_prior(given["prior"])
        if as_json:
            given["output_format"] = "jsonl"
        _require_class(given["exit_class"], classifier.classes or classifier.model.classes, model)
        if given["cost"] and given["threshold"]:
            raise click.UsageError("choose one of --cost and --threshold")
        printer_of(classifier).prepare()
        with as_learned(model):
            only = _answer(classifier, data, given)
    for line in warned:
        note(f"note: {line}")
    if given["exit_class"] is not None:
        _end_by(only, given["exit_class"])


def _require_class(name: str | None, classes: tuple[str, ...], model: str) -> None:
    from bayesbox.schema.levels import class_position

    if name is not None:
        class_position(name, classes, where=model)


def _end_by(prediction: str | None, name: str) -> None:
    """Exit with a code that tells whether the single row is of a class."""
    from bayesbox.classifier.predict import UNSURE

    if prediction is None:
        raise BadOption("--exit-class needs exactly one row or document")
    if prediction != name:
        raise click.exceptions.Exit(EXIT_UNSURE if prediction == UNSURE else EXIT_OTHER)


def _answer(classifier: AnyClassifier, data: tuple[str, ...], given: Json) -> str | None:
    """Write the predictions; returns the prediction if there was one row."""
    from bayesbox.classifier.predict import PredictionWriter, PredictOptions, answer_tables
    from bayesbox.cli.options.sources import Progress, reading_of, skipped_rows
    from bayesbox.cli.print.writers import format_of, output_file, table_writer
    from bayesbox.schema.levels import level_text
    from bayesbox.source.base import FILE
    from bayesbox.source.wrapped import peek

    keep = options.several(given["keep"])
    threads = options.threads_or_default(given["threads"])
    opened = classifier.open_unlabelled(list(data), keep=keep, reading=reading_of(given, threads))
    rows = opened.source
    if opened.in_files and "-" not in data and not keep:
        keep = [FILE]  # to match rows and predictions
    first, source = peek(rows)
    names = rows.names if first is None else first.names
    print_absent(classifier, names, rows.name)
    asked = PredictOptions(
        given["proba"], given["explain"] or 0, tuple(keep), given["unsure"], given["cost"], given["threshold"]
    )
    answers = PredictionWriter(classifier, asked, names, where=rows.name)
    format = format_of(given["output"], given["output_format"])
    progress = Progress(rows)
    predictions: list[Any] = []
    try:
        with (
            output_file(given["output"]) as file,
            table_writer(file, format, answers.names, escape=not given["no_escape"]) as write,
        ):
            for table in answer_tables(answers, source, threads=threads):
                write(table)
                progress(table.num_rows)
                predictions = predictions or table["prediction"].slice(0, 1).to_pylist()
            if not progress.rows:
                write(answers.no_rows())
    finally:
        progress.close()
    answers.unseen.warn()
    skipped_rows(source)
    if given["output"] not in (None, "-"):
        note(f"{plural(progress.rows, classifier.unit)} written to {given['output']}")
    return level_text(predictions[0]) if progress.rows == 1 else None


def print_absent(classifier: AnyClassifier, names: tuple[str, ...], where: str) -> None:
    """Print the absent columns of the model; an error if all are absent."""
    from bayesbox.classifier.report.asked import missing_columns

    lacking = missing_columns(classifier, names, where=where)
    if lacking is not None:
        note(f"note: {lacking}")
