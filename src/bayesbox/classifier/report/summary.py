"""A fitted classifier as a small HTML table, for notebooks."""

from __future__ import annotations

import html

from bayesbox.classifier.base import AnyClassifier
from bayesbox.classifier.report.describe import column_facts


def summary_html(title: str, classifier: AnyClassifier) -> str:
    """The classes with their counts, the columns with their kinds and values."""
    assert classifier.schema is not None
    book = classifier.book
    classes = ", ".join(
        f"{html.escape(name)}: {count:g}" for name, count in zip(book.classes, book.n.tolist(), strict=True)
    )
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>"
        for cells in (
            (facts.name, facts.kind, facts.values, f"{facts.missing:g}")
            for facts in column_facts(classifier.schema, book)
        )
    )
    head = "".join(f"<th>{cell}</th>" for cell in ("column", "kind", "values", "missing"))
    return (
        f"<table><caption>{html.escape(title)}: {classes}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )
