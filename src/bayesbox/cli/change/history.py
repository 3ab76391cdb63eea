"""The history of a model: what changing verbs record, and `bayes show --history`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier


def record(
    verb: str,
    path: str,
    data: Sequence[str],
    rows: int,
    classifier: AnyClassifier,
    *,
    before: str | None = None,
    begin: bool = False,
) -> None:
    """Record a change in the history of a model, if it has one or `begin` starts it; files are recorded by name."""
    from bayesbox.file.history import HistoryEntry, history_name, record_change

    if classifier.fixed or not (begin or os.path.exists(history_name(path))):
        return
    names = tuple(os.path.basename(each) for each in data)
    book = classifier.book
    entry = HistoryEntry(verb, names, rows, book.digest(), float(book.n.sum()), before)
    record_change(path, entry, begin=begin)


def show_history(path: str, classifier: AnyClassifier, *, as_json: bool) -> None:
    """Print the batches of a model, and any gaps in the list."""
    from dataclasses import asdict

    from bayesbox.cli.print.output import emit_json, note, table
    from bayesbox.errors import BadOption
    from bayesbox.file.history import history_gaps, history_name, read_history

    entries = read_history(path)
    if entries is None:
        raise BadOption(
            "this model has no history",
            where=history_name(path),
            remedy="Begin one with --history of train, update, forget or merge",
        )
    faults = history_gaps(entries, classifier.book.digest())
    if as_json:
        emit_json({"model": path, "history": [asdict(each) for each in entries], "gaps": faults})
        return
    rows = [
        [each.time, each.verb, ", ".join(each.data), f"{each.rows:,}", f"{each.total:,.10g}", each.digest[:16]]
        for each in entries
    ]
    table(["time", "verb", "data", "rows", "rows in all", "digest"], rows, right=(3, 4))
    for fault in faults:
        note(f"note: {fault}")
