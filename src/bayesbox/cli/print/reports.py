"""The tables that several verbs print."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bayesbox.cli.print.output import plural, table, whole

if TYPE_CHECKING:
    from bayesbox.classifier.table import AnyTableClassifier

MOST_CLASSES = 12
MOST_SELECTED = 40  # columns that a selection lists
MOST_WEIGHTS, LARGEST = 40, 20  # columns whose weights are all listed; with more, the largest
MOST_COLUMNS = 60


def columns_table(classifier: AnyTableClassifier, *, err: bool = False) -> None:
    """Print a table of the type of each column."""
    from bayesbox.classifier.report.describe import column_facts

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
    table(["column", "type", "values", "missing"], rows, right=[3], err=err)


def missing(facts: object) -> str:
    """The number of missing values as text; empty if there are none."""
    count: float = getattr(facts, "missing", 0)
    return whole(count) if count else ""


def counted_classes(classes: Mapping[str, float]) -> str:
    """The classes with their numbers of rows, in one line."""
    items = [f"{name} {whole(count)}" for name, count in classes.items()]
    return ", ".join(items[:MOST_CLASSES]) + (
        f", ... {len(items) - MOST_CLASSES:,} more" if len(items) > MOST_CLASSES else ""
    )


def weights_text(column_weights: Mapping[str, float]) -> str:
    """The columns in use, with weights that are not 1, as text.

    >>> weights_text({"age": 1.0, "sex": 0.0})
    'selected 1 of 2 columns: age'
    >>> weights_text({"age": 0.5, "sex": 1.25})
    'column weights: age 0.50, sex 1.25'
    >>> weights_text({f"x{place}": place / 10 for place in range(400)}).split(", x398")[0]
    'column weights, the 20 largest of 400 (--json lists all): x399 39.90'
    """
    taken = {name: weight for name, weight in column_weights.items() if weight}
    if all(weight == 1 for weight in taken.values()):
        names = ", ".join(list(taken)[:MOST_SELECTED]) or "none"
        more = f", ... {len(taken) - MOST_SELECTED:,} more (--json lists all)" if len(taken) > MOST_SELECTED else ""
        return f"selected {len(taken):,} of {plural(len(column_weights), 'column')}: {names}{more}"
    title, shown = "column weights", list(column_weights.items())
    if len(shown) > MOST_WEIGHTS:
        shown = sorted(shown, key=lambda item: -item[1])[:LARGEST]
        title = f"column weights, the {LARGEST} largest of {len(column_weights):,} (--json lists all)"
    return f"{title}: " + ", ".join(f"{name} {weight:.2f}" for name, weight in shown)
