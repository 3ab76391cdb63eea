"""`bayes train`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from bayesbox.cli.change.history import record
from bayesbox.cli.change.replacing import ModelSummary, print_replaced, replaced, report_of
from bayesbox.cli.options import remote_sources
from bayesbox.cli.options import shared as options
from bayesbox.cli.options.fields import KindOption, ModelVerb, model_options, option_names, require_taken
from bayesbox.cli.options.text import LEARN, refuse, refuse_foreign
from bayesbox.cli.print.output import captured_warnings, emit_json
from bayesbox.errors import BadData, BadOption

ROWS_ONLY = (
    "types",
    "ignore",
    "target_bins",
    "one_hot",
    "weight",
    "calibrate",
    "ledger",
    "sql",
    "database",
    "spark",
    "na",
    *options.FILE_OPTIONS,
)
"""The options that do not apply to a model made from given tables, besides those of table models."""

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.classifier.training import Training
    from bayesbox.file.reader import Json
    from bayesbox.source.base import Source


@click.command(
    "train",
    cls=ModelVerb,
    renamed={"--fold": "--one-hot"},
    short_help="Train a classifier on a table or on documents.",
    examples=(
        "bayes train people.csv -t income",
        "bayes train 'data/*.parquet' -t label -o label.bayes --threads 4",
        "bayes train credit.csv -t class --types zip=category,age=real --ignore id --na ?",
        "bayes train credit.csv -t class --numeric auto --types age=real:mdl",
        "bayes train orders.csv -t kept --types 'day=date:%d/%m/%Y'",
        "bayes train customers.csv -t churn --ignore auto",
        "bayes train weather.csv -t play --smoothing m:2 --smoothing outlook=m:3",
        "bayes train credit.csv -t class --select forward --column-weights",
        "bayes train credit.csv -t class --calibrate none",
        "bayes train credit.csv -t class --model optimal:naive,tan,aode",
        "bayes train houses.csv -t price --target-bins 5",
        "bayes train ventes.csv -t achat --encoding cp1252 --delimiter ';' --decimal , --thousands .",
        "bayes train cars.csv -t risk --smoothing mle --types car=category:sports:vintage:suv:truck",
        "bayes train --tables radio.json -o radio.bayes",
        "bayes train --sql 'select * from people where year > 2020' --database people.db -t income -o people.bayes",
        "bayes train people --spark spark://host:7077 -t income",
        "bayes train mail/ --model text -o spam.bayes",
        "bayes train reviews.csv -t stars --model text --text review",
    ),
    notes="Rules of --smoothing: laplace, mle, lidstone:0.5, m:2, prior-counts:red=2,blue=1, replace-zero:half, "
    "replace-zero:prior, as-written:1,2. A file of --tables holds "
    '{"prior": {"young": 0.4, "old": 0.6}, '
    '"tables": {"Radio1": {"young": {"like": 0.95, "dislike": 0.05}, "old": ...}}}. '
    "With --model text, DATA are also folders of documents or mail (one folder or mailbox per class: text files, "
    "single messages, mbox, Maildir). "
    "Keys of --json: model, kind, target, rows, unlabelled, skipped, classes, columns, ignored, warnings, digest (of "
    "the counts), model_digest, calibration "
    "(name, asked, kind, rows, log_loss_before, log_loss_after, standard_error, candidates, column_weights: of "
    "held-out rows; null if none was requested or there are fewer than 50 rows), with --select "
    "or --column-weights also column_weights, with --model optimal hypotheses; for documents "
    "text, words, used and telling in place of columns; replaced (rows, digest) where the file held such a model.",
)
@click.argument("data", nargs=-1)
@click.option("-t", "--target", metavar="COLUMN", help="The target column: the classes to predict.")
@click.option(
    "-o",
    "--output",
    type=options.MODEL_FILE,
    metavar="FILE",
    help="The model file; by default the name of the data with the extension .bayes.",
)
@click.option(
    "--model",
    cls=KindOption,
    default="naive",
    show_default=True,
    metavar="KIND",
    help="auto combines the best of them.",
)
@click.option("--tables", metavar="FILE", help="Make a model from given probabilities (JSON) instead of rows.")
@remote_sources.sql_options
@remote_sources.spark_option
@options.types_option
@options.ignore_option
@click.option(
    "--one-hot",
    multiple=True,
    metavar="NAME=FLAG,FLAG,...",
    help="Combine mutually exclusive flags into one category of this name.",
)
@options.target_bins_option
@options.classes_limit_option
@options.weight_option
@click.option("--text", metavar="COLUMN", help="The text column, for --model text.")
@model_options
@options.calibrate_option
@options.ledger_flag
@options.na_option
@options.bad_rows_option
@options.follow_option
@options.input_format_option("-f", "--format")
@options.threads_option
@click.option(
    "--force", is_flag=True, help="Replace a file that holds another kind of model, another target, or no model."
)
@options.keep_old_option
@options.history_option
@options.wait_option
@options.json_option
def command(data: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Train a classifier on a table or on documents in one pass, and write it to a model file.

    DATA are files (CSV, TSV, JSON lines, Excel, Parquet, Arrow; gz, zst, bz2), patterns or folders of them, or - for
    standard input. The type of each column is detected and printed; override it with --types.
    """
    from bayesbox.classifier.registry import split_model
    from bayesbox.cli.print.printer import printer_of
    from bayesbox.file.digest import file_digest
    from bayesbox.file.lock import FileLock
    from bayesbox.file.save import save

    if given["tables"] and given["model"] != "naive":
        raise click.UsageError("--tables makes a naive Bayes model: remove --model")
    if given["tables"] and given["history"]:
        raise click.UsageError("--history lists rows that were counted, and --tables counts none")
    path = _output(data, given)
    refuse_foreign(split_model(given["model"])[0], given, LEARN)
    with captured_warnings() as warned:
        learned = _of_tables(data, given) if given["tables"] else _of_rows(data, given)
        classifier = learned.classifier
        with FileLock(path, wait=given["wait"], verb="train") as lock:
            old = replaced(path, ModelSummary.of(classifier), force=given["force"])
            save(classifier, path, lock=lock, keep_old=given["keep_old"])
            digest = file_digest(path)
            labelled = learned.training.rows - learned.training.unlabelled
            record("train", path, data, labelled, classifier, begin=given["history"])
    printer = printer_of(classifier)
    report = {
        "model": path,
        "kind": given["model"],
        **(learned.report or printer.learned(classifier, learned.training, learned.skipped, [*learned.harm, *warned])),
        "model_digest": digest,
        **report_of(old),
    }
    if as_json:
        emit_json(report)
    else:
        print_replaced(old)
        printer.print_learned(classifier, report)


