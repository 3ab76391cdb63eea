"""`bayes events`."""

from __future__ import annotations

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.print.output import emit_json, note, plural


@click.command(
    "events",
    cls=options.Verb,
    short_help="Write the events that a service has learned as a table.",
    examples=(
        "bayes events models people -o events.parquet",
        "bayes events models people -f jsonl",
        "bayes events models people -o events.csv --store postgresql://localhost/bayes",
    ),
    notes="Columns: event_sequence, event_id, those of the rows, the target under its own name, event_weight. What was "
    "forgotten is not in it; a file that was written before still holds it, so delete such files when you forget. "
    "Keys of --json: model, events, file.",
)
@click.argument("folder", metavar="DIR")
@click.argument("model", metavar="NAME")
@click.option("-o", "--output", metavar="FILE", help="The file; without it, standard output.")
@click.option("-f", "--format", "format", type=click.Choice(["csv", "tsv", "jsonl", "parquet"]), help="The format.")
@click.option("--store", metavar="URL", help="The store, where it is not store.db in DIR.")
@options.json_option
def command(folder: str, model: str, output: str | None, format: str | None, store: str | None, as_json: bool) -> None:
    """Write the events of the model NAME that the service of a folder has learned and not forgotten.

    A model trained on the base's own rows and these events has the digest of the model that is served.
    """
    from bayesbox.cli.print.writers import format_of, output_file, table_writer
    from bayesbox.serve.export import event_table
    from bayesbox.serve.store.base import open_database, store_url

    database = open_database(store_url(folder, store))
    try:
        with (
            event_table(database, model) as events,
            output_file(output) as file,
            table_writer(file, format_of(output, format), events.names) as write,
        ):
            for table in events.tables():
                write(table)
    finally:
        database.close()
    if as_json and output is not None:
        emit_json({"model": model, "events": events.rows, "file": output})
    else:
        note(f"{plural(events.rows, 'event')} of {model}" + (f" in {output}" if output else ""))
