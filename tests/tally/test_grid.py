"""The grid: counts by cell, what can be read off them, and rows that come and go without a trace."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayesbox as bb
from bayesbox import _core
from bayesbox._core import ExactArray, GridCounts
from bayesbox.errors import BadData, NeverLearned
from bayesbox.tally.base import added, quoted
from bayesbox.tally.grid import LAST_CELL, NO_CELL, Grid, edges

CLASSES = ("a", "b", "c")
LEAST, MOST = math.ulp(0.0), float(np.finfo(np.float64).max)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def cell_of(value: float) -> int:
    """By exact arithmetic: eight cells for each power of two."""
    if value == 0:
        return 0
    size = abs(Fraction(value))
    exponent = max(math.floor(math.log2(abs(value))) - 1, -1023)
    while exponent < 1023 and Fraction(2) ** (exponent + 1) <= size:
        exponent += 1
    exponent = max(exponent, -1023)
    start = Fraction(2) ** exponent if exponent >= -1022 else Fraction(0)
    width = Fraction(2) ** max(exponent, -1022) / 8
    cell = 8 * (exponent + 1023) + int((size - start) / width) + 1
    return -cell if value < 0 else cell


@given(st.lists(NUMBERS, min_size=1))
def test_a_cell_is_found_by_exact_arithmetic(values: list[float]) -> None:
    cells = _core.grid_cells(np.array(values))
    assert cells.tolist() == [cell_of(value) for value in values]
    low, high = edges(cells)
    assert (low <= values).all()
    assert (high >= values).all()
    assert (_core.grid_cells(low) == cells).all()
    assert (_core.grid_cells(high) == cells).all()


def test_the_cells_of_extremes() -> None:
    values = np.array([0.0, -0.0, LEAST, -LEAST, MOST, -MOST, np.nan, np.inf, -np.inf])
    cells = [0, 0, 1, -1, LAST_CELL, -LAST_CELL, NO_CELL, NO_CELL, NO_CELL]
    assert _core.grid_cells(values).tolist() == cells
    low, high = edges(np.array([LAST_CELL, -1, 0, 1], dtype=np.int32))
    assert high[0] == MOST
    assert (low[1], high[1]) == (-np.nextafter(edges(np.array([2], dtype=np.int32))[0][0], 0), -LEAST)
    assert (low[2], high[2]) == (0.0, 0.0)
    assert low[3] == LEAST


def drawn(rows: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(4)
    values = random.normal(0, 10.0 ** random.integers(-3, 4, rows))
    values[random.random(rows) < 0.3] = 0.0
    values[random.random(rows) < 0.1] = np.nan
    return values, random.integers(-1, 3, rows).astype(np.int32)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.int8])
def test_counts_are_those_of_the_rows(kind: type) -> None:
    values, target = drawn(9000)
    if not issubclass(kind, np.floating):
        values = np.clip(np.nan_to_num(values), -100, 100)
    values = values.astype(kind)
    tally = Grid.of(CLASSES, values, target)
    rows = zip(target.tolist(), values.astype(np.float64).tolist(), strict=True)
    expected = Counter((label, cell_of(x)) for label, x in rows if label >= 0 and not math.isnan(x))
    found = zip(tally.grid.label.tolist(), tally.grid.cell.tolist(), strict=True)
    assert dict(zip(found, tally.grid.counts.to_integers().tolist(), strict=True)) == expected
    doubled = GridCounts(tally.grid.label, tally.grid.cell, added(tally.grid.counts, tally.grid.counts))
    assert _core.grids_agree([tally.sums] * 2, [tally.grid] * 2) == -1
    assert _core.grids_agree([tally.sums] * 2, [tally.grid, doubled]) == 1
    ones = Grid.of(CLASSES, values, target, np.ones(len(values)))
    assert b"".join(ones.canonical()) == b"".join(tally.canonical())


def test_weights_are_summed_exactly() -> None:
    tally = Grid.of(("a",), np.array([0.0, 0.0, 5.0]), np.zeros(3, dtype=np.int32), np.array([0.1, 1e-30, 0.5]))
    cells = Fraction(0.1) + Fraction(1e-30), Fraction(0.5)
    parts = [tally.grid.counts.parts(cell) for cell in range(2)]
    assert tuple(m * Fraction(2) ** e for m, e in parts) == cells


def test_what_is_read_off() -> None:
    values = np.array([0.0, 0, 1, 1.1, 3, -2, np.nan, 0])
    tally = Grid.of(CLASSES, values, np.array([0, 0, 0, 0, 1, 1, 1, 1], dtype=np.int32))
    assert tally.cells.tolist() == [cell_of(-2), 0, cell_of(1), cell_of(3)]
    assert tally.counts_of_cells.tolist() == [[0, 2, 2, 0], [1, 1, 0, 1], [0, 0, 0, 0]]
    assert tally.pooled_counts().tolist() == [1, 3, 2, 1]
    np.testing.assert_array_equal(tally.share_of_zero(), [1 / 2, 1 / 3, np.nan])
    assert tally.quantile(0.5) == (0.0, 0.0)
    assert tally.quantile(0.0) == (-np.nextafter(2.25, 0), -2.0)
    assert tally.quantile(1.0) == (3.0, np.nextafter(3.25, 0))
    assert tally.cell_range() == (-np.nextafter(2.25, 0), np.nextafter(3.25, 0))
    assert tally.impossible() is None


def test_the_lines_of_a_digest_are_those_of_the_classes_that_have_values() -> None:
    values, target = drawn(300)
    whole = Grid.of(CLASSES, values, target)
    expected = [
        quoted(CLASSES),
        *(array.text() for array in (whole.sums.n, whole.sums.fractional, whole.sums.total, whole.sums.squares)),
        quoted(CLASSES),
        whole.grid.label.astype("<i4").tobytes(),
        whole.grid.cell.astype("<i4").tobytes(),
        whole.grid.counts.text(),
    ]
    assert b"".join(whole.canonical()) == b"".join(expected)
    for classes in ((*CLASSES, "nobody"), CLASSES[::-1], ("A", *CLASSES)):
        assert b"".join(whole.with_classes(classes).canonical()) == b"".join(expected)


def test_rows_in_any_order_and_division_give_the_same_bytes() -> None:
    values, target = drawn(3000)
    whole = Grid.of(CLASSES, values, target)
    order = np.random.default_rng(1).permutation(len(values))
    parts = [Grid.of(CLASSES, values[part], target[part]) for part in np.array_split(order, 7)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    assert b"".join(total.canonical()) == b"".join(whole.canonical())
    assert total == whole
    assert total - parts[3] + parts[3] == whole
    assert pickle.loads(pickle.dumps(whole)) == whole
    assert whole.with_classes(("c", "b", "a")) == whole
    assert (whole - whole).is_empty()
    assert len((whole - whole).grid.cell) == 0


def test_a_cell_left_below_zero_is_named() -> None:
    one = Grid.of(CLASSES, np.array([1.0, 2.0]), np.array([0, 1], dtype=np.int32))
    other = Grid.of(CLASSES, np.array([2.0]), np.array([0], dtype=np.int32))
    left = one - other
    assert not left.is_possible()
    assert left.impossible() == ("a", "a value from 2 to 2.25")


def test_forgetting_what_was_never_learned_names_column_class_and_value() -> None:
    """Moments alone do not show it: the rows that are left might have these sums."""
    x, y = {"pay": [1.0, 10.0, 20.0, 4.5, 30.0]}, list("aaabb")
    gaussian = bb.NaiveBayes(numeric="gaussian").fit(x, y).forget({"pay": [12.0]}, ["a"])
    assert gaussian.book_["pay"].n.tolist() == [2, 2]
    clf = bb.NaiveBayes().fit(x, y)
    before = clf.book_.digest()
    with pytest.raises(NeverLearned) as caught:
        clf.forget({"pay": [12.0]}, ["a"])
    assert (caught.value.column, caught.value.label) == ("pay", "a")
    assert caught.value.found == "a value from 12 to 13"
    assert clf.book_.digest() == before
    with pytest.raises(NeverLearned) as caught:
        clf.forget({"pay": [0.0]}, ["b"])
    assert (caught.value.label, caught.value.found) == ("b", "0")


def test_a_book_without_a_grid_is_written_as_before() -> None:
    from bayesbox.tally.codec.book import book_to_arrow

    x, y = {"pay": [1.0, 10.0, 20.0, 4.5]}, list("aabb")
    plain, grid = (bb.NaiveBayes(numeric=numeric).fit(x, y).book_ for numeric in ("gaussian", "robust"))
    assert "grid.arrow" not in book_to_arrow(plain)
    tables = book_to_arrow(grid)
    assert tables.pop("grid.arrow")
    assert tables == book_to_arrow(plain)
    assert plain.digest() != grid.digest()


def test_integers_in_range_of_the_core() -> None:
    with pytest.raises(ValueError, match="class 3 of 3"):
        _core.count_grids([np.zeros(1)], np.array([3], dtype=np.int32), 3)
    grid = _core.count_grids([np.zeros(0)], np.zeros(0, dtype=np.int32), 0)[1][0]
    assert len(grid) == len(grid.label) == len(grid.cell) == len(grid.counts) == 0
    assert Grid.of((), np.zeros(0), np.zeros(0, dtype=np.int32)).grid.counts == ExactArray(0)


@pytest.mark.parametrize("layout", ["C", "F"])
def test_many_rows_are_counted_as_few_rows_are(layout: Any) -> None:
    random = np.random.default_rng(8)
    rows = 30_000
    rare = random.choice([0.0, -0.0, np.nan, LEAST, -LEAST, MOST, 1e-200, 5.0], size=(rows, 6))
    table = np.where(random.random((rows, 6)) < 0.2, rare, random.normal(size=(rows, 6)))
    table[:, 1] = np.round(random.normal(size=rows) * 3)
    table[:, 2] = 0.0
    table[:, 3] = 1e-300 * random.normal(size=rows)
    table = np.asarray(table, order=layout)
    target = random.integers(-1, 3, rows).astype(np.int32)
    found = Grid.of_columns(CLASSES, [*table.T], target)
    for values, tally in zip(table.T, found, strict=True):
        cells = _core.grid_cells(values)
        seen = (target >= 0) & (cells != NO_CELL)
        expected = Counter(zip(target[seen].tolist(), cells[seen].tolist(), strict=True))
        keys = list(zip(tally.grid.label.tolist(), tally.grid.cell.tolist(), strict=True))
        assert keys == sorted(expected)
        assert tally.grid.counts.to_integers().tolist() == [expected[key] for key in keys]
        few = [Grid.of(CLASSES, values[part], target[part]) for part in np.array_split(np.arange(rows), 3)]
        assert few[0] + few[1] + few[2] == tally
        assert tally - few[1] == few[0] + few[2]


def test_an_infinite_value_is_named_among_numbers_of_both_forms() -> None:
    x = {"age": np.arange(4.0), "pay": np.array([1.0, np.inf, 2.0, 3.0])}
    for columns in ({}, {"age": bb.Real(density="gaussian")}, {"pay": bb.Real(density="gaussian")}):
        with pytest.raises(BadData) as caught:
            bb.NaiveBayes(columns=columns).fit(x, list("aabb"))
        assert caught.value.found == math.inf
        assert "row 2" in str(caught.value)
        assert "`pay`" in str(caught.value)


def test_grids_that_cannot_be_made_or_added() -> None:
    grid = Grid.of(CLASSES, np.array([1.0, 2.0]), np.array([0, 1], dtype=np.int32)).grid
    with pytest.raises(ValueError, match="sign"):
        _core.add_grids(grid, grid, 2)
    with pytest.raises(ValueError, match="cell"):
        GridCounts(grid.label, grid.cell[:1], grid.counts)
    with pytest.raises(TypeError, match="arguments"):
        GridCounts(grid.label, grid.cell, grid.cell)  # type: ignore[arg-type]
    for starts in ([0, 1], [0, 3], [-1, 1], [0, 1, 2]):
        with pytest.raises(ValueError, match="starts"):
            _core.split_grid(grid.label, grid.cell, np.array(starts), [grid.counts])
    whole = _core.split_grid(grid.label, grid.cell, np.array([0, 2]), [grid.counts])[0]
    assert pickle.dumps(whole) == pickle.dumps(pickle.loads(pickle.dumps(grid)))