@dataclass(frozen=True)
class Learned:
    """A trained model with its training summary; a model made from given tables has its own `report`."""

    classifier: AnyClassifier
    training: Training
    skipped: int = 0
    harm: tuple[str, ...] = ()  # warnings about dependent columns and about a model worse than the baseline
    report: Json | None = None


def _output(data: tuple[str, ...], given: Json) -> str:
    from bayesbox.cli.options.sources import default_model_name

    return given["output"] or default_model_name([given["tables"]] if given["tables"] else data)


def _of_rows(data: tuple[str, ...], given: Json) -> Learned:
    from bayesbox.classifier.options import AUTO_CALIBRATION
    from bayesbox.classifier.registry import new_classifier
    from bayesbox.classifier.row_sample import MOST, watched
    from bayesbox.classifier.train import labelled_rows, train
    from bayesbox.cli.options.sources import (
        Progress,
        declared_kinds,
        ignored_columns,
        reading_of,
        skipped_rows,
        without_target,
    )
    from bayesbox.cli.print.printer import printer_of

    remote: Source | None = remote_sources.rows_elsewhere(data, given)
    if remote is None and not data:
        raise click.UsageError("no data: pass files, or --sql")
    target, weight = given["target"], given["weight"]
    ignore, identifiers = ignored_columns(given["ignore"])
    kinds = without_target(declared_kinds(given["types"], ignore), target, weight)
    blank = new_classifier(given["model"], given, kinds, _one_hot(given["one_hot"]))
    blank = blank.with_ledger(given["ledger"])
    if blank.calibrates_by_default and given["calibrate"] is None and not (remote and remote.remote):
        blank = blank.with_calibration(AUTO_CALIBRATION)
    blank = blank.changed(ignore=identifiers) if identifiers else blank
    if target is None and blank.needs_target:
        raise click.UsageError(f"no target column: pass -t COLUMN. {_columns_of(data, given)}")
    require_taken(blank, given)
    replaced(_output(data, given), ModelSummary(blank.kind, target, None), force=given["force"])  # before rows are read
    printer_of(blank).prepare()
    threads = options.threads_or_default(given["threads"])
    opened = blank.open_rows(
        remote or list(data),
        target=target,
        weight=weight,
        text=given["text"],
        reading=reading_of(given, threads),
    )
    classifier, source = opened.classifier, opened.source
    sampled = watched(classifier, source)
    progress = Progress(source)
    classifier.report_progress(progress.learning)
    try:
        rows = sampled or source
        training = train(classifier, rows, opened.target, weight=weight, threads=threads, progress=progress)
    finally:
        progress.close()
    skipped = skipped_rows(source)
    classifier.check()  # raises before anything is written if a prior or rule does not fit
    found: list[object] = []
    if sampled is not None and sampled.enough:
        from bayesbox.classifier.calibration.auto import worse_than_baseline
        from bayesbox.classifier.row_sample import drawn
        from bayesbox.table.dependence import dependence_in

        found.append(dependence_in(sampled, classifier, opened.target, weight))
        kept = [(labelled_rows(batch, opened.target, weight), keys) for batch, keys in sampled.in_order()]
        found.append(worse_than_baseline(classifier, drawn(kept, MOST)))
    elif classifier.chosen is not None:
        from bayesbox.classifier.calibration.auto import worse_than_baseline

        found.append(worse_than_baseline(classifier))
    return Learned(classifier, training, skipped, tuple(str(each) for each in found if each is not None))


