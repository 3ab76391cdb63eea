"""Tables of what was learned: one row per level, word or parameter, with the formula of each number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox._core import ExactArray
from bayesbox.dist.base import Doubles
from bayesbox.dist.cells import Cells, Ratio, Smoothing, exact_numbers, ratio
from bayesbox.dist.dirichlet import SharePosterior, share_posteriors
from bayesbox.dist.factor import Number, divided, formula, given_value
from bayesbox.schema.arrays import AnyArray

CLOSE = 1e-9  # the largest difference between a displayed ratio and the model's number
PARAMETERS = {"std": "standard deviation"}  # parameters with abbreviated names


class LearnedRow(NamedTuple):
    """A row of a table: its name, and per column a formula (may be empty), a value, and its posterior if counted."""

    name: str
    formulas: tuple[str, ...]
    values: tuple[Number | float, ...]
    posteriors: tuple[SharePosterior, ...] = ()


@dataclass(frozen=True)
class LearnedTable:
    """One table: its rows, the number of `hidden` rows, and notes in `about`.

    Its columns are the classes, unless `columns` names others.
    """

    name: str
    rows: tuple[LearnedRow, ...]
    hidden: int = 0
    about: str = ""
    columns: tuple[str, ...] | None = None


class CountedLevels(NamedTuple):
    """Exact counts of some levels, with the rest of a rule's input."""

    counts: AnyArray  # classes x levels, fractions
    totals: AnyArray  # classes; or classes x levels
    size: int  # K
    names: Sequence[Any]
    rule: Smoothing

    def cell(self, ratios: tuple[AnyArray, AnyArray], label: int, level: int) -> tuple[str, Fraction]:
        """The formula and the value of one cell."""
        over, under = ratios[0][label, level], ratios[1][label, level]
        total = self.totals[label] if self.totals.ndim == 1 else self.totals[label, level]
        return formula(self.counts[label, level], total, over, under, self.rule), divided(over, under)

    def posteriors(self, ratios: tuple[AnyArray, AnyArray]) -> list[list[SharePosterior]]:
        """The posterior of each probability."""
        cells = Cells(self.counts, self.totals, self.size, self.names)
        return share_posteriors(cells, Ratio(*ratios), self.rule)

    def ratios(self) -> tuple[AnyArray, AnyArray]:
        """Numerators and denominators."""
        over, under = ratio(self.rule, Cells(self.counts, self.totals, self.size, self.names))
        return np.broadcast_to(over, self.counts.shape), np.broadcast_to(under, self.counts.shape)


def counted_levels(
    cells: ExactArray, classes: int, width: int, places: NDArray[np.int64], size: int, names: Sequence[Any], rule: Any
) -> CountedLevels:
    """The counts of the levels at some positions, from class-major cells of this width; totals are over all levels."""
    index = (np.arange(classes)[:, None] * width + places[None, :]).ravel()
    counts = exact_numbers(cells.take(index)).reshape(classes, len(places))
    return CountedLevels(counts, exact_numbers(cells.sum_rows(classes)), size, names, rule)


def level_rows(
    names: Sequence[str], log_p: Doubles, counted: CountedLevels | None, *, given: bool = False
) -> tuple[LearnedRow, ...]:
    """One row per level: its ratio of counts if that equals the model's number, else the number alone; a `given` number
    as its digits and fraction.

    `log_p` is levels x classes; a level that is impossible in every class has zeros there, and is shown as 0.
    """
    ratios = None if counted is None else counted.ratios()
    posteriors = None if counted is None or ratios is None else counted.posteriors(ratios)
    rows = []
    for place, name in enumerate(names):
        own = [math.exp(value) for value in log_p[place].tolist()]
        if counted is not None and ratios is not None:
            cells = [counted.cell(ratios, label, place) for label in range(len(own))]
            values = [value for _, value in cells]
            impossible = not any(values) and all(p == 1 for p in own)
            if impossible or np.allclose([float(value) for value in values], own, rtol=CLOSE, atol=0):
                sure = () if posteriors is None else tuple(row[place] for row in posteriors)
                rows.append(LearnedRow(name, tuple(text for text, _ in cells), tuple(values), sure))
                continue
        elif len(names) > 1 and all(p == 1 for p in own):
            own = [0.0] * len(own)
        if given:
            written = [given_value(p) for p in own]
            rows.append(LearnedRow(name, tuple(text for text, _ in written), tuple(value for _, value in written)))
        else:
            rows.append(LearnedRow(name, ("",) * len(own), tuple(own)))
    return tuple(rows)


def parameter_rows(column: str, parameters: dict[str, Doubles], classes: int) -> tuple[LearnedRow, ...]:
    """One row per parameter of a density.

    >>> [row.name for row in parameter_rows("age", {"mean": np.zeros(2), "std": np.ones(2)}, 2)]
    ['mean of age', 'standard deviation of age']
    """
    return tuple(
        LearnedRow(f"{PARAMETERS.get(name, name)} of {column}", ("",) * classes, tuple(values.tolist()))
        for name, values in parameters.items()
        if values.shape == (classes,)
    )


def most_common_places(weight: Doubles, most: int | None) -> NDArray[np.int64]:
    """The positions of the largest weights, in order of position; all if there is no limit."""
    if most is None or len(weight) <= most:
        return np.arange(len(weight))
    return np.sort(np.argsort(-weight, kind="stable")[:most])
