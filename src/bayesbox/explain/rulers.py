"""The rulers of a nomogram: which values of a column are marked, and their contributions to the log-odds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayesbox.dist.base import Columns, Distribution, Doubles
from bayesbox.dist.naive import NaiveModel
from bayesbox.dist.number.special import apart
from bayesbox.explain.evidence import explanation, lead
from bayesbox.explain.nomogram import Mark, Ruler
from bayesbox.schema.levels import level_text
from bayesbox.tally.book import Book
from bayesbox.tally.moments import Moments

FAR = 5.0  # log-odds of 150 : 1; numbers beyond are shown at the edge, so that the others are distinguishable
DEVIATIONS = 3  # standard deviations of each class, if only the moments are known
ABOUT = 8  # marks of a number
GRID, LOOKS = 201, 4  # values tried to find those that are not far, and the number of refinements
MISSING = "missing"


def rulers_of(model: NaiveModel, book: Book, one: int, other: int) -> list[Ruler]:
    """The ruler of each column, for the class at position `one` against that at `other`, the most informative first."""
    counted = book.with_classes(model.classes)
    singles = ((each, model.weight_of(found)) for found in model.conditionals for each in found.by_column())
    rulers = [_Reader(model, counted, each, weight, one, other).ruler() for each, weight in singles]
    return sorted(rulers, key=lambda ruler: (-ruler.range, -ruler.finite_range, ruler.column))


class _Reader:
    """Computes the contributions of the values of one column."""

    def __init__(
        self, model: NaiveModel, book: Book, conditional: Distribution, weight: float, one: int, other: int
    ) -> None:
        self.column: str = conditional.columns[0]
        # a model of this column alone, so that a mark equals the term that explains a row
        self.model = replace(model, conditionals=(conditional,), weights={self.column: weight})
        self.conditional = conditional
        self.tally: Any = book.columns.get(self.column)
        self.one = one
        self.other = other

    def ruler(self) -> Ruler:
        found = self.conditional
        marks = found.marks()
        if marks is not None:
            return self._marked(marks.labels, marks.values)
        if found.is_scale and self.tally is not None:
            values = self._values(self.tally)
            return self._marked(values.tolist(), np.append(values, np.nan))
        return Ruler(self.column, ())

    def _marked(self, values: Sequence[Any], column: object) -> Ruler:
        """The marks of these values, and last that of a missing one if it is informative."""
        odds = self._odds(column, len(values) + 1).tolist()
        marks = [
            Mark(level_text(value), share, value if isinstance(value, float) else None)
            for value, share in zip(values, odds, strict=False)
        ]
        return Ruler(self.column, (*marks, Mark(MISSING, odds[-1])) if odds[-1] else tuple(marks))

    def _odds(self, column: object, rows: int) -> Doubles:
        columns: Columns = {self.column: column}
        terms = explanation(self.model, columns, rows, (self.column,)).terms
        return lead(terms[:, self.one, 0], terms[:, self.other, 0])

    def _values(self, tally: Moments) -> Doubles:
        """Round values over the range of the column, denser where the log-odds are not far."""
        low, high = self._range(tally)
        whole = not tally.sums.fractional.signs().any()
        values = round_values(low, high, whole=whole)
        near = self._near(low, high)
        if near is not None and near != (low, high):
            closer = round_values(*near, whole=whole)
            closer = closer[closer == np.floor(closer)] if whole else closer
            values = np.unique(np.concatenate([values[:1], closer, values[-1:]]))
        special = self.conditional.special_values()
        return np.union1d(values, special) if len(special) else values

    def _near(self, low: float, high: float) -> tuple[float, float] | None:
        """The first and the last value whose log-odds are not far, or where they change sign abruptly."""
        share = np.linspace(0.0, 1.0, GRID)
        for _ in range(LOOKS):
            grid = low * (1 - share) + high * share
            odds = self._odds(grid, GRID)
            near = np.flatnonzero(np.abs(odds) <= FAR)
            if not len(near):
                near = np.flatnonzero(np.diff(np.sign(odds)))
            if not len(near):
                return None
            first, last = int(near[0]), int(near[-1])
            if last - first > GRID // 8:
                return float(grid[first]), float(grid[last])
            low, high = float(grid[max(first - 1, 0)]), float(grid[min(last + 1, GRID - 1)])
        return low, high

    def _range(self, tally: Moments) -> tuple[float, float]:
        """The range of the column; with moments only, three standard deviations around the mean of each class."""
        known = tally.range()
        if known is not None:
            return known
        spreads = [tally.spreads()[place] for place in (self.one, self.other)]
        spreads = [each for each in spreads if each.n.m] or [tally.pooled()]
        low = min(float(apart(each.mean, DEVIATIONS * each.std)) for each in spreads)
        high = max(float(apart(each.mean, -DEVIATIONS * each.std)) for each in spreads)
        return tally.clipped(max(low, self.conditional.least), high)


def round_values(low: float, high: float, *, whole: bool = False, about: int = ABOUT) -> Doubles:
    """About this many round numbers from `low` to `high`, integers on request.

    >>> round_values(3.2, 71.9)
    array([10., 20., 30., 40., 50., 60., 70.])
    >>> round_values(0.1, 3.9), round_values(0.2, 3.9, whole=True)
    (array([0.5, 1. , 1.5, 2. , 2.5, 3. , 3.5]), array([1., 2., 3.]))
    """
    wide = high / about - low / about  # their difference may overflow
    size = 10.0 ** math.floor(math.log10(wide)) if 0 < wide < math.inf else 0.0
    if size == 0:
        return np.unique([low, high])
    step = size * min((1, 2, 5, 10), key=lambda part: abs(math.log(part * size / wide)))
    step = max(step, 1.0) if whole else step
    if not math.isfinite(high / step - low / step):
        return np.unique([low, high])
    first, last = math.ceil(low / step), math.floor(high / step)
    found = [float(f"{place * step:.15g}") for place in range(first, last + 1)]
    return np.unique([value for value in found if low <= value <= high] or [low, high])
