"""A fitted classifier as a small HTML table, for notebooks."""

from __future__ import annotations

from bayesbox.classifier.base import AnyClassifier
from bayesbox.classifier.report.describe import column_facts
from bayesbox.display.blocks import TableBlock
from bayesbox.display.html import as_html


def summary_html(title: str, classifier: AnyClassifier) -> str:
    """The classes with their counts, the columns with their kinds and values."""
    assert classifier.schema is not None
    book = classifier.book
    classes = ", ".join(f"{name}: {count:g}" for name, count in zip(book.classes, book.n.tolist(), strict=True))
    rows = [
        [facts.name, facts.kind, facts.values, f"{facts.missing:g}"] for facts in column_facts(classifier.schema, book)
    ]
    return as_html(f"{title}: {classes}", [TableBlock(["column", "kind", "values", "missing"], rows, right=(3,))])
