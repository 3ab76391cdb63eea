"""`bayes calibrate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bayesbox.classifier.options import CALIBRATIONS, NO_CALIBRATION, calibration_of_command
from bayesbox.cli.options import shared as options
from bayesbox.cli.options.text import CHANGE, refuse_foreign
from bayesbox.cli.print.calibration import calibration_facts, calibration_lines
from bayesbox.cli.print.output import captured_warnings, emit_json, note, plural
from bayesbox.errors import BadModelFile, BadOption, NeverLearned, NoCounts, UnknownColumn

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.classifier.rows import LabelledRows
    from bayesbox.file.reader import Json


@click.command(
    "calibrate",
    cls=options.Verb,
    short_help="Refit the calibration of a model.",
    examples=(
        "bayes calibrate people.bayes people.csv",
        "bayes calibrate people.bayes new.csv --held-out --kind temperature",
        "bayes calibrate people.bayes people.csv --kind none",
    ),
    notes="Keys of --json: model, rows, calibration (as in train), stale, digest, warnings.",
)
@click.argument("model")
@click.argument("data", nargs=-1, required=True)
@options.new_model
@click.option(
    "--kind",
    type=click.Choice((*CALIBRATIONS, NO_CALIBRATION)),
    default="auto",
    show_default=True,
    help="The calibration method; none removes it.",
)
@click.option("--held-out", is_flag=True, help="The model has not learned these rows; by default it has.")
@click.option("-t", "--target", metavar="COLUMN", help="The target column, if its name differs from that in the model.")
@options.weight_option
@options.na_option
@options.bad_rows_option
@options.input_format_option("-f", "--format")
@options.threads_option
@options.keep_old_option
@options.wait_option
@options.json_option
def command(model: str, data: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Refit the calibration and the column weights of a model; its counts and their digest do not change.

    DATA are rows that the model has learned: each is held out of the counts in turn. After update, forget and merge,
    the calibration of a model is stale; use this command to refit it.
    """
    from bayesbox.file.load import CLASSIFIER, load_version
    from bayesbox.file.lock import FileLock
    from bayesbox.file.save import save

    path = given["output"] or model
    lock = FileLock(path, wait=given["wait"], verb="calibrate")
    with captured_warnings() as warned, lock:
        classifier, version = load_version(model, holds=CLASSIFIER)
        _require_usable(classifier, model, given)
        rows = _calibrated(classifier, model, data, given)
        expected = version if version.is_at(path) else None
        save(classifier, path, expected=expected, lock=lock, keep_old=given["keep_old"])
    report = {
        "model": path,
        "rows": rows,
        "calibration": calibration_facts(classifier),
        "stale": classifier.stale,
        "digest": classifier.book.digest(),
        "warnings": warned,
    }
    if as_json:
        emit_json(report)
        return
    note(f"calibrated on {plural(rows, 'row')}")
    for text in calibration_lines(classifier):
        note(text)
    for text in warned:
        note(f"note: {text}")
    note(f"digest {report['digest']} (unchanged)")
    note(f"written to {path}")


def _require_usable(classifier: AnyClassifier, model: str, given: Json) -> None:
    from bayesbox.classifier.registry import kind_of

    refuse_foreign(kind_of(classifier), given, CHANGE)
    if not classifier.calibrates_by_default:
        raise BadOption(f"{classifier.title} has no calibration that can be refitted", where=model)
    if classifier.fixed:
        raise NoCounts("this model was made from given tables: it has no counts", where=model)
    if (given["target"] or classifier.target) is None:
        raise BadModelFile("the model does not record its target column", where=model, remedy="Pass -t COLUMN")


def _calibrated(classifier: AnyClassifier, model: str, data: tuple[str, ...], given: Json) -> int:
    from bayesbox.classifier.calibration.learn import calibrate_again
    from bayesbox.cli.options.sources import as_learned

    kind = calibration_of_command(given["kind"])
    try:
        with as_learned(model):
            parts = _rows(classifier, data, given)
            return calibrate_again(classifier, parts, kind, held_out=given["held_out"])
    except NeverLearned as error:
        error.remedy = "Pass rows that the model has learned, or add --held-out if it has not"
        raise


def _rows(classifier: AnyClassifier, data: tuple[str, ...], given: Json) -> list[LabelledRows]:
    from bayesbox.classifier.train import labelled_rows
    from bayesbox.cli.options.sources import Progress, lacking_column, model_source, skipped_rows

    threads = options.threads_or_default(given["threads"])
    source, target = model_source(classifier, data, given, threads=threads)
    progress, parts = Progress(source), []
    try:
        for batch in source.batches():
            parts.append(labelled_rows(batch, target, given["weight"], where=source.name))
            progress(batch.rows)
    except UnknownColumn as error:
        raise lacking_column(error, source, target) from None
    finally:
        progress.close()
    skipped_rows(source)
    return parts
