"""The tables that several verbs print."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bayesbox.cli.output import table, whole

if TYPE_CHECKING:
    from bayesbox.workflow.classifier import Classifier

MOST_CLASSES = 12
MOST_COLUMNS = 60


def columns_table(classifier: Classifier, *, err: bool = False) -> None:
    """What each column was taken for."""
    from bayesbox.workflow.describe import column_facts

    assert classifier.schema is not None
    facts = column_facts(classifier.schema, classifier.book)
    rows = [
        [
            each.name,
            each.kind + (" (declared)" if each.declared and each.kind != "ignore" else ""),
            each.values,
            missing(each),
        ]
        for each in facts[:MOST_COLUMNS]
    ]
    if len(facts) > MOST_COLUMNS:
        rows.append([f"... {len(facts) - MOST_COLUMNS:,} more", "", "", ""])
    table(["column", "taken for", "values", "missing"], rows, right=[3], err=err)


def missing(facts: object) -> str:
    """The number of missing values, nothing where there are none."""
    count: float = getattr(facts, "missing", 0)
    return whole(count) if count else ""


def counted_classes(classes: Mapping[str, float]) -> str:
    """The classes and how many rows each has, in a line."""
    items = [f"{name} {whole(count)}" for name, count in classes.items()]
    return ", ".join(items[:MOST_CLASSES]) + (
        f", ... {len(items) - MOST_CLASSES:,} more" if len(items) > MOST_CLASSES else ""
    )
