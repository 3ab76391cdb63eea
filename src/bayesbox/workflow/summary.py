"""A fitted classifier in a few lines: what each column is and what was counted."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

from bayesbox.schema.kinds import Number
from bayesbox.tally.moments import Moments
from bayesbox.workflow.naive import NaiveClassifier

SHOWN_LEVELS = 6


@dataclass(frozen=True)
class ColumnSummary:
    """One column: its kind, what was seen, and how many rows lack it."""

    name: str
    kind: str
    seen: str
    missing: str


def column_summaries(classifier: NaiveClassifier) -> list[ColumnSummary]:
    """The columns in their order."""
    schema = classifier.schema
    assert schema is not None
    rows = classifier.book.n.sum()
    found = []
    for name, kind in schema.kinds.items():
        tally = classifier.book.columns.get(name)
        missing = "" if tally is None or tally.form == "words" else f"{rows - tally.n.sum():g}"
        found.append(ColumnSummary(name, kind_text(kind, tally), seen_text(tally), missing))
    return found


def kind_text(kind: Any, tally: Any) -> str:
    """The kind, a number told from a flag by what it holds."""
    if isinstance(kind, Number) and isinstance(tally, Moments):
        return "flag" if tally.holds_only_flags else "real"
    return str(kind.name)


def seen_text(tally: Any) -> str:
    """The levels, or the mean and the deviation over all rows."""
    if tally is None:
        return ""
    if isinstance(tally, Moments):
        whole = tally.pooled()
        return f"mean {whole.mean:.4g}, deviation {whole.deviation:.4g}" if whole.n.m else ""
    shown = ", ".join(tally.levels[:SHOWN_LEVELS])
    return f"{len(tally.levels)} levels: {shown}" + (", ..." if len(tally.levels) > SHOWN_LEVELS else "")


def summary_html(title: str, classifier: NaiveClassifier) -> str:
    """The classifier as an HTML table."""
    classes = ", ".join(
        f"{html.escape(name)}: {count:g}"
        for name, count in zip(classifier.book.classes, classifier.book.n.tolist(), strict=True)
    )
    rows = "".join(
        "<tr>"
        + "".join(f"<td>{html.escape(cell)}</td>" for cell in (each.name, each.kind, each.seen, each.missing))
        + "</tr>"
        for each in column_summaries(classifier)
    )
    head = "".join(f"<th>{cell}</th>" for cell in ("column", "kind", "seen", "missing"))
    return (
        f"<table><caption>{html.escape(title)}: {classes}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )
