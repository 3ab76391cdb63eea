"""`bayes diff`."""

from __future__ import annotations

from typing import Any

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.print.output import emit_json, say, whole


@click.command(
    "diff",
    cls=options.Verb,
    short_help="Say in what two models differ.",
    examples=("bayes diff monday.bayes tuesday.bayes", "bayes diff old.bayes new.bayes --json"),
    notes="Keys of --json: digests (by file), ledgers (by file, null where none is kept), equal, "
    "differences (column, what, rows, details), "
    "rules (by name, that of the first and of the second).",
)
@click.argument("one")
@click.argument("other")
@options.json_option
def command(one: str, other: str, as_json: bool) -> None:
    """Say in what two models differ: which columns, by how many rows, and where most.

    The tallies are compared, levels and classes aligned by name; then the ledgers, where both keep one; then the rules.
    """
    from bayesbox.classifier.report.difference import differences, rule_differences
    from bayesbox.cli.print import chain
    from bayesbox.file.load import load

    rules: dict[str, list[Any]] = {}
    ledgers: dict[str, str | None] = dict.fromkeys((one, other))
    models = {path: load(path) for path in (one, other)}
    chains = chain.chains_of(models)
    if chains is not None:
        found = chain.differences(chains[one], chains[other])
        digests = {path: model.book_.digest() for path, model in chains.items()}
    else:
        found = differences(models[one].book, models[other].book)
        rules = rule_differences(models[one], models[other])
        digests = {path: model.book.digest() for path, model in models.items()}
        ledgers = {path: model.book.ledger_digest() for path, model in models.items()}
    if as_json:
        report = [difference.as_dict() for difference in found]
        emit_json({"digests": digests, "ledgers": ledgers, "equal": not found, "differences": report, "rules": rules})
        return
    if not found:
        say(f"the same tallies: digest {digests[one]}")
    for difference in found:
        say(f"{difference.name}: {difference.what}, {whole(difference.rows)} row{'' if difference.rows == 1 else 's'}")
        for line in difference.details:
            say(f"  {line}")
    if any(ledgers.values()):
        say(_compared(ledgers[one], ledgers[other]))
    for name, (first, second) in rules.items():
        say(f"rules: {name} {_rule(first)} in {one}, {_rule(second)} in {other}")


def _compared(one: str | None, other: str | None) -> str:
    """What two ledgers say of the rows, of which one may be missing."""
    if one is None or other is None:
        return "only one of the two keeps a ledger, so their rows cannot be compared"
    return f"the same rows: ledger {one}" if one == other else f"other rows: ledger {one} and {other}"


def _rule(value: Any) -> str:
    return "none" if value is None else str(value)
