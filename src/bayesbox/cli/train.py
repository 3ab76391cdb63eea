"""`bayes train`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from bayesbox.classifier.registry import kinds_text
from bayesbox.cli.options import remote_sources
from bayesbox.cli.options import shared as options
from bayesbox.cli.options.fields import model_options, option_names, require_taken
from bayesbox.cli.options.text import TEXT_ONLY, refuse
from bayesbox.cli.print.output import captured_warnings, emit_json, note, plural
from bayesbox.errors import BadData, BadOption

ROWS_ONLY = (
    *sorted(option_names("rows") - {"prior"}),
    *("types", "ignore", "one_hot", "fold", "weight", "calibrate", "sql", "database", "spark", "na"),
)
"""The options that a model of given tables does not take."""

if TYPE_CHECKING:
    from bayesbox.classifier.base import Classifier
    from bayesbox.source.base import Source


@click.command(
    "train",
    cls=options.Verb,
    short_help="Learn a model from rows.",
    examples=(
        "bayes train people.csv -t income",
        "bayes train 'data/*.parquet' -t label -o label.bayes --threads 4",
        "bayes train credit.csv -t class --types zip=category,age=real --ignore id --na ?",
        "bayes train credit.csv -t class --numeric auto --types age=real:mdl",
        "bayes train credit.csv -t class --select forward --column-weights",
        "bayes train credit.csv -t class --model optimal:naive,tan,aode",
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
    "With --model text, DATA are also folders of documents or mail (a folder or mailbox a class: text files, single "
    "messages, mbox, Maildir). "
    "Keys of --json: model, kind, target, rows, unlabelled, skipped, classes, columns, warnings, digest, with --select "
    "or --column-weights also column_weights, with --model optimal hypotheses; for documents "
    "text, words, used and telling in place of columns.",
)
@click.argument("data", nargs=-1)
@click.option("-t", "--target", metavar="COLUMN", help="The column that holds the classes.")
@click.option(
    "-o",
    "--output",
    type=options.MODEL_FILE,
    metavar="FILE",
    help="The model file; by default the name of the data with .bayes.",
)
@click.option(
    "--model",
    default="naive",
    show_default=True,
    metavar="KIND",
    help=f"{kinds_text()}. auto combines the best.",
)
@click.option("--tables", metavar="FILE", help="Make a model of given probabilities (JSON) instead of rows.")
@remote_sources.sql_options
@remote_sources.spark_option
@options.types_option
@click.option("--ignore", type=options.WORDS, multiple=True, metavar="COLUMN,...", help="Columns to leave out.")
@click.option(
    "--one-hot",
    multiple=True,
    metavar="NAME=FLAG,FLAG,...",
    help="Flags of which each row sets one, to be taken as one category of that name.",
)
@click.option("--fold", multiple=True, hidden=True, help="The old name of --one-hot.")
@options.weight_option
@click.option("--text", metavar="COLUMN", help="The column of the texts, for --model text.")
@model_options
@options.calibrate_option
@options.na_option
@options.bad_rows_option
@options.input_format_option("-f", "--format")
@options.threads_option
@options.json_option
def command(data: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Learn a model from rows in one pass and write it to a file.

    DATA are files (CSV, TSV, JSON lines, Parquet, Arrow; gz, zst, bz2), patterns or folders of them, or - for
    standard input. What each column was taken for is printed; --types says otherwise.
    """
    from bayesbox.cli import text_learning

    if given["tables"] and given["model"] != "naive":
        raise click.UsageError("a model of --tables is naive Bayes")
    path = _output(data, given)
    if given["model"] == "text":
        text_learning.train(data, given, path, as_json=as_json)
        return
    from bayesbox.file.save import save

    refuse(given, TEXT_ONLY, "is about documents: it goes with --model text")
    with captured_warnings() as warned:
        classifier, report = _of_tables(data, given) if given["tables"] else _of_rows(data, given)
        save(classifier, path)
    report["warnings"].extend(warned)
    report = {"model": path, "kind": given["model"], **report}
    if as_json:
        emit_json(report)
    else:
        _print_report(classifier, report)


def _output(data: tuple[str, ...], given: dict[str, Any]) -> str:
    from bayesbox.cli.options.sources import default_model_name

    return given["output"] or default_model_name([given["tables"]] if given["tables"] else data)


