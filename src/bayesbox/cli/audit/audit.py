"""`bayes audit`."""

from __future__ import annotations

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.print.output import emit_json, say
from bayesbox.errors import BadData


@click.command(
    "audit",
    cls=options.Verb,
    short_help="Check or print the audit log of a service.",
    examples=(
        "bayes audit verify models",
        "bayes audit verify models --head 5f2b...",
        "bayes audit show models --model people --last 20",
        "bayes audit verify models --store postgresql://localhost/bayes --json",
    ),
    notes="Keys of --json: verify has holds, records, head (the hash of the last record), faults; show has records "
    "(number, time, action, model, details, previous, hash). The exit code is 3 if the log does not hold.",
)
@click.argument("action", type=click.Choice(["verify", "show"]))
@click.argument("folder", metavar="DIR")
@click.option("--store", metavar="URL", help="The store, where it is not store.db in DIR.")
@click.option("--head", metavar="HASH", help="verify: a hash that an earlier run printed, and that must be there.")
@click.option("--model", metavar="NAME", help="show: the records of one model.")
@click.option("--last", type=click.IntRange(min=1), default=50, show_default=True, help="show: how many records.")
@options.json_option
def command(
    action: str, folder: str, store: str | None, head: str | None, model: str | None, last: int, as_json: bool
) -> None:
    """Check the audit log of the service of a folder, or print its last records.

    Every record contains the hash of the one before, so that a changed, added or removed record is detected. To detect
    a truncated log, pass a hash noted earlier with --head.
    """
    from bayesbox.serve import audit
    from bayesbox.serve.store.base import open_database, store_url

    database = open_database(store_url(folder, store))
    try:
        with database.reading() as transaction:
            if action == "show":
                return _show(audit.last_records(transaction, model, last), as_json=as_json)
            found = audit.check(transaction, head=head)
    finally:
        database.close()
    if as_json:
        emit_json({"holds": found.holds, "records": found.records, "head": found.head, "faults": found.faults})
    else:
        for fault in found.faults:
            say(f"WRONG  {fault}")
        say(f"{found.records:,} records, head {found.head}")
    if not found.holds:
        raise BadData("the audit log does not hold", where=folder)
    return None


def _show(records: list[dict[str, object]], *, as_json: bool) -> None:
    import datetime
    import json

    if as_json:
        emit_json({"records": records})
        return
    for record in records:
        at = datetime.datetime.fromtimestamp(float(str(record["time"])), datetime.UTC)
        what = f"{record['action']} {record['model'] or ''}".strip()
        say(f"{record['number']:>6}  {at:%Y-%m-%d %H:%M:%S}  {what}  {json.dumps(record['details'])}")
