"""`bayes diff`."""

from __future__ import annotations

import click

from bayesbox.cli import options
from bayesbox.cli.output import emit_json, say


@click.command(
    "diff",
    cls=options.Verb,
    short_help="Say in what two models differ.",
    examples=("bayes diff monday.bayes tuesday.bayes", "bayes diff old.bayes new.bayes --json"),
    notes="Keys of --json: digests (by file), equal, differences (column, what, rows, details).",
)
@click.argument("one")
@click.argument("other")
@options.json_option
def command(one: str, other: str, as_json: bool) -> None:
    """Say in what two models differ: which columns, by how many rows, and where most.

    The tallies are compared, levels and classes aligned by name; the rules of the models are not.
    """
    from bayesbox.cli import chain_show
    from bayesbox.workflow.difference import differences
    from bayesbox.workflow.load import load_classifier

    chains = chain_show.chains_of(one, other)
    if chains is not None:
        found = chain_show.differences(chains[one], chains[other])
        digests = {path: chain.book_.digest() for path, chain in chains.items()}
    else:
        books = {path: load_classifier(path).book for path in (one, other)}
        found = differences(books[one], books[other])
        digests = {path: book.digest() for path, book in books.items()}
    if as_json:
        report = [difference.as_dict() for difference in found]
        emit_json({"digests": digests, "equal": not found, "differences": report})
        return
    if not found:
        say(f"the same tallies: digest {digests[one]}")
    for difference in found:
        say(f"{difference.name}: {difference.what}, {difference.rows:g} rows")
        for line in difference.details:
            say(f"  {line}")
