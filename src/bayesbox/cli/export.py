"""`bayes export`."""

from __future__ import annotations

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.print.output import emit_json, note

DIALECTS = ("duckdb", "postgres", "sqlite", "spark")


@click.command(
    "export",
    cls=options.Verb,
    short_help="Export a model to SQL, ONNX or PMML.",
    examples=(
        "bayes export people.bayes --sql duckdb --table people --keep id",
        "bayes export people.bayes --sql postgres --table people -o score.sql",
        "bayes export people.bayes --pmml -o people.pmml",
        "bayes export people.bayes --onnx -o people.onnx",
    ),
    notes="The --sql statement returns the kept columns, prediction, and P(class) for each class, as predict --proba "
    "does. SQLite must have the function exp, as most builds do. Keys of --json: model, language, columns, "
    "classes, and output (the file) or text.",
)
@click.argument("model")
@click.option("--sql", type=click.Choice(DIALECTS), help="A SQL statement that scores a table.")
@click.option("--pmml", is_flag=True, help="A PMML 4.4 document with a NaiveBayesModel.")
@click.option("--onnx", is_flag=True, help="An ONNX graph; requires -o FILE.")
@click.option(
    "--table", default="data", show_default=True, metavar="NAME", help="With --sql: the name of the table to score."
)
@click.option(
    "--keep", type=options.WORDS, multiple=True, metavar="COLUMN,...", help="With --sql: columns of the table to copy."
)
@click.option("-o", "--output", metavar="FILE", help="The file to write; standard output by default.")
@options.json_option
def command(
    model: str,
    sql: str | None,
    pmml: bool,
    onnx: bool,
    table: str,
    keep: tuple[list[str], ...],
    output: str | None,
    as_json: bool,
) -> None:
    """Export a trained model to SQL, ONNX or PMML, to predict without this package."""
    from bayesbox.cli.print.writers import output_file
    from bayesbox.file.load import load_classifier
    from bayesbox.table.naive.export import onnx_of, pmml_of, sql_of

    if (sql is not None) + pmml + onnx != 1:
        raise click.UsageError("choose one of --sql, --pmml and --onnx")
    to_file = output not in (None, "-")
    if onnx and not to_file:
        raise click.UsageError("an ONNX graph is binary: pass -o FILE")
    if sql is None and (keep or table != "data"):
        raise click.UsageError("--table and --keep require --sql")
    classifier = load_classifier(model)
    if sql is not None:
        written = sql_of(classifier, sql, table=table, keep=options.several(keep)).encode("utf-8")
    else:
        written = pmml_of(classifier).encode("utf-8") if pmml else onnx_of(classifier)
    if to_file or not as_json:
        with output_file(output) as file:
            file.write(written)
    if as_json:
        facts = {"columns": list(classifier.model.columns), "classes": list(classifier.model.classes)}
        place = {"output": output} if to_file else {"text": written.decode("utf-8")}
        emit_json({"model": model, "language": sql or ("pmml" if pmml else "onnx"), **facts, **place})
    elif to_file:
        note(f"written to {output}")
