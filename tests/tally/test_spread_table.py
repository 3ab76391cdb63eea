"""Means and deviations that the core works out for many columns are those of exact fractions, to the last bit."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesbox as bb
from bayesbox import _core
from bayesbox.dist.fit import FitOptions, fitted, fitted_columns
from bayesbox.dist.number.gaussian import Gaussian, floored_std
from bayesbox.rules import Laplace
from bayesbox.schema.kinds import Real
from bayesbox.tally.moments import Moments
from bayesbox.tally.spread_table import SpreadTable

CLASSES = ("a", "b", "c")
plain = st.floats(-1e6, 1e6, allow_nan=False)
any_number = st.floats(allow_nan=False, allow_infinity=False)
offset = st.integers(-5, 5).map(lambda x: 1e12 + x / 8)
weights = st.sampled_from([1.0, 0.5, 0.1, 3.0, 1e-9])
kinds = (plain, any_number, offset)
rows = st.one_of(*(st.lists(st.tuples(x, st.integers(0, 2), weights), min_size=1, max_size=12) for x in kinds))


def nearest(value: Fraction) -> float:
    return value.numerator / value.denominator  # Python divides integers with correct rounding


def nearest_root(value: Fraction) -> float:
    """By comparing squares of neighbouring doubles and of their middles."""
    guess = math.sqrt(nearest(value))
    while Fraction(guess) ** 2 > value:
        guess = math.nextafter(guess, 0.0)
    while Fraction(math.nextafter(guess, math.inf)) ** 2 <= value:
        guess = math.nextafter(guess, math.inf)
    above = math.nextafter(guess, math.inf)
    middle = (Fraction(guess) + Fraction(above)) / 2
    if middle**2 == value:
        return guess if int(math.frexp(guess)[0] * 2**53) % 2 == 0 else above
    return above if middle**2 < value else guess


@given(rows=rows, weighted=st.booleans())
@settings(max_examples=200)
def test_every_number_is_rounded_once(rows: list[tuple[float, int, float]], weighted: bool) -> None:
    x, y, w = (np.array(each) for each in zip(*rows, strict=True))
    tally = Moments.of(CLASSES, x, y.astype(np.int32), w if weighted else None)
    table = SpreadTable.of([tally], floor=0.01)
    whole = tally.pooled()
    for place in range(4):
        here = [row for row in rows if place in (3, row[1])]
        counts = [Fraction(row[2]) if weighted else Fraction(1) for row in here]
        n = sum(counts, Fraction(0))
        assert table.n[0, place] == nearest(n)
        if not here:
            assert table.mean[0, place] == table.unit[0, place] == 0
            continue
        mean = sum((w * Fraction(row[0]) for w, row in zip(counts, here, strict=True)), Fraction(0)) / n
        assert table.mean[0, place] == nearest(mean)
        assert table.mean_low[0, place] == nearest(mean - Fraction(nearest(mean)))
        square = sum((w * Fraction(row[0]) ** 2 for w, row in zip(counts, here, strict=True)), Fraction(0)) / n
        variance = square - mean**2
        if 1e-300 < variance < Fraction(2) ** 1000:
            assert table.unit[0, place] == nearest_root(variance)
        assert (table.unit[0, place] == 0) == (variance == 0)
        if place < 3:
            least = floored_std(tally.spreads()[place], whole, 0.01)
            assert max(table.unit[0, place], table.least[0]) == least


def test_a_mean_of_many_digits_is_left_to_python_integers() -> None:
    x = np.array([1e300, 1e-300, 2.5, -1e300])
    tally = Moments.of(("a",), x, np.zeros(4, dtype=np.int32))
    assert _core.spreads([tally.sums])[2].tolist() == [0]
    table = SpreadTable.of([tally])
    assert table.mean[0].tolist() == [0.625, 0.625]


@pytest.mark.parametrize("floor", [0.0, 1e-4, 0.3, 1 / 3])
def test_many_columns_are_fitted_as_each_is_alone(floor: float) -> None:
    random = np.random.default_rng(0)
    target = random.integers(0, 3, 40).astype(np.int32)
    columns = [
        random.normal(size=40) * 10.0 ** random.integers(-300, 290),
        np.where(target == 1, np.nan, random.normal(size=40)),
        np.ones(40),
        np.where(target == 2, 5.0, random.normal(size=40)),
        random.integers(0, 3, 40).astype(float),
        np.full(40, np.nan),
    ]
    options = FitOptions(Laplace(), Real(floor=floor), "gaussian")
    given = [(str(i), Moments.of(CLASSES, x, target), options) for i, x in enumerate(columns)]
    found = list(fitted_columns(given))
    for (column, tally, _), made in zip(given, found, strict=True):
        alone = Gaussian.of_moments(column, tally, floor, options.presence(tally))
        if alone is None:
            assert made == fitted(column, tally, options).reason
            continue
        assert isinstance(made, Gaussian)
        for name in ("mean", "mean_low", "std"):
            assert getattr(made, name).tolist() == getattr(alone, name).tolist()


@given(rows=rows)
@settings(max_examples=100)
def test_what_clearly_differs_does(rows: list[tuple[float, int, float]]) -> None:
    x, y, _ = (np.array(each) for each in zip(*rows, strict=True))
    tally = Moments.of(CLASSES, x, y.astype(np.int32))
    seen = int(_core.seen_of_numbers([tally.sums])[0])
    if seen:
        assert len(set(x.tolist())) > 1
        assert bool(seen & 2) == (not set(x.tolist()) <= {0, 1})
    assert _core.seen_of_numbers([Moments.of(("a",), np.array([1.0, 2.0]), np.zeros(2, dtype=np.int32)).sums])[0] == 7


@pytest.mark.parametrize("first", [0, 1, 2])
def test_numbers_of_rows_are_seen(first: int) -> None:
    for n in (5, 1_000, 100_000):
        x = np.random.default_rng(n).permutation(np.arange(first, first + n, dtype=np.float64))
        tally = Moments.of(("a", "b"), x, (np.arange(n) % 2).astype(np.int32))
        assert bool(_core.seen_of_numbers([tally.sums])[0] & 4) == (first < 2)


def test_the_former_name_of_std_works():
    clf = bb.NaiveBayes().fit({"age": [1.0, 3.0, 5.0]}, ["a", "a", "b"])
    with pytest.warns(FutureWarning, match="std"):
        assert clf.book_["age"].deviation.tolist() == clf.book_["age"].std.tolist() == [1.0, 0.0]
