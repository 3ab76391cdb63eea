"""The counts of a level, or the density of a number, behind the term of a column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesbox.classifier.case import value_text
from bayesbox.classifier.table import AnyTableClassifier
from bayesbox.display.blocks import count_text
from bayesbox.dist.base import Columns, Distribution
from bayesbox.file.reader import Json
from bayesbox.schema.flags import FLAG_CODES
from bayesbox.source.base import Batch
from bayesbox.stat.beta import interval

PROBABILITY = 0.95


@dataclass(frozen=True)
class TermCounts:
    """The count of a level in a class, and its smoothed probability with a 95 % interval.

    `probability` is None if the model does not estimate the column separately.
    """

    count: float
    n: float
    probability: float | None = None
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        counted = f"{count_text(self.count)} of {count_text(self.n)}"
        if self.probability is None or self.low is None or self.high is None:
            return counted
        is_ratio = self.n > 0 and abs(self.probability - self.count / self.n) < 1e-9
        share = f" = {_share(self.probability)}" if is_ratio else f", smoothed to {_share(self.probability)}"
        return f"{counted}{share}, 95 % {_share(self.low)} to {_share(self.high)}"

    def to_dict(self) -> Json:
        """As a dict for JSON."""
        return {
            "count": self.count,
            "n": self.n,
            "probability": self.probability,
            "low": self.low,
            "high": self.high,
        }


@dataclass(frozen=True)
class TermDensity:
    """The density of a number in a class: the moments of its rows, the family and its parameters."""

    n: float
    mean: float
    std: float
    family: str = ""
    parameters: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        words = ", ".join(f"{name} {value:.4g}" for name, value in self.parameters.items())
        own = (f"; {self.family}" if self.family else "") + (f" ({words})" if words else "")
        return f"mean {self.mean:.4g}, std {self.std:.4g} of {count_text(self.n)} rows{own}"

    def to_dict(self) -> Json:
        """As a dict for JSON."""
        return {
            "n": self.n,
            "mean": self.mean,
            "std": self.std,
            "family": self.family,
            "parameters": dict(self.parameters),
        }


Behind = TermCounts | TermDensity


def _share(value: float) -> str:
    """A probability with three digits and without the leading zero.

    >>> _share(0.48383), _share(1.0), _share(0.00012)
    ('.484', '1', '1.2e-04')
    """
    if 0 < value < 0.0005:
        return f"{value:.1e}"
    return f"{value:.3f}".rstrip("0").rstrip(".").replace("0.", ".", 1) or "0"


def behind_terms(classifier: AnyTableClassifier, batch: Batch) -> dict[str, dict[str, Behind]]:
    """The counts or densities behind the terms of a batch of one row, by column and class."""
    columns, book = classifier.columns_of(batch), classifier.counted().book.with_classes(classifier.model.classes)
    found: dict[str, dict[str, Behind]] = {}
    for name, column in columns.items():
        value = value_text(column)
        if value is None or name not in book or name in classifier.model.ignored:
            continue
        own = _own_distribution(classifier, name)
        tally: Any = book[name] if own is None else own.shown_tally(book[name])
        each = _counts(classifier, name, value, tally, own, columns) or _density(classifier, book[name], own)
        if each is not None:
            found[name] = each
    return found


def _own_distribution(classifier: AnyTableClassifier, name: str) -> Distribution | None:
    """The distribution of a single column, if the model has one."""
    if not classifier.columns_are_independent:
        return None
    found: Distribution | None = classifier.model.conditional(name)
    if found is None or len(found.columns) == 1:
        return found
    return next((each for each in found.by_column() if each.columns == (name,)), None)


def _counts(
    classifier: AnyTableClassifier,
    name: str,
    value: str,
    tally: Any,
    own: Distribution | None,
    columns: Columns,
) -> dict[str, Behind] | None:
    levels: tuple[str, ...] = getattr(tally, "levels", ())
    is_flag = tally.of_numbers and tally.holds_only_flags
    if (tally.of_numbers and not is_flag) or not levels:
        return None
    level = _level(value, levels)
    if level is None:
        return None
    counts, totals = np.asarray(tally.counts)[:, levels.index(level)].tolist(), np.asarray(tally.n).tolist()
    classes = classifier.model.classes
    if own is None:
        return {label: TermCounts(k, n) for label, k, n in zip(classes, counts, totals, strict=True)}
    shares = np.exp(own.terms(columns, 1)[0]).tolist()
    more = _added(classifier, name, own.level_number or len(levels))
    found: dict[str, Behind] = {}
    for label, k, n, p in zip(classes, counts, totals, shares, strict=True):
        weight = n + more
        low, high = interval(PROBABILITY, p * weight, (1 - p) * weight) if weight else (0.0, 1.0)
        found[label] = TermCounts(k, n, p, low, high)
    return found


def _level(value: str, levels: tuple[str, ...]) -> str | None:
    """The level of a value as it was counted; None if it was not seen."""
    if value in levels:
        return value
    code = FLAG_CODES.get(value.lower())
    return next((level for level in levels if code is not None and FLAG_CODES.get(level.lower()) == code), None)


def _added(classifier: AnyTableClassifier, name: str, size: int) -> float:
    """The total pseudo-count of the smoothing rule of a column; 0 if the rule does not add counts."""
    from bayesbox.rule.naive import rule_of_column

    if not hasattr(classifier.rules, "smoothing"):
        return 0.0
    assert classifier.schema is not None
    rule = rule_of_column(classifier.schema, classifier.rules, name)
    added = None if rule is None else rule.added(size)
    return 0.0 if added is None else float(added[1])


def _density(classifier: AnyTableClassifier, tally: Any, own: Distribution | None) -> dict[str, Behind] | None:
    if not tally.of_numbers:
        return None
    parameters = {} if own is None else own.parameters()
    levels = None if own is None else own.level_table()
    if levels is not None:
        parameters = {}
    n, mean, std = (np.asarray(each).tolist() for each in (tally.n, tally.mean, tally.std))
    return {
        label: TermDensity(
            n[place],
            mean[place],
            std[place],
            "" if own is None else own.describe() or own.family,
            {key: float(each[place]) for key, each in parameters.items()},
        )
        for place, label in enumerate(classifier.model.classes)
    }