def _of_rows(data: tuple[str, ...], given: dict[str, Any]) -> tuple[Classifier, dict[str, Any]]:
    from bayesbox.classifier.describe import column_facts, remarks
    from bayesbox.classifier.registry import new_classifier
    from bayesbox.classifier.row_sample import watched
    from bayesbox.classifier.train import source_of, train
    from bayesbox.cli.options.sources import Progress, declared_kinds, skipped_rows, without_target
    from bayesbox.cli.print.reports import column_weights

    source: Source | None = remote_sources.rows_elsewhere(data, given)
    if source is None and not data:
        raise click.UsageError("no data were given")
    target, weight = given["target"], given["weight"]
    if target is None:
        raise click.UsageError(f"say which column holds the classes, with -t. {_columns_of(data, given)}")
    kinds = without_target(declared_kinds(given["types"], options.several(given["ignore"])), target, weight)
    classifier = new_classifier(given["model"], given, kinds, _one_hot((*given["one_hot"], *given["fold"])))
    require_taken(classifier, given)
    classifier.calibrate = given["calibrate"]
    threads = options.threads_or_default(given["threads"])
    source = source or source_of(
        list(data),
        target,
        kinds,
        weight=weight,
        na=options.several(given["na"]),
        bad_rows=given["bad_rows"],
        format=given["input_format"],
        threads=threads,
    )
    sampled = watched(classifier, source)
    progress = Progress(source)
    try:
        training = train(classifier, sampled or source, target, weight=weight, threads=threads, progress=progress)
    finally:
        progress.close()
    skipped = skipped_rows(source)
    classifier.model  # noqa: B018  a prior or a rule that does not fit is refused before anything is written
    assert classifier.schema is not None
    harm = []
    if sampled is not None and sampled.enough:
        from bayesbox.table.dependence import dependence_in

        found = dependence_in(sampled, classifier, target, weight)
        harm = [] if found is None else [str(found)]
    return classifier, {
        "target": target,
        "rows": training.rows,
        "unlabelled": training.unlabelled,
        "skipped": skipped,
        "classes": dict(zip(classifier.book.classes, classifier.book.n.tolist(), strict=True)),
        "columns": [facts.as_dict() for facts in column_facts(classifier.schema, classifier.book)],
        "warnings": [
            *remarks(classifier.schema, classifier.book),
            *getattr(classifier.model, "notes", ()),
            *harm,
        ],
        "digest": classifier.book.digest(),
        **column_weights(classifier),
        **_pool(classifier),
    }


def _pool(classifier: Classifier) -> dict[str, Any]:
    if classifier.kind == "bayes-optimal":
        from bayesbox.cli.print import optimal

        return {"hypotheses": optimal.facts(classifier)}  # type: ignore[arg-type]
    if classifier.kind != "auto":
        return {}
    from bayesbox.cli.print import auto

    return {"pool": auto.facts(classifier)}  # type: ignore[arg-type]


def _columns_of(data: tuple[str, ...], given: dict[str, Any]) -> str:
    from bayesbox.errors import BayesboxError
    from bayesbox.source.files.open import file_columns

    if not data:
        return ""
    if any(os.path.isdir(path) or path.lower().endswith((".eml", ".mbox", ".txt")) for path in data):
        from bayesbox.source.files.documents import is_table

        if not is_table(list(data), given["input_format"]):
            return "Documents in files are learned with --model text"
    try:
        names = list(file_columns(list(data), format=given["input_format"]))
    except BayesboxError:
        return ""
    return "The columns are " + ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")


def _one_hot(given: tuple[str, ...]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for text in given:
        name, flags = options.pair(text)
        groups[name] = options.split(flags)
        if len(groups[name]) < 2:
            raise BadOption("a category is made of two flags or more", where="--one-hot", found=text)
    return groups


def _of_tables(data: tuple[str, ...], given: dict[str, Any]) -> tuple[Classifier, dict[str, Any]]:
    from bayesbox.cli.options.given_tables import read_tables
    from bayesbox.table.naive.from_tables import classifier_from_tables

    if data:
        raise click.UsageError("a model of --tables takes no data")
    refuse(given, ROWS_ONLY, "is about rows, and a model of --tables has none")
    prior, tables = read_tables(given["tables"])
    try:
        classifier = classifier_from_tables(prior, tables)
    except BadOption as error:  # what the file holds is data
        where = ", ".join(place for place in (given["tables"], error.where) if place)
        raise BadData(error.what, where=where, found=error.found, remedy=error.remedy) from None
    if given["prior"]:
        classifier = classifier.with_prior(given["prior"])
    classifier.target = given["target"]
    assert classifier.schema is not None
    columns = [
        {"name": name, "kind": "category", "declared": True, "levels": list(getattr(kind, "levels", ()) or ())}
        for name, kind in classifier.schema.kinds.items()
    ]
    return classifier, {
        "target": given["target"],
        "rows": 0,
        "unlabelled": 0,
        "skipped": 0,
        "classes": dict.fromkeys(classifier.model.classes, 0),
        "columns": columns,
        "warnings": [],
        "digest": None,
    }


def _print_report(classifier: Classifier, report: dict[str, Any]) -> None:
    from bayesbox.cli.print.reports import columns_table, counted_classes, weights_text

    if classifier.fixed:
        note(f"a model of given tables: {', '.join(report['classes'])}")
    else:
        columns_table(classifier, err=True)
        without = f", {report['unlabelled']:,} without a label left out" if report["unlabelled"] else ""
        note(f"{plural(report['rows'], 'row')}{without}; {report['target']}: {counted_classes(report['classes'])}")
        if "column_weights" in report:
            note(weights_text(report["column_weights"]))
    if classifier.kind == "auto":
        from bayesbox.cli.print import auto

        auto.print_report(classifier, err=True)  # type: ignore[arg-type]
    if classifier.kind == "bayes-optimal":
        from bayesbox.cli.print import optimal

        optimal.print_report(classifier, err=True)  # type: ignore[arg-type]
    for text in report["warnings"]:
        note(f"note: {text}")
    if report["digest"]:
        note(f"digest {report['digest']}")
    note(f"written to {report['model']}")
    note(f"next: bayes show {report['model']}   or   bayes predict {report['model']} NEW.csv --proba")
