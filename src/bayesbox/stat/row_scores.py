"""The predicted probabilities and the class of each row, for metrics that need single rows.

They are kept in blocks while rows are read, up to `MOST_CELLS` probabilities; beyond that they are discarded, and with
them the area under the ROC curve and everything else that needs rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox.errors import BadOption
from bayesbox.schema.encode import Encoded
from bayesbox.schema.levels import class_position
from bayesbox.stat.roc import area_influence, area_under_roc

Doubles = NDArray[np.float64]
Codes = NDArray[np.integer]
Places = NDArray[np.int64]

MOST_CELLS = 1 << 23  # probabilities kept: 64 MB
MEANS = ("accuracy", "log_loss", "brier")
METRICS = (*MEANS, "auc", "calibration_error")


class ScoreBlock(NamedTuple):
    """Some rows with a label: their row numbers, if any, log P(class), and their classes.

    Blocks without row numbers are sorted by `first`, so that threads do not affect the result.
    """

    rows: Places | None
    log_p: Doubles
    codes: Codes
    levels: tuple[str, ...]
    weights: Doubles | None
    first: int = 0
    groups: Encoded | None = None


@dataclass(frozen=True)
class RowBlocks:
    """Blocks of rows; None once there are too many."""

    blocks: tuple[ScoreBlock, ...] | None = ()

    @classmethod
    def of(cls, block: ScoreBlock) -> RowBlocks:
        """The blocks of one block, unless it is too large."""
        return cls(None if block.log_p.size > MOST_CELLS else (block,))

    @property
    def size(self) -> int:
        """The number of probabilities kept."""
        return sum(block.log_p.size for block in self.blocks or ())

    def __add__(self, other: RowBlocks) -> RowBlocks:
        if self.blocks is None or other.blocks is None or self.size + other.size > MOST_CELLS:
            return RowBlocks(None)
        return RowBlocks(self.blocks + other.blocks)

    def joined(self, classes: tuple[str, ...]) -> RowScores | None:
        """All rows in the order of their numbers; None if there are none, or were too many."""
        if not self.blocks:
            return None
        blocks = sorted(self.blocks, key=lambda each: each.first)
        labels = (*classes, *sorted({text for each in blocks for text in _used(each)} - set(classes)))
        place = {text: code for code, text in enumerate(labels)}
        true = [np.array([place.get(text, -1) for text in each.levels], np.int64)[each.codes] for each in blocks]
        numbers, start = [], 0
        for each in blocks:
            numbers.append(np.arange(start, start + len(each.codes)) if each.rows is None else each.rows)
            start += len(each.codes)
        rows = np.concatenate(numbers)
        weights = [np.ones(len(each.codes)) if each.weights is None else each.weights for each in blocks]
        groups = [each.groups for each in blocks if each.groups is not None]
        found = RowScores(
            classes,
            labels,
            rows,
            np.concatenate([each.log_p for each in blocks]),
            np.concatenate(true),
            np.concatenate(weights),
            _joined_groups(groups) if len(groups) == len(blocks) else None,
        )
        return found.take(np.argsort(rows, kind="stable"))


def _joined_groups(groups: list[Encoded]) -> Encoded:
    levels = sorted({text for each in groups for text in each.levels})
    place = {text: code for code, text in enumerate(levels)}
    codes = [np.array([*(place[text] for text in each.levels), -1], np.int32)[each.codes] for each in groups]
    return Encoded(np.concatenate(codes), levels, levels)


def _used(block: ScoreBlock) -> list[str]:
    return [block.levels[code] for code in np.unique(block.codes)]


@dataclass(frozen=True)
class RowScores:
    """Predictions: `log_p` is predictions x classes, `true` the position of the true class in `labels`.

    `labels` are the classes of the model and, after them, the unknown ones. `rows` are the row numbers; with repeats a
    row occurs several times.
    """

    classes: tuple[str, ...]
    labels: tuple[str, ...]
    rows: Places
    log_p: Doubles
    true: Places
    weights: Doubles
    groups: Encoded | None = None

    def __len__(self) -> int:
        return len(self.true)

    def take(self, chosen: NDArray[np.integer] | NDArray[np.bool_]) -> RowScores:
        """These predictions, in this order."""
        parts = (self.rows[chosen], self.log_p[chosen], self.true[chosen], self.weights[chosen])
        groups = None if self.groups is None else self.groups._replace(codes=self.groups.codes[chosen])
        return RowScores(self.classes, self.labels, *parts, groups)

    # -- a value for each prediction ------------------------------------------------------------------------------

    @cached_property
    def p(self) -> Doubles:
        """P(class), predictions x classes."""
        return np.minimum(np.exp(self.log_p), 1.0)

    @cached_property
    def predicted(self) -> Places:
        """The position of the most probable class; the first in case of a tie."""
        found: Places = self.log_p.argmax(axis=1)
        return found

    @cached_property
    def log_true(self) -> Doubles:
        """log P(true class); -inf for a class unknown to the model."""
        known = self.true < len(self.classes)
        places = np.where(known, self.true, 0)
        return np.where(known, self.log_p[np.arange(len(self)), places], -np.inf)

    @cached_property
    def right(self) -> Doubles:
        """1 if the most probable class is the true one, else 0."""
        found: Doubles = (self.predicted == self.true).astype(np.float64)
        return found

    @cached_property
    def loss(self) -> Doubles:
        """-log P(true class)."""
        return np.maximum(-self.log_true, 0.0)

    @cached_property
    def brier(self) -> Doubles:
        """The sum over classes of (P(class) - [class is true])^2, for two classes half of it."""
        p_true = np.exp(self.log_true)
        squares = (self.p**2).sum(axis=1) - p_true**2 + (1 - p_true) ** 2
        found: Doubles = (0.5 if len(self.labels) <= 2 else 1.0) * squares
        return found

    @cached_property
    def confidence(self) -> Doubles:
        """P(predicted class)."""
        return self.p[np.arange(len(self)), self.predicted]

    def values(self, metric: str) -> Doubles:
        """The value of each prediction whose mean is the metric."""
        return {"accuracy": self.right, "log_loss": self.loss, "brier": self.brier}[metric]

    def bin_of(self, bins: int) -> Places:
        """The bin of each prediction by its confidence."""
        return np.searchsorted(np.arange(1, bins) / bins, self.confidence).astype(np.int64)

    # -- one number ---------------------------------------------------------------------------------------------

    def mean(self, metric: str) -> float:
        """A metric that is a weighted mean over predictions."""
        return float(self.weights @ self.values(metric) / self.weights.sum())

    def calibration_error(self, bins: int) -> float:
        """The mean absolute difference between accuracy and confidence over bins, weighted by rows."""
        gaps = np.bincount(self.bin_of(bins), weights=self.weights * (self.right - self.confidence), minlength=bins)
        return float(np.abs(gaps).sum() / self.weights.sum())

    def of_class(self, code: int) -> tuple[Doubles, NDArray[np.bool_], Doubles]:
        """P(class), whether the row is of that class, and the weight, for all rows of a known class."""
        known = self.true < len(self.classes)
        return self.p[known, code], self.true[known] == code, self.weights[known]

    def curves(self) -> list[int]:
        """The classes whose ROC curves are averaged: of two the second, otherwise all that have a curve."""
        classes = len(self.classes)
        wanted = [1] if classes == 2 else [*range(classes)] if classes > 2 else []
        known = self.true[(self.true < classes) & (self.weights > 0)]
        return [code for code in wanted if 0 < np.count_nonzero(known == code) < len(known)]

    def area(self) -> float:
        """The area under the ROC curve: of the second of two classes, otherwise the mean of one-vs-rest.

        NaN if there is no such curve: fewer than two classes among the labels.
        """
        areas = [area_under_roc(*self.of_class(code)) for code in self.curves()]
        return math.fsum(areas) / len(areas) if areas else math.nan

    def area_of_pairs(self) -> float:
        """The mean over pairs of classes of both areas, on the rows of the two (Hand and Till 2001)."""
        classes = len(self.classes)
        found = []
        for one in range(classes):
            for other in range(one + 1, classes):
                own = (self.true == one) | (self.true == other)
                areas = [
                    area_under_roc(self.p[own, code], self.true[own] == code, self.weights[own])
                    for code in (one, other)
                ]
                found += [] if any(map(math.isnan, areas)) else [math.fsum(areas) / 2]
        return math.fsum(found) / len(found) if found else math.nan

    # -- rows -----------------------------------------------------------------------------------------------------

    @cached_property
    def units(self) -> tuple[Places, Places]:
        """The distinct row numbers, and the row of each prediction."""
        numbers, unit = np.unique(self.rows, return_inverse=True)
        return numbers, unit

    @cached_property
    def unit_weights(self) -> Doubles:
        """The weight of each row."""
        numbers, unit = self.units
        found = np.zeros(len(numbers))
        found[unit] = self.weights
        return found

    def influence(self, metric: str) -> Doubles:
        """The influence of each row on a metric, to first order."""
        if metric == "auc":
            return self._area_influence()
        values = self.values(metric)
        with np.errstate(invalid="ignore"):
            return self.by_unit((values - self.mean(metric)) / self.weights.sum())

    def _area_influence(self) -> Doubles:
        known, total, codes = self.true < len(self.classes), np.zeros(len(self)), self.curves()
        for code in codes:
            total[known] += area_influence(*self.of_class(code)) / len(codes)
        return self.by_unit(total)

    def by_unit(self, values: Doubles) -> Doubles:
        """The sum over the predictions of each row."""
        numbers, unit = self.units
        return np.bincount(unit, weights=values, minlength=len(numbers)).astype(np.float64)

    def place_of(self, label: object) -> int:
        """The position of a class in the labels."""
        return class_position(label, self.labels)


def require_same_rows(scores: Sequence[RowScores]) -> None:
    """Raise an error if predictions are of different rows."""
    first = scores[0]
    for other in scores[1:]:
        if len(first) != len(other) or not np.array_equal(first.rows, other.rows):
            raise BadOption("differences are paired: both models must have predicted the same rows")
