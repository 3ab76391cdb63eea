"""AODE of many columns, of which most have their commonest level: the sums of a row are those of all its terms."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import bayesbox as bb
from bayesbox import _core

COLUMNS, LEVELS, CLASSES = 80, 3, 3
SLOTS = COLUMNS * LEVELS
Doubles = NDArray[np.float64]


class Model:
    """Random tables, of columns whose level 1 is common in every class."""

    def __init__(self, seed: int, common: float) -> None:
        draw = np.random.default_rng(seed)
        share = np.full((COLUMNS, LEVELS, CLASSES), (1 - common) / (LEVELS - 1))
        share[:, 1] = common
        share *= draw.uniform(0.9, 1.0, share.shape)
        self.log_class = np.log(np.array([0.5, 0.3, 0.2]))
        self.naive = np.log(share).reshape(SLOTS, CLASSES)
        self.prior = self.naive + self.log_class
        self.table = self.naive[None] + draw.normal(0, 0.1, (SLOTS, SLOTS, CLASSES))
        for first in range(0, SLOTS, LEVELS):
            self.table[first : first + LEVELS, first : first + LEVELS] = 0
        self.is_parent = (draw.random(SLOTS) < 0.8).astype(np.uint8)
        self.first_slot = np.arange(0, SLOTS + 1, LEVELS)

    def found(self, codes: NDArray[np.int32]) -> Doubles:
        columns = [np.ascontiguousarray(column) for column in codes.T]
        fields = (self.log_class, self.prior.ravel(), self.naive.ravel(), self.table.ravel(), self.is_parent)
        return np.asarray(_core.score_one_dependence(columns, len(codes), self.first_slot, *fields))

    def expected(self, row: NDArray[np.int32]) -> Doubles:
        slots = [LEVELS * column + code for column, code in enumerate(row.tolist()) if 0 <= code < LEVELS]
        parents = [slot for slot in slots if self.is_parent[slot]]
        if not parents:
            return np.asarray(self.log_class + self.naive[slots].sum(axis=0))
        sums = self.prior[parents] + self.table[np.ix_(parents, slots)].sum(axis=1)
        return np.asarray(np.logaddexp.reduce(sums, axis=0) - np.log(len(parents)))


def rows_of(draw: np.random.Generator, uncommon: float, missing: float) -> NDArray[np.int32]:
    codes = np.ones((40, COLUMNS), dtype=np.int32)
    codes[draw.random(codes.shape) < uncommon] = 2
    codes[draw.random(codes.shape) < uncommon / 2] = 0
    codes[draw.random(codes.shape) < missing] = -1
    return codes


@pytest.mark.parametrize("common", [0.95, 0.4])  # rows are summed by their differences, and whole
@pytest.mark.parametrize(("uncommon", "missing"), [(0.0, 0.0), (0.03, 0.0), (0.05, 0.05), (0.6, 0.1), (0.0, 1.0)])
def test_a_row_has_the_mean_over_its_parents(common: float, uncommon: float, missing: float) -> None:
    model = Model(3, common)
    codes = rows_of(np.random.default_rng(4), uncommon, missing)
    expected = np.array([model.expected(row) for row in codes])
    np.testing.assert_allclose(model.found(codes), expected, rtol=1e-13, atol=1e-12)
    one_by_one = np.concatenate([model.found(row[None]) for row in codes])
    np.testing.assert_array_equal(one_by_one, model.found(codes))


@pytest.mark.parametrize("level", [1, 2])
def test_what_is_impossible_stays_impossible(level: int) -> None:
    """A zero of the commonest level cannot be taken back by a difference; one of another level need not be."""
    model = Model(5, 0.95)
    model.table[:, 7 * LEVELS + level, 0] = -np.inf
    model.table[7 * LEVELS : 8 * LEVELS, 7 * LEVELS : 8 * LEVELS] = 0
    codes = rows_of(np.random.default_rng(6), 0.05, 0.05)
    expected = np.array([model.expected(row) for row in codes])
    np.testing.assert_allclose(model.found(codes), expected, rtol=1e-13, atol=1e-12)


def test_one_row_a_few_and_many_have_one_answer() -> None:
    draw = np.random.default_rng(7)
    y = np.repeat(["a", "b", "c"], 60)
    rate = np.where(draw.random((3, 90)) < 0.1, 0.6, 0.05)
    X = np.minimum(draw.poisson(np.repeat(rate, 60, axis=0)), 2).astype(np.float64)
    clf = bb.AODE().fit(X, y)
    few = clf.predict_proba(X)
    many = np.asarray(clf.predict_proba(np.tile(X, (30, 1))))  # more than a compiled model is asked at once
    np.testing.assert_allclose(many, np.tile(few, (30, 1)), atol=1e-14)
    one = [list(clf.predict_proba_one(dict(enumerate(row))).values()) for row in X[:20].tolist()]
    np.testing.assert_allclose(one, few[:20], atol=1e-14)
    assert len(clf.classifier_.model.names) >= 64
    assert (few.argmax(axis=1) == np.repeat([0, 1, 2], 60)).mean() > 0.8