def _columns_of(data: tuple[str, ...], given: Json) -> str:
    from bayesbox.source.files.dialect import TextDialect
    from bayesbox.source.files.open import listed_columns
    from bayesbox.source.files.streams import STDIN

    if not data or STDIN in data:
        return ""
    if any(os.path.isdir(path) or path.lower().endswith((".eml", ".mbox", ".txt")) for path in data):
        from bayesbox.source.files.documents import is_table

        if not is_table(list(data), given["input_format"]):
            return "To train on documents in files, pass --model text"
    return listed_columns(list(data), format=given["input_format"], dialect=TextDialect.of(given))


def _one_hot(given: tuple[str, ...]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for text in given:
        name, flags = options.pair(text)
        groups[name] = options.split(flags)
        if len(groups[name]) < 2:
            raise BadOption("a one-hot group needs at least two flags", where="--one-hot", found=text)
    return groups


def _of_tables(data: tuple[str, ...], given: Json) -> Learned:
    from bayesbox.classifier.training import Training
    from bayesbox.cli.options.given_tables import read_tables
    from bayesbox.table.naive.from_tables import classifier_from_tables

    if data:
        raise click.UsageError("--tables gives the probabilities: remove DATA")
    refuse(
        given,
        (*sorted(option_names("rows") - {"prior"}), *ROWS_ONLY),
        "applies to rows, but --tables gives the probabilities",
    )
    prior, tables = read_tables(given["tables"])
    try:
        classifier = classifier_from_tables(prior, tables)
    except BadOption as error:  # the content of a file is data, not an option
        where = ", ".join(place for place in (given["tables"], error.where) if place)
        raise BadData(error.what, where=where, found=error.found, remedy=error.advice) from None
    if given["prior"]:
        classifier = classifier.with_prior(given["prior"])
    classifier = classifier.changed(target=given["target"])
    assert classifier.schema is not None
    columns = [
        {"name": name, "kind": "category", "declared": True, "levels": list(kind.levels or ())}
        for name, kind in classifier.schema.kinds.items()
    ]
    report = {
        "target": given["target"],
        "rows": 0,
        "unlabelled": 0,
        "skipped": 0,
        "classes": dict.fromkeys(classifier.model.classes, 0),
        "columns": columns,
        "warnings": [],
        "digest": None,
    }
    return Learned(classifier, Training(0, 0), report=report)
