"""What a model file reveals, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bayesbox.cli.print.output import emit_json, note, say

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.classifier.privacy.disclosures import Disclosure

SHOWN = 20  # the most values listed per column


def show_privacy(classifier: AnyClassifier, path: str, *, fewer_than: int, values: bool, as_json: bool) -> None:
    """Print what the file of a classifier reveals about its rows."""
    from bayesbox.classifier.privacy.disclosures import disclosures

    found = disclosures(classifier, fewer_than)
    columns = list(classifier.schema.kinds) if classifier.schema else []
    if as_json:
        emit_json(
            {
                "model": path,
                "fewer_than": fewer_than,
                "columns": columns,
                "redacted": classifier.redacted,
                "ledger": classifier.book.ledger_digest(),
                "disclosures": [each.as_dict(values=values) for each in found],
            }
        )
        return
    say(f"{path}: {classifier.title}; what it reveals about rows, and values that fewer than {fewer_than} rows have")
    say(f"columns: {', '.join(columns)}")
    if not found:
        say(f"no value occurs in fewer than {fewer_than} rows")
    print_disclosures(found, values=values)
    if classifier.book.ledger is not None:
        say("a ledger: someone who has all rows but one can test guesses about that one")


def print_disclosures(found: Sequence[Disclosure], *, values: bool, err: bool = False) -> None:
    """Print one line per disclosure, with the values only if requested."""
    for each in found:
        where = f"{each.model}: {each.column}" if each.model else each.column
        text = f"  {where}: {each.count:,} of {each.of:,} {each.what}"
        if values and each.values:
            listed = ", ".join(text for text, _ in each.values[:SHOWN])
            text += f": {listed}" + (", ..." if len(each.values) > SHOWN else "")
        (note if err else say)(text)
