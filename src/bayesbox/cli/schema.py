"""`bayes schema`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.print.output import decimal, emit_json, note, plural, say, table
from bayesbox.errors import BadData

if TYPE_CHECKING:
    from bayesbox.classifier.report.describe import ColumnFacts
    from bayesbox.classifier.report.survey import Surveyed
    from bayesbox.file.reader import Json


@click.command(
    "schema",
    cls=options.Verb,
    short_help="Show the type, values and problems of each column.",
    examples=(
        "bayes schema people.csv",
        "bayes schema people.csv -t income --na ?",
        "bayes schema people.parquet --types zip=category",
    ),
    notes="Keys of --json: rows, target, classes, unlabelled, skipped, columns (name, kind, declared, observed, "
    "missing, and levels, or mean, deviation, least and greatest), ignored, warnings.",
)
@click.argument("data", nargs=-1, required=True)
@click.option("-t", "--target", metavar="COLUMN", help="The target column.")
@options.types_option
@options.ignore_option
@options.na_option
@options.bad_rows_option
@options.input_format_option("-f", "--format")
@options.threads_option
@options.json_option
def command(data: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Show the type, values and problems of each column.

    DATA are read once, by the same code that trains. Nothing is written.
    """
    from bayesbox.classifier.hints import identifiers
    from bayesbox.classifier.report.survey import survey
    from bayesbox.classifier.train import source_of
    from bayesbox.cli.options.sources import (
        Progress,
        declared_kinds,
        ignored_columns,
        reading_of,
        skipped_rows,
        without_target,
    )

    target = given["target"]
    ignore, auto = ignored_columns(given["ignore"])
    kinds = without_target(declared_kinds(given["types"], ignore), target, None)
    threads = options.threads_or_default(given["threads"])
    source = source_of(list(data), target, kinds, threads=threads, **reading_of(given).of_file)
    progress = Progress(source)
    try:
        found = survey(source, target, declared=kinds, threads=threads, progress=progress)
    finally:
        progress.close()
    skipped = skipped_rows(source)
    if found is None:
        raise BadData("the data have no rows", where=source.name)
    _print_report(
        found, target, skipped, ignored=identifiers(found.schema, found.book) if auto else {}, as_json=as_json
    )


def _print_report(found: Surveyed, target: str | None, skipped: int, *, ignored: dict[str, str], as_json: bool) -> None:
    from bayesbox.classifier.hints import Reason
    from bayesbox.classifier.report.describe import column_facts, few_texts, remarks
    from bayesbox.cli.print.reports import counted_classes, missing

    facts = column_facts(found.schema, found.book)
    hints = remarks(found.schema, found.book, ignored)
    if target is None:
        hints = [*few_texts(found.schema, found.book), *(each for each in hints if each.reason != Reason.ONE_CLASS)]
    warnings = [str(hint) for hint in hints]
    classes = dict(zip(found.book.classes, found.book.n.tolist(), strict=True)) if target else {}
    if as_json:
        emit_json(
            {
                "rows": found.rows,
                "target": target,
                "classes": classes,
                "unlabelled": found.unlabelled,
                "skipped": skipped,
                "columns": [_with_range(each, found) for each in facts],
                "ignored": ignored,
                "warnings": warnings,
            }
        )
        return
    rows = [
        [each.name, "ignore" if each.name in ignored else each.kind, _values(each, found), missing(each)]
        for each in facts
    ]
    table(["column", "type", "values", "missing"], rows, right=[3])
    without = f", {found.unlabelled:,} without a label" if found.unlabelled else ""
    say(f"{plural(found.rows, 'row')}{without}" + (f"; {target}: {counted_classes(classes)}" if target else ""))
    for text in warnings:
        note(f"note: {text}")


def _with_range(facts: ColumnFacts, found: Surveyed) -> Json:
    result = facts.as_dict()
    if facts.name in found.ranges and facts.mean is not None:
        result["least"], result["greatest"] = found.ranges[facts.name]
    return result


def _values(facts: ColumnFacts, found: Surveyed) -> str:
    if facts.mean is None or facts.name not in found.ranges:
        return facts.values
    low, high = found.ranges[facts.name]
    if facts.of is not None and facts.of.has_parts:
        ends = [facts.of.number_text(each, high - low) for each in (low, high)]
        return f"{' to '.join(ends)}, {facts.values}"
    return f"{decimal(low)} to {decimal(high)}, {facts.values}"
