"""Cut points: against Weka's, against enumeration, and what must hold for any counts."""

from __future__ import annotations

import itertools
from math import comb, factorial, lgamma, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from bayesbox import _core
from bayesbox.dist.number.cuts import (
    between,
    bin_names,
    binned,
    binning,
    codes_of,
    equal_frequency,
    equal_width,
    mdl,
    modl,
    modl_cost,
    modl_groups,
)
from bayesbox.errors import BadOption

METHODS = ["width:3", "frequency:4", "mdl", "modl"]


def tally(values: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    distinct, place = np.unique(values, return_inverse=True)
    counts = np.zeros((len(distinct), int(labels.max()) + 1))
    np.add.at(counts, (place, labels), 1)
    return distinct, counts


def columns(most_values: int = 9, classes: int = 3, most: int = 6) -> st.SearchStrategy[np.ndarray]:
    row = st.lists(st.integers(0, most), min_size=classes, max_size=classes).filter(any)
    return st.lists(row, min_size=1, max_size=most_values).map(np.array)


def test_mdl_cuts_are_those_of_weka_on_iris() -> None:
    """What weka.filters.supervised.attribute.Discretize of Weka 3.6 prints."""
    X, y = load_iris(return_X_y=True)
    expected = [[5.55, 6.15], [2.95, 3.35], [2.45, 4.75], [0.8, 1.75]]
    for column, cuts in zip(X.T, expected, strict=True):
        np.testing.assert_allclose(mdl(*tally(column, y)), cuts, rtol=1e-12)


def entropy(counts: np.ndarray) -> float:
    share = counts[counts > 0] / counts.sum()
    return float(-(share * np.log2(share)).sum())


def plain_mdl(values: np.ndarray, counts: np.ndarray) -> list[float]:
    """The published recursion, word for word."""
    n = counts.sum()
    splits = [(counts[:cut].sum(axis=0), counts[cut:].sum(axis=0)) for cut in range(1, len(values))]
    if not splits:
        return []
    after = [(a.sum() * entropy(a) + b.sum() * entropy(b)) / n for a, b in splits]
    cut = next(index for index, each in enumerate(after) if each <= min(after) + 1e-12)
    whole, (left, right) = counts.sum(axis=0), splits[cut]
    k, k1, k2 = (int((each > 0).sum()) for each in (whole, left, right))
    delta = log(3**k - 2, 2) - (k * entropy(whole) - k1 * entropy(left) - k2 * entropy(right))
    gain = entropy(whole) - after[cut]
    if n < 2 or gain <= 1e-12 or gain <= (log(n - 1, 2) + delta) / n:
        return []
    below, above = slice(None, cut + 1), slice(cut + 1, None)
    middle = (values[cut] + values[cut + 1]) / 2
    return [*plain_mdl(values[below], counts[below]), middle, *plain_mdl(values[above], counts[above])]


@given(columns(most_values=12, most=40))
def test_mdl_is_the_published_recursion(counts: np.ndarray) -> None:
    values = np.arange(len(counts), dtype=float) ** 2
    assert mdl(values, counts).tolist() == plain_mdl(values, counts.astype(float))


def written_out_cost(counts: np.ndarray) -> float:
    """The criterion with its binomial coefficients, in whole numbers."""
    counts = counts[:, counts.any(axis=0)]
    rows, intervals, classes = int(counts.sum()), len(counts), counts.shape[1]
    cost = log(rows) + log(comb(rows + intervals - 1, intervals - 1))
    for interval in counts.tolist():
        ways = factorial(sum(interval))
        for count in interval:
            ways //= factorial(count)
        cost += log(comb(sum(interval) + classes - 1, classes - 1)) + log(ways)
    return cost


@settings(max_examples=60, deadline=None)
@given(columns(most=12))
def test_modl_costs_as_little_as_any_partition(counts: np.ndarray) -> None:
    values = np.arange(len(counts), dtype=float)
    found = binned(values, counts, modl(values, counts))
    places = range(1, len(values))
    cheapest = min(
        written_out_cost(np.add.reduceat(counts, [0, *cuts], axis=0))
        for size in range(len(values))
        for cuts in itertools.combinations(places, size)
    )
    assert written_out_cost(found) <= cheapest + 1e-9
    assert modl_cost(found) == pytest.approx(written_out_cost(found), rel=1e-12)


def partitions(levels: int) -> list[list[int]]:
    """Every way to put levels into groups, as the group of each."""
    found = [[0]]
    for _ in range(levels - 1):
        found = [[*each, group] for each in found for group in range(max(each) + 2)]
    return found


def grouping_cost(counts: np.ndarray, groups: list[int]) -> float:
    cells = np.zeros((max(groups) + 1, counts.shape[1]), dtype=int)
    np.add.at(cells, groups, counts)
    levels, size, classes = len(counts), len(cells), int(counts.any(axis=0).sum())
    ways = sum(1 for each in partitions(levels) if max(each) < size)
    own = sum(lgamma(sum(g) + classes) - lgamma(classes) - sum(lgamma(n + 1) for n in g) for g in cells.tolist())
    return log(levels) + log(ways) + own


@pytest.mark.parametrize("classes", [1, 2, 4])
@pytest.mark.parametrize("rows", [1, 30, 2000])
def test_modl_of_runs_is_modl_of_values(classes: int, rows: int) -> None:
    random = np.random.default_rng(rows)
    values = np.unique(random.normal(size=rows).round(2))
    counts = random.integers(0, 2, (len(values), classes)) * (random.random((len(values), 1)) < 0.8)
    cells = np.ascontiguousarray(counts, dtype=np.float64)
    assert modl(values, counts).tolist() == between(values, _core.modl_cuts(cells)).tolist()


@settings(max_examples=25, deadline=None)
@given(columns(most_values=6, most=15))
def test_modl_groups_cost_as_little_as_any_grouping(counts: np.ndarray) -> None:
    found = modl_groups(counts).tolist()
    cheapest = min(grouping_cost(counts, each) for each in partitions(len(counts)))
    assert grouping_cost(counts, found) <= cheapest + 1e-9


def test_many_levels_are_grouped_by_what_they_say() -> None:
    rng = np.random.default_rng(5)
    share = np.where(np.arange(700) % 3 == 0, 0.9, 0.1)
    size = np.where(np.arange(700) < 400, 200, 1)
    counts = np.column_stack([rng.binomial(size, share), np.zeros(700, dtype=int)])
    counts[:, 1] = size - counts[:, 0]
    groups = modl_groups(counts)
    assert len(set(groups.tolist())) <= 3
    assert len(set(groups[:400:3].tolist())) == 1  # the frequent levels of one sort are together
    assert groups[0] != groups[1]


def test_a_long_column_is_cut_where_its_classes_change() -> None:
    rng = np.random.default_rng(4)
    values = np.sort(rng.normal(size=20_000))
    labels = ((values > -0.5) & (values < 0.7)).astype(int)
    labels ^= rng.random(20_000) < 0.05
    cuts = modl(*tally(values, labels))
    np.testing.assert_allclose(cuts, [-0.5, 0.7], atol=0.02)
    np.testing.assert_allclose(mdl(*tally(values, labels)), [-0.5, 0.7], atol=0.02)


@given(columns(), st.sampled_from(METHODS), st.floats(1e-300, 1e300))
def test_cuts_separate_values(counts: np.ndarray, method: str, scale: float) -> None:
    values = np.arange(len(counts), dtype=float) * scale - 2 * scale
    cuts = binning(method)(values, counts)
    assert (np.diff(cuts) > 0).all()
    if len(cuts):
        assert values[0] <= cuts[0]
        assert cuts[-1] < values[-1]
    assert binned(values, counts, cuts).sum() == counts.sum()
    np.testing.assert_array_equal(binning(method)(values, counts[:, [2, 0, 1]]), cuts)  # whatever the classes' order


def test_cuts_at_the_ends_of_the_doubles() -> None:
    counts = np.ones((2, 2))
    largest = np.finfo(float).max
    assert equal_width(np.array([-largest, largest]), counts, 2).tolist() == [0.0]
    assert between(np.array([largest / 2, largest]), np.array([0]))[0] < largest
    close = np.array([1.0, np.nextafter(1.0, 2)])
    assert between(close, np.array([0])).tolist() == [1.0]
    assert equal_width(close, counts, 10).tolist() == [1.0]


def test_equal_frequency_shares_the_rows() -> None:
    values = np.arange(100.0)
    counts = np.ones((100, 1))
    assert binned(values, counts, equal_frequency(values, counts, 5)).ravel().tolist() == [20.0] * 5
    heavy = counts.copy()
    heavy[50] = 1000  # a value with more rows than a share is a bin of its own, or nearly
    assert len(equal_frequency(values, heavy, 5)) >= 1


def test_a_column_of_one_value_or_one_class_is_not_cut() -> None:
    one = np.array([3.0])
    for method in METHODS:
        assert len(binning(method)(one, np.array([[4, 5]]))) == 0
    values = np.arange(30.0)
    for method in ("mdl", "modl"):
        assert len(binning(method)(values, np.ones((30, 1)))) == 0
        assert len(binning(method)(values, np.column_stack([np.ones(30), np.zeros(30)]))) == 0


def test_a_value_on_a_cut_goes_low_and_a_missing_one_nowhere() -> None:
    assert codes_of(np.array([0.5, 1.5, 1.6, np.nan, np.inf]), np.array([0.5, 1.5])).tolist() == [0, 1, 2, -1, 2]


def test_names_of_bins() -> None:
    assert bin_names(np.array([1.0])) == ("up to 1", "above 1")
    assert bin_names(np.empty(0)) == ("any",)
    assert bin_names(np.array([(3.3 + 3.4) / 2]))[0] == "up to 3.35"
    assert len(set(bin_names(np.array([1.0, np.nextafter(1.0, 2)])))) == 3


@pytest.mark.parametrize("method", ["width:0", "width:x", "mdl:3", "entropy", "frequency:-2", "width:99999"])
def test_bad_methods_are_refused(method: str) -> None:
    with pytest.raises(BadOption):
        binning(method)
