"""A fitted classifier as a small HTML table, for notebooks."""

from __future__ import annotations

from bayesbox.classifier.base import AnyClassifier
from bayesbox.classifier.report.describe import column_facts
from bayesbox.display.blocks import TableBlock
from bayesbox.display.html import as_html


def summary_html(title: str, classifier: AnyClassifier) -> str:
    """The HTML of a classifier: the classes with their counts, the columns with their types and values."""
    assert classifier.schema is not None
    book = classifier.book
    classes = ", ".join(f"{name}: {count:g}" for name, count in zip(book.classes, book.n.tolist(), strict=True))
    bits = _information(classifier)
    rows = [
        [facts.name, facts.kind, facts.values, f"{facts.missing:g}", *_bits(bits, facts.name)]
        for facts in column_facts(classifier.schema, book)
    ]
    names = ["column", "kind", "values", "missing", *(["bits"] if bits else [])]
    return as_html(f"{title}: {classes}", [TableBlock(names, rows, right=(3, 4))])


def _information(classifier: AnyClassifier) -> dict[str, float]:
    """The information of each column about the class, if it is fast to compute."""
    from bayesbox.classifier.answer.importance import quick_information
    from bayesbox.classifier.table import TableClassifier

    return quick_information(classifier) if isinstance(classifier, TableClassifier) else {}


def _bits(bits: dict[str, float], name: str) -> list[str]:
    return [f"{bits[name]:.4f}" if name in bits else ""] if bits else []
