"""What differs between two models: columns, levels, counts and moments, aligned by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbox.classifier.report.describe import rules_facts
from bayesbox.tally.book import Book
from bayesbox.tally.counts import Counts
from bayesbox.tally.moments import Moments

if TYPE_CHECKING:
    from bayesbox.file.reader import Json

SHOWN = 5  # the number of levels shown that differ most


@dataclass(frozen=True)
class ColumnDifference:
    """A column that differs: the kind of difference, the number of rows, and the details in words."""

    name: str
    what: str
    rows: float
    details: tuple[str, ...] = ()

    def as_dict(self) -> Json:
        """The difference for JSON."""
        return {"column": self.name, "what": self.what, "rows": self.rows, "details": list(self.details)}


def differences(one: Book, other: Book) -> list[ColumnDifference]:
    """The columns in which two books differ, those with the most rows first; empty if the digests are equal."""
    classes = tuple(sorted({*one.classes, *other.classes}))
    left, right = one.with_classes(classes), other.with_classes(classes)
    found = list(_of_classes(left, right))
    for name in sorted({*left.columns, *right.columns}):
        if name not in left or name not in right:
            there = left if name in left else right
            found.append(ColumnDifference(name, "only in one", float(np.sum(there[name].n))))
        elif left[name].form != right[name].form:
            found.append(ColumnDifference(name, f"{left[name].form} against {right[name].form}", float("inf")))
        elif left[name] != right[name]:
            found.append(_of_column(name, left[name], right[name]))
    return sorted(found, key=lambda difference: (-difference.rows, difference.name))


def rule_differences(one: Any, other: Any) -> dict[str, list[Any]]:
    """The rules in which two classifiers differ, by name: the value of each, or None."""
    titles = [getattr(each, "title", "documents") for each in (one, other)]
    rules = [{"model": title, **rules_facts(each.rules)} for title, each in zip(titles, (one, other), strict=True)]
    names = list(dict.fromkeys([*rules[0], *rules[1]]))
    return {
        name: [_as_json(each.get(name)) for each in rules] for name in names if rules[0].get(name) != rules[1].get(name)
    }


def _as_json(value: object) -> Any:
    """The value of a rule for JSON; anything that is not a number, text or table is converted to text."""
    return value if value is None or isinstance(value, (str, int, float, dict)) else str(value)


def _of_classes(left: Book, right: Book) -> Iterator[ColumnDifference]:
    change = right.class_counts.to_doubles() - left.class_counts.to_doubles()
    if change.any():
        details = tuple(f"{name} {step:+g}" for name, step in zip(left.classes, change, strict=True) if step)
        yield ColumnDifference("(classes)", "rows", float(np.abs(change).sum()), details)


def _of_column(name: str, left: Any, right: Any) -> ColumnDifference:
    if left.of_numbers:
        return _of_moments(name, left, right)
    return counts_difference(name, left, right)


def counts_difference(name: str, left: Counts, right: Counts) -> ColumnDifference:
    """The cells in which two tallies of counts differ, the most rows first."""
    change = left.zero() + right - left
    steps = change.cells.to_doubles().reshape(len(change.classes), len(change.levels))
    order = np.argsort(-np.abs(steps), axis=None, kind="stable")[: SHOWN + 1]
    details = []
    for place in order[:SHOWN]:
        row, column = divmod(int(place), len(change.levels))
        if steps[row, column]:
            details.append(f"{change.levels[column]} in {change.classes[row]} {steps[row, column]:+g}")
    if len(order) > SHOWN and np.count_nonzero(steps) > SHOWN:
        details.append(f"and {np.count_nonzero(steps) - SHOWN} more")
    return ColumnDifference(name, "counts", float(np.abs(steps).sum()), tuple(details))


def _of_moments(name: str, left: Moments, right: Moments) -> ColumnDifference:
    change = right.sums.n.to_doubles() - left.sums.n.to_doubles()
    details = []
    for index, label in enumerate(left.classes):
        before, after = left.spreads()[index], right.spreads()[index]
        if before != after:
            words = f"{label}: n {change[index]:+g}"
            if before.n.m and after.n.m:
                words += f", mean {before.mean:.6g} to {after.mean:.6g}"
                words += f", std {before.std:.6g} to {after.std:.6g}"
            details.append(words)
    return ColumnDifference(name, "numbers", float(np.abs(change).sum()), tuple(details))
