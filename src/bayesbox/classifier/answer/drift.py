"""Drift of rows since training, or between two models, from tallies alone.

Each batch is counted and discarded: known levels one by one, all unseen levels as one, numbers in the fixed cells of a
Grid. So a file of any length needs one pass and constant memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbox import _core
from bayesbox._core import ExactArray
from bayesbox.classifier.answer.drifts import MOMENTS, ClassDrift, ColumnDrift, Drift
from bayesbox.classifier.case import learned_range
from bayesbox.dist.base import Doubles
from bayesbox.errors import BadData
from bayesbox.schema.columns import Column, CountMatrix, as_numbers
from bayesbox.schema.encode import encode
from bayesbox.schema.flags import FLAG_CODES
from bayesbox.stat.drift import ShiftTest, groups_of_cells, moments_test, shift_test
from bayesbox.tally.grid import Grid, edges
from bayesbox.tally.values import Values

if TYPE_CHECKING:
    from bayesbox.classifier.table import AnyTableClassifier
    from bayesbox.source.base import Batch

EXAMPLES = 5
LEAST_CHANGE = 0.0005  # the smallest change of a share to report
NOTHING = ShiftTest(0.0, 0.0, 1.0, 0.0)


@dataclass
class LevelDriftCounter:
    """The counts of the levels of a column in training and now."""

    name: str
    levels: tuple[str, ...]
    before: Doubles
    after: Doubles = field(default_factory=lambda: np.empty(0))
    unseen: int = 0
    examples: dict[str, None] = field(default_factory=dict)
    by: str = "levels"

    def __post_init__(self) -> None:
        self.after = np.zeros(len(self.levels))
        self.place = {level: place for place, level in enumerate(self.levels)}
        codes = {FLAG_CODES[level.lower()]: place for level, place in self.place.items() if level.lower() in FLAG_CODES}
        if len(codes) == len(self.levels):
            self.place |= {text: codes[code] for text, code in FLAG_CODES.items() if code in codes}

    def add(self, column: Column) -> int:
        """Count some rows; returns the number of rows that have a value."""
        codes, texts, _ = encode(column)
        counts = np.bincount(codes[codes >= 0], minlength=len(texts))
        for text, count in zip(texts, counts.tolist(), strict=True):
            place = self.place.get(text, self.place.get(text.lower(), -1) if text.lower() in FLAG_CODES else -1)
            if place >= 0:
                self.after[place] += count
            elif count:
                self.unseen += count
                if len(self.examples) < EXAMPLES:
                    self.examples[text] = None
        return int(counts.sum())

    def test(self) -> ShiftTest:
        """The test of the counts; unseen levels are pooled into one level without training rows."""
        return shift_test(self.before, self.after, float(self.unseen))

    def change(self) -> str:
        """The level whose share changed most, as text."""
        before, after = np.append(self.before, 0.0), np.append(self.after, float(self.unseen))
        if not before.sum() or not after.sum():
            return ""
        p, q = before / before.sum(), after / after.sum()
        place = int(np.abs(q - p).argmax())
        if abs(q[place] - p[place]) < LEAST_CHANGE:
            return ""
        name = self.levels[place] if place < len(self.levels) else "(unseen)"
        return f"{name} {p[place]:.1%} to {q[place]:.1%}"


class NumberDriftCounter:
    """The counts of numbers in cells, or their moments if cells were not counted."""

    def __init__(self, name: str, before: Any, bins: tuple[tuple[float, ...], Doubles] | None) -> None:
        self.name = name
        self.before = before
        self.bins = bins
        self.after: Any = None
        self.binned = np.zeros(0 if bins is None else len(bins[1]))
        self.unseen = 0
        self.examples: dict[str, None] = {}
        self.cells = None if bins is not None else pooled_cells(before)
        self.by = "bins" if bins is not None else MOMENTS if self.cells is None else "cells"
        self.range = learned_range(before)

    def add(self, column: Column) -> int:
        """Count some rows; returns the number of rows that have a value."""
        values = np.asarray(as_numbers(column, name=self.name), dtype=np.float64)
        there = values[~np.isnan(values)]
        if np.isinf(there).any():
            raise BadData(f"column `{self.name}` contains an infinite value", column=self.name)
        counted = Grid.of(("",), values, np.zeros(len(values), dtype=np.int32))
        self.after = counted if self.after is None else self.after + counted
        if self.bins is not None:
            self.binned += np.bincount(np.searchsorted(self.bins[0], there), minlength=len(self.binned))
        if self.range is not None:
            outside = there[(there < self.range[0]) | (there > self.range[1])]
            self.unseen += len(outside)
            for value in outside[: max(EXAMPLES - len(self.examples), 0)].tolist():
                self.examples[f"{value:.6g}"] = None
        return len(there)

    def test(self) -> ShiftTest:
        if self.after is None or self.after.is_empty():
            return NOTHING
        if self.bins is not None:
            return shift_test(self.bins[1], self.binned)
        return number_test(self.before, self.after)

    def change(self) -> str:
        """The change of the mean, as text."""
        return _means(self.before, self.after)


def _means(before: Any, after: Any) -> str:
    if after is None or after.is_empty():
        return ""
    one, other = (f"{each.pooled().mean:.4g}" for each in (before, after))
    return "" if one == other else f"mean {one} to {other}"


def pooled_cells(tally: object) -> tuple[Any, Doubles] | None:
    """The cells of all classes together with their counts; None if only moments were counted."""
    if isinstance(tally, Grid):
        return tally.cells, np.asarray(tally.pooled_counts(), dtype=np.float64)
    if isinstance(tally, Values) and tally.is_exact:
        values, counts = tally.table
        cells = _core.grid_cells(np.ascontiguousarray(values))
        found, place = np.unique(cells, return_inverse=True)
        return found, _sums(place, counts.sum(axis=1))
    return None


def number_test(before: Any, after: Any) -> ShiftTest:
    """The test of two tallies of numbers: on about ten groups of cells, or on the moments."""
    first, second = pooled_cells(before), pooled_cells(after)
    if first is None or second is None:
        one, other = before.pooled(), after.pooled()
        return moments_test(_three(one), _three(other))
    cells, counts = first
    groups = groups_of_cells(counts)
    ends = edges(cells)[1][np.flatnonzero(np.diff(groups, append=groups[-1] + 1))]  # the largest number of each group
    place = np.minimum(np.searchsorted(ends, edges(second[0])[0]), groups[-1])
    size = int(groups[-1]) + 1
    return shift_test(_sums(groups, counts, size), _sums(place, second[1], size))


def _sums(place: Any, weights: Doubles, size: int = 0) -> Doubles:
    return np.asarray(np.bincount(place, weights=weights, minlength=size), dtype=np.float64)


def _three(spread: Any) -> tuple[float, float, float]:
    n = float(spread.n.fraction)
    return (n, spread.mean, spread.variance) if n else (0.0, 0.0, 0.0)


class DriftCounter:
    """Counts rows, one batch at a time, and compares them with the training rows of a model."""

    def __init__(self, classifier: AnyTableClassifier) -> None:
        self.classifier = classifier
        classifier.require_counts("be compared with rows")
        self.counted = classifier.counted()
        book, schema = self.counted.book, self.counted.model_schema()
        self.columns: dict[str, LevelDriftCounter | NumberDriftCounter] = {}
        self.silent: list[str] = []
        for name in schema.used:
            kind, tally = schema.kinds[name], book.columns.get(name)
            if kind.is_text or kind.is_matrix:
                self.silent.append(name)
            elif tally is not None:
                self.columns[name] = column_counter(self.counted, name, tally)
        self.observed = dict.fromkeys(self.columns, 0)
        self.rows = 0
        self.expected = np.zeros(len(classifier.model.classes))
        self.predicted = np.zeros(len(classifier.model.classes))

    def add(self, batch: Batch) -> None:
        """Count some rows and their predictions."""
        if not batch.rows:
            return
        columns = self.counted.columns_of(batch)
        for name, counter in self.columns.items():
            column = columns.get(name)
            if column is not None and not isinstance(column, CountMatrix):
                self.observed[name] += counter.add(column)
        posterior = self.classifier.posterior(batch)
        self.expected += posterior.sum(axis=0)
        self.predicted += np.bincount(posterior.argmax(axis=1), minlength=posterior.shape[1])
        self.rows += batch.rows

    def result(self) -> Drift:
        """The drift of the rows counted so far."""
        if not self.rows:
            raise BadData("no rows to compare with the training rows")
        book = self.counted.book.with_classes(self.classifier.model.classes)
        learned = np.asarray(book.n, dtype=np.float64)
        rows = float(learned.sum())
        found = [
            ColumnDrift(
                name,
                counter.by,
                counter.test(),
                *missing_shares(float(np.sum(book[name].n)), rows, self.observed[name], self.rows),
                counter.unseen,
                tuple(counter.examples),
                counter.change(),
            )
            for name, counter in self.columns.items()
        ]
        classes = [
            ClassDrift(name, before / max(rows, 1), float(expected) / self.rows, float(predicted) / self.rows)
            for name, before, expected, predicted in zip(
                book.classes, learned.tolist(), self.expected, self.predicted, strict=True
            )
        ]
        notes = tuple(f"words are not compared: {name}" for name in self.silent)
        return Drift(
            self.classifier.target or "class",
            rows,
            self.rows,
            ranked(found),
            tuple(classes),
            shift_test(learned, self.expected).psi,
            notes=notes,
        )


def ranked(columns: Iterable[ColumnDrift]) -> tuple[ColumnDrift, ...]:
    """The columns by drift, the largest first."""
    return tuple(sorted(columns, key=lambda each: (-each.psi, each.p_value, each.column)))


def missing_shares(observed: float, rows: float, now: float, rows_now: float) -> tuple[float, float, ShiftTest]:
    """The shares of missing values in training and now, and the test of their difference."""
    before, after = max(rows - observed, 0.0), max(rows_now - now, 0.0)
    test = shift_test(np.array([observed, before]), np.array([now, after]))
    return before / rows if rows else 0.0, after / rows_now if rows_now else 0.0, test


def column_counter(classifier: AnyTableClassifier, name: str, tally: Any) -> LevelDriftCounter | NumberDriftCounter:
    """The counter for a column with this tally."""
    if tally.of_numbers and not tally.holds_only_flags:
        return NumberDriftCounter(name, tally, classifier.counted_bins(name))
    before: Doubles = np.asarray(tally.counts, dtype=np.float64).sum(axis=0)
    known = classifier.known_levels().get(name)
    more = () if known is None else tuple(level for level in known.levels if level not in tally.levels)
    return LevelDriftCounter(name, (*tally.levels, *more), np.append(before, np.zeros(len(more))))


def drift(classifier: AnyTableClassifier, batches: Iterable[Batch]) -> Drift:
    """The drift of some rows since a model was trained."""
    counter = DriftCounter(classifier)
    for batch in batches:
        counter.add(batch)
    return counter.result()


# -- two models --------------------------------------------------------------------------------------------------------


def drift_of_models(one: Any, other: Any) -> Drift:
    """The drift between the training rows of two models, for columns with the same type."""
    for each in (one, other):
        each.require_counts("be compared")
    books = [each.counted().book for each in (one, other)]
    classes = tuple(sorted({*books[0].classes, *books[1].classes}))
    left, right = (book.with_classes(classes) for book in books)
    before, after = (np.asarray(each.n, dtype=np.float64) for each in (left, right))
    rows, rows_now = float(before.sum()), float(after.sum())
    found, notes = [], []
    for name in sorted({*left.columns, *right.columns}):
        if name not in left or name not in right:
            notes.append(f"only one model has counted {name}")
            continue
        change = _between(name, left[name], right[name])
        if change is None:
            notes.append(f"the models counted {name} in different ways")
            continue
        by, test, unseen, examples, words = change
        missing = missing_shares(float(np.sum(left[name].n)), rows, float(np.sum(right[name].n)), rows_now)
        found.append(ColumnDrift(name, by, test, *missing, unseen, examples, words))
    shares = zip(classes, before.tolist(), after.tolist(), strict=True)
    of_classes = tuple(ClassDrift(name, p / max(rows, 1), *[q / max(rows_now, 1)] * 2) for name, p, q in shares)
    target = one.target or other.target or "class"
    test = shift_test(before, after)
    return Drift(target, rows, rows_now, ranked(found), of_classes, test.psi, test, tuple(notes))


def _between(name: str, left: Any, right: Any) -> tuple[str, ShiftTest, int, tuple[str, ...], str] | None:
    if left.of_numbers != right.of_numbers:
        return None
    if left.of_numbers:
        by = "cells" if pooled_cells(left) is not None and pooled_cells(right) is not None else MOMENTS
        return by, number_test(left, right), 0, (), _means(left, right)
    if not hasattr(left, "by_level") or not hasattr(right, "by_level"):
        return None
    found = LevelDriftCounter(name, left.levels, _by_level(left.by_level()))
    for level, count in zip(right.levels, _by_level(right.by_level()).tolist(), strict=True):
        place = found.place.get(level)
        if place is not None:
            found.after[place] += count
        else:
            found.unseen += int(count)
            found.examples |= {level: None} if len(found.examples) < EXAMPLES else {}
    return found.by, found.test(), found.unseen, tuple(found.examples), found.change()


def _by_level(cells: ExactArray) -> Doubles:
    doubles: Doubles = cells.to_doubles()
    return doubles
