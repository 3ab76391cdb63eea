"""Column selection: by mutual information with the class, by subsets, or one column at a time by log loss.

Naive Bayes is a sum, log P(c) + the sum over the columns of log P(x_j | c). So once the held-out terms of every row are
computed, a subset of columns is evaluated by adding its terms: no model is rebuilt.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist import functions
from bayesbox.schema.coded import CodedRows
from bayesbox.stat.calibrate import SMALLEST, normalised
from bayesbox.stat.mutual_information import mutual_information, symmetric_uncertainty

Doubles = NDArray[np.float64]
Codes = NDArray[np.int64]

LEAST_GAIN = 1.0  # in nats over all rows: about what one parameter gains by chance
CHANCE = 1.645  # the 95 % quantile of the standard normal distribution


@dataclass(frozen=True)
class Terms:
    """The terms of naive Bayes for held-out rows: log P(class), and for each column log P(x_j | class)."""

    prior: Doubles  # rows x classes
    columns: Doubles  # columns x rows x classes
    codes: Codes
    weights: Doubles

    @classmethod
    def of(cls, prior: Doubles, columns: Doubles, codes: Codes, weights: Doubles | None = None) -> Terms:
        """The terms, at most `SMALLEST` below the best class, so that no subset makes a class impossible."""
        best = columns.max(axis=2, keepdims=True, initial=-np.inf) if columns.size else columns
        best = np.where(np.isfinite(best), best, 0.0)
        limited = np.maximum(columns - best, math.log(SMALLEST))
        lowest = np.maximum(prior - prior.max(axis=1, keepdims=True), math.log(SMALLEST))
        return cls(lowest, limited, codes, np.ones(len(codes)) if weights is None else weights)

    def take(self, rows: NDArray[np.int64]) -> Terms:
        """The terms of some rows."""
        return Terms(self.prior[rows], self.columns[:, rows], self.codes[rows], self.weights[rows])

    def answers(self, weights: Doubles) -> Doubles:
        """log P(class | x) with these weights of the columns."""
        joint = functions.product(weights, self.columns.reshape(len(self.columns), -1))
        return normalised(self.prior + joint.reshape(self.prior.shape))

    def loss(self, joint: Doubles) -> float:
        """The total log loss of all rows, from sums of terms."""
        log_p = normalised(joint)
        return -functions.dot(self.weights, log_p[np.arange(len(self.codes)), self.codes])


def forward(terms: Terms) -> list[int]:
    """Forward selection: repeatedly add the column that lowers the log loss most; returns them in column order."""
    joint, chosen = terms.prior, []
    left = list(range(len(terms.columns)))
    least = terms.loss(joint)
    while left:
        losses = [terms.loss(joint + terms.columns[column]) for column in left]
        place = int(np.argmin(losses))
        if losses[place] > least - LEAST_GAIN:
            break
        least = losses[place]
        chosen.append(left.pop(place))
        joint = joint + terms.columns[chosen[-1]]
    return sorted(chosen)


def backward(terms: Terms) -> list[int]:
    """Backward elimination: remove columns while the log loss decreases; returns the others in column order."""
    chosen = list(range(len(terms.columns)))
    joint = terms.prior + terms.columns.sum(axis=0)
    least = terms.loss(joint)
    while chosen:
        losses = [terms.loss(joint - terms.columns[column]) for column in chosen]
        place = int(np.argmin(losses))
        if losses[place] > least + LEAST_GAIN:  # columns without benefit are removed
            break
        least = losses[place]
        joint = joint - terms.columns[chosen.pop(place)]
    return chosen


# -- by counts -------------------------------------------------------------------------------------------------------


def class_counts(coded: CodedRows, column: int) -> Doubles:
    """The counts of a column, classes x levels; the class is the last of the coded columns."""
    return coded.counts(len(coded.columns) - 1, column)


def information(coded: CodedRows, column: int) -> float:
    """I(class; x) in nats per row; rows with a missing value are ignored."""
    counts = class_counts(coded, column)
    return mutual_information(counts) * float(counts.sum() / coded.total)


def ranked(coded: CodedRows) -> list[tuple[int, float]]:
    """(column, mutual information with the class), the most informative first."""
    found = [(column, information(coded, column)) for column in range(len(coded.columns) - 1)]
    return sorted(found, key=lambda each: -each[1])


def most_informative(coded: CodedRows, number: int | None) -> list[int]:
    """The most informative columns; without a number, those that are more informative than chance."""
    order = ranked(coded)
    if number is not None:
        return sorted(column for column, _ in order[:number])
    return sorted(column for column, nats in order if nats > _chance(coded, column))


def _chance(coded: CodedRows, column: int) -> float:
    """The mutual information that an irrelevant column exceeds once in twenty.

    2 n I has about a chi-square distribution, whose quantile is that of Wilson and Hilferty (1931).
    """
    counts = class_counts(coded, column)
    free = (int(counts.any(axis=1).sum()) - 1) * (int(counts.any(axis=0).sum()) - 1)
    if free < 1:
        return 0.0
    spread = 2 / (9 * free)
    quantile = free * (1 - spread + CHANCE * math.sqrt(spread)) ** 3
    return float(quantile / (2 * coded.total))


def correlated(coded: CodedRows) -> list[int]:
    """Correlation-based selection: the subset of the highest merit k r_c / sqrt(k + k (k - 1) r_x), found greedily
    (Hall 1999).

    r_c is the mean symmetric uncertainty of its k columns with the class, r_x that among them.
    """
    width = len(coded.columns) - 1
    with_class = [symmetric_uncertainty(class_counts(coded, column)) for column in range(width)]
    chosen: list[int] = []
    among, relevance, best = np.zeros(width), 0.0, 0.0  # sums of symmetric uncertainties with the chosen columns
    inside = 0.0
    while len(chosen) < width:
        left = [column for column in range(width) if column not in chosen]
        size = len(chosen) + 1
        merits = [
            (relevance + with_class[column]) / math.sqrt(size + 2 * (inside + float(among[column]))) for column in left
        ]
        place = int(np.argmax(merits))
        if merits[place] <= best:
            break
        best, new = merits[place], left[place]
        relevance, inside = relevance + with_class[new], inside + float(among[new])
        chosen.append(new)
        for column in range(width):
            if column not in chosen:
                among[column] += symmetric_uncertainty(coded.counts(new, column))
    return sorted(chosen)
