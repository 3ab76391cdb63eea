"""Rows as numeric features, for the models trained on log loss.

A `Design` depends only on the columns, never on the labels: the levels of categories, and the cells, centre, scale and
knots of numbers. So it is made once from all rows, including those held out later.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbox.schema.arrays import AnyArray
from bayesbox.schema.coded import recode
from bayesbox.schema.encode import MISSING
from bayesbox.schema.kinds import Kind
from bayesbox.table.columns import Values, column_values, level_texts

Doubles = NDArray[np.float64]
Codes = NDArray[np.int16]

CELLS = 255  # per numeric column
LEVELS = 200  # levels per category; less frequent ones count as missing
FARTHEST = 5.0  # the largest distance from the mean in standard deviations; larger ones are clipped
SORTED_BY = 4  # columns, the last ones, used to sort rows before all are compared


@dataclass(frozen=True)
class Feature:
    """One column. A category has `levels`; a number has cut points between its cells, and knots of its splines."""

    name: str
    levels: tuple[str, ...] | None
    cuts: Doubles
    knots: Doubles  # in standard deviations from the centre
    centre: float
    scale: float
    gaps: bool  # whether values are missing

    @property
    def size(self) -> int:
        """The number of cells or levels."""
        return len(self.cuts) + 1 if self.levels is None else max(len(self.levels), 1)

    @property
    def width(self) -> int:
        """The number of features of this column."""
        return (1 + len(self.knots) if self.levels is None else len(self.levels)) + self.gaps


@dataclass(frozen=True)
class Design:
    """The columns in use, sorted by name."""

    axes: tuple[Feature, ...]

    @classmethod
    def of(cls, values: Mapping[str, Values], *, knots: int) -> Design:
        """The design of columns from `column_values`, with at most this many knots per number."""
        return cls(tuple(_axis(name, values[name], knots) for name in sorted(values)))

    def read(self, columns: Mapping[str, Any], kinds: Mapping[str, Kind], rows: int) -> View:
        """Rows under this design; absent columns and unseen levels are missing."""
        values = {
            axis.name: column_values(columns[axis.name], kinds[axis.name], name=axis.name)
            for axis in self.axes
            if axis.name in columns
        }
        return self.view(values, kinds, rows)

    def view(self, values: Mapping[str, Values], kinds: Mapping[str, Kind], rows: int) -> View:
        """The same for columns from `column_values`."""
        found: list[AnyArray] = []
        for axis in self.axes:
            value = values.get(axis.name)
            if axis.levels is None:
                assert not isinstance(value, tuple)
                found.append(np.full(rows, np.nan) if value is None else value)
            elif value is None:
                found.append(np.full(rows, MISSING, dtype=np.int32))
            else:
                # a file of version 0.1 may spell the levels of a flag differently: TRUE
                levels = level_texts(axis.levels, kinds[axis.name])
                found.append(recode(value[0], value[1], {text: code for code, text in enumerate(levels)}))
        return View(self, tuple(found), rows)


def _axis(name: str, value: Values, knots: int) -> Feature:
    none = np.empty(0)
    if isinstance(value, tuple):
        codes, texts = value
        counts = np.bincount(codes[codes >= 0], minlength=len(texts))
        most = sorted(range(len(texts)), key=lambda code: (-counts[code], texts[code]))[:LEVELS]
        levels = tuple(sorted({texts[code] for code in most if counts[code]}))
        gaps = bool((codes < 0).any()) or len(levels) < len({t for t, n in zip(texts, counts, strict=True) if n})
        return Feature(name, levels, none, none, 0.0, 1.0, gaps)
    there = np.sort(value[~np.isnan(value)])
    gaps = len(there) < len(value)
    if not len(there) or there[0] == there[-1]:
        return Feature(name, None, none, none, float(there[0]) if len(there) else 0.0, 1.0, gaps)
    centre, scale = _centre_and_scale(there)
    distinct = there[np.r_[True, there[1:] > there[:-1]]]
    wanted = np.empty(0)
    if len(distinct) > 2 and knots:
        inner = there[(len(there) * np.arange(1, knots + 1)) // (knots + 1)]
        wanted = np.unique(_deviations(inner, centre, scale))
    return Feature(name, None, _cuts(there, distinct), wanted, centre, scale, gaps)


def _centre_and_scale(there: Doubles) -> tuple[float, float]:
    """The mean and the standard deviation, scaled to near 1 so that squares do not overflow."""
    unit = 2.0 ** (int(np.frexp(np.abs(there[[0, -1]]).max())[1]) - 1)
    near = there / unit
    centre = near.mean()
    scale = float(np.sqrt(np.square(near - centre).mean()) * unit)
    return float(centre * unit), max(scale, math.ulp(0.0))


def _deviations(numbers: Doubles, centre: float, scale: float) -> Doubles:
    with np.errstate(over="ignore", invalid="ignore"):
        found: Doubles = np.clip((numbers - centre) / scale, -FARTHEST, FARTHEST)
    return found


def _cuts(there: Doubles, distinct: Doubles) -> Doubles:
    """Cut points between distinct values: all of them, or those nearest to quantiles."""
    if len(distinct) > CELLS + 1:
        quantiles = np.unique(there[(len(there) * np.arange(1, CELLS + 1)) // (CELLS + 1)])
        place = np.searchsorted(distinct, quantiles)
        place = np.unique(place[place > 0])
    else:
        place = np.arange(1, len(distinct))
    below, above = distinct[place - 1], distinct[place]
    with np.errstate(over="ignore"):
        middle = below + (above - below) / 2
    middle = np.where(np.isfinite(middle), middle, below / 2 + above / 2)
    return np.where(middle > below, middle, above)


@dataclass(frozen=True)
class View:
    """Rows under a design: for each column the numbers, or the codes of its levels."""

    design: Design
    values: tuple[AnyArray, ...]
    rows: int

    def take(self, places: AnyArray) -> View:
        """These rows, in this order."""
        return View(self.design, tuple(column[places] for column in self.values), len(places))

    @cached_property
    def codes(self) -> Codes:
        """Columns x rows: the cell or level of each value, or MISSING."""
        codes = np.empty((len(self.values), self.rows), dtype=np.int16)
        for place, (axis, column) in enumerate(zip(self.design.axes, self.values, strict=True)):
            if axis.levels is None:
                cells = np.searchsorted(axis.cuts, column, side="right")
                codes[place] = np.where(np.isnan(column), MISSING, cells)
            else:
                codes[place] = column
        return codes

    @property
    def core_codes(self) -> NDArray[np.uint16]:
        """The codes for the core's trees: unsigned, with the same bits for MISSING."""
        return self.codes.view(np.uint16)

    @cached_property
    def standard(self) -> Doubles:
        """Rows x features: standardised numbers (0 if missing), and one-hot encoded levels."""
        return self._features(bent=False)

    @cached_property
    def features(self) -> Doubles:
        """The same with the distance above each knot, and an indicator for missing values."""
        return self._features(bent=True)

    def _features(self, *, bent: bool) -> Doubles:
        found: list[Doubles] = []
        for axis, column in zip(self.design.axes, self.values, strict=True):
            if axis.levels is None:
                missing = np.isnan(column)
                deviation = np.where(missing, 0.0, _deviations(column, axis.centre, axis.scale))
                found.append(deviation)
                if bent:
                    found += [np.where(missing, 0.0, np.maximum(deviation - knot, 0.0)) for knot in axis.knots]
            else:
                missing = column < 0
                found += [(column == level).astype(np.float64) for level in range(len(axis.levels))]
            if bent and axis.gaps:
                found.append(missing.astype(np.float64))
        return np.stack(found, axis=1) if found else np.empty((self.rows, 0))


def sorted_order(view: View, codes: AnyArray) -> NDArray[np.int64]:
    """An order of the rows that depends only on their values, not on their original order."""
    keys: Sequence[AnyArray] = (*view.values, codes)
    order = np.lexsort(keys[-SORTED_BY:])
    if len(keys) > SORTED_BY:
        alike = np.ones(max(len(order) - 1, 0), dtype=bool)
        for key in keys[-SORTED_BY:]:
            here = key[order]
            alike &= (here[1:] == here[:-1]) | ((here[1:] != here[1:]) & (here[:-1] != here[:-1]))
        if alike.any():  # the other columns would change nothing else
            order = np.lexsort(keys)
    return order
